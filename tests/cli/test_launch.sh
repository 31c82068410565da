#!/usr/bin/env bash
# `dlbench train --ranks N` starts its ranks itself.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

command -v mpirun >/dev/null || left_out 'there is no mpirun'
unset OMP_NUM_THREADS DLBENCH_LAUNCHED DLBENCH_TERMINAL
cores=$(($(lscpu -p=CORE,SOCKET | sort -u | grep -vc '^#')))
[ "$(nproc)" -ge "$cores" ] || cores=$(nproc)

short=(--model horovod_cnn --train-images 1280 --test-images 500 --epochs 1)

# What "cpus_allowed" of a result says of each rank, a line a rank.
cpus_of_ranks() { sed -nE 's/^ *"cpus_allowed": ?"([^"]*)".*/\1/p' "$1"; }

# How many CPUs are in a list such as 0-3,8.
cpus_in() { tr ',' '\n' <<<"$1" | awk -F- '{ n += NF == 2 ? $2 - $1 + 1 : 1 } END { print n }'; }

it 'trains on two ranks, whoever the user is, and prints once and plainly'
expect_exit 0 "$DLBENCH" train "${short[@]}" --ranks 2 --threads 1 --result two.json
expect_equal 1 "$(stdout | grep -c '^Epoch 1/1 ')"
expect_stdout '^  workers +2 on 2 ranks'
expect_no_match $'[\r\033]'
expect_equal 2 "$(cpus_of_ranks two.json | wc -l)"

if [ "$cores" -ge 2 ]; then
    it 'gives each rank as many cores of its own as it has threads'
    threads=$((cores / 2))
    expect_exit 0 "$DLBENCH" train "${short[@]}" --ranks 2 --quiet --result own.json
    expect_equal '' "$(stderr)"
    expect_equal 2 "$(cpus_of_ranks own.json | sort -u | wc -l)"
    for list in $(cpus_of_ranks own.json); do
        [ "$(cpus_in "$list")" -ge "$threads" ] || fail "$threads threads on cpus $list"
    done
    expect_equal 2 "$(sed -n '/"ranks": *\[/,/"placement"/p' own.json |
        grep -cE "\"threads\": ?$threads\>")"
fi

it 'warns of more threads than cores, once, and trains'
crowd=$((cores * 2))
expect_exit 0 "$DLBENCH" train "${short[@]}" --ranks "$crowd" --threads 1 --quiet --result crowd.json
expect_stderr "$crowd ranks x 1 thread want $crowd cores, but $cores (is|are) allowed"
expect_equal 1 "$(stderr | wc -l)"
expect_equal 1 "$(cpus_of_ranks crowd.json | sort -u | wc -l)"

it 'refuses a core each where there are too few, and says what fits'
expect_exit 2 "$DLBENCH" train "${short[@]}" --ranks "$crowd" --threads 1 --binding core
expect_stderr "ranks = $cores with threads = 1 would fit"

it 'keeps the ranks on the cores that it is held to itself'
cpu=$(taskset -cp $$ | sed -E 's/.*[^0-9]//')
expect_exit 0 taskset -c "$cpu" "$DLBENCH" train "${short[@]}" --ranks 2 --quiet --result held.json
expect_equal "$cpu" "$(cpus_of_ranks held.json | sort -u)"

it 'passes an error of the ranks on, once, without remarks of the launcher'
expect_exit 2 "$DLBENCH" train "${short[@]}" --ranks 2 --threads 1 --data /nowhere
expect_stderr '/nowhere'
expect_equal 1 "$(stderr | wc -l)"

it 'says what to install where there is no launcher'
expect_exit 1 env PATH=/nowhere "$DLBENCH" train "${short[@]}" --ranks 2
expect_stderr 'neither mpirun nor mpiexec is on PATH'

it 'takes the ranks that a launcher gives it, and does not launch again'
as_root=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
expect_exit 0 "${as_root[@]}" mpirun --oversubscribe --bind-to none -n 2 \
    "$DLBENCH" train "${short[@]}" --ranks 2 --threads 1
