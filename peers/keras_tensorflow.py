"""keras_cnn and horovod_cnn in Keras on TensorFlow, trained by model.fit."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import tensorflow as tf
from keras import layers

import common


def keras_cnn():
    return keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Dropout(0.25),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(10),
    ]), keras.optimizers.Adam(0.001, epsilon=1e-7)


def torch_init(fan_in):
    """PyTorch's own: weights and biases uniform within ±1/√fan_in."""
    def uniform():
        return keras.initializers.RandomUniform(-fan_in**-0.5, fan_in**-0.5)

    return {"kernel_initializer": uniform(), "bias_initializer": uniform()}


def horovod_cnn():
    return keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(10, 5, **torch_init(25)),
        layers.MaxPooling2D(2),
        layers.ReLU(),
        layers.Conv2D(20, 5, **torch_init(250)),
        layers.SpatialDropout2D(0.5),
        layers.MaxPooling2D(2),
        layers.ReLU(),
        layers.Flatten(),
        layers.Dense(50, activation="relu", **torch_init(320)),
        layers.Dropout(0.5),
        layers.Dense(10, **torch_init(50)),
    ]), keras.optimizers.SGD(0.01, momentum=0.5)


MODELS = {"keras_cnn": keras_cnn, "horovod_cnn": horovod_cnn}


def batches(images, labels, options):
    """All images in a new order every epoch. Whole batches are gathered at once, ahead of the step:
    faster than to shuffle and batch single images."""
    images, labels = tf.constant(images), tf.constant(labels)
    order = tf.data.Dataset.range(len(labels)).shuffle(len(labels), seed=options.seed)
    return order.batch(options.batch).map(
        lambda chosen: (tf.gather(images, chosen), tf.gather(labels, chosen)),
        num_parallel_calls=1).prefetch(2)


def warm_up(model, images, labels, options):
    """Traces and compiles the step, and then forgets what it learnt."""
    variables = model.variables + model.optimizer.variables
    before = [keras.ops.copy(variable) for variable in variables]
    count = common.warm_up_images(len(labels), options.batch)
    model.fit(batches(images[:count], labels[:count], options), shuffle=False, verbose=0)
    for variable, value in zip(variables, before):
        variable.assign(value)


class Clock(keras.callbacks.Callback):
    """Times each epoch of fit and then, off the clock, evaluates."""

    def __init__(self, record, images, labels):
        super().__init__()
        self.record, self.images, self.labels = record, images, labels

    def on_epoch_begin(self, epoch, logs=None):
        self.record.begin_epoch()

    def on_epoch_end(self, epoch, logs=None):
        self.record.end_epoch()
        logits = self.model.predict(self.images, common.EVALUATION_BATCH, verbose=0)
        self.record.judge_epoch(logs["loss"], logits, self.labels)


def main():
    p = common.parser(__doc__)
    p.add_argument("--steps-per-execution", type=int, default=1, help="of model.compile")
    options = common.parse(p)
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.inter)
    keras.utils.set_random_seed(options.seed)

    (images, labels), (test_images, test_labels) = common.mnist(options)
    images, test_images = images[..., None], test_images[..., None]
    model, optimizer = MODELS[options.model]()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  jit_compile=options.compile, steps_per_execution=options.steps_per_execution)
    optimizer.build(model.trainable_variables)
    warm_up(model, images, labels, options)

    record = common.Record(options, "TensorFlow", tf.__version__, len(labels),
                           {"keras": keras.__version__, "intra": options.threads,
                            "inter": options.inter, "jit_compile": options.compile,
                            "steps_per_execution": options.steps_per_execution})
    model.fit(batches(images, labels, options), epochs=options.epochs, shuffle=False, verbose=0,
              callbacks=[Clock(record, test_images, test_labels)])
    record.write()


if __name__ == "__main__":
    main()
