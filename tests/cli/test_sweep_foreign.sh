#!/usr/bin/env bash
# `dlbench sweep` with programs that are not ours.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

cat >program.sh <<'END'
#!/bin/sh
# program.sh SIZE FOLDER: prints a time, and leaves JSON and CSV behind
echo "elapsed: $1.5 s with $OMP_NUM_THREADS threads, colour $COLOUR"
printf '{"results": [{"score": 1}, {"score": %s}]}' "$1" >"$2/out.json"
printf 'step,loss\n1,0.9\n2,0.%s\n' "$1" >"$2/steps.csv"
END
chmod +x program.sh

study() {
    printf '[workload]\ncommand = %s\n' "$1"
    printf '%s\n' "${@:2}"
} >study.ini

# cell NAME: of the last row of the study.
cell() { column results/study/runs.csv "$1"; }

it 'fills braces, sets the environment, and takes metrics from output, JSON and CSV'
study "$PWD/program.sh {param.size} {run_dir}" 'threads = 2' \
    '[grid]' 'param.size = 3 3 4' 'env.COLOUR = "dark red"' \
    '[metrics]' 'time_to_solution_s = regex elapsed: ([0-9.]+) s' \
    'score = json out.json results.1.score' 'loss = csv {run_dir}/steps.csv loss'
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
expect_equal 3 "$(wc -l <results/study/runs.csv)"
size=$(cell param.size)
expect_equal "$size.5" "$(cell time_to_solution_s)"
expect_equal "$size" "$(cell score)"
expect_equal "0.$size" "$(cell loss)"
expect_equal 'dark red' "$(cell env.COLOUR)"
expect_equal 2 "$(cell threads)"
grep -qh 'with 2 threads, colour dark red' results/study/logs/*.log || fail 'another environment'

it 'fails a run that lacks a metric, with its last lines, and runs it again when asked'
rm -r results
study "sh -c \"echo nothing to see; exit 0\"" '[metrics]' 'score = regex score ([0-9]+)'
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
expect_equal failed "$(cell status)"
expect_equal '' "$(cell time_to_solution_s)"
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
expect_stdout '0 runs to do'
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots --retry-failed
expect_stdout '1 run to do'
expect_equal 2 "$(wc -l <results/study/runs.csv)"

[[ $(cell reason) == *'score'*'; it ended with: nothing to see' ]] || fail "$(cell reason)"

it 'takes a null for no value, which is an empty cell'
rm -r results
study "$PWD/program.sh null {run_dir}" '[metrics]' \
    'time_to_target_s = json out.json results.1.score' 'score = json out.json results.1.score'
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
expect_equal 'ok,,' "$(cell status),$(cell time_to_target_s),$(cell score)"

it 'finds metrics in what was printed, not in what was asked for'
rm -r results
study 'true score 5' '[metrics]' 'score = regex score ([0-9]+)'
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
expect_equal failed "$(cell status)"

it 'refuses metrics that would overwrite a parameter or a text'
for name in status threads lr wall_s; do
    study 'echo 1' '[metrics]' "$name = regex ([0-9]+)"
    expect_exit 2 "$DLBENCH" sweep study.ini --out refused
    expect_stderr "study.ini:4: $name is "
    [ ! -e refused ] || fail 'it made a folder'
done

it 'fails a run by its exit status or signal, and one that is not there'
for command in 'sh -c "exit 3"' "sh -c \"kill -9 \$\$\"" 'no-such-program-anywhere'; do
    rm -r results
    study "$command"
    expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
    expect_equal failed "$(cell status)"
    [ -n "$(cell reason)" ] || fail 'no reason'
done

it 'stops after the first failure when asked to, and goes on later'
rm -r results
study 'sh -c "exit {param.code}"' '[grid]' 'param.code = 3 4 5'
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots --fail-fast
expect_stdout 'stopped after the first failure; runs left to do: 2'
expect_equal 2 "$(wc -l <results/study/runs.csv)"
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
expect_equal 4 "$(wc -l <results/study/runs.csv)"

it 'repeats for a precision as often as it may, and says where that was not enough'
rm -r results
study 'sleep 0.0{param.i}' '[grid]' 'param.i = 1 2'
sed -i '1i [study]\nprecision = 0.001%\nmin_repeats = 2\nmax_repeats = 3' study.ini
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
expect_equal 7 "$(wc -l <results/study/runs.csv)"
expect_stdout 'the precision of 0.001 % was not reached at 2 points'

it 'gives no shell anything: words stay words'
rm -r results
study 'echo {param.word}' '[grid]' "param.word = \"\$(touch broken)\" \";touch broken\" \"a b\""
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
[ ! -e broken ] || fail 'a word was executed'
expect_equal 4 "$(wc -l <results/study/runs.csv)"

it 'starts several ranks of it under the launcher'
rm -r results
study "sh -c \"echo rank \$OMPI_COMM_WORLD_RANK done\"" 'ranks = 2' 'threads = 1'
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
grep -qh 'rank 1 done' results/study/logs/*.log || fail 'no second rank'

it 'puts a tool before every rank'
rm -r results
study 'echo run' '[launch]' 'wrap = env WRAPPED={repeat}'
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
grep -qh 'env WRAPPED=1 echo run' results/study/logs/*.sh || fail 'it was not put there'

it 'leaves none of a timed-out program behind, not even what ignores TERM'
rm -r results
study "sh -c \"trap '' TERM; sleep 987 & sleep 987\""
sed -i '1i [study]\ntimeout = 0.5s' study.ini
expect_exit 1 "$DLBENCH" sweep study.ini --no-plots
expect_equal timeout "$(cell status)"
for process in $(processes_with 987); do
    ! grep -qa '^sleep' "/proc/$process/cmdline" 2>/dev/null || fail "process $process lives on"
done

it 'waits, after it was killed, until nothing of its run is left that would disturb the next'
rm -rf results
cat >stubborn.sh <<'END'
trap '' TERM
echo begun >>stamps
sleep 1
echo ended >>stamps
END
study "sh $PWD/stubborn.sh"
"$DLBENCH" sweep study.ini --no-plots >/dev/null 2>&1 &
engine=$!
await_file stamps
kill -KILL "$engine"
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots
expect_equal 'begun ended begun ended' "$(paste -sd ' ' stamps)"

it 'refuses braces that name nothing'
study 'echo {param.sise}' '[grid]' 'param.size = 1 2'
expect_exit 2 "$DLBENCH" sweep study.ini
expect_stderr 'study.ini:2: .*param.size'

# A folder of 120 KB, in a mount namespace of its own, that becomes larger between two sweeps.
cat >on_a_full_disk.sh <<'END'
mkdir full && mount -t tmpfs -o size=120k tmpfs full
"$DLBENCH" sweep study.ini --no-plots --out full/study
echo "first exit $?, $(grep -c ',ok,' full/study/runs.csv) ok, $(grep -c ',failed,' full/study/runs.csv) failed"
mount -o remount,size=20m full
"$DLBENCH" sweep study.ini --no-plots --out full/study
echo "second exit $?, $(grep -c ',ok,' full/study/runs.csv) ok"
END

it 'stops before damage when the disk is full, and goes on when there is room'
study 'echo {param.i} and some more words' '[grid]' 'param.i = 1..100'
if unshare --mount --map-root-user mount -t tmpfs tmpfs /mnt 2>/dev/null; then
    expect_exit 0 unshare --mount --map-root-user bash on_a_full_disk.sh
    expect_stderr 'disk is full|No space left'
    expect_stdout '^first exit 1, [0-9]+ ok, 0 failed$'
    expect_stdout '^second exit 0, 100 ok$'
fi
