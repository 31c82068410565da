#!/usr/bin/env bash
# `dlbench check --baseline`: what kernels take beside references, now and when it was saved. Whether
# verdicts are right is what unit.stats is for; here baselines are changed by hand.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

quick=(--model horovod_cnn --data synthetic --only 'dense_1 forward,relu_3 forward' --rounds 12)
file=folder/baselines.json

check() { expect_exit "$1" "$DLBENCH" check "${quick[@]}" --baseline "$file" "${@:2}"; }

it 'saves a baseline for this CPU, in folders that it makes'
check 0 --save-baseline --csv slices.csv
expect_stdout "^$file has 2 kernels of .+, [a-z]+, [a-z0-9]+, in 12 rounds\\.\$"
expect_file "$file" '"format": "dlbench-baselines"'
expect_file "$file" '"kernel": "dense_1 forward"'
expect_file "$file" '"kernel": "sgemm [0-9]+³"'
expect_file slices.csv ',relu_3 forward,(sgemm [0-9]+³|triad),'

it 'compares with it, beside the same references'
check 0 --threshold 100 # ratios within a factor of two are the same on any machine
expect_stdout '^Kernels of this program \(after\) beside those of folder/baselines.json \(before\)'
expect_stdout 'horovod_cnn dense_1 forward +[0-9.e-]+ (sgemm [0-9]+³|triad) +[0-9.e-]+ (sgemm [0-9]+³|triad) .*(same|inconclusive)$'
expect_stdout 'references have moved since then'

# shift NUMBER: what was saved of dense_1 forward becomes that much longer, as a logarithm.
shift_by() {
    awk -v by="$1" '/"kernel"/ { on = /dense_1 forward/ }
        on && /^ *-?[0-9.]+,?$/ { sub(/-?[0-9.]+/, sprintf("%.6f", $1 + by)) } { print }' \
        "$file" >changed && mv changed "$file"
}

it 'says that a kernel is slower than it was, and exits with 1'
shift_by -3
check 1 --threshold 100 --markdown verdicts.md
expect_stdout 'horovod_cnn dense_1 forward .* slower$'
expect_file verdicts.md 'dense_1 forward .*\*\*slower\*\*'

it 'says that it is faster, and exits with 0'
shift_by 6
check 0 --threshold 100
expect_stdout 'horovod_cnn dense_1 forward .* faster$'

it 'leaves out what the baseline does not have'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --only 'relu_3' --baseline "$file" --threshold 100
expect_stdout '1 kernels that only one of program and baseline has are'

it 'does not pass where the baseline has nothing of a model, or too few rounds'
expect_exit 3 "$DLBENCH" check --data synthetic --only 'dense_1 forward' --baseline "$file"
expect_stderr 'has no kernels of keras_cnn of this machine'
expect_exit 0 "$DLBENCH" check --data synthetic --only 'horovod_cnn dense_1 forward' --rounds 12 \
    --baseline "$file" --threshold 100
expect_exit 2 "$DLBENCH" check --data synthetic --only nonsense --baseline "$file"
expect_stderr 'only nonsense: no kernel has such a name'
cp "$file" kept
python3 - "$file" <<'END' 2>/dev/null || sed -i -E '/^ +-?[0-9.]+,$/d' "$file"
import json, sys
all = json.load(open(sys.argv[1]))
for ratio in all["baselines"][0]["ratios"]:
    ratio["logs"] = ratio["logs"][:3]
json.dump(all, open(sys.argv[1], "w"))
END
check 3
expect_stderr 'has no baseline with enough rounds \(2 kernels need [0-9]+, it has [0-9]+\)'
mv kept "$file"

it 'puts no part of a baseline in place of a whole one'
expect_exit 2 "$DLBENCH" check "${quick[@]}" --baseline "$file" --save-baseline
expect_stderr 'would keep a part only'

it 'says that a machine has no baseline, and does not pass'
cp "$file" kept
sed -i 's/"cpu": ".*"/"cpu": "another"/' "$file"
check 3
expect_stderr 'has no baseline of this machine .*--save-baseline'

it 'adds a machine to the others of the file'
check 0 --save-baseline
expect_equal 2 "$(grep -c '"cpu"' "$file")"

# refuse MESSAGE FLAG…: with one message, before anything is measured, and the file as it was.
refuse() {
    local before
    before=$(md5sum "$file" 2>&1 || true)
    check 2 "${@:2}"
    expect_stderr "^dlbench check: .*$1"
    expect_equal 1 "$(stderr | wc -l)"
    expect_equal "$before" "$(md5sum "$file" 2>&1 || true)"
}

it 'refuses a baseline that is corrupt, empty, foreign or of a later version, and leaves it alone'
for flag in '' --save-baseline; do
    head -c 300 kept >"$file"
    refuse 'baselines.json: it is no JSON \(line' $flag
    : >"$file"
    refuse 'baselines.json: it is empty' $flag
    echo '{"models": []}' >"$file"
    refuse 'baselines.json: it is no file of baselines' $flag
    sed 's/"version": 1/"version": 2/' kept >"$file"
    refuse 'baselines.json: it is of a later version of dlbench' $flag
    sed 's/"isa": ".*"/"isa": 7/' kept >"$file"
    refuse 'baselines.json: its baseline number 1 is damaged' $flag
done
rm "$file"
refuse 'baselines.json'

it 'refuses what does not go together'
cp kept "$file"
refuse '--against names a program and --baseline a file' --against "$DLBENCH"
refuse '--instructions compares two programs' --instructions
refuse '--save-baseline judges nothing' --save-baseline --junit verdicts.xml

it 'looks whether it can save before it measures'
file=/proc/nowhere/baselines.json
check 2 --save-baseline
expect_stderr 'nowhere'
expect_no_match 'round'
