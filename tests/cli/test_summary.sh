#!/usr/bin/env bash
# `dlbench summary`: the layers of a model, built in or from a file.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

for model in keras_cnn horovod_cnn; do
    it "prints the table of $model as it always was"
    expect_exit 0 "$DLBENCH" summary "$model"
    stdout >actual
    diff -u "$SOURCE/tests/golden/summary_$model.txt" actual >difference ||
        fail "$(cat difference)"
done

it 'knows a third model that is only a file'
cat >tiny.model <<'END'
model  tiny
input  28x28x1
conv2d filters=4 kernel=5 stride=2
relu
flatten
dense  units=10
softmax
END
expect_exit 0 "$DLBENCH" summary ./tiny.model
expect_stdout '^total +5,874 '

it 'refuses a model that does not exist and names those that do'
expect_exit 2 "$DLBENCH" summary lenet
expect_stderr "no model 'lenet'; built in are .*keras_cnn"

it 'shows the place of a mistake in a model file'
sed -i 's/filters=4/filters=zero/' tiny.model
expect_exit 2 "$DLBENCH" summary tiny.model
expect_stderr 'tiny.model:3: filters=zero: must be 1'
expect_stderr '^ +\^$'

it 'shows the place of a wrong default, too'
sed 's/lr=0.01/lr=fast/' "$SOURCE/models/horovod_cnn.model" >fast.model
expect_exit 2 "$DLBENCH" summary fast.model
expect_stderr 'fast.model:5: .*lr'
expect_stderr '^ +\^$'
expect_exit 2 "$DLBENCH" train --model ./fast.model
expect_stderr 'fast.model:5: .*lr'

it 'wants exactly one model'
expect_exit 2 "$DLBENCH" summary
expect_exit 2 "$DLBENCH" summary keras_cnn horovod_cnn

it 'tells a folder from a model'
expect_exit 2 "$DLBENCH" summary ./
expect_stderr 'is a folder, not a file'

it 'shows which kernel computes which layers, and why some are not fused'
expect_exit 0 "$DLBENCH" summary horovod_cnn --plan --kernels simd
expect_stdout '^conv2d_1 \+ maxpool_1 \+ relu_1 +lanes 1x5 +sparse +lanes 1x5'
expect_stdout '^conv2d_2 \+ dropout2d_1 \+ maxpool_2 \+ relu_2 +lanes 5x5 +sparse +lanes 5x5'
expect_stdout '^Lanes take [0-9]+ images at once, where batches have at least [0-9]+'
expect_stdout '^Small: dense_1, relu_3, dropout_1, dense_2, softmax_1\. With several threads'
expect_exit 0 "$DLBENCH" summary horovod_cnn --plan --kernels blas
expect_no_match '^Small'
expect_stdout '^conv2d_1 is not fused: kernels = blas fuse nothing'

it 'refuses a choice of kernels that no plan would show, and one that does not exist'
expect_exit 2 "$DLBENCH" summary keras_cnn --isa sse
expect_stderr 'add --plan'
expect_exit 2 "$DLBENCH" summary keras_cnn --plan --isa avx9
expect_stderr 'isa = avx9: must be one of'
