#!/usr/bin/env bash
# `dlbench check`: verdicts on kernels of two programs, and what they talk by. Programs that answer
# what a test wants stand for the commit before; how well real slowdowns are seen is measured by
# `dlbench selftest stats`.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/cli/fakes.sh
. "$SOURCE/tests/cli/fakes.sh"

it 'serves kernels by lines that the header documents'
last_command='bench serve'
printf 'calibrate 0 0.001\nrun 0 3\n' |
    "$DLBENCH" bench serve "${quick[@]}" --steps 1 >"$lib_folder/stdout" 2>"$lib_folder/stderr"
expect_stdout '^dlbench-kernels 2$'
expect_stdout "^case $kernel\$"
expect_stdout '^ready$'
expect_stdout '^repeats [1-9][0-9]*$'
expect_stdout '^sample [1-9][0-9]* [0-9]+ [01]$'

it 'ends with 2 at a request that is none'
for request in nonsense 'run 0' 'run 999 1' 'run 0 0' 'calibrate 0 -1' 'run 0 1 x'; do
    status=0
    printf '%s\n' "$request" | "$DLBENCH" bench serve "${quick[@]}" --steps 1 \
        >"$lib_folder/stdout" 2>"$lib_folder/stderr" || status=$?
    [ "$status" -eq 2 ] || fail "'$request': exit status $status instead of 2"
    expect_stderr "'$request' is no request"
done

it 'refuses what it cannot compare with, or by'
touch plain
fake other 10
sed -i 's/dlbench-kernels 2/dlbench-kernels 999/' other
refuse() {
    local message=$1
    shift
    expect_exit 2 "$DLBENCH" check "${quick[@]}" "$@"
    expect_stderr "^dlbench check: .*$message"
}
refuse 'compare with what'
refuse 'no such program' --against nonsense
refuse 'cannot be executed' --against plain
refuse 'does not serve its kernels' --against /bin/true
refuse 'does not serve its kernels' --against ./other
refuse 'threshold 0: must be' --against "$DLBENCH" --threshold 0
refuse 'allow -1: must be' --against "$DLBENCH" --allow -1
refuse 'rounds 0: must be' --against "$DLBENCH" --rounds 0
refuse 'no kernel has such a name' --against "$DLBENCH" --only nonsense
refuse 'nowhere' --against "$DLBENCH" --junit nowhere/junit.xml
refuse 'nonsense' --against "$DLBENCH" --model nonsense

it 'says that a kernel is slower, and exits with 1'
fake fast 10
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./fast --rounds 6 \
    --markdown verdicts.md --junit verdicts.xml --csv slices.csv
expect_stdout "horovod_cnn $kernel .* slower\$"
expect_stdout '^1 slower, 0 faster, 0 same, 0 inconclusive$'
expect_file verdicts.md "^\\| horovod_cnn $kernel \\| .* \\| \\*\\*slower\\*\\* \\|\$"
expect_file verdicts.md 'kernels that only one of the programs has are left out'
expect_file verdicts.xml 'tests="1" failures="1" errors="0" skipped="0"'
expect_file verdicts.xml "name=\"$kernel\""

it 'keeps every slice: two a pass and side, in rounds that were measured twice'
[ "$(head -n 1 slices.csv)" = series,round,model,kernel,side,time_s,calls,switched,migrated ] ||
    fail 'another header'
for side in before after control; do
    slices=$(grep -c ",$side," slices.csv) # more where some were disturbed
    [ "$slices" -ge $((2 * 6 * 2 * 12)) ] || fail "only $slices of $side"
    [ $((slices % 2)) -eq 0 ] || fail "$slices of $side: half a pass"
done

it 'says that a kernel is faster, and exits with 0'
fake slow 1000000000
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./slow --rounds 6
expect_stdout "horovod_cnn $kernel .* faster\$"

it 'allows so many slower kernels, but no whole training step'
fake fast2 10 "$kernel" 'dense_1 forward'
fake fast_step 10 "$whole_step"
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./fast --rounds 6 --allow 0
expect_no_match 'allowed'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./fast --rounds 6 --allow 1 \
    --markdown allowed.md --junit allowed.xml
expect_stdout '^1 slower kernel is allowed \(--allow 1\), no whole training step'
expect_file allowed.md '^1 slower kernel is allowed'
expect_file allowed.xml 'tests="1" failures="0" errors="0" skipped="1"'
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./fast2 --rounds 7 --allow 1
expect_stdout '^2 slower, '
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./fast2 --rounds 7 --allow 2
expect_stdout '^2 slower kernels are allowed'
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./fast_step --rounds 6 --allow 2
expect_stdout "$whole_step .* slower\$"

it 'guesses nothing where the program before differs from itself'
# shellcheck disable=SC2016 # the fake's own variable
fake erratic '$((10 ** (RANDOM % 7)))'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./erratic --rounds 6
expect_stdout "horovod_cnn $kernel .* inconclusive\$"
expect_exit 3 "$DLBENCH" check "${quick[@]}" --against ./erratic --rounds 6 --strict

