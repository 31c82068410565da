#!/usr/bin/env bash
# `dlbench check --instructions`: how many instructions kernels of two programs execute, beside their
# times.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

quick=(--model horovod_cnn --data synthetic)
kernel='relu_3 forward'
mkdir scratch empty
export TMPDIR=$PWD/scratch

# expect_tidy: nothing is left of what was counted.
expect_tidy() { [ -z "$(ls scratch)" ] || fail "left in TMPDIR: $(ls scratch)"; }

it 'serves counts of hardware counters, or says why there are none'
last_command='bench serve'
echo 'count 0' |
    "$DLBENCH" bench serve "${quick[@]}" --steps 1 >"$lib_folder/stdout" 2>"$lib_folder/stderr"
expect_stdout '^(counted [1-9][0-9]*|missing .*PAPI_TOT_INS.*)$'
hardware=$(grep -c '^counted' "$lib_folder/stdout" || true)

it 'refuses to count where nobody can, and names the package'
if [ "$hardware" -eq 0 ]; then
    expect_exit 2 env PATH="$PWD/empty" "$DLBENCH" check "${quick[@]}" --against "$DLBENCH" \
        --instructions
    expect_stderr '^dlbench check: --instructions: .*apt-get install valgrind.*PAPI_TOT_INS'
fi

[ "$hardware" -gt 0 ] || command -v valgrind >/dev/null ||
    left_out 'neither hardware counters nor the package valgrind'
[ -z "$(sanitizer)" ] || left_out 'valgrind does not run what a sanitizer was built into'

it 'finds that a program executes as many instructions as itself'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against "$DLBENCH" --only "$kernel" --rounds 6 \
    --instructions --markdown verdicts.md --junit verdicts.xml
expect_stdout "horovod_cnn $kernel .* \\+0\\.0 % +(same|inconclusive)\$"
expect_file verdicts.md "^\\| horovod_cnn $kernel \\| .* \\| \\+0\\.0 % \\| [a-z*]+ \\|\$"
expect_file verdicts.md '^Instructions: .* counted by (hardware|valgrind)'
expect_file verdicts.xml '<property name="instructions" value="\+0\.0 %"/>'
expect_tidy

it 'does without a program that cannot be counted, and says so'
cat >older <<END
#!/usr/bin/env bash
printf '%s\n' 'dlbench-kernels 2' 'case $kernel' ready
while read -r request _; do
    case \$request in
    calibrate) echo repeats 10 ;;
    run) echo 'sample 1000000000 0 0' ;;
    *) exit 2 ;;
    esac
done
END
chmod +x older
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./older --rounds 6 --instructions \
    --markdown verdicts.md
expect_stdout "horovod_cnn $kernel .* – +faster\$"
expect_file verdicts.md 'Not counted of horovod_cnn before: .*/older '
expect_tidy

it 'counts nothing unless it was asked to'
expect_exit 0 "$DLBENCH" check "${quick[@]}" --against ./older --rounds 6
expect_no_match '[Ii]nstructions'

it 'stops at once, and leaves nothing behind'
"$DLBENCH" check "${quick[@]}" --against "$DLBENCH" --instructions \
    >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
checker=$!
until [ -n "$(ls scratch)" ] || ! kill -0 "$checker" 2>/dev/null; do sleep 0.1; done
kill -TERM "$checker"
status=0
wait "$checker" || status=$?
[ "$status" -eq 1 ] || fail "exit status $status instead of 1"
expect_stderr 'stopped before all was measured'
expect_tidy
