#!/usr/bin/env bash
# `dlbench bench`: tables for people, raw rounds for files. What it measures is not judged here.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# expect_rows COUNT FILE: a CSV file without quotes has so many rows, each as long as its header.
expect_rows() {
    expect_file "$2"
    awk -F, 'NR == 1 { cells = NF } NF != cells { exit 1 }' "$2" || fail "$2: rows differ in length"
    expect_equal "$1" "$(tail -n +2 "$2" | wc -l)"
}

# count FILE COLUMN=VALUE…: its rows in which all of them hold.
count() {
    local file=$1
    shift
    awk -F, -v wanted="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, conditions, " "); next }
        {
            holds = 1
            for (i = 1; i <= n; i++) {
                split(conditions[i], condition, "=")
                if ($at[condition[1]] != condition[2]) holds = 0
            }
            rows += holds
        }
        END { print rows + 0 }' "$file"
}

# expect_positive FILE COLUMN: no number of the column is missing, 0 or less.
expect_positive() {
    awk -F, -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; if (!at) exit 1; next }
        !($at > 0) { exit 1 }' "$1" || fail "$1: $2 is not always a positive number"
}

it 'lists its subjects, and refuses others'
expect_exit 0 "$DLBENCH" bench --help
expect_stdout '^  comm '
expect_stdout '^  scaling '
expect_stdout '^  kernels '
expect_stdout '^  cores '
expect_exit 2 "$DLBENCH" bench scalign
expect_stderr "unknown subject 'scalign'; did you mean scaling"
expect_exit 0 "$DLBENCH" bench comm --help
expect_stdout '^ +--rounds N .*default'

it 'refuses bad values with one message, before anything is started'
refuse() {
    local message=$1
    shift
    expect_exit 2 "$DLBENCH" bench "$@"
    expect_stderr "^dlbench bench $1: $message"
    expect_equal 1 "$(stderr | wc -l)"
    expect_equal '' "$(stdout)"
}
refuse '--ranks 1: must be a whole number, 2 to' comm --ranks 1
refuse '--rounds 0: must be' comm --rounds 0
refuse '--largest-kb many: must be' comm --largest-kb many
refuse 'unknown flag --round;' comm --round 3
refuse '--ranks two: must be' scaling --ranks two
refuse '--batches 70000: must be' scaling --batches '8 70000'
refuse '--batches: none' scaling --batches ' '
refuse '--images -1: must be' scaling --images=-1
refuse "no model 'lenet'" scaling --model lenet
echo 'a,b' >foreign.csv
refuse 'foreign.csv: its header' comm --csv foreign.csv
refuse 'foreign.csv: its header' scaling --csv foreign.csv
refuse 'foreign.csv: its header' kernels --csv foreign.csv
refuse 'foreign.csv: its header' cores --csv foreign.csv
expect_equal 'a,b' "$(cat foreign.csv)"
refuse "no model 'lenet'" kernels --model lenet
refuse '--alive 1.5: must be a number, 0 to 1' kernels --alive 1.5
refuse '--rounds 0: must be' kernels --rounds 0
refuse '.*isa' kernels --isa mmx
refuse '--roofline roof.gif: must be .* \.svg, \.png or \.pdf' kernels --roofline roof.gif
refuse '--roofline .*dot.dot.svg: must be' kernels --roofline ./dot.dot.svg
refuse '.*missing' kernels --roofline missing/roof.svg
refuse '--batch 9: cannot be shared equally by 2 ranks' cores --cores 2 --batch 9
refuse '--images 64: must be a multiple of 128, a batch of 64 for each of 2 ranks' \
    cores --cores 2 --batch 64 --images 64
refuse '--images 64000: mnist has only 60000' cores --cores 2 --batch 64 --images 64000
refuse '--batch 20000: mnist has only 60000 training and 10000 test' cores --cores 2 --batch 20000
refuse '.*missing' cores --cores 2 --data ./missing
refuse "no model 'lenet'" cores --model lenet
refuse '--cores 1: must be' cores --cores 1

sed 's/28x28x1/32x32x1/' "$SOURCE/models/horovod_cnn.model" >wide.model
for subject in kernels cores; do
    refuse '.*mnist: images of 28x28x1, but .* takes 32x32x1' $subject --model ./wide.model
done

# What the operations of a plan are measured with, in a short time.
small=(--model horovod_cnn --data synthetic --batch 8 --steps 1)

