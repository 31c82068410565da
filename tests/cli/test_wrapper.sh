#!/usr/bin/env bash
# The wrapper ./dlbench, around a project small enough to be built for each property. What only a
# machine without packages, apt or root can show is shown by stand-ins for those commands.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
unset DLBENCH_PRESET

# make_tree DIR: a wrapper with a program that prints its arguments and folder, and exits with 3.
make_tree() {
    mkdir -p "$1"/{cmake,harness,kernels,models,plots,tests}
    cp "$SOURCE/dlbench" "$SOURCE/CMakePresets.json" "$1"
    cat >"$1/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(dlbench LANGUAGES C)
option(DLB_TESTS "Build the tests" ON)
add_executable(dlbench harness/main.c)
if(EXISTS ${PROJECT_SOURCE_DIR}/slow)
    execute_process(COMMAND sleep 60)
endif()
set_target_properties(dlbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(DLB_TESTS)
    enable_testing()
    add_executable(checked tests/checked.c)
    add_test(NAME first COMMAND checked)
    add_test(NAME second COMMAND checked)
endif()
END
    cat >"$1/harness/main.c" <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char folder[4096];
    for (int i = 1; i < argc; i++)
        printf("<%s>", argv[i]);
    printf(" in %s\n", getcwd(folder, sizeof folder));
    return 3;
}
END
    echo 'int main(void) { return 0; }' >"$1/tests/checked.c"
    echo '# nothing' >"$1/packages.list"
}

# stand_in NAME: the command NAME is what stdin says, for whoever has stand-ins first in its PATH.
stand_in() {
    mkdir -p stand-ins
    { echo '#!/bin/sh' && cat; } >"stand-ins/$1"
    chmod +x "stand-ins/$1"
}
with_stand_ins() { PATH="$PWD/stand-ins:$PATH" "$@"; }

build_time() { stat -c %y tree/build/release/build.log; }

make_tree tree

it 'builds, then passes arguments, folder and exit status through'
mkdir elsewhere
cd elsewhere
expect_exit 3 ../tree/dlbench train --data 'a b' ''
expect_stdout "^<train><--data><a b><> in $PWD\$"
expect_stderr '^dlbench: building release.*done'
cd ..

it 'does not build the tests for a run of the program'
[ ! -e tree/build/release/checked ] || fail 'the test program is there'

it 'does nothing but run the program when nothing has changed'
before=$(build_time)
expect_exit 3 tree/dlbench
expect_equal '' "$(stderr)"
expect_equal "$before" "$(build_time)"

it 'works through a symbolic link'
ln -s ../tree/dlbench elsewhere/link
expect_exit 3 elsewhere/link
expect_equal "$before" "$(build_time)"

it 'builds again after a change'
sed -i 's/return 3/return 4/' tree/harness/main.c
expect_exit 4 tree/dlbench
[ "$before" != "$(build_time)" ] || fail 'the log was not written anew'

it 'notices a source that has gone'
mv tree/harness/main.c .
expect_exit 1 tree/dlbench
expect_stderr 'main\.c'
expect_stderr 'failed; the whole output is in .*/build/release/build\.log'
mv main.c tree/harness/

it 'shows the compiler'\''s words when the build fails, exits with 1, and recovers'
sed -i 's/return 4/return oops/' tree/harness/main.c
expect_exit 1 tree/dlbench
expect_stderr 'oops'
sed -i 's/return oops/return 5/' tree/harness/main.c
expect_exit 5 tree/dlbench

it 'goes on in a copy of the tree'
cp -a tree copy
touch copy/harness/main.c
expect_exit 5 copy/dlbench
rm -r copy

it 'runs the tests, with further arguments for ctest'
expect_exit 0 tree/dlbench test -R second
expect_stdout '100% tests passed, 0 tests failed out of 1'

it 'hands on a failure of the tests'
echo 'int main(void) { return 1; }' >tree/tests/checked.c
expect_exit 8 tree/dlbench test

