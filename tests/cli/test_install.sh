#!/usr/bin/env bash
# The installed library: found by CMake and by pkg-config, and the example of docs/ trains with it.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

build=$(dirname "$(dirname "$DLBENCH")")
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
sanitizer=$(sanitizer)
flags=${sanitizer:+-fsanitize=$sanitizer}

it 'installs'
expect_exit 0 cmake --install "$build" --prefix "$PWD/prefix"
expect_file prefix/include/dlbench/trainer.h

it 'shows its public functions, and nothing else'
library=$(find "$PWD/prefix" -name libdlbench.so)
[ -n "$library" ] || fail 'there is no libdlbench.so'
nm -D --defined-only "$library" | awk '$2 == "T" {print $3}' >functions
expect_file functions '^dlbench_trainer_create$'
[ -n "$sanitizer" ] || expect_equal '' "$(grep -v '^dlbench_\|^__\|^_init\|^_fini' functions)"

it 'is found by CMake, and the example trains'
expect_exit 0 cmake -S "$SOURCE/docs/example" -B example -DCMAKE_PREFIX_PATH="$PWD/prefix" \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
expect_exit 0 cmake --build example
expect_exit 0 example/train
expect_stdout '^step 100 of 100: loss [0-9.]+$'
expect_stdout '^test accuracy 0\.[0-9]+ after'

# pc_folder VARIABLE: a folder that dlbench.pc states, without its detours.
pc_folder() { realpath -m "$(pkg-config --variable="$1" dlbench)"; }

it 'is found by pkg-config'
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/prefix" -name dlbench.pc)")
export PKG_CONFIG_PATH
expect_equal "$PWD/prefix" "$(pc_folder prefix)"
expect_equal "${library%/*}" "$(pc_folder libdir)"
# shellcheck disable=SC2046,SC2086 # words of flags
expect_exit 0 "$compiler" $flags "$SOURCE/docs/example/train.c" -o by_pkg_config \
    $(pkg-config --cflags --libs dlbench) -Wl,-rpath,"${library%/*}"
expect_exit 0 ./by_pkg_config

it 'trains with the data beside it, wherever it is installed'
unset DLBENCH_DATA
mv prefix moved
images=$PWD/moved/share/dlbench/data/mnist/train-images-idx3-ubyte.gz
truncate -s 1000 "$images"
expect_exit 1 env LD_LIBRARY_PATH="$(dirname "$(find "$PWD/moved" -name libdlbench.so)")" \
    ./by_pkg_config
expect_stderr "^$images: "
expect_exit 2 moved/bin/dlbench train --epochs 1
expect_stderr "$images: "

it 'is found by pkg-config in a layout with a folder for each architecture, too'
expect_exit 0 cmake -S "$SOURCE" -B other -DDLB_TESTS=OFF -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_INSTALL_LIBDIR=lib/some-linux-gnu -DCMAKE_INSTALL_INCLUDEDIR=include/some
expect_exit 0 cmake --install other --prefix "$PWD/usr" --component development
export PKG_CONFIG_PATH=$PWD/usr/lib/some-linux-gnu/pkgconfig
expect_equal "$PWD/usr" "$(pc_folder prefix)"
expect_equal "$PWD/usr/lib/some-linux-gnu" "$(pc_folder libdir)"
expect_equal "$PWD/usr/include/some" "$(pc_folder includedir)"
expect_file usr/include/some/dlbench/trainer.h

it 'has an example of about thirty lines'
[ "$(wc -l <"$SOURCE/docs/example/train.c")" -le 36 ] || fail 'the example has grown'
