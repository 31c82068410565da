"""Repeat the first steps of both models in PyTorch, from equal weights and batches.

    parity.py PARITY_STEPS SOURCE_FOLDER

Dropout is taken out of the models, since no two frameworks draw the same masks. Losses must agree
to 1e-4 when every step starts from equal weights, and when only the first one does. The latter no
two programs can hold for keras_cnn at its own learning rate: rounding errors grow a hundred thousand
times in 20 steps, and PyTorch's single precision strays 3e-3 from its own double. So it is held at a
tenth of that rate; at its own, twice what PyTorch's two precisions differ by is allowed. Winograd rounds
otherwise than PyTorch's kernels do, so of kernels = simd only steps from equal weights are held to it.
Ends with 77 ("left out") where PyTorch is not installed.
"""

import gzip
import math
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
    from torch import nn
except ImportError as missing:
    print(f"left out: {missing}; install Debian's python3-torch to compare with PyTorch")
    sys.exit(77)

STEPS = 20
TOLERANCE = 1e-4

# The models as their authors write them in PyTorch, without dropout, with their optimizers.
MODELS = {
    "keras_cnn": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10)),
        lambda parameters, lr: torch.optim.Adam(parameters, lr=lr, eps=1e-7),
        128, 0.0, 1.0, (12, 12, 64)),
    "horovod_cnn": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(10, 20, 5),
            nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(320, 50), nn.ReLU(),
            nn.Linear(50, 10)),
        lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.5),
        64, 0.1307, 0.3081, (4, 4, 20)),
}

# Model, learning rate, and whether a run may differ by what PyTorch's own precisions differ by.
CASES = [("horovod_cnn", 0.01, False), ("keras_cnn", 0.0001, False), ("keras_cnn", 0.001, True)]


def read_idx(path, header):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=header)


def write_model(source, name, lr, folder):
    """The model without dropout and with another learning rate."""
    lines = (source / "models" / f"{name}.model").read_text().splitlines()
    kept = [re.sub(r"\blr=\S+", f"lr={lr}", line) for line in lines
            if not line.startswith("dropout")]
    bare = folder / f"{name}.model"
    bare.write_text("\n".join(kept) + "\n")
    return bare


def set_parameters(network, folder, step, flattened):
    """Weights come as [kh][kw][in][out] or [in][out], with images flattened row by row."""
    counts = {"conv2d": 0, "dense": 0}
    for layer in network:
        kind = {nn.Conv2d: "conv2d", nn.Linear: "dense"}.get(type(layer))
        if kind is None:
            continue
        counts[kind] += 1
        name = f"{kind}_{counts[kind]}"
        weights = numpy.fromfile(folder / f"{step}.{name}.weights", numpy.float32)
        if kind == "conv2d":
            out, channels, rows, columns = layer.weight.shape
            weights = weights.reshape(rows, columns, channels, out).transpose(3, 2, 0, 1)
        elif counts[kind] == 1:
            weights = weights.reshape(*flattened, -1).transpose(3, 2, 0, 1)
            weights = weights.reshape(weights.shape[0], -1)
        else:
            weights = weights.reshape(layer.in_features, layer.out_features).T
        biases = numpy.fromfile(folder / f"{step}.{name}.biases", numpy.float32)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weights.copy()))
            layer.bias.copy_(torch.from_numpy(biases))


def match_epsilon(optimizer, step):
    """Keras adds Adam's epsilon before the bias correction of v, PyTorch after it."""
    if isinstance(optimizer, torch.optim.Adam):
        optimizer.param_groups[0]["eps"] = 1e-7 / math.sqrt(1 - 0.999 ** (step + 1))


def torch_losses(name, lr, folder, images, labels, dtype, every_step=False):
    """From our weights before the first step or, if so wished, before every step."""
    make_network, make_optimizer, batch, mean, std, flattened = MODELS[name]
    network = make_network().to(dtype)
    set_parameters(network, folder, 0, flattened)
    optimizer = make_optimizer(network.parameters(), lr)
    losses = []
    for step in range(STEPS):
        if every_step:
            set_parameters(network, folder, step, flattened)
        chosen = slice(step * batch, (step + 1) * batch)
        x = (torch.from_numpy(images[chosen]).to(dtype).unsqueeze(1) / 255 - mean) / std
        loss = nn.functional.cross_entropy(network(x), torch.from_numpy(labels[chosen]).long())
        match_epsilon(optimizer, step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def largest_difference(a, b):
    return max(abs(x - y) / abs(y) for x, y in zip(a, b))


def compare(case, kernels, program, source, images, labels):
    name, lr, chaotic = case
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model = write_model(source, name, lr, folder)
        subprocess.run([program, model, str(STEPS), folder, kernels], check=True)
        ours = [float(line) for line in (folder / "losses").read_text().split()]
        single, double = (torch_losses(name, lr, folder, images, labels, dtype)
                          for dtype in (torch.float32, torch.float64))
        resumed = torch_losses(name, lr, folder, images, labels, torch.float32, every_step=True)
    difference, spread = largest_difference(ours, single), largest_difference(single, double)
    by_step = largest_difference(ours, resumed)
    allowed = max(TOLERANCE, 2 * spread) if chaotic else TOLERANCE
    if kernels == "simd":
        allowed = math.inf
    print(f"{name}, lr {lr}, kernels {kernels}: {STEPS} steps, loss {single[0]:.4f} → {single[-1]:.4f}; "
          f"largest relative difference from equal weights in every step {by_step:.2g}, "
          f"in the first {difference:.2g} (allowed {allowed:.2g}); "
          f"PyTorch's own between single and double precision {spread:.2g}")
    return len(ours) == STEPS and by_step <= TOLERANCE and difference <= allowed


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    mnist = source / "data" / "mnist"
    images = read_idx(mnist / "train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28).copy()
    labels = read_idx(mnist / "train-labels-idx1-ubyte.gz", 8).copy()
    print(f"PyTorch {torch.__version__}")
    equal = [compare(case, kernels, program, source, images, labels)
             for case in CASES for kernels in ("blas", "simd")]
    sys.exit(0 if all(equal) else 1)


main()
