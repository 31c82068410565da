#!/usr/bin/env bash
# The scoreboard, as far as it needs no Python.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
folder=$PWD
cd -- "$SOURCE"

# short FILE: the same study of few images, once.
short() {
    printf 'include = %s\n' "$SOURCE/sweeps/$1"
    printf '[study]\nrepeats = 1\n[workload]\nepochs = 1\ntrain_images = 640\n'
} >"$folder/short.ini"

it 'holds all peers against each other on equal terms'
expect_exit 0 "$DLBENCH" sweep sweeps/peers.ini --dry-run --out "$folder/planned"
for peer in dlbench tensorflow pytorch pytorch_channels_last pytorch_compiled pytorch_ddp horovod; do
    for terms in 'keras_cnn --batch 128' 'horovod_cnn --batch 64'; do
        for isa in auto avx2; do
            expect_stdout "peers/run $peer --model $terms --isa $isa --threads [0-9]+ --epochs 1 "
        done
    done
done

it 'takes what dlbench itself measured'
short peers.ini
expect_exit 0 "$DLBENCH" sweep "$folder/short.ini" --no-plots --out "$folder/peers" \
    --only 'param.peer == "dlbench" and isa == "auto"'
expect_equal 3 "$(wc -l <"$folder/peers/runs.csv")"
for name in images_per_s time_to_solution_s test_accuracy; do
    [ -n "$(column "$folder/peers/runs.csv" $name)" ] || fail "no $name"
done

it 'says how to get an environment that is not there'
expect_exit 2 env DLBENCH_PEERS="$folder/nowhere" peers/run tensorflow --model keras_cnn
expect_stderr 'nowhere; peers/setup makes it'

it 'refuses a peer and an instruction set that it does not know, and a flag without its value'
expect_exit 2 peers/run nonsense
expect_stderr "nonsense.*tensorflow"
expect_exit 2 peers/run pytorch --isa avx1024
expect_stderr 'avx1024: auto or avx2'
expect_exit 2 peers/run dlbench --epochs
expect_stderr '--epochs needs a value'