it 'takes a program that answers nonsense, or ends, for a failure'
fake liar nonsense
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./liar
expect_stderr "liar answered 'sample nonsense 0 0'"
sed 's/run) .*/run) exit ;;/' liar >mute && chmod +x mute
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against ./mute
expect_stderr 'mute ended before it had answered'

it 'fails where the program that is to be judged breaks, not where it was asked for something wrong'
# saboteur STATUS: a program before the change that makes the one after it end so from then on.
saboteur() {
    cp "$DLBENCH" judged
    fake sabotage 10
    sed -i "1a rm -f judged; printf '#!/bin/sh\\nexit $1\\n' >judged; chmod +x judged" sabotage
}
saboteur 1
expect_exit 1 ./judged check "${quick[@]}" --against ./sabotage --rounds 6
expect_stderr 'judged, which is to be judged, does not serve its kernels'
saboteur 2
expect_exit 2 ./judged check "${quick[@]}" --against ./sabotage --rounds 6

it 'compares with a commit, built by its own wrapper'
fake_tree tree ./fast
cd tree
expect_exit 2 "$DLBENCH" check "${quick[@]}" --against nonsense
expect_stderr 'no such commit'
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against HEAD --rounds 6
expect_stdout '^Kernels of this program \(after\) beside those of HEAD \(before\)'
[ -x "build/against/$(git rev-parse HEAD)/build/release/bin/dlbench" ] || fail 'built elsewhere'
printf '#!/bin/sh\nexit 1\n' >dlbench
git add dlbench
fake_commit . broken
expect_exit 2 "$DLBENCH" check "${quick[@]}" --against HEAD
expect_stderr 'could not be built, so that there is nothing to compare with'
git reset -q --hard HEAD~1
cd ..

it 'compares with where the branch left the main line, or on it with the commit before'
unset DLBENCH_CHECK_BASE CI_MERGE_REQUEST_DIFF_BASE_SHA GITHUB_BASE_REF
# expect_base REV REASON: what is chosen where nothing is named.
expect_base() {
    expect_exit 1 "$DLBENCH" check "${quick[@]}" --rounds 6
    expect_stderr "^dlbench check: comparing with $(git rev-parse "$1"), $2\$"
}
git clone -q tree clone
cd clone
expect_exit 2 "$DLBENCH" check "${quick[@]}"
expect_stderr 'no commit before HEAD'
fake_commit . second
git update-ref refs/remotes/origin/main HEAD
expect_base HEAD~1 'the commit before HEAD, which is on origin/HEAD'
git switch -qc topic
fake_commit . third
fake_commit . fourth
expect_base origin/main 'where HEAD left origin/HEAD'
GITHUB_BASE_REF=main expect_base origin/main 'where HEAD left origin/main'
CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD~1) expect_base HEAD~1 "where HEAD left $(git rev-parse HEAD~1)"
GITHUB_BASE_REF=gone expect_base origin/main 'where HEAD left origin/HEAD'
DLBENCH_CHECK_BASE=HEAD~1 expect_base HEAD~1 'where HEAD left HEAD~1'
DLBENCH_CHECK_BASE=--output=x expect_exit 2 "$DLBENCH" check "${quick[@]}"
expect_stderr 'DLBENCH_CHECK_BASE=--output=x: there is no such commit'
git remote remove origin
expect_base HEAD~1 'the commit before HEAD, as there is no other line here'
cd ..

it 'compares a real program with itself'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against "$DLBENCH" --only "$kernel" --rounds 6
expect_stdout "horovod_cnn $kernel +[0-9.]+ [nµm]?s +[0-9.]+ [nµm]?s .* (same|inconclusive)\$"

it 'injects slowdowns, and counts what was seen of them'
expect_exit 2 "$DLBENCH" selftest
expect_exit 0 "$DLBENCH" selftest --help
expect_exit 2 "$DLBENCH" selftest stats --checks 0
expect_exit 2 "$DLBENCH" selftest stats --slowdowns '0 much'
expect_stderr 'slowdowns much: must be a number'
expect_exit 2 "$DLBENCH" selftest stats --slowdowns ','
expect_exit 2 "$DLBENCH" selftest stats --noise -1

it 'sees what is eleven times as slow, in a program that is another file'
mkdir scratch
TMPDIR=$PWD/scratch expect_exit 0 "$DLBENCH" selftest stats --checks 1 --slowdowns 1000 \
    --only "$kernel" --csv selftest.csv
expect_stdout '^ +1000 % +1 +100.0 % .* 100.0 %'
expect_file selftest.csv "^1,0,0,1000,$kernel,slower,"
expect_equal '' "$(ls scratch)"

it 'writes tables and verdicts for models of any name'
cp "$SOURCE/models/horovod_cnn.model" $'odd <\x01\xff|&.model'
expect_exit 1 "$DLBENCH" check --model $'./odd <\x01\xff|&.model' --data synthetic --against ./fast --rounds 6 \
    --markdown odd.md --junit odd.xml
expect_file odd.md '^\| \./odd <\?\?\\\|&\.model relu_3 forward '
expect_file odd.xml 'classname="\./odd &lt;\?\?|&amp;\.model"'
expect_exit 2 "$DLBENCH" check "${quick[@]}" --against ./fast --csv one --junit ./one
expect_stderr '--csv and --junit name the same file'
