#!/usr/bin/env bash
# Workers and ranks: what is learnt, what is recorded, and going on from a checkpoint.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# Four ranks on two cores are meant here: sleep soon instead of spinning.
short=(--model horovod_cnn --data synthetic --train-images 1000 --test-images 300 --batch 16
    --epochs 2 --threads 1 --kmp-blocktime 0 --quiet)

# train NAME FLAG…: leaves NAME.json and NAME.csv.
train() {
    local name=$1
    shift
    expect_exit 0 "$DLBENCH" train "${short[@]}" "$@" --result "$name.json" --csv "$name.csv"
}

# Every loss and accuracy of every epoch, as written: equal texts are equal bits.
curve() { sed -n '/"epochs": \[/,/"ranks": \[/p' "$1.json" | grep -E '_(loss|accuracy)"'; }

expect_same_curve() {
    [ "$(curve "$1" | wc -l)" -eq 8 ] || fail "$1 has not two epochs of four figures"
    expect_equal "$(curve "$1")" "$(curve "$2")"
}

# expect_close A B: the losses agree to about four digits after the first epoch. Later on less is asked for:
# where the two largest elements of a pool's window are equal but for rounding, the gradient takes another way.
expect_close() {
    paste <(curve "$1" | grep loss) <(curve "$2" | grep loss) | tr -d '",:' |
        awk '{d = ($2 - $4) / $2; most = NR <= 2 ? 1e-4 : 1e-2; if (d > most || d < -most) exit 1}
             END {if (NR != 4) exit 1}' || fail "$1 and $2 differ"
}

# The operations of a trace, in their order.
operations() { sed -nE 's/.*"ph":"X".*"name":"([^"]+)".*/\1/p' "$1"; }

it 'waits for what other ranks have updated where it is used: large last layers while the next step has begun'
expect_exit 0 "$DLBENCH" train --model keras_cnn --data synthetic --train-images 64 --test-images 16 --batch 8 \
    --epochs 1 --threads 1 --kmp-blocktime 0 --quiet --ranks 2 --trace ranks.json
expect_equal 'conv2d_1-conv2d_2 await
conv2d_1-dropout_1 forward
dense_1 await
dense_1 forward' "$(operations ranks.json | head -n 4)"

it 'learns the same to the bit with 8 workers on 1, 2 and 4 ranks, by shm and by mpi'
train one --workers 8
for ranks in 2 4; do
    for comm in shm mpi; do
        train many --workers 8 --ranks "$ranks" --comm "$comm"
        expect_equal "$comm" "$(column many.csv comm)"
        expect_equal "$ranks" "$(column many.csv ranks)"
        expect_same_curve one many
    done
done

it 'learns the same to the bit whatever the sizes of buckets, pieces and stages'
train many --workers 8 --ranks 4 --comm mpi --comm-bucket-kb 8 --comm-radix 2
expect_same_curve one many
train many --workers 8 --ranks 4 --comm shm --comm-bucket-kb 16 --comm-piece-kb 4
expect_same_curve one many

it 'learns the same to the bit on several nodes'
for node_ranks in 1 2; do
    for comm in shm mpi; do
        DLBENCH_NODE_RANKS=$node_ranks train many --workers 8 --ranks 4 --comm "$comm"
        expect_same_curve one many
        expect_equal $((4 / node_ranks)) "$(column many.csv nodes)"
    done
done

it 'learns the same up to rounding on 3 ranks'
train one --workers 6
for comm in shm mpi; do
    train three --workers 6 --ranks 3 --comm "$comm"
    expect_close one three
done

it 'learns the same to the bit with every optimizer, and two teams'
for optimizer in adam adagrad lars larc; do
    train one --workers 4 --optimizer "$optimizer"
    train shm --workers 4 --optimizer "$optimizer" --ranks 4 --comm shm
    train mpi --workers 4 --optimizer "$optimizer" --ranks 2 --comm mpi --threads 2 --inter-op 2
    expect_same_curve one shm
    expect_same_curve one mpi
done

it 'learns the same to the bit with two teams in memory shared over several nodes'
train one --workers 4
DLBENCH_NODE_RANKS=2 train shm --workers 4 --ranks 4 --comm shm --threads 2 --inter-op 2
expect_same_curve one shm

