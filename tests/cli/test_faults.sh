#!/usr/bin/env bash
# A rank that dies, hangs, or does other work than the others ends the whole run, and is named.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

short=(train --model horovod_cnn --data synthetic --train-images 1000 --test-images 300 --batch 16
    --threads 1 --kmp-blocktime 0 --quiet)
host=$(hostname)

mark=471147 # the seed by which the processes of a training are known
training=
trap '[ -z "$training" ] || kill -KILL "$training" 2>/dev/null; rm -rf -- "$lib_folder"' EXIT

# in_rank SIGNAL COMM RANK: sends the signal to that rank of a long training that has begun, and waits for
# its end; sets status and seconds.
in_rank() {
    rm -f result.json begun
    "$DLBENCH" "${short[@]}" --seed "$mark" --ranks 3 --epochs 100000 --comm "$2" --hang-timeout 2 \
        --result result.json --checkpoint begun >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    training=$!
    local victim
    last_command="training whose rank $3 gets SIG$1, comm $2"
    await_file begun
    victim=$(ranks_with "$mark" "$3")
    [ -n "$victim" ] || fail 'no rank was found'
    local began=$SECONDS
    kill "-$1" "$victim"
    status=0
    wait "$training" || status=$?
    training=
    seconds=$((SECONDS - began))
}

for case in 'shm 0' 'shm 2' 'mpi 0' 'mpi 1'; do
    comm=${case% *} rank=${case#* }
    it "ends within seconds when rank $rank is killed ($comm), and names it"
    in_rank KILL "$comm" "$rank"
    expect_equal 1 "$status"
    [ "$seconds" -le 20 ] || fail "it took $seconds s"
    expect_stderr "rank $rank"
    expect_stderr "$host"
    [ ! -e result.json ] || fail 'there is a result'
    expect_equal '' "$(ranks_with "$mark")"

    it "ends within seconds when rank $rank hangs ($comm), and names it"
    in_rank STOP "$comm" "$rank"
    expect_equal 1 "$status"
    [ "$seconds" -le 30 ] || fail "it took $seconds s"
    expect_stderr "rank $rank on $host has made no step for"
    [ ! -e result.json ] || fail 'there is a result'
    expect_equal '' "$(ranks_with "$mark")"
done

it 'leaves a checkpoint that is whole'
expect_exit 0 "$DLBENCH" "${short[@]}" --seed "$mark" --workers 3 --checkpoint begun \
    --epochs "$(($(grep -a '^epoch_count' begun | cut -d ' ' -f 2) + 1))"

it 'ends as diverged on all ranks when a loss is not finite'
expect_exit 1 "$DLBENCH" "${short[@]}" --ranks 2 --epochs 20 --lr 100 --weight-decay 10 \
    --result result.json
expect_file result.json '"status": "diverged"'
expect_file result.json '"ranks_ended": 2'
expect_file result.json '"time_to_solution_s": null'
expect_equal 1 "$(stderr | grep -c 'not finite')"

# Several programs in one job, each with other flags.
mpirun=(mpirun --oversubscribe --bind-to none -n 2 "$DLBENCH" "${short[@]}")

it 'refuses a rank with another configuration, naming key and values'
expect_exit 2 "${mpirun[@]}" : -n 1 "$DLBENCH" "${short[@]}" --lr 0.25
expect_stderr "rank 2 on $host: lr = '0.25', but rank 0 has"

it 'refuses a rank with other data'
mkdir -p elsewhere/mnist
for file in "$SOURCE"/data/mnist/t10k-*.gz; do
    ln -s "$file" elsewhere/mnist/
    ln -s "$file" "elsewhere/mnist/$(basename "${file/t10k/train}")"
done
expect_exit 2 "${mpirun[@]}" --data mnist : -n 1 -x DLBENCH_DATA="$PWD/elsewhere" \
    "$DLBENCH" "${short[@]}" --data mnist
expect_stderr "rank 2 on $host: other data than rank 0"

it 'refuses a rank that cannot read its data'
expect_exit 2 "${mpirun[@]}" --data mnist : -n 1 -x DLBENCH_DATA=/nowhere "$DLBENCH" "${short[@]}" --data mnist
expect_stderr "rank 2 on $host: .*/nowhere"

it 'refuses a rank with another binary'
cp -L "$DLBENCH" other
echo >>other
expect_exit 2 "${mpirun[@]}" : -n 1 ./other "${short[@]}"
expect_stderr "rank 2 on $host: another program"

it 'refuses what cannot be spread over ranks before training, saying what would fit'
expect_exit 2 "$DLBENCH" "${short[@]}" --ranks 2 --workers 3
expect_stderr 'workers = 3 .*ranks = 2'
expect_exit 2 "$DLBENCH" "${short[@]}" --ranks 2 --batch 501
expect_stderr 'batch to 500'
expect_exit 2 "$DLBENCH" "${short[@]}" --ranks 2 --train-images 1 --batch 1
expect_stderr 'train_images = 1'
expect_exit 2 mpirun --oversubscribe --bind-to none -n 2 "$DLBENCH" "${short[@]}" --ranks 3
expect_stderr 'ranks = 3'

it 'ends when a rank never comes to the start'
expect_exit 1 mpirun --oversubscribe --bind-to none \
    -n 1 "$DLBENCH" "${short[@]}" --hang-timeout 1 : -n 1 sleep 120
expect_stderr "rank 0 on $host is held inside MPI"
