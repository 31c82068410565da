#!/usr/bin/env bash
# A sweep that is killed, again and again, at random moments: nothing lost, nothing twice.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

kills=50
[ -z "$(sanitizer)" ] || kills=5 # everything takes many times as long there

cat >study.ini <<'END'
[study]
name = study
repeats = 2
[workload]
model = horovod_cnn
epochs = 1
train_images = 640
test_images = 200
threads = 1
[grid alone]
workers = 1 2 4 8
[grid together]
ranks = 2
workers = 2 8
END
runs=12

# Every line of a table is whole: as many fields as its header has (no cell here has a comma within).
expect_readable() {
    local table
    for table in results/study/{runs,epochs,ranks}.csv; do
        [ ! -e "$table" ] || awk -v table="$table" '
            { gsub(/"[^"]*"/, "q"); n = gsub(/,/, ",") }
            NR == 1 { fields = n }
            n != fields { print table ":" NR ": " n " commas instead of " fields; bad = 1 }
            END { exit bad }' "$table" >"$lib_folder/stdout" || fail "a table is not readable"
    done
}

# No run is recorded twice, not even for a moment.
expect_no_run_twice() {
    [ ! -e results/study/runs.csv ] ||
        expect_equal '' "$(cut -d, -f1 results/study/runs.csv | sort | uniq -d)"
}

# kill_one: the engine, or one of the processes that it has started.
kill_one() {
    local victims=("$engine") candidate
    for candidate in $(processes_with results/study/tmp/); do victims+=("$candidate"); done
    kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true
}

it 'survives kills of the engine and of its ranks at random moments'
RANDOM=1
for ((i = 0; i < kills; i++)); do
    "$DLBENCH" sweep study.ini --no-plots --retry-failed >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    engine=$!
    sleep "0.$((RANDOM % 9))$((RANDOM % 10))"
    expect_readable
    expect_no_run_twice
    kill_one
    sleep "0.0$((RANDOM % 10))"
    kill -KILL "$engine" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
    expect_readable
    expect_no_run_twice
    if [ -e results/study/runs.csv ] && [ "$(wc -l <results/study/runs.csv)" -gt "$runs" ] &&
        [ $((i % 3)) -eq 2 ]; then
        rm -r results # all done: begin anew
    fi
done

it 'ends with each run exactly once when the same command is given again'
expect_exit 0 "$DLBENCH" sweep study.ini --no-plots --retry-failed
expect_readable
names() { tail -n +2 "results/study/$1.csv" | cut -d, -f1; }
expect_equal "$runs" "$(names runs | wc -l)"
expect_equal "$runs" "$(names runs | sort -u | wc -l)"
expect_equal "$(names runs | sort)" "$(names epochs | sort)"
expect_equal "$(names runs | sort)" "$(names ranks | sort -u)"
expect_equal 16 "$(names ranks | wc -l)"
expect_equal "$runs" "$(tail -n +2 results/study/runs.csv | cut -d, -f4 | grep -c '^ok$')"

it 'leaves no process behind'
for ((i = 0; i < 100; i++)); do
    [ -n "$(processes_with results/study/tmp/)" ] || break
    sleep 0.1
done
expect_equal '' "$(processes_with results/study/tmp/)"
