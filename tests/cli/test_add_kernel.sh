#!/usr/bin/env bash
# The section of docs/kernels.md on adding a kernel: its code blocks, applied to a copy of the tree as
# a contributor would, give kernels that agree with their reference and tests that can fail.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

[ -z "$(sanitizer)" ] || left_out 'what the page says is tried without a sanitizer'

# A value of the build that is being tested.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$(dirname "$(dirname "$DLBENCH")")/CMakeCache.txt"; }

# walk TREE: does to the tree what the code blocks of the section say, and prints step by step what
# it did. The line above a block is "`FILE`, new:", or "after" or "before" the only line of the file
# that has a text.
walk() {
    awk -v tree="$1" '
        function give_up(text) { print FILENAME ":" FNR ": " text; exit 1 }

        function apply(file, how, anchor, block, path, line, text, found, readable) {
            path = tree "/" file
            while ((readable = getline line <path) > 0) {
                line = line "\n"
                if (anchor != "" && index(line, anchor)) {
                    found++
                    line = how == "after" ? line block : block line
                }
                text = text line
            }
            close(path)
            if (how == "new" ? readable == 0 : readable < 0)
                give_up(how == "new" ? file " is there already" : "there is no " file)
            if (how != "new" && found != 1) give_up(found + 0 " lines of " file " have: " anchor)
            printf "%s", how == "new" ? block : text >path
            close(path)
            print how, file
        }

        /^## / { here = $0 == "## Add a kernel in an afternoon" }
        !here { next }
        /^```/ && !inside { inside = 1; block = ""; if (file == "") give_up("a block for no file"); next }
        /^```/ { inside = 0; apply(file, how, anchor, block); file = ""; next }
        inside { block = block $0 "\n"; next }
        /^`[^`]+`, (new|(after|before) `[^`]+`):$/ {
            split($0, part, "`")
            file = part[2]; anchor = part[4]; how = part[3]
            gsub(/[^a-z]/, "", how)
        }' "$SOURCE/docs/kernels.md"
}

build() { cmake --build build --target test_kernels --parallel "$(nproc)"; }

# tests PATTERN: the unit tests of the kernels whose SUITE/NAME matches.
tests() { build/tests/test_kernels --jobs 1 --filter "$1"; }

# expect_noticed PATTERN SED: these tests fail when the variant is altered so.
expect_noticed() {
    local variant=tree/kernels/simd/leaky_relu.c
    cp "$variant" kept
    sed -i "$2" "$variant"
    ! cmp -s kept "$variant" || fail "nothing to alter by $2"
    expect_exit 0 build
    expect_exit 1 tests "$1"
    cp kept "$variant"
}

mkdir tree
cp -r "$SOURCE"/{.clang-format,CMakeLists.txt,cmake,kernels,harness,models,plots,sweeps,tests} tree

it 'leads from the operation by way of its reference, its cost and a variant to its tests'
expect_exit 0 walk tree
for step in 'new kernels/include/dlk/leaky_relu.h' 'new kernels/ref/leaky_relu.c' \
    'after kernels/include/dlk/cost.h' 'new kernels/simd/leaky_relu.c' \
    'new tests/unit/kernels/test_leaky_relu.c'; do
    expect_stdout "^$step\$"
done

it 'keeps the rules of the tree'
for rule in includes sizes standalone; do
    expect_exit 0 "tree/tests/cli/$rule" tree
done
formatted=0
tree/cmake/lint format-check >format.log 2>&1 || formatted=$?
[ "$formatted" -eq 0 ] || [ "$formatted" -eq 77 ] || fail "$(cat format.log)"

it 'builds, without a change to any CMake file'
expect_exit 0 cmake -S tree -B build -G "$(cached CMAKE_GENERATOR)" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)"
expect_exit 0 build

it 'has tests that pass for every table and for every number of threads'
expect_exit 0 tests 'leaky_relu/*'
expect_match 'Tested: [1-9]'
expect_exit 0 tests '@(identical|cost|dispatch)/*'

it 'has tests that notice a wrong result, a lost remainder and a result that depends on the threads'
expect_noticed 'leaky_relu/*' 's/sign > 0.0F/sign < 0.0F/'
expect_stderr 'simd with .*: y, seed'
expect_noticed 'leaky_relu/*' '/store_some/s/rest)/0)/'
expect_noticed 'identical/*' 's/{count, slope,/{count, slope * (float)team->size,/'
expect_stderr 'leaky relu with a team of 2'
