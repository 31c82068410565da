#!/usr/bin/env bash
# `dlbench bench` without a subject: everything beside references. What it measures is not judged here.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# A network of which every operation takes little time.
cat >tiny.model <<'END'
model   tiny
input   12x12x3
train   batch=16 optimizer=sgd lr=0.01
conv2d  filters=16 kernel=3
relu
maxpool size=2
flatten
dense   units=10
softmax
END
tiny=(--model ./tiny.model --data synthetic --batch 16 --steps 1)
short=(--rounds 3 --budget 3 --isa sse)

it 'refuses bad values with one message, before anything is started'
refuse() {
    local message=$1
    shift
    expect_exit 2 "$DLBENCH" bench "$@"
    expect_stderr "^dlbench bench: $message"
    expect_equal 1 "$(stderr | grep -vc '^looking for')"
    expect_equal '' "$(stdout)"
}
echo 'a,b' >foreign.csv
refuse 'foreign.csv: its header' "${tiny[@]}" --csv foreign.csv
refuse '.*missing' "${tiny[@]}" --json missing/results.json
refuse '--roofline roof.gif: must be' "${tiny[@]}" --roofline roof.gif
refuse "no model 'lenet'" --model lenet
refuse '--threads 0: must be' "${tiny[@]}" --threads 0
refuse '--threads 5000: must be' "${tiny[@]}" --threads 5000
refuse '--rounds none: must be' "${tiny[@]}" --rounds none
refuse '--budget -1: must be' "${tiny[@]}" --budget -1
refuse '.*isa' "${tiny[@]}" --isa mmx
refuse '--only nonsense: nothing has such a name' "${tiny[@]}" --kernels ref --only nonsense
refuse 'unknown flag --verfy' --verfy
expect_equal 'a,b' "$(cat foreign.csv)"

it 'lists every operation of every family and instruction set, and measures nothing'
expect_exit 0 "$DLBENCH" bench "${tiny[@]}" --list
for family in simd blas ref; do expect_stdout "^./tiny.model: kernels = $family, isa = [a-z0-9]+, 1 thread"; done
expect_stdout '^  conv2d_1 backward weights +kernel +ref +[0-9.]+ +[0-9.]+ +(sgemm [0-9]+³|triad) +–$'
expect_stdout '^  training step +step '
expect_stdout '^  input batch +input '
expect_no_match '^  input files' # made-up images come from none

it 'times what is asked for beside a reference, with intervals'
expect_exit 0 "$DLBENCH" bench "${tiny[@]}" "${short[@]}" --kernels simd --csv slices.csv \
    --json results.json --roofline roof.svg
time='([0-9.]+ [nµm]?s|–) +([0-9.]+…[0-9.]+|–)' # missing where others never left the core alone
expect_stdout "^  dense_1 forward +[a-z0-9 ]+ +$time +([0-9.]+ (GFLOP|GB)/s|–) +([0-9]+ %|–) +([0-9.]+|–) (sgemm|triad) +([0-9.]+…[0-9.]+|–) +[0-9]+ %\$"
expect_stdout "^  training step +simd +$time"
expect_stdout 'FMA peak ([0-9.]+ GFLOP/s .*|–), sgemm [0-9]+³ ([0-9.]+ GFLOP/s .*|–), triad ([0-9.]+ GB/s|–)'
expect_file roof.svg '<svg'

it 'keeps every slice of both sides, in the order A B B A'
expect_equal own,reference,reference,own "$(awk -F, '$7 == "training step" && $1 == 1 && $11 == 1 {
    print $10 == "own" ? "own" : "reference" }' slices.csv | head -n 4 | paste -sd,)"
awk -F, 'NR > 1 && !($12 > 0 && $13 > 0) { exit 1 }' slices.csv || fail 'a slice without time or calls'

it 'writes JSON that says the same'
if command -v python3 >/dev/null; then
    last_command=python3
    python3 - <<'END' || fail 'results.json does not hold what it should'
import json
results = json.load(open("results.json"))
assert results["format"] == "dlbench-bench 1"
kind = results["results"][0]
assert kind["kernels"] == "simd" and len(kind["references"]) == 3
step = [c for c in kind["cases"] if c["operation"] == "training step"][0]
assert step["role"] == "step" and step["images"] == 16
time = step["time_s"]
assert time["low"] is None or 0 < time["low"] <= time["median"] <= time["high"]
END
fi

