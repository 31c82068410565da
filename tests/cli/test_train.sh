#!/usr/bin/env bash
# `dlbench train` as a user runs it.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

short=(--model horovod_cnn --train-images 1280 --test-images 500 --epochs 2 --threads 2)

it 'shows an epoch a line, then a summary, when not on a terminal'
expect_exit 0 "$DLBENCH" train "${short[@]}" --csv runs.csv --result result.json
expect_stdout '^Epoch 2/2 .* images/s  loss [0-9.]+ acc [0-9.]+  test [0-9.]+ [0-9.]+$'
expect_stdout '^  test +accuracy 0\.[0-9]{4}, loss [0-9.]+ after 2 epochs$'
expect_no_match $'\r'

it 'fits into 80 columns while it trains'
expect_equal 0 "$(stdout | grep '^Epoch' | grep -cE '.{81}')"

it 'appends one row under one header to the CSV file'
expect_exit 0 "$DLBENCH" train "${short[@]}" --csv runs.csv --quiet
expect_equal '' "$(stdout)"
expect_equal 3 "$(wc -l <runs.csv)"
expect_equal ok "$(column runs.csv status)"
expect_equal 64 "$(column runs.csv batch)"
expect_equal simd "$(column runs.csv kernels)"

it 'gives a time to solution, and an empty cell for a target never set'
[ -n "$(column runs.csv time_to_solution_s)" ] || fail 'no time to solution'
expect_equal '' "$(column runs.csv time_to_target_s)"

it 'trains the same for the same seed'
for name in train_accuracy train_loss test_accuracy test_loss; do
    second=$(column runs.csv "$name")
    [ -n "$second" ] || fail "no $name"
    expect_equal "$(sed '$d' runs.csv >first.csv && column first.csv "$name")" "$second"
done

it 'writes the whole result as JSON, with every key of the workload'
expect_file result.json '"status": ?"ok"'
keys=$(sed -nE 's/^KEY_[A-Z]+\(([a-z0-9_]+),.*/\1/p' "$SOURCE/harness/config/keys.def")
[ "$(wc -w <<<"$keys")" -gt 20 ] || fail 'keys.def is not read'
for key in $keys; do
    sed -n '/"workload"/,/}/p' result.json | grep -qE "\"$key\": ?\"" || fail "no $key"
done

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
for path in /proc/x.json /proc/self/comm .; do
    expect_exit 2 "$DLBENCH" train "${short[@]}" --result "$path"
    expect_no_match 'Epoch'
done

it 'refuses an empty name, and one name for two outputs'
for flag in --csv --result --trace; do
    expect_exit 2 "$DLBENCH" train "${short[@]}" "$flag" ''
    expect_stderr "$flag needs the name of a file"
done
expect_exit 2 "$DLBENCH" train "${short[@]}" --csv both --trace ./both
expect_stderr '--csv and --trace name the same file'
expect_exit 2 "$DLBENCH" train "${short[@]}" --result both --trace both
[ ! -e both ] || fail 'a file was made'

it 'writes to a pipe or a device, and into a link, without replacing them'
mkfifo pipe
ln -s /dev/null device
echo old >target
ln -s target link
cat pipe >piped &
expect_exit 0 "$DLBENCH" train "${short[@]}" --epochs 1 --quiet --result pipe --trace link --csv device
wait $!
expect_file piped '"status": ?"ok"'
expect_file target traceEvents
if [ ! -p pipe ] || [ ! -L link ] || [ ! -L device ] || [ ! -c /dev/null ]; then
    fail 'something was replaced'
fi

it 'writes the other outputs when one fails, and tells of each that did'
ln -s /dev/full full
expect_exit 1 "$DLBENCH" train "${short[@]}" --epochs 1 --csv one.csv --result full --trace one.json
expect_stderr 'full: No space left'
expect_file one.json traceEvents
expect_equal ok "$(column one.csv status)"
expect_exit 1 "$DLBENCH" train "${short[@]}" --epochs 1 --csv full --result two.json --trace two.trace
expect_stderr 'full: .*No space left'
expect_file two.json '"status": ?"ok"'
expect_file two.trace traceEvents

it 'does not call a run good whose output was lost'
printed_to_full() { "$@" >/dev/full; }
expect_exit 1 printed_to_full "$DLBENCH" train "${short[@]}" --epochs 1
expect_stderr 'standard output could not be written'
expect_exit 1 printed_to_full "$DLBENCH" summary keras_cnn
expect_exit 1 printed_to_full "$DLBENCH" --help

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
for key in $keys; do expect_stdout "^ +--${key//_/-} "; done

it 'names itself once in a message'
expect_exit 2 "$DLBENCH" train keras_cnn
expect_equal 'dlbench train takes no argument keras_cnn' "$(stderr)"

it 'shows its commands when asked for help in any way'
for word in --help -h help; do
    expect_exit 0 "$DLBENCH" "$word"
    expect_stdout '^  train '
done

it 'ends after the step on Ctrl-C, with what was reached and no time'
start_training --csv stopped.csv
kill -INT "$trainer"
expect_end 1
expect_stderr 'stopped .* [0-9,]+ images of epoch [0-9]+: loss [0-9.]+, accuracy [0-9.]+$'
expect_equal 1 "$(cat "$lib_folder"/std{out,err} | grep -c stopped)"
expect_equal failed "$(column stopped.csv status)"
expect_equal '' "$(column stopped.csv time_to_solution_s)"
expect_equal "dlbench train: $(column stopped.csv reason)" "$(stderr)"

it 'records the run when a signal comes twice at once, or is another one that asks to end'
for signals in 'INT INT' 'TERM INT' 'HUP TERM'; do
    start_training --csv twice.csv
    for signal in $signals; do kill -"$signal" "$trainer" 2>/dev/null || true; done
    expect_end 1
    expect_equal failed "$(column twice.csv status)"
done

it 'goes on after a hangup that is ignored, as under nohup'
trap '' HUP
start_training
trap - HUP
kill -HUP "$trainer"
sleep 0.5
kill -0 "$trainer" || fail 'the hangup ended it'
kill -TERM "$trainer"
expect_end 1

# ThreadSanitizer holds signals back while a pipe is being opened, so it cannot show this.
if [ "$(sanitizer)" != thread ]; then
    it 'ends at once on a signal a second after the first'
    mkfifo unread
    start_training --result unread
    kill -INT "$trainer"
    sleep 1.2
    kill -0 "$trainer" || fail 'it did not wait for the reader of the pipe'
    while kill -TERM "$trainer" 2>/dev/null; do sleep 0.2; done # it counts from when it saw the first
    expect_end 143
fi

it 'has no test accuracy of an evaluation that was cut short'
last_command='train, then cut short during the evaluation'
for delay in 1 3 9 27; do # the signal must not come before the evaluation
    "$DLBENCH" train --model horovod_cnn --kernels ref --threads 1 --data synthetic \
        --train-images 64 --test-images 60000 --epochs 1 --csv cut.csv \
        >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    trainer=$!
    sleep "$delay"
    kill -INT "$trainer"
    expect_end 1
    grep -q 'stopped in epoch' "$lib_folder/stderr" || break
done
expect_stderr 'stopped during the evaluation after epoch 1'
expect_equal '' "$(column cut.csv test_accuracy)"
expect_equal '' "$(column cut.csv test_loss)"
[ -n "$(column cut.csv train_loss)" ] || fail 'the epoch that ended has no loss'

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