it 'times every operation of the plan, beside OpenBLAS'
expect_exit 0 "$DLBENCH" bench kernels "${small[@]}" --rounds 2 --csv kernels.csv
expect_stdout '^Kernels of horovod_cnn: kernels = .*, batch = 8, 1 thread'
measured='[0-9.]+ [nµm]?s +[0-9.]+…[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+…[0-9.]+'
for operation in 'dense_1 (forward|backward data|backward weights)' 'softmax_1 and loss' \
    'dropout_1 (forward|backward data)' 'all layers forward and backward' 'sgd update \(a step\)'; do
    expect_stdout "^  $operation +[a-z]+ +$measured +"
done
"$DLBENCH" summary horovod_cnn --plan | awk '/^conv2d.* \+ / { print $1 }' >fused
while read -r first; do
    for pass in forward backward; do
        expect_stdout "^  $first–[a-z0-9_]+ $pass +[a-z0-9 ]+ +$measured"
    done
done <fused
if [ -s fused ]; then
    expect_stdout '^  conv2d_1–[a-z0-9_]+ forward +\(sgemm\) +[0-9.]+ [nµm]?s .* – +– +–$'
    expect_equal 4 "$(count kernels.csv side=alternative kernel=sgemm)"
fi
expect_stdout '^  sgemm 1024³ of OpenBLAS [0-9.]+ GFLOP/s .* FMA peak of a core [0-9.]+ GFLOP/s, triad'
expect_equal 2 "$(grep -c ',chosen,all layers forward and backward,' kernels.csv)"
expect_equal 6 "$(grep -c ',reference,' kernels.csv)"
expect_positive kernels.csv gflops

it 'times what evaluates many images at once, where batches are large enough for it'
expect_no_match ' evaluation '
expect_exit 0 "$DLBENCH" bench kernels "${small[@]}" --batch 32 --rounds 1
if grep -q ' lanes ' <("$DLBENCH" summary horovod_cnn --plan); then
    expect_stdout '^  conv2d_2–[a-z0-9_]+ evaluation +lanes 5x5 +[0-9.]+ [nµm]?s '
fi

it 'times kernels that the plan could have taken, too, and tells them apart'
if grep -q '^conv2d_2.*winograd' <("$DLBENCH" summary keras_cnn --plan); then
    expect_exit 0 "$DLBENCH" bench kernels --data synthetic --batch 8 --steps 1 --rounds 2 \
        --csv others.csv
    expect_stdout '^  conv2d_2–dropout_1 forward +winograd '
    expect_stdout '^  conv2d_2–dropout_1 forward +\(direct\) +[0-9.]+ [nµm]?s .* – +– +–$'
    expect_stdout '^  \(kernel\): .* the plan does not use it; \(sgemm\): only the product'
    expect_equal 4 "$(count others.csv side=alternative kernel=direct)" # of both convolutions
    expect_equal 2 "$(count others.csv side=chosen kernel=winograd)"
    expect_positive others.csv gflops
fi

it 'times layers that nothing fuses one by one'
expect_exit 0 "$DLBENCH" bench kernels "${small[@]}" --rounds 1 --kernels blas
for operation in 'conv2d_2 (forward|backward data|backward weights)' 'maxpool_1 forward' \
    'dropout2d_1 backward data' 'relu_1 forward'; do
    expect_stdout "^  $operation +(blas|ref) +$measured"
done
expect_no_match '^  conv2d_1 backward data'

it 'has the share of gradients that was asked for'
if [ -s fused ]; then
    expect_exit 0 "$DLBENCH" bench kernels "${small[@]}" --rounds 1 --alive 0.25
    expect_stdout '^  conv2d_2–.* backward .* 25 %$'
fi

if command -v gnuplot >/dev/null; then
    it 'draws the operations below the roofs of the machine'
    mkdir figures
    expect_exit 0 "$DLBENCH" bench kernels "${small[@]}" --rounds 1 --roofline figures/roof.svg
    expect_file figures/roof.svg 'FMA peak'
    expect_file figures/roof.svg 'dense_1 forward'
    expect_file figures/roof.gp
fi

if ! command -v mpirun >/dev/null; then
    left_out 'there is no mpirun'
fi

it 'compares exchanges with MPI_Allreduce and with a copy, size by size'
expect_exit 0 "$DLBENCH" bench comm --ranks 2 --rounds 2 --largest-kb 16 --csv comm.csv
for size in 1 4 16; do
    expect_stdout "^ +$size KB( +[0-9.]+ [nµm]?s +[0-9.]+…[0-9.]+){3} +[0-9.]+ [nµm]?s( +[0-9.]+){2}\$"
