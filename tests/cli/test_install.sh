#!/usr/bin/env bash
# The installed library: found by CMake and by pkg-config, and the example of docs/ trains with it.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

build=$(dirname "$(dirname "$DLBENCH")")
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
sanitizer=$(sed -n 's/^DLB_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=${sanitizer:+-fsanitize=$sanitizer}

it 'installs'
expect_exit 0 cmake --install "$build" --prefix "$PWD/prefix"
expect_file prefix/include/dlbench/trainer.h

it 'shows nothing but its public functions'
nm -D --defined-only prefix/lib*/libdlbench.so prefix/lib*/*/libdlbench.so 2>/dev/null |
    awk '$2 == "T" {print $3}' | grep -v '^dlbench_\|^__\|^_init\|^_fini' >others || true
[ -n "$sanitizer" ] || expect_equal '' "$(cat others)"

it 'is found by CMake, and the example trains'
expect_exit 0 cmake -S "$SOURCE/docs/example" -B example -DCMAKE_PREFIX_PATH="$PWD/prefix" \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
expect_exit 0 cmake --build example
expect_exit 0 example/train
expect_stdout '^step 100 of 100: loss [0-9.]+$'
expect_stdout '^test accuracy 0\.[0-9]+ after'

it 'is found by pkg-config'
pc=$(dirname "$(find prefix -name dlbench.pc)")
export PKG_CONFIG_PATH=$pc
library=$(pkg-config --variable=libdir dlbench)
# shellcheck disable=SC2046,SC2086 # words of flags
expect_exit 0 "$compiler" $flags "$SOURCE/docs/example/train.c" -o by_pkg_config \
    $(pkg-config --cflags --libs dlbench) -Wl,-rpath,"$library"
expect_exit 0 ./by_pkg_config

it 'has an example of about thirty lines'
[ "$(wc -l <"$SOURCE/docs/example/train.c")" -le 36 ] || fail 'the example has grown'