it 'still runs the program while the tests do not compile'
echo 'int main(void) { return oops; }' >tree/tests/checked.c
touch tree/harness/main.c
expect_exit 5 tree/dlbench

it 'refuses an unknown preset'
expect_exit 2 env DLBENCH_PRESET=fast tree/dlbench
expect_stderr 'DLBENCH_PRESET=fast'

it 'lets two at once build without harm'
touch tree/harness/main.c
tree/dlbench >first 2>&1 &
expect_exit 5 tree/dlbench
status=0
wait $! || status=$?
expect_equal 5 $status

it 'goes on after an interrupt'
touch tree/CMakeLists.txt tree/slow
expect_exit 130 timeout --preserve-status -s INT 1 tree/dlbench
expect_stderr 'interrupted'
expect_no_match 'failed'
rm tree/slow
expect_exit 5 tree/dlbench

# From here on a package is missing; the stand-ins change nothing but files of this folder.
printf '# list\n\npresent  is there\nabsent   makes things work\noptional: torch for comparison\n' \
    >tree/packages.list
stand_in dpkg-query <<'END'
printf 'present:installed '
[ ! -e installed ] || printf 'absent:installed '
[ -e installed ]
END
stand_in apt-get <<'END'
echo "apt-get $*, $DEBIAN_FRONTEND" >>asked
case $* in *install*) touch installed ;; esac
END
stand_in dpkg </dev/null
stand_in id <<'END'
echo 1000
END
stand_in sudo <<'END'
echo 'sudo: a password is required' >&2
exit 1
END

it 'prints the one command for an administrator where it may not install'
expect_exit 1 with_stand_ins tree/dlbench
expect_stderr '^dlbench:   absent: makes things work$'
expect_stderr '^dlbench:   sudo apt-get install -y --no-install-recommends absent$'
expect_no_match 'present|torch'
[ ! -e asked ] || fail "apt-get was called: $(cat asked)"

it 'installs with sudo where that asks nothing, and says first what and why'
stand_in sudo <<'END'
shift
exec "$@"
END
expect_exit 5 with_stand_ins tree/dlbench
expect_equal 'dlbench: these packages are missing:
dlbench:   absent: makes things work
dlbench: running: sudo -n apt-get install -y --no-install-recommends absent' "$(stderr | head -n 3)"
expect_file asked 'install.* --no-install-recommends absent, noninteractive$'

it 'does not ask again once all are there'
rm asked
expect_exit 5 with_stand_ins tree/dlbench
[ ! -e asked ] || fail "apt-get was called: $(cat asked)"

it 'updates the lists when apt does not know a package'
rm installed
touch tree/packages.list
stand_in apt-get <<'END'
echo "$*" >>asked
case $* in
*update*) touch updated ;;
*install*) [ -e updated ] && touch installed ;;
esac
END
expect_exit 5 with_stand_ins tree/dlbench
expect_file asked update
expect_file installed

it 'shows why the packages could not be installed'
rm installed
touch tree/packages.list
stand_in apt-get <<'END'
echo 'E: no network' >&2
exit 100
END
expect_exit 1 with_stand_ins tree/dlbench
expect_stderr '^E: no network'

it 'says what is needed where there is no apt, and builds if it can'
mkdir no-apt
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
    [ ! -d "$folder" ] || cp -sn "$(realpath "$folder")"/* no-apt/ 2>/dev/null || true
done
rm -f no-apt/{apt,dpkg}*
touch tree/packages.list
expect_exit 5 env PATH="$PWD/no-apt" tree/dlbench
expect_stderr '^dlbench:   absent: makes things work$'
expect_no_match torch

it 'names the tool that is missing where there is no apt'
rm no-apt/cmake
touch tree/packages.list
expect_exit 1 env PATH="$PWD/no-apt" tree/dlbench
expect_stderr 'cmake is not in the PATH'