done
expect_no_match '^ +64 KB .*…'

it 'compares reduce, update and share with MPI_Allreduce and the update'
expect_stdout '1,199,882 parameters \(4.80 MB\)'
for way in shm mpi 'MPI_Allreduce \+ update'; do
    expect_stdout "^  $way +[0-9.]+ [µm]?s +[0-9.]+…[0-9.]+ +[0-9.]+ +[0-9.]+…[0-9.]+\$"
done
expect_stdout '^  MPI_Allreduce \+ update .* 1\.00 +1\.00…1\.00$'

it 'shows the default amid other buckets and pieces, for both kinds'
expect_equal 2 "$(stdout | grep -c 'other comm_bucket_kb and comm_piece_kb: \(shm\|mpi\)$')"
expect_equal 2 "$(stdout | grep -cE '^ +16384 KB( +(\* )?[0-9.]+ [µm]?s){4}$')"
expect_equal 2 "$(stdout | grep -c ' \* [0-9.]* [µm]*s')"
expect_equal 2 "$(stdout | grep -c '\* the default; it takes [0-9.]* times')"

it 'ends with where it was measured'
stdout | tail -n 1 | grep -qE "^$(hostname).*, 2 ranks, .*[0-9], dlbench .*, load before [0-9.]+" ||
    fail 'no such line'

it 'keeps every measurement'
expect_rows $((2 * (3 * 4 + 3 + 2 * 5 * 4))) comm.csv
expect_equal 2 "$(count comm.csv part=sum way=copy bytes=4096)"
expect_equal 2 "$(count comm.csv part=step way=shm bytes=4799528)"
expect_equal 2 "$(count comm.csv part=choice way=mpi bucket_kb=64 piece_kb=1024)"
expect_positive comm.csv time_s

it 'takes the ranks that a launcher gives it'
launcher=(mpirun -n 2 --oversubscribe)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
expect_exit 0 "${launcher[@]}" "$DLBENCH" bench comm --rounds 1 --largest-kb 1
expect_stdout '^2 ranks × 1 thread'
expect_exit 2 "${launcher[@]}" "$DLBENCH" bench scaling
expect_stderr 'not to be started by one'

it 'compares several ranks with one, batch by batch'
quick=(--rounds 2 --batches '64,32' --images 64 --model horovod_cnn)
mkdir tmp
export TMPDIR=$PWD/tmp
expect_exit 0 "$DLBENCH" bench scaling "${quick[@]}" --csv scaling.csv
expect_stdout '^Scaling of horovod_cnn'
expect_stdout '^ +batch +1 rank +2 ranks +speed-up '
for batch in 64 32; do
    expect_stdout "^ +$batch( +[0-9,]+){2} +[0-9.]+ +[0-9.]+…[0-9.]+( +[0-9.]+ %){2} +64\$"
done
expect_stderr '^round 1 of 2: batch 64, 1 rank$'
expect_rows $((2 * 2 * 2)) scaling.csv
expect_equal 2 "$(count scaling.csv batch=32 ranks=2 images=128)"
expect_positive scaling.csv images_per_s

it 'compares many workers on one rank with one'
expect_exit 0 "$DLBENCH" bench workers --workers 4 --rounds 2 --batch 16 --images 256
expect_stdout '^ +1 +[0-9]'
expect_stdout '^ +4 +[0-9].* MB$'
expect_stdout 'an epoch of 4 workers takes [0-9.]+ times as long'
expect_exit 2 "$DLBENCH" bench workers --workers 1
expect_stderr '--workers 1'

it 'compares what more cores bring to training and to the peak'
expect_exit 0 "$DLBENCH" bench cores --cores 2 --rounds 2 --batch 32 --images 64 --model horovod_cnn \
    --csv cores.csv
expect_stdout '^Cores and horovod_cnn: 64 images × 1 epoch of mnist in steps of 32'
expect_stdout '^  1 rank × 1 thread +[0-9,]+ +1\.00 +1\.00…1\.00 +– +– +– +[0-9.]+ +[0-9]+ MB$'
for cores in '1 rank × 2 threads' '2 ranks × 1 thread' '2 ranks × 1 thread, a batch each' \
    '2 trainings apart'; do
    expect_stdout "^  $cores +[0-9,]+( +[0-9.]+ +[0-9.]+…[0-9.]+){2}( +[0-9.]+){2} +[0-9]+ MB\$"
