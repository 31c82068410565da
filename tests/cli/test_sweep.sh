#!/usr/bin/env bash
# `dlbench sweep` with our own trainer.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# study FILE LINE…: a sweep file with a short workload, then these lines.
study() {
    {
        printf '[study]\nname = %s\n' "$(basename "$1" .ini)"
        printf '[workload]\nmodel = horovod_cnn\ntrain_images = 640\ntest_images = 200\n'
        printf 'epochs = 1\nthreads = 1\n'
        printf '%s\n' "${@:2}"
    } >"$1"
}

# cells FILE NAME: a column of a CSV file whose cells have no commas, sorted, on one line.
cells() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        { print $at }' "$1" | sort | paste -sd ' '
}

it 'runs every point once and records it in three tables, with logs and provenance'
study first.ini '[grid]' 'workers = 1 2' 'warmup_epochs = 0 1'
expect_exit 0 "$DLBENCH" sweep first.ini --no-plots
expect_equal 'ok ok ok ok' "$(cells results/first/runs.csv status)"
expect_equal '1 1 2 2' "$(cells results/first/runs.csv workers)"
expect_equal 4 "$(cells results/first/runs.csv run | tr ' ' '\n' | uniq | wc -l)"
expect_equal 5 "$(wc -l <results/first/epochs.csv)"
expect_equal 5 "$(wc -l <results/first/ranks.csv)"
expect_file results/first/host.json '"compiler": "'
expect_file results/first/host.json '"cpus_allowed": "'
expect_file results/first/host.json '"mnist": "[0-9a-f]{16}"'
expect_equal 4 "$(find results/first/logs -name '*.log' | wc -l)"
for command in results/first/logs/*.sh; do
    expect_file "$command" '^OMP_NUM_THREADS=1 .*dlbench train .*--workers [12]'
done

it 'leaves nothing in the folder for results on their way'
expect_equal '' "$(ls results/first/tmp)"

it 'runs nothing twice'
before=$(cat results/first/runs.csv)
expect_exit 0 "$DLBENCH" sweep first.ini --no-plots
expect_stdout '0 runs to do, 4 recorded before'
expect_equal "$before" "$(cat results/first/runs.csv)"

it 'adds the points of a changed file, keeps the others, and says so'
study first.ini '[grid]' 'workers = 2 4' 'warmup_epochs = 0 1'
expect_exit 0 "$DLBENCH" sweep first.ini --no-plots
expect_stdout '4 points, 2 runs to do, 2 recorded before, 2 of other points kept'
expect_equal '1 1 2 2 4 4' "$(cells results/first/runs.csv workers)"

it 'runs everything again with --fresh, and loses no row'
expect_exit 0 "$DLBENCH" sweep first.ini --no-plots --fresh
expect_equal '1 1 2 2 4 4' "$(cells results/first/runs.csv workers)"
expect_equal '2 2 4 4' "$(cells results/first/superseded.csv workers)"

it 'trains repeat k with seed + k - 1, in blocks'
study repeats.ini 'seed = 7' '[grid]' 'workers = 1 2'
sed -i 's/^name.*/&\nrepeats = 3/' repeats.ini
expect_exit 0 "$DLBENCH" sweep repeats.ini --no-plots
expect_equal '7 7 8 8 9 9' "$(cells results/repeats/runs.csv seed)"
expect_equal '1 1 2 2 3 3' "$(cells results/repeats/runs.csv repeat)"
expect_equal '1 1 2 2 3 3' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "repeat") r = i
    next } { print $r }' results/repeats/runs.csv | paste -sd ' ')"

it 'repeats within the budget of the whole study, however often it is started'
study budget.ini '[grid]' 'workers = 1 2'
sed -i 's/^name.*/&\nmin_repeats = 1\nmax_repeats = 9\nbudget = 0.001s/' budget.ini
expect_exit 0 "$DLBENCH" sweep budget.ini --no-plots
expect_equal '1 1' "$(cells results/budget/runs.csv repeat)"
expect_exit 0 "$DLBENCH" sweep budget.ini --no-plots
expect_equal '1 1' "$(cells results/budget/runs.csv repeat)"
sed -i 's/^budget.*/budget = 1h/; s/^max_repeats.*/max_repeats = 2/' budget.ini
expect_exit 0 "$DLBENCH" sweep budget.ini --no-plots
expect_equal '1 1 2 2' "$(cells results/budget/runs.csv repeat)"

it 'gives a tool before the ranks a folder, and tells its runs from others'
study wrapped.ini '[launch]' 'wrap = env WRAPPED={run_dir}'
expect_exit 0 "$DLBENCH" sweep wrapped.ini --no-plots
run=$(column results/wrapped/runs.csv run)
[ -d "results/wrapped/runs/$run" ] || fail 'no folder of the run'
expect_file "results/wrapped/logs/$run.sh" "WRAPPED=results/wrapped/runs/$run .*dlbench train"
expect_equal 'env WRAPPED={run_dir}' "$(column results/wrapped/runs.csv wrap)"
sed -i '/wrap/d' wrapped.ini
expect_exit 0 "$DLBENCH" sweep wrapped.ini --no-plots
expect_stdout '1 run to do, 1 of other points kept'

