#!/usr/bin/python3
"""Training speed of dlbench beside PyTorch's, interleaved in one run on the same cores.

    peers/torch_speed.py [--rounds N] [--images N] [--threads N] [--model keras_cnn|horovod_cnn]

Needs Debian's python3-torch and a built ./dlbench. Each round trains dlbench with 1 and with N
threads and PyTorch (NCHW and channels_last) with N, in an order that turns round by round; ratios
are taken within a round, so that drift of the machine cancels. Prints medians and the range.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent


class KerasCnn(nn.Sequential):
    batch = 128

    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
            nn.Linear(128, 10))

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=0.001, eps=1e-7)


class HorovodCnn(nn.Sequential):
    batch = 64

    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(10, 20, 5),
            nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(320, 50),
            nn.ReLU(), nn.Dropout(0.5), nn.Linear(50, 10))

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.5)


MODELS = {"keras_cnn": KerasCnn, "horovod_cnn": HorovodCnn}


def dlbench_rate(model, images, threads):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        subprocess.run(
            [ROOT / "dlbench", "train", "--model", model, "--data", "synthetic", "--quiet",
             "--train-images", str(images), "--test-images", "128", "--epochs", "1",
             "--threads", str(threads), "--result", result], check=True)
        return json.loads(result.read_text())["run"]["images_per_s"]


def torch_rate(model, images, threads, memory_format):
    torch.set_num_threads(threads)
    network = MODELS[model]().to(memory_format=memory_format)
    optimizer = network.optimizer()
    batch = network.batch
    steps = images // batch
    x = torch.rand(batch, 1, 28, 28).to(memory_format=memory_format)
    labels = torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), labels).backward()
        optimizer.step()

    for _ in range(3):
        step()
    start = time.monotonic()
    for _ in range(steps):
        step()
    return steps * batch / (time.monotonic() - start)


def describe(name, values, unit):
    print(f"  {name:44} {statistics.median(values):10.2f} {unit:10} "
          f"({min(values):.2f} … {max(values):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--images", type=int, default=6400)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--model", choices=MODELS, default="keras_cnn")
    a = parser.parse_args()

    contestants = {
        f"dlbench, {a.threads} threads": lambda: dlbench_rate(a.model, a.images, a.threads),
        "dlbench, 1 thread": lambda: dlbench_rate(a.model, a.images, 1),
        "PyTorch, NCHW": lambda: torch_rate(a.model, a.images, a.threads,
                                            torch.contiguous_format),
        "PyTorch, channels_last": lambda: torch_rate(a.model, a.images, a.threads,
                                                     torch.channels_last),
    }
    ours, one, nchw, last = contestants
    rates = {name: [] for name in contestants}
    for turn in range(a.rounds):
        for name in list(contestants)[::-1 if turn % 2 else 1]:
            rates[name].append(contestants[name]())
    print(f"{a.model}, {a.images} images a round, {a.rounds} rounds, "
          f"PyTorch {torch.__version__} with {a.threads} threads")
    for name, values in rates.items():
        describe(name, values, "images/s")
    best = [max(pair) for pair in zip(rates[nchw], rates[last])]
    describe("dlbench / the better PyTorch", [x / y for x, y in zip(rates[ours], best)], "")
    describe(f"dlbench, {a.threads} threads / 1 thread",
             [x / y for x, y in zip(rates[ours], rates[one])], "")


main()