expect_equal 1 "$(stdout | grep -c '^Epoch 1/1 ')"
expect_no_match $'[\r\033]'

it 'draws its bar on a terminal, as wide as that is'
if command -v script >/dev/null; then
    last_command="train on a terminal"
    TERM=xterm script -qec "stty cols 60; '$DLBENCH' train --model horovod_cnn --train-images 12800 \
        --test-images 500 --epochs 1 --ranks 2 --threads 1" "$lib_folder/stdout" >/dev/null </dev/null
    grep -q $'\r''Epoch 1/1 \[[=>.]*\].*'$'\033\\[K' "$lib_folder/stdout" || fail 'there is no bar'
    widest=$(tr '\r' '\n' <"$lib_folder/stdout" | grep -a '^Epoch.*\[' | sed 's/\x1b\[K//' | wc -L)
    [ "$widest" -lt 60 ] || fail "a bar of $widest columns"
fi

watched=(--ranks 2 --threads 1 --result "$lib_folder/cwd/ended.json")

# Processes that run with our result file on their command line, in no certain order.
processes() { processes_with "$lib_folder/cwd/ended.json"; }

# Those of them that are ranks: the launcher's children.
ranks() { ranks_with "$lib_folder/cwd/ended.json"; }

expect_nothing_left() {
    local waited
    for waited in {1..100}; do # a launcher takes some seconds to end its ranks
        [ -n "$(processes)" ] || return 0
        sleep 0.1
    done
    fail "after $waited tenths of a second there are still processes: $(processes | xargs)"
}

it 'ends after the step on Ctrl-C and its like, with the result of all ranks'
for signal in INT TERM HUP USR1; do
    start_training "${watched[@]}"
    expect_equal 2 "$(ranks | wc -l)"
    kill -"$signal" "$trainer"
    expect_end 1
    expect_stderr 'stopped .* [0-9,]+ images of epoch [0-9]+: loss [0-9.]+, accuracy [0-9.]+$'
    expect_equal 1 "$(stderr | wc -l)"
    expect_file ended.json '"status": ?"failed"'
    expect_nothing_left
    rm ended.json
done

it 'says so when it is stopped before the ranks have begun'
mkdir slow
cat >slow/mpirun <<'SCRIPT'
#!/bin/sh
test "$1" != --version || exec echo 'mpirun (Open MPI) 4.1.4'
>started
exec sleep 50
SCRIPT
chmod +x slow/mpirun
last_command='train with a slow launcher'
PATH=$PWD/slow:$PATH "$DLBENCH" train "${short[@]}" "${watched[@]}" >"$lib_folder/stdout" \
    2>"$lib_folder/stderr" &
trainer=$!
await_file started
kill -INT "$trainer"
expect_end 1
expect_equal 'dlbench train: stopped before the ranks had begun; no result was written' "$(stderr)"
expect_nothing_left

it 'leaves no process behind when it is killed'
start_training "${watched[@]}"
kill -KILL "$trainer"
wait "$trainer" 2>/dev/null || true
expect_nothing_left
rm -f ended.json # of ranks that could still stop by themselves

it 'ends when a rank dies, says which, and writes no result'
start_training "${watched[@]}"
victim=$(ranks | sort -n | tail -n 1)
kill -KILL "$victim"
expect_end 1
expect_stderr 'rank 1 .*(signal 9|died)'
expect_stderr '^dlbench train: a rank was ended by signal 9 \(Killed\); no result was written$'
[ ! -e ended.json ] || fail 'there is a result'
expect_nothing_left

it 'goes on after a hangup that is ignored, as under nohup'
trap '' HUP
start_training "${watched[@]}"
trap - HUP
kill -HUP "$trainer"
sleep 0.5
kill -0 "$trainer" || fail 'the hangup ended it'
kill -TERM "$trainer"
expect_end 1
