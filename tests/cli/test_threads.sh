#!/usr/bin/env bash
# What intra_op, inter_op and KMP_* do to a run, seen from outside.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

short=(--model keras_cnn --batch 32 --train-images 320 --test-images 32 --epochs 1)

# Whether operations of different teams overlap in time in the trace.
overlaps() {
    sed -nE 's/.*"ph":"X".*"tid":([0-9]+).*"ts":([0-9.]+),"dur":([0-9.]+).*/\2 \1 \3/p' "$1" |
        sort -n | awk '
            { for (team in until) if (team != $2 && until[team] > $1) found = 1
              until[$2] = $1 + $3 }
            END { exit !found }'
}

it 'overlaps operations with two teams, and never with one'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --inter-op 2 --trace two.json
overlaps two.json || fail 'nothing overlaps with inter_op = 2'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --inter-op 1 --trace one.json
! overlaps one.json || fail 'operations overlap with inter_op = 1'

it 'names every phase in the trace'
for phase in forward backward update; do expect_file two.json "\"cat\":\"$phase\""; done

"$DLBENCH" doctor --quick >doctor || true
if grep -q libgomp doctor; then
    it 'says that KMP_* has no effect with another runtime than LLVM'\''s'
    expect_exit 0 "$DLBENCH" train "${short[@]}" --kmp-blocktime 0 --csv gomp.csv
    expect_stdout 'no effect'
    expect_file gomp.csv 'KMP_\* has no effect'
    exit 0
fi

it 'obeys kmp_blocktime and records it'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --kmp-blocktime 0 --result zero.json
expect_file zero.json '"kmp_blocktime": ?"0"'
expect_exit 0 env KMP_BLOCKTIME=7 "$DLBENCH" train "${short[@]}" --threads 2 --result seven.json
expect_file seven.json '"kmp_blocktime": ?"7"'

it 'binds each thread to a CPU of its own with kmp_affinity'
[ "$(nproc)" -ge 2 ] || left_out 'one CPU only'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --kmp-affinity granularity=fine,compact
expect_stdout '0: cpu [0-9]+ \(node [0-9]+\) 100 %$'
expect_stdout '1: cpu [0-9]+ \(node [0-9]+\) 100 %$'
expect_equal 2 "$(stdout | grep -oE '[01]: cpu [0-9]+' | cut -d' ' -f3 | sort -u | wc -l)"

it 'reports threads that share cores instead of hiding it'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads "$(($(nproc) + 1))" --csv over.csv
expect_stdout 'threads share [0-9]+ cores?'
expect_file over.csv ',yes,'
