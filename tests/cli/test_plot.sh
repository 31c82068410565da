#!/usr/bin/env bash
# `dlbench plot`: figures from CSV files alone.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

golden=$SOURCE/tests/golden/plot
command -v gnuplot >/dev/null || left_out 'gnuplot is not installed'

it 'reduces a study to the data that it always was'
cp -r "$golden" study
rm -f study/*.dat
expect_exit 0 "$DLBENCH" plot study
expect_stdout '^9 figures in study/plots'
for data in "$golden"/*.dat; do
    diff -u "$data" "study/plots/${data##*/}" >difference || fail "$(cat difference)"
done
expect_equal "$(cd "$golden" && echo ./*.dat)" "$(cd study/plots && echo ./*.dat)"

it 'draws each figure as SVG, PNG and PDF'
for script in study/plots/*.gp; do
    expect_file "${script%.gp}.svg" '</svg>'
    expect_equal '%PDF' "$(head -c 4 "${script%.gp}.pdf")"
    expect_equal 'PNG' "$(head -c 4 "${script%.gp}.png" | tail -c 3)"
done

it 'says in every caption of how many runs, of what, and where'
for script in study/plots/*.gp; do
    expect_file "$script" "^array caption.*Model horovod_cnn, epochs 2, n.=.[12].*host vm"
done

it 'tells the formats that it has drawn'
expect_stdout 'each as SVG, PNG and PDF'

it 'leaves scripts that can be run again by hand'
rm study/plots/speedup_scaling.svg
(cd study/plots && gnuplot speedup_scaling.gp)
expect_file study/plots/speedup_scaling.svg '</svg>'

it 'leaves no picture behind that is half drawn'
expect_equal '' "$(find study -name '*.new.*')"

it 'reads a runs.csv copied from elsewhere, whatever its name'
mkdir elsewhere
cp study/runs.csv elsewhere/copied.csv
expect_exit 0 "$DLBENCH" plot elsewhere/copied.csv --out figures
expect_file figures/speedup_scaling.png
[ ! -e figures/phases.dat ] || fail 'there was no ranks.csv'
cmp -s figures/accuracy.dat study/plots/accuracy.dat || fail 'accuracies differ'

it 'keeps the pictures in step with the data, and what is not ours as it is'
echo '<svg/>' >study/plots/mine.svg
grep -v ',scaling,' study/runs.csv >fewer.csv
mv fewer.csv study/runs.csv
expect_exit 0 "$DLBENCH" plot study
[ ! -e study/plots/speedup_scaling.svg ] || fail 'a figure without data is still there'
expect_file study/plots/mine.svg
expect_file study/plots/accuracy.svg

it 'draws in the terminal and writes nothing'
cp "$golden/runs.csv" elsewhere/runs.csv
DLBENCH_TERMINAL=100 expect_exit 0 "$DLBENCH" plot elsewhere --terminal
expect_stdout 'speed-up over 1 rank'
expect_stdout 'Accuracy against workers'
[ ! -e elsewhere/plots ] || fail 'files were written'

it 'says which package is missing, and still leaves data and scripts'
mkdir nothing
expect_exit 1 env PATH="$PWD/nothing" "$DLBENCH" plot elsewhere --out bare
expect_stderr 'gnuplot-nox'
expect_file bare/speedup_scaling.dat
expect_file bare/speedup_scaling.gp

it "tells gnuplot's own message when it fails"
mkdir fake
printf '#!/bin/sh\necho "gnuplot: no such terminal" >&2\nexit 1\n' >fake/gnuplot
chmod +x fake/gnuplot
expect_exit 1 env PATH="$PWD/fake:$PATH" "$DLBENCH" plot elsewhere --out bare
expect_stderr 'no such terminal'

it 'keeps the good picture of a figure that fails half-way, and draws the others'
cat >fake/gnuplot <<'END'
#!/bin/sh
shift 3
for script; do
    figure=${script%.gp}
    echo drawn >"$figure.new.svg"
    [ "$figure" != accuracy ] || { echo 'disk full' >&2; exit 1; }
    echo "$figure"
done
END
echo good >bare/accuracy.svg
expect_exit 1 env PATH="$PWD/fake:$PATH" "$DLBENCH" plot elsewhere --out bare
expect_stderr 'disk full'
expect_equal good "$(cat bare/accuracy.svg)"
expect_equal 'drawn drawn' "$(cat bare/speedup_scaling.svg bare/ranks_threads_scaling.svg | xargs)"
expect_equal '' "$(find bare -name '*.new.*')"

it 'says so when there is nothing to draw'
head -n 1 study/runs.csv >empty.csv
expect_exit 0 "$DLBENCH" plot empty.csv
expect_stdout '^No figure'

it 'refuses what is no runs.csv, a folder without one, and wrong flags'
expect_exit 2 "$DLBENCH" plot "$golden/epochs.csv"
expect_stderr 'no runs.csv'
expect_exit 2 "$DLBENCH" plot nothing
expect_stderr 'nothing/runs.csv'
expect_exit 2 "$DLBENCH" plot
expect_exit 2 "$DLBENCH" plot study --terminl
expect_stderr 'terminal'
