#!/usr/bin/env bash
# What intra_op, inter_op and KMP_* do to a run, seen from outside.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

short=(--model keras_cnn --batch 32 --train-images 320 --test-images 32 --epochs 1)

# The operations of a trace, a line each, by their start: start, end and team, in ns.
operations() {
    sed -nE 's/.*"ph":"X".*"tid":([0-9]+).*"ts":([0-9.]+),"dur":([0-9.]+).*/\2 \3 \1/p' "$1" |
        awk '{ printf "%.0f %.0f %d\n", $1 * 1000, ($1 + $2) * 1000, $3 }' | sort -n
}

# How many operations start before another one has ended, of whatever team.
overlaps() { operations "$1" | awk '$1 < end {n++} $2 > end {end = $2} END {print n + 0}'; }

it 'overlaps operations with two teams, and never with one'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --inter-op 2 --trace two.json
expect_equal 2 "$(operations two.json | cut -d' ' -f3 | sort -u | wc -l)"
[ "$(overlaps two.json)" -gt 0 ] || fail 'nothing overlaps with inter_op = 2'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --inter-op 1 --trace one.json
[ "$(operations one.json | wc -l)" -gt 100 ] || fail 'the trace has hardly any operations'
expect_equal 0 "$(overlaps one.json)"

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

it 'records kmp_blocktime'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --kmp-blocktime 0 --result zero.json
expect_file zero.json '"kmp_blocktime": ?"0"'
expect_exit 0 env KMP_BLOCKTIME=7 "$DLBENCH" train "${short[@]}" --threads 2 --result seven.json
expect_file seven.json '"kmp_blocktime": ?"7"'

it 'obeys kmp_blocktime: threads that wait sleep at once, or never'
# waits BLOCKTIME: how often threads sleep in 200 steps.
waits() {
    "${DLBENCH%/bin/*}/tests/waits" "$DLBENCH" train --model horovod_cnn --batch 8 --readers 0 \
        --train-images 1600 --test-images 8 --epochs 1 --threads 2 --kmp-blocktime "$1"
}
at_once=$(waits 0)
never=$(waits infinite)
[ "$at_once" -gt $((4 * never)) ] || fail "$at_once waits with 0, $never with infinite"

it 'binds each thread to a CPU of its own with kmp_affinity'
[ "$(nproc)" -ge 2 ] || left_out 'one CPU only'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 2 --kmp-affinity granularity=fine,compact
expect_stdout '0: cpu [0-9]+ \(node [0-9]+\) 100 %$'
expect_stdout '1: cpu [0-9]+ \(node [0-9]+\) 100 %$'
expect_equal 2 "$(stdout | grep -oE '[01]: cpu [0-9]+' | cut -d' ' -f3 | sort -u | wc -l)"

it 'reports threads that share cores instead of hiding it'
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads "$(($(nproc) + 1))" --csv over.csv
expect_stdout 'threads share [0-9]+ cores?'
expect_equal yes "$(column over.csv oversubscribed)"
expect_exit 0 "$DLBENCH" train "${short[@]}" --threads 1 --csv alone.csv
expect_equal no "$(column alone.csv oversubscribed)"
