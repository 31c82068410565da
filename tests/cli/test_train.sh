#!/usr/bin/env bash
# `dlbench train` as a user runs it.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

short=(--model horovod_cnn --train-images 1280 --test-images 500 --epochs 2 --threads 2)
column() { awk -F, -v name="$2" 'NR==1 {for (i = 1; i <= NF; i++) if ($i == name) at = i}
                                 END {print $at}' "$1"; }

it 'shows an epoch a line, then a summary, when not on a terminal'
expect_exit 0 "$DLBENCH" train "${short[@]}" --csv runs.csv --result result.json
expect_stdout '^Epoch 2/2 .* images/s  loss [0-9.]+  acc [0-9.]+  test loss [0-9.]+  test acc'
expect_stdout '^  test +accuracy 0\.[0-9]{4}, loss [0-9.]+ after 2 epochs$'
expect_no_match $'\r'

it 'appends one row under one header to the CSV file'
expect_exit 0 "$DLBENCH" train "${short[@]}" --csv runs.csv --quiet
expect_equal '' "$(stdout)"
expect_equal 3 "$(wc -l <runs.csv)"
expect_equal ok "$(column runs.csv status)"
expect_equal 64 "$(column runs.csv batch)"
expect_equal blas "$(column runs.csv kernels)"

it 'gives a time to solution, and an empty cell for a target never set'
[ -n "$(column runs.csv time_to_solution_s)" ] || fail 'no time to solution'
expect_equal '' "$(column runs.csv time_to_target_s)"

it 'trains the same for the same seed'
cut -d, -f 34-36 runs.csv | sed 1d | uniq | wc -l >different
expect_equal 1 "$(cat different)"

it 'writes the whole result as JSON'
expect_file result.json '"status": ?"ok"'

it 'refuses a CSV file of another kind before it trains, and leaves it as it was'
echo 'a,b' >foreign.csv
expect_exit 2 "$DLBENCH" train "${short[@]}" --csv foreign.csv
expect_stderr 'foreign.csv'
expect_no_match 'Epoch'
expect_equal 'a,b' "$(cat foreign.csv)"

it 'refuses an output that cannot be written before it trains'
for flag in --csv --result --trace; do
    expect_exit 2 "$DLBENCH" train "${short[@]}" "$flag" nowhere/file
    expect_stderr 'nowhere/file'
    expect_no_match 'Epoch'
done

it 'suggests the flag that was meant'
expect_exit 2 "$DLBENCH" train --epocs 3
expect_stderr 'did you mean --epochs'

it 'says what is wrong with a value, and what is allowed'
expect_exit 2 "$DLBENCH" train --epochs 0
expect_stderr 'epochs'
expect_exit 2 "$DLBENCH" train --optimizer adm
expect_stderr 'adam'
expect_exit 2 "$DLBENCH" train --threads 2 --inter-op 3
expect_stderr 'inter_op'
expect_exit 2 "$DLBENCH" train --data /nowhere
expect_stderr '/nowhere'
expect_exit 2 "$DLBENCH" train --counters NO_SUCH_EVENT
expect_stderr 'NO_SUCH_EVENT'

it 'lists every key in its help'
expect_exit 0 "$DLBENCH" train --help
for key in model data epochs batch optimizer lr seed threads intra-op inter-op kmp-blocktime; do
    expect_stdout "^ +--$key "
done

it 'ends after the step on Ctrl-C, with what was reached and no time'
"$DLBENCH" train --model horovod_cnn --epochs 1000 --csv stopped.csv >out 2>err &
trainer=$!
until grep -q 'Epoch 1/1000' out || ! kill -0 "$trainer"; do sleep 0.1; done
kill -INT "$trainer"
status=0
wait "$trainer" || status=$?
expect_equal 1 "$status"
grep -q 'stopped' err || fail "$(cat err)"
expect_equal failed "$(column stopped.csv status)"
expect_equal '' "$(column stopped.csv time_to_solution_s)"

it 'marks a diverged run and gives it no time'
expect_exit 1 "$DLBENCH" train "${short[@]}" --epochs 20 --lr 100 --weight-decay 10 --csv bad.csv
expect_stderr 'not finite'
expect_equal diverged "$(column bad.csv status)"
expect_equal '' "$(column bad.csv images_per_s)"

it 'trains on synthetic data without any file'
expect_exit 0 env DLBENCH_DATA=/nowhere "$DLBENCH" train "${short[@]}" --data synthetic

it 'trains a model that is only a file'
sed 's/filters=10/filters=6/; s/^model .*/model mine/' "$SOURCE/models/horovod_cnn.model" >mine.model
expect_exit 0 "$DLBENCH" train --model ./mine.model --train-images 640 --test-images 100 --epochs 1
expect_stdout '^Training mine$'