it 'starts ranks under mpirun, each with its end record, and exchanges between them'
study ranks.ini 'mode = strong' 'batch = 64' '[grid]' 'ranks = 1 2'
expect_exit 0 "$DLBENCH" sweep ranks.ini --no-plots
expect_equal '1 2' "$(cells results/ranks/runs.csv ranks)"
expect_equal '32 64' "$(cells results/ranks/runs.csv batch)"
expect_equal '64 64' "$(cells results/ranks/runs.csv global_batch)"
expect_equal '0 0 1' "$(cells results/ranks/ranks.csv rank)"
expect_equal 'mpirun none' "$(cells results/ranks/runs.csv launcher)"

it 'shows the points, commands and environment in a dry run, and starts nothing'
study dry.ini '[grid]' 'workers = 1 2' 'kmp_blocktime = 0' 'env.SOME_VARIABLE = a b'
expect_exit 0 "$DLBENCH" sweep dry.ini --dry-run
expect_stdout '^ +[0-9a-f]{16} +2 +b '
expect_stdout 'SOME_VARIABLE=b .*dlbench train .*--workers 2'
expect_stdout 'KMP_BLOCKTIME=0'
expect_stdout '4 points, 4 runs into results/dry'
[ ! -e results/dry ] || fail 'it made a folder'

it 'runs the chosen points only'
expect_exit 0 "$DLBENCH" sweep dry.ini --no-plots --only 'workers == 2 and env.SOME_VARIABLE == "a"'
expect_equal 2 "$(cells results/dry/runs.csv workers)"
expect_equal a "$(cells results/dry/runs.csv env.SOME_VARIABLE)"
expect_exit 2 "$DLBENCH" sweep dry.ini --only 'wrokers == 2'
expect_stderr 'workers'

it 'points at what is wrong in a file, and starts nothing'
study wrong.ini '[grid]' 'wrokers = 1 2'
expect_exit 2 "$DLBENCH" sweep wrong.ini
expect_stderr "wrong.ini:10: .*'wrokers'.*did you mean workers"
expect_stderr '^ *\^'
for line in 'workers = 1 x' 'threads = 5000' 'workers = 3..1' 'batch = 0' 'optimizer = sdg' \
    'ranks = 2 3' 'intra_op = 2' 'where = workers ==' 'zip = workers lr' 'mode = strang'; do
    study wrong.ini 'workers = 4' '[grid]' "$line"
    expect_exit 2 "$DLBENCH" sweep wrong.ini
    expect_stderr 'wrong.ini:(9|11): '
    [ ! -e results/wrong ] || fail "'$line' made a folder"
done

it 'refuses a study without points'
study empty.ini '[grid]' 'workers = 1 2' 'where = workers > 2'
expect_exit 2 "$DLBENCH" sweep empty.ini

it 'calls a training that diverged diverged, without times'
study far.ini 'lr = 1000' 'weight_decay = 10' 'lr_scaling = none' '[grid]' 'workers = 1'
expect_exit 0 "$DLBENCH" sweep far.ini --no-plots
expect_equal diverged "$(cells results/far/runs.csv status)"
expect_equal '' "$(column results/far/runs.csv time_to_solution_s)"

it 'calls a run that takes too long a timeout, and exits with 1'
study slow.ini 'epochs = 1000' '[grid]' 'workers = 1'
sed -i '/^epochs = 1$/d; s/^name.*/&\ntimeout = 1s/' slow.ini
expect_exit 1 "$DLBENCH" sweep slow.ini --no-plots
expect_equal timeout "$(cells results/slow/runs.csv status)"
expect_equal '' "$(column results/slow/runs.csv time_to_solution_s)"
expect_equal '' "$(processes_with "$PWD/results/slow")"

it 'refuses a second sweep of the same folder while the first runs'
study long.ini 'epochs = 1000' '[grid]' 'workers = 1'
sed -i '/^epochs = 1$/d' long.ini
"$DLBENCH" sweep long.ini --no-plots >/dev/null 2>&1 &
first=$!
await_file results/long/tmp
expect_exit 2 "$DLBENCH" sweep long.ini --no-plots
expect_stderr "$first"

it 'ends cleanly when it is told to, and records nothing of what was cut short'
kill -TERM "$first"
status=0
wait "$first" || status=$?
expect_equal 1 "$status"
expect_equal 1 "$(wc -l <results/long/runs.csv)"
expect_equal '' "$(processes_with results/long/tmp)"

it 'stops before damage where the folder cannot be written'
if [ "$(id -u)" -ne 0 ]; then
    mkdir sealed && chmod 555 sealed
    expect_exit 2 "$DLBENCH" sweep first.ini --out sealed/here
    expect_stderr 'sealed'
fi
touch file
expect_exit 2 "$DLBENCH" sweep first.ini --out file

it 'can plan every study that comes with the program, each opening with its question'
for file in "$SOURCE"/sweeps/*.ini; do
    expect_exit 0 "$DLBENCH" sweep "$file" --dry-run
    [[ $(head -n 6 "$file") == ';'*'?'* ]] || fail "$file asks nothing"
done