it 'takes what a launcher gives it, be it one rank, and divides the cores among the ranks'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ranks in 1 2; do
    rm -f given.csv
    expect_exit 0 mpirun --oversubscribe --bind-to none -n "$ranks" "$DLBENCH" train "${short[@]}" \
        --threads 0 --workers 4 --csv given.csv --result given.json
    expect_same_curve one given
    expect_equal "$ranks" "$(column given.csv ranks)"
    [ "$(nproc)" -gt "$ranks" ] || expect_equal 1 "$(column given.csv threads)"
done

it 'shuffles within shards to the same order on any number of ranks'
train one --workers 4 --shuffle shard
train two --workers 4 --shuffle shard --ranks 2
expect_same_curve one two

it 'has a row a rank: what it did, where, and what it was bound to'
train two --ranks 2 --steps steps.csv
expect_equal 2 "$(grep -c '"rank":' two.json)"
expect_file two.json '"ranks_ended": 2'
expect_file two.json 'rank 1 on .*cpu'
for name in compute_s comm_exposed_s wait_s bytes_received cpus_allowed; do
    expect_equal 2 "$(sed -n '/"ranks": \[/,$p' two.json | grep -cE "\"$name\": [^n]")"
done

it 'has a row a rank and step'
expect_equal 'run,rank,epoch,step,images,train_s,compute_s,comm_exposed_s,wait_s,bytes' \
    "$(head -n 1 steps.csv)"
expect_equal $((2 * 2 * 32)) "$(tail -n +2 steps.csv | wc -l)"
expect_equal 2000 "$(awk -F, 'NR > 1 {sum += $5} END {print sum}' steps.csv)"

it 'says that ranks want more cores than there are'
cores=$(nproc)
train many --ranks 4 --threads "$cores"
expect_stderr "4 ranks .*$((4 * cores))"
expect_equal yes "$(column many.csv oversubscribed)"
expect_file many.csv "4 ranks with $((4 * cores)) threads share $cores CPU"

it 'names ranks that ran on the same core'
expect_exit 0 taskset -c "$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')" \
    "$DLBENCH" train "${short[@]}" --ranks 2 --csv shared.csv
expect_file shared.csv 'ranks 0 and 1 ran on the same core, that of CPU [0-9]+ of '

it 'goes on from a checkpoint on another number of ranks, and ends as if never stopped'
long=(--workers 4 --optimizer adam --epochs 4)
train whole "${long[@]}"
expect_exit 0 "$DLBENCH" train "${short[@]}" "${long[@]}" --epochs 1 --ranks 2 --checkpoint c
expect_exit 0 "$DLBENCH" train "${short[@]}" "${long[@]}" --epochs 3 --ranks 4 --checkpoint c
train parts "${long[@]}" --checkpoint c
expect_equal "$(curve whole)" "$(curve parts)"
expect_equal '' "$(column parts.csv time_to_solution_s)"
expect_file parts.csv 'went on from c after'

it 'refuses a checkpoint of another training, or one that is no checkpoint'
expect_exit 2 "$DLBENCH" train "${short[@]}" "${long[@]}" --seed 9 --checkpoint c
expect_stderr 'seed'
expect_exit 2 "$DLBENCH" train "${short[@]}" "${long[@]}" --epochs 2 --checkpoint c
expect_stderr 'epoch 4 already'
echo nonsense >n
expect_exit 2 "$DLBENCH" train "${short[@]}" --ranks 2 --checkpoint n
expect_stderr 'n: '
expect_equal nonsense "$(cat n)"

it 'writes a checkpoint on SIGTERM, on all ranks after the same step, and goes on from it'
expect_exit 0 true
"$DLBENCH" train "${short[@]}" --workers 4 --ranks 2 --epochs 100000 --checkpoint t &
training=$!
await_file t
kill -TERM "$training"
status=0
wait "$training" || status=$?
expect_equal 1 "$status"
reached=$(grep -a '^epoch_count' t | cut -d ' ' -f 2)
[ "$reached" -ge 1 ] || fail 'no epoch is in the checkpoint'
expect_exit 0 "$DLBENCH" train "${short[@]}" --workers 4 --ranks 4 --epochs $((reached + 1)) \
    --checkpoint t --result end.json
train never --workers 4 --epochs $((reached + 1))
expect_equal "$(curve never)" "$(curve end)"
