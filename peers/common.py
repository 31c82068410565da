"""What all peers share: the command line, MNIST in memory, the clock and the result file.

A peer trains one of the two models and writes what `dlbench train --result` writes, as far as it
knows it. Its clock is dlbench's: only training steps are timed, from the first one of an epoch to
its last; reading data, building, warming up and evaluating are not.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import resource
import sys
import time

import numpy

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "mnist"
BATCH = {"keras_cnn": 128, "horovod_cnn": 64}
MEAN_AND_STD = {"keras_cnn": (0.0, 1.0), "horovod_cnn": (0.1307, 0.3081)}
EVALUATION_BATCH = 1000


def parser(description):
    """The options that every peer has; a peer may add its own before it parses."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--model", choices=BATCH, default="keras_cnn")
    p.add_argument("--batch", type=int, help="images in a step of all ranks; default: the model's")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                   help="that compute operations, over all ranks; default: the cores allowed")
    p.add_argument("--inter", type=int, default=1, help="operations that may run at once")
    p.add_argument("--compile", action="store_true", help="with the framework's compiler")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--train-images", type=int, default=0, help="the first N; 0 = all")
    p.add_argument("--target-accuracy", type=float, default=0.0)
    p.add_argument("--result", type=pathlib.Path, help="a JSON file; default: printed")
    return p


def parse(p):
    options = p.parse_args()
    options.batch = options.batch or BATCH[options.model]
    return options


# ---- data ------------------------------------------------------------------------------------


def _read_idx(name, header, count):
    with gzip.open(DATA / name) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=header)[:count]


def _read_images(name, model, count):
    mean, std = MEAN_AND_STD[model]
    pixels = _read_idx(name, 16, count * 784 if count else None)
    images = (pixels.astype(numpy.float32) / 255 - mean) / std
    return images.astype(numpy.float32).reshape(-1, 28, 28)


def mnist(options):
    """(images, labels) to train on and to test on: float32 [n][28][28], normalised, and int64."""
    def part(name, count):
        return (_read_images(f"{name}-images-idx3-ubyte.gz", options.model, count),
                _read_idx(f"{name}-labels-idx1-ubyte.gz", 8, count or None).astype(numpy.int64))

    return part("train", options.train_images), part("t10k", 0)


def warm_up_images(images, batch):
    """So many that a few whole batches and the last, smaller one occur."""
    return min(images, 4 * batch + images % batch)


# ---- result ----------------------------------------------------------------------------------


def instruction_set():
    """The widest of the processor's, or what oneDNN, and so the framework, is capped to."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    widest = next((name for name in ("avx512f", "avx2") if name in flags), "sse")
    return os.environ.get("ONEDNN_MAX_CPU_ISA", widest[:6]).lower()


def score(logits, labels):
    """(mean cross-entropy, fraction that is right)"""
    shifted = logits.astype(numpy.float64) - logits.max(axis=1, keepdims=True)
    log_sum = numpy.log(numpy.exp(shifted).sum(axis=1))
    loss = log_sum - shifted[numpy.arange(len(labels)), labels]
    return float(loss.mean()), float((logits.argmax(axis=1) == labels).mean())


class Record:
    """Times the epochs of a training and writes its result."""

    def __init__(self, options, framework, version, images, settings):
        self.options, self.images = options, images
        self.about = {"framework": framework, "version": version, "settings": settings,
                      "isa": instruction_set()}
        self.epochs = []
        self._began = None

    def begin_epoch(self):
        self._began = time.perf_counter()

    def end_epoch(self):
        """Stops the clock; what follows is not training."""
        train_s = time.perf_counter() - self._began
        self.epochs.append({"epoch": len(self.epochs) + 1, "train_s": train_s,
                            "images_per_s": self.images / train_s})

    def judge_epoch(self, train_loss, logits, labels):
        """Takes the loss of the epoch that ended, and what the network says of the test images."""
        if not math.isfinite(train_loss):
            sys.exit(f"epoch {len(self.epochs)}: the loss is {train_loss}")
        test_loss, test_accuracy = score(logits, labels)
        self.epochs[-1].update(train_loss=float(train_loss), test_loss=test_loss,
                               test_accuracy=test_accuracy)

    def _time_to_target(self):
        total, target = 0.0, self.options.target_accuracy
        for epoch in self.epochs:
            total += epoch["train_s"]
            if target and epoch["test_accuracy"] >= target:
                return {"time_to_target_s": total, "epochs_to_target": epoch["epoch"]}
        return {"time_to_target_s": None, "epochs_to_target": None}

    def _run(self):
        o, last = self.options, self.epochs[-1]
        total = sum(epoch["train_s"] for epoch in self.epochs)
        return {"status": "ok", "model": o.model, "batch": o.batch, "threads": o.threads,
                "epochs": o.epochs, "seed": o.seed, "train_images": self.images,
                "time_to_solution_s": total, **self._time_to_target(),
                "images_per_s": self.images * len(self.epochs) / total,
                "train_loss": last["train_loss"], "test_loss": last["test_loss"],
                "test_accuracy": last["test_accuracy"],
                "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}

    def write(self):
        text = json.dumps({"peer": self.about, "run": self._run(), "epochs": self.epochs}, indent=1)
        if self.options.result:
            self.options.result.write_text(text + "\n")
        else:
            print(text)
