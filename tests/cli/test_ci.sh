#!/usr/bin/env bash
# .ci/run: which commit it compares with, and what its exit status is made of. The wrapper of its tree
# runs the real check against fakes, and stands for ctest.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/cli/fakes.sh
. "$SOURCE/tests/cli/fakes.sh"
unset DLBENCH_CHECK_BASE DLBENCH_PRESET

# A tree of two commits: the first builds a fake, the second has .ci/run.
make_tree() {
    fake_tree "$1" "$2"
    cat >"$1/dlbench" <<'END'
#!/usr/bin/env bash
case $1 in
check) exec "$DLBENCH" "$@" --model horovod_cnn --data synthetic ;;
test) echo '100% tests passed' && exit "${TESTS_END_WITH:-0}" ;;
esac
END
    mkdir "$1/.ci"
    cp "$SOURCE/.ci/run" "$1/.ci"
    git -C "$1" rev-parse HEAD | sed '1i # a comment' >"$1/.ci/landed"
    git -C "$1" add -A
    fake_commit "$1" second
}

# expect_ci CODE TREE: ctest's last line is the last one in any case.
expect_ci() {
    expect_exit "$1" "$2/.ci/run"
    expect_equal '100% tests passed' "$(tail -n 1 "$lib_folder/stdout")"
}

fake slow 1000000000 "$whole_step" 'conv2d_2–relu_2 forward'
fake fast_kernel 10 'conv2d_2–relu_2 forward'
fake fast_step 10 "$whole_step"

it 'passes where nothing is slower and the tests pass, and leaves a report'
make_tree tree ./slow
expect_ci 0 tree
expect_stdout "beside those of $(git -C tree rev-parse HEAD~1) \(before\)"
expect_stdout '^0 slower, 2 faster'
expect_file tree/build/check/verdicts.md
expect_file tree/build/check/verdicts.xml

it 'fails with the tests'
TESTS_END_WITH=8 expect_ci 8 tree

it 'fails at a slower step, whatever the tests say, but not at a single slower kernel'
make_tree step ./fast_step
expect_ci 1 step
expect_stdout '^check: slower than '
make_tree kernel ./fast_kernel
expect_ci 0 kernel
expect_stdout '^1 slower kernel is allowed'

it 'compares with the commit that has landed, or the one before, or what it is told'
fake_commit tree third
expect_ci 0 tree
expect_stdout "beside those of $(git -C tree rev-parse HEAD~2) \(before\)"
git -C tree rev-parse HEAD >tree/.ci/landed
expect_ci 0 tree
expect_stdout 'nothing was compared with HEAD~1'
DLBENCH_CHECK_BASE=HEAD~2 expect_ci 0 tree
expect_stdout 'beside those of HEAD~2 \(before\)'

it 'reports that nothing was compared where there is no history, or another protocol'
git clone -q --depth 1 "file://$PWD/step" shallow
expect_ci 0 shallow
expect_stdout '^check: nothing was compared with HEAD~1'
sed 's/dlbench-kernels 2/dlbench-kernels 1/' fast_step >old
chmod +x old
make_tree other ./old
expect_ci 0 other
expect_stdout '^check: nothing was compared'
expect_stderr 'does not serve its kernels'

it 'does not take a check that failed for a slower program'
sed 's/run) .*/run) exit ;;/' fast_step >mute
chmod +x mute
make_tree ends ./mute
expect_ci 0 ends
expect_stdout '^check: nothing was compared with'

it 'compares with the commit before this where the one that landed cannot be compared with'
make_tree changed ./old
cat >changed/dlbench <<'END'
#!/usr/bin/env bash
mkdir -p "${0%/*}/build/release/bin"
cp "$SERVED" "${0%/*}/build/release/bin/dlbench"
case $1 in
check) exec "$DLBENCH" "$@" --model horovod_cnn --data synthetic ;;
test) echo '100% tests passed' ;;
esac
END
git -C changed add -A
fake_commit changed third
fake_commit changed fourth
SERVED=$PWD/fast_step expect_ci 1 changed
expect_stdout '^check: nothing was compared with [0-9a-f]+,'
expect_stdout '^check: slower than HEAD~1'

it 'leaves the check out of other presets'
DLBENCH_PRESET=asan expect_ci 0 step
expect_stdout '^check: left out'