done
expect_stdout '^  FMA peak: [0-9]+ GFLOP/s on one core, [0-9]+ on 2: [0-9.]+ times as much'
expect_stdout '^  1 rank × 1 thread, batches in turn +[0-9,]+ +[0-9.]+ +[0-9.]+…[0-9.]+ +– +– +– +[0-9.]+ +[0-9]+ MB$'
expect_rows $((2 * 6)) cores.csv
expect_equal 2 "$(count cores.csv side=apart ranks=1 threads=1 images=64)"
expect_equal 2 "$(count cores.csv side=ranks ranks=2 threads=1 images=64 epochs=1 batch=32)"
expect_equal 2 "$(count cores.csv side=batches ranks=2 threads=1 images=64 epochs=2 batch=32)"
expect_equal 2 "$(count cores.csv side=in_turn ranks=1 threads=1 images=64 epochs=2 batch=32)"
expect_equal 2 "$(count cores.csv side=threads ranks=1 threads=2 data=mnist)"
expect_positive cores.csv images_per_s
expect_positive cores.csv median_step_images_per_s
expect_positive cores.csv eval_images_per_s

it 'leaves no files behind'
expect_equal '' "$(ls tmp)"

it 'gives no time to a training that failed'
sed 's/lr=0.01/lr=1000 weight_decay=10/' "$SOURCE/models/horovod_cnn.model" >hot.model
expect_exit 1 "$DLBENCH" bench scaling --model ./hot.model --batches 32 --images 640
expect_stderr 'the training with batch 32 on 1 rank has no time'
expect_equal '' "$(stdout)$(ls tmp)"

# interrupted SUBJECT FLAG…: Ctrl-C once something is measured; again where a launcher that was just
# about to start or to end did not hand it on.
interrupted() {
    last_command="bench $*, interrupted"
    : >"$lib_folder/stderr"
    "$DLBENCH" bench "$@" >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    local bench=$! status=0
    until [ -s "$lib_folder/stderr" ]; do sleep 0.1; done
    while kill -INT "$bench" 2>/dev/null; do
        for _ in {1..200}; do kill -0 "$bench" 2>/dev/null && sleep 0.1; done
    done
    wait "$bench" || status=$?
    expect_equal 1 "$status"
    expect_stderr "^dlbench bench $1: "
    expect_equal '' "$(stdout)"
}

it 'ends when it is interrupted, with all that it has started'
interrupted comm --rounds 99991 --largest-kb 1
expect_equal '' "$(processes_with 99991)"
interrupted kernels --rounds 99991 --model horovod_cnn --data synthetic --steps 1
expect_equal '' "$(processes_with 99991)"
interrupted scaling --images 60000 --model horovod_cnn
expect_equal '' "$(processes_with "$TMPDIR")"
interrupted cores --cores 2 --images 59904 --model horovod_cnn
expect_equal '' "$(processes_with "$TMPDIR")"
expect_equal '' "$(ls tmp)"

# start_apart: a `bench cores`, up to the moment when its trainings apart run; its number is $bench.
start_apart() {
    "$DLBENCH" bench cores --cores 2 --images 59904 --rounds 9999 --model horovod_cnn \
        >"$lib_folder/stdout" 2>"$lib_folder/stderr" &
    bench=$!
    until [ -n "$(processes_with result1.json)" ]; do sleep 0.05; done
}

it 'ends trainings apart, too, when it alone is told to, and even when it is killed'
start_apart
kill -INT "$bench"
status=0
wait "$bench" || status=$?
expect_equal 1 "$status"
expect_equal '' "$(processes_with "$TMPDIR")$(ls tmp)"
start_apart
kill -KILL "$bench"
wait "$bench" || true
for _ in {1..100}; do [ -z "$(processes_with "$TMPDIR")" ] || sleep 0.1; done
expect_equal '' "$(processes_with "$TMPDIR")"
rm -rf tmp/*

it 'measures what a sweep itself costs, and leaves nothing behind'
mkdir temporary
expect_exit 0 env TMPDIR="$PWD/temporary" "$DLBENCH" bench sweep --points 3 --rounds 1 --rows 100
expect_stdout '^  sweep beyond the loop, a point'
expect_stdout '^  100 rows of runs.csv read and summarised'
expect_equal '' "$(ls temporary)"