it 'takes layers of any shape without a file'
expect_exit 0 "$DLBENCH" bench --layers '9x7x5; conv2d filters=3 kernel=2; relu' --batch 8 --list
expect_stdout '^9x7x5; conv2d filters=3 kernel=2; relu: kernels = simd'
expect_stdout '^  dense_1 forward '
expect_exit 2 "$DLBENCH" bench --layers '9x7x5; conv2d filters=0 kernel=2'
expect_stderr '^dlbench bench: --layers:4: filters=0: must be'
refuse '--model and --layers: give one of them' --layers '9x7x5; relu' --model keras_cnn

it 'verifies every kernel against ref'
expect_exit 0 "$DLBENCH" bench "${tiny[@]}" --list --verify
expect_stdout '^  conv2d_1.* forward +kernel +[a-z0-9 ]+ +.* [0-9.]+e-?[0-9]+$'
expect_stdout '^  training step +step +simd .* [0-9.]+e-[0-9]+$'
expect_no_match '^wrong'

it 'verifies kernels that only evaluate, by the loss of an evaluation'
expect_exit 0 "$DLBENCH" bench --model horovod_cnn --data synthetic --kernels simd --isa sse --steps 1 \
    --only evaluation --list --verify
expect_stdout '^  conv2d_2.* evaluation +evaluation +lanes 5x5 .* [0-9.]+e-[0-9]+$'

it 'says which results are wrong, how to see it again, and times nothing then'
cat >wrong <<'END'
#!/usr/bin/env bash
printf '%s\n' 'dlbench-kernels 2' 'case dense_1 forward' 'reference sgemm 512³' 'reference triad' \
    'reference FMA peak' ready
while read -r request _; do
    case $request in
    calibrate) echo repeats 1 ;;
    run) echo sample 1000000 0 0 ;;
    describe) echo 'about kernel 16 1000 10 simd' ;;
    verify) echo error 0.25 0.005 ;;
    esac
done
END
chmod +x wrong
expect_exit 1 "$DLBENCH" bench "${tiny[@]}" "${short[@]}" --kernels simd --program ./wrong --verify \
    --csv never.csv
expect_stdout '^wrong: ./tiny.model dense_1 forward differs from ref by 2.50e-01, more than 5e-03'
expect_stdout "^  ./dlbench bench --verify --list --model ./tiny.model --kernels simd --isa sse .*--program ./wrong --only 'dense_1 forward'\$"
[ ! -e never.csv ] || fail 'something was timed'
refuse '--program missing: cannot be executed' "${tiny[@]}" --program missing

it 'computes with several threads as well'
if [ "$(nproc)" -gt 1 ]; then
    expect_exit 0 "$DLBENCH" bench "${tiny[@]}" "${short[@]}" --kernels simd --threads 2 \
        --only 'training step,all stages'
    expect_stdout ': kernels = simd, isa = [a-z0-9]+, 2 threads'
    expect_stdout '^  training step +simd ' # without a time where others never left both cores alone
    expect_stdout '^  all stages (forward|backward) +simd '
fi

it 'measures the exchange between ranks where that is asked for'
if [ "$(nproc)" -gt 1 ] && [ -z "$(sanitizer)" ]; then
    expect_exit 0 "$DLBENCH" bench "${tiny[@]}" "${short[@]}" --kernels ref --only comm
    expect_stdout '^exchange of gradients: 2 ranks'
    expect_stdout '^  1 KB +shm +[0-9.]+ [nµm]?s '
fi

it 'refuses files that would replace each other'
refuse '--csv and --json name the same file, one' "${tiny[@]}" --csv one --json one

it 'writes all of its results for models of any name'
cp tiny.model $'odd \xff|name.model'
expect_exit 0 "$DLBENCH" bench --model $'./odd \xff|name.model' --data synthetic --batch 16 --steps 1 \
    --rounds 1 --budget 1 --isa sse --kernels ref --only 'dense_1 forward' --json odd.json
expect_file odd.json '"model": "\./odd \?\|name.model"'
expect_file odd.json '"operation": "dense_1 forward"'
