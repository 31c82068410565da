#!/usr/bin/env bash
# `dlbench check --history`: what checks have found, kept and drawn commit after commit.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/cli/fakes.sh
. "$SOURCE/tests/cli/fakes.sh"

header=date,host,cpu,isa,kernels,commit_before,commit_after,model,kernel,before_s,after_s
header+=,change_pct,low_pct,high_pct,resolution_pct,verdict,rounds
fake fast 10 "$kernel" "$whole_step"
check() { "$DLBENCH" check "${quick[@]}" --against ./fast --rounds 8 "$@"; }

it 'appends a row a kernel and check'
for times in 1 2; do
    expect_exit 1 check --history history.csv
    expect_equal "$header" "$(head -n 1 history.csv)"
    expect_equal $((1 + 2 * times)) "$(wc -l <history.csv)"
done
expect_equal horovod_cnn "$(column history.csv model)"
expect_equal "$whole_step" "$(column history.csv kernel)"
expect_equal slower "$(column history.csv verdict)"
expect_equal 8 "$(column history.csv rounds)"
expect_equal auto "$(column history.csv kernels)"
expect_equal "$PWD/fast" "$(column history.csv commit_before)"
expect_file history.csv '^[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}Z,'
awk -v before="$(column history.csv before_s)" -v after="$(column history.csv after_s)" \
    -v low="$(column history.csv low_pct)" -v change="$(column history.csv change_pct)" \
    -v high="$(column history.csv high_pct)" \
    'BEGIN { exit !(before > 0.99e-8 && before < 1.01e-8 && after > before && 0 < low && low <= change && change <= high) }' ||
    fail 'the numbers do not agree'

it 'names the commit before by its whole hash'
fake_tree tree ./fast
cd tree
expect_exit 1 "$DLBENCH" check "${quick[@]}" --against HEAD --rounds 8 --history history.csv
expect_equal "$(git rev-parse HEAD)" "$(column history.csv commit_before)"
cd ..

it 'refuses a file of something else, and one with nonsense in it, before it measures'
printf 'a,b\n1,2\n' >foreign.csv
cp foreign.csv kept.csv
expect_exit 2 check --history foreign.csv
expect_stderr 'foreign.csv: its header is not that of'
cmp -s foreign.csv kept.csv || fail 'it was changed'
cp history.csv kept.dat # where the data of its figure would go
expect_exit 2 check --history kept.dat
expect_stderr 'kept.dat: .* must end in .csv'
expect_exit 2 "$DLBENCH" plot kept.dat
cmp -s history.csv kept.dat || fail 'it was replaced'
rm kept.dat
sed '3s/,slower,/,slowest,/' history.csv >nonsense.csv
cp nonsense.csv kept.csv
expect_exit 2 check --history nonsense.csv
expect_stderr "nonsense.csv:3: verdict 'slowest' is none of"
cmp -s nonsense.csv kept.csv || fail 'it was changed'
expect_exit 2 check --history nowhere/history.csv
expect_no_match 'Kernels of'

it 'says why a history cannot be drawn, with file and line'
expect_exit 2 "$DLBENCH" plot nonsense.csv
expect_stderr '^dlbench plot: nonsense.csv:3: '

it 'has a verdict without gnuplot, too'
mkdir bin
for tool in bash env; do ln -s "$(command -v "$tool")" bin; done
expect_exit 1 env PATH="$PWD/bin" "$DLBENCH" check "${quick[@]}" --against ./fast --rounds 8 \
    --history bare.csv
expect_stderr 'no figure of bare.csv: .*gnuplot-nox'
expect_equal 3 "$(wc -l <bare.csv)"

command -v gnuplot >/dev/null || left_out 'gnuplot is not installed'

it 'draws it beside the file'
expect_file history.svg '</svg>'
expect_file history.svg 'What became slower'
expect_equal PNG "$(head -c 4 history.png | tail -c 3)"

it 'draws it again from the file alone, and leaves other figures where they are'
mkdir moved
cp history.csv moved/old-checks.csv
cp history.gp moved/other.gp
expect_exit 0 "$DLBENCH" plot moved/old-checks.csv
expect_file moved/old-checks.svg '</svg>'
expect_file moved/other.gp
cmp -s moved/old-checks.dat history.dat || fail 'other data'
expect_exit 0 "$DLBENCH" plot history.csv --out elsewhere
expect_file elsewhere/history.pdf
DLBENCH_TERMINAL=100 expect_exit 0 "$DLBENCH" plot history.csv --terminal
expect_stdout 'horovod_cnn whole step'

it 'draws a hundred checks of forty kernels, and none'
awk -v header="$header" 'BEGIN {
    print header
    for (check = 1; check <= 100; check++)
        for (kernel = 1; kernel <= 40; kernel++)
            printf "2026-01-%02dT00:00:%02dZ,vm,cpu,avx2,auto,%012x%028x,%012x,m,%s,1e-6,1e-6,%g,%g,%g,1,%s,20\n",
                check % 28 + 1, check % 60, check - 1, 0, check,
                kernel == 1 ? "training step" : "kernel " kernel,
                (check * kernel) % 7, (check * kernel) % 7 - 1, (check * kernel) % 7 + 1,
                (check * kernel) % 7 == 6 ? "slower" : "same"
}' >many.csv
expect_exit 0 "$DLBENCH" plot many.csv
expect_file many.svg 'other commits'
echo "$header" >empty.csv
expect_exit 0 "$DLBENCH" plot empty.csv
expect_stdout '^No figure'
