# shellcheck shell=bash
# Programs that answer what a test of `dlbench check` wants: they stand for the commit before, while
# the real one is the commit after. Read after lib.sh.
# shellcheck disable=SC2034 # for those who read it
quick=(--model horovod_cnn --data synthetic)
kernel='relu_3 forward'
whole_step='training step'

# fake NAME NS [KERNEL…]: a program of these kernels, $kernel if none is named, that says to take so
# long, which is a word of shell.
fake() {
    local program=$1 ns=$2
    shift 2
    {
        printf '%s\n' '#!/usr/bin/env bash' "printf '%s\n' 'dlbench-kernels 2'"
        printf "echo 'case %s'\n" "${@:-$kernel}"
        cat <<END_OF_PROGRAM
echo ready
while read -r request _; do
    case \$request in
    calibrate) echo repeats 1 ;;
    run) echo "sample $ns 0 0" ;;
    esac
done
END_OF_PROGRAM
    } >"$program"
    chmod +x "$program"
}

# fake_tree DIR PROGRAM: a git tree of one commit, on main, whose wrapper builds that program.
fake_tree() {
    git init -q "$1"
    cat >"$1/dlbench" <<END
#!/usr/bin/env bash
mkdir -p "\${0%/*}/build/release/bin"
cp "$(readlink -f "$2")" "\${0%/*}/build/release/bin/dlbench"
END
    chmod +x "$1/dlbench"
    git -C "$1" add dlbench
    fake_commit "$1" first
    git -C "$1" branch -qM main
}

# fake_commit DIR SUBJECT: of what is in the index.
fake_commit() {
    git -C "$1" -c user.name=test -c user.email=test@example.org commit -q --allow-empty -m "$2"
}
