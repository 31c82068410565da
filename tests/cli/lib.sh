# shellcheck shell=bash
# What a test of the command line needs. A test is a script test_NAME.sh that begins with
#
#   #!/usr/bin/env bash
#   # what it is about
#   # shellcheck source=tests/cli/lib.sh
#   . "${0%/*}/lib.sh"
#
# and finds DLBENCH (the built program) and SOURCE (the root of the tree) set, and an empty folder of
# its own as the current one, removed at the end. It states properties:
#
#   it 'refuses an unknown model and says which there are'
#   expect_exit 2 "$DLBENCH" train --model nonsense
#   expect_stderr 'nonsense.*keras_cnn'
#
# The first property that does not hold ends the test and shows what the last command printed.
set -euo pipefail

: "${DLBENCH:?the path of the built program}"
SOURCE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
export SOURCE
unset OPENBLAS_CORETYPE # a choice of the user's, which results mention

lib_folder=$(mktemp -d)
trap 'rm -rf -- "$lib_folder"' EXIT
mkdir "$lib_folder/cwd"
cd -- "$lib_folder/cwd"
property='(no property named)'
last_command='(none)'
touch "$lib_folder"/{stdout,stderr}

it() { property=$1; }

# fail MESSAGE: the property does not hold.
fail() {
    {
        printf 'FAILED: %s\n  %s\n  command: %s\n' "$property" "$1" "$last_command"
        sed 's/^/  stdout| /' "$lib_folder/stdout"
        sed 's/^/  stderr| /' "$lib_folder/stderr"
    } >&2
    exit 1
}

# expect_exit CODE COMMAND…: runs the command, keeps what it prints for the expectations below.
expect_exit() {
    local expected=$1 status=0
    shift
    last_command="$*"
    "$@" >"$lib_folder/stdout" 2>"$lib_folder/stderr" </dev/null || status=$?
    [ "$status" -eq "$expected" ] || fail "exit status $status instead of $expected"
}

# start_training FLAG…: trains in the background, up to the first epoch's end; $trainer is its id.
start_training() {
    : >"$lib_folder/stdout" # or the loop below might see what the training before it printed
    "$DLBENCH" train --model horovod_cnn --train-images 12800 --test-images 500 --epochs 1000 "$@" \
        >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    trainer=$!
    last_command="train $*"
    until grep -q 'Epoch 1/1000' "$lib_folder/stdout" || ! kill -0 "$trainer"; do sleep 0.1; done
}

# expect_end CODE: of the training in the background.
expect_end() {
    local status=0
    wait "$trainer" || status=$?
    [ "$status" -eq "$1" ] || fail "exit status $status instead of $1"
}

# What the last command printed, as text.
stdout() { cat "$lib_folder/stdout"; }
stderr() { cat "$lib_folder/stderr"; }

# expect_… REGEX: some line that the last command printed matches the extended REGEX.
expect_stdout() { grep -qE -e "$1" "$lib_folder/stdout" || fail "no line of stdout matches: $1"; }
expect_stderr() { grep -qE -e "$1" "$lib_folder/stderr" || fail "no line of stderr matches: $1"; }
expect_match() {
    grep -qE -e "$1" "$lib_folder/stdout" "$lib_folder/stderr" || fail "no line matches: $1"
}
expect_no_match() {
    ! grep -qE -e "$1" "$lib_folder/stdout" "$lib_folder/stderr" || fail "a line matches: $1"
}

# expect_file FILE [REGEX]: the file exists, and some line of it matches.
expect_file() {
    [ -f "$1" ] || fail "there is no file $1"
    [ $# -eq 1 ] || grep -qE -e "$2" "$1" || fail "no line of $1 matches: $2"
}

# await_file FILE: waits until the file is there, for half a minute at most.
await_file() {
    local tries=300
    while [ ! -e "$1" ]; do
        [ $((tries -= 1)) -gt 0 ] || fail "there is still no file $1"
        sleep 0.1
    done
}

# processes_with TEXT: the numbers of the processes in whose command line it stands.
processes_with() {
    local process
    for process in /proc/[0-9]*; do
        ! grep -qaF -e "$1" "$process/cmdline" 2>/dev/null || basename "$process"
    done
}

# ranks_with TEXT [RANK]: those of them that mpirun started, all or the one of that rank.
ranks_with() {
    local process
    for process in $(processes_with "$1"); do
        ! grep -qzE "^OMPI_COMM_WORLD_RANK=${2:-[0-9]+}\$" "/proc/$process/environ" 2>/dev/null ||
            echo "$process"
    done
}

# expect_equal EXPECTED ACTUAL
expect_equal() { [ "$1" = "$2" ] || fail "'$2' instead of '$1'"; }

# column FILE NAME: what the last row of a CSV file has in that column, without quotes.
column() {
    awk -v name="$2" '
        function cell(line, at, i, c, n, quoted, text) {
            n = 1
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) n++
                else if (n == at) text = text c
            }
            return text
        }
        NR == 1 { for (i = split($0, names, ","); i; i--) if (names[i] == name) at = i }
        END { print cell($0, at) }' "$1"
}

# The sanitizer that the program was built with: address, undefined, thread, or nothing.
sanitizer() {
    sed -n 's/^DLB_SANITIZE:[A-Z]*=//p' "$(dirname -- "$(dirname -- "$DLBENCH")")/CMakeCache.txt"
}

# left_out REASON: ends the test as not run; ctest says so.
left_out() {
    printf 'left out: %s\n' "$1"
    exit 77
}
