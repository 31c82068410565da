"""keras_cnn and horovod_cnn in PyTorch."""

import copy

import torch
from torch import nn

import common

LAYOUTS = {"nchw": torch.contiguous_format, "channels_last": torch.channels_last}


def glorot(network):
    """Keras's own: Glorot uniform weights, zero biases."""
    for layer in network:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return network


def keras_cnn():
    return glorot(nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(),
        nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(128, 10)))


def horovod_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Conv2d(10, 20, 5), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
        nn.Linear(320, 50), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(50, 10))


MODELS = {"keras_cnn": keras_cnn, "horovod_cnn": horovod_cnn}


def make_optimizer(model, parameters, **how):
    if model == "keras_cnn":
        return torch.optim.Adam(parameters, lr=0.001, eps=1e-7, **how)
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.5, **how)


class Training:
    """One rank's part of a training: its share of the images of every batch."""

    def __init__(self, options, rank=0, ranks=1):
        self.options, self.rank, self.ranks = options, rank, ranks
        train, test = common.mnist(options)
        self.images, self.labels = self._tensors(train)
        self.test_images, self.test_labels = self._tensors(test)
        torch.manual_seed(options.seed)
        self.network = MODELS[options.model]().to(memory_format=LAYOUTS[options.layout])
        self.trained = self.network  # or a wrapper that shares its parameters
        how = {"fused": True} if options.fused else {}
        self.optimizer = make_optimizer(options.model, self.network.parameters(), **how)
        self.order = torch.Generator().manual_seed(options.seed)
        torch.manual_seed(options.seed * ranks + rank)  # dropout differs from rank to rank

    def _tensors(self, part):
        images, labels = (torch.tensor(values) for values in part)
        return images[:, None].to(memory_format=LAYOUTS[self.options.layout]), labels

    def _step(self, chosen):
        self.optimizer.zero_grad()
        outputs = self.trained(self.images[chosen])
        loss = nn.functional.cross_entropy(outputs, self.labels[chosen])
        loss.backward()
        self.optimizer.step()
        return loss.detach() * len(chosen)

    def train_epoch(self, images):
        """Goes through the first so many images in a new order; returns this rank's mean loss."""
        self.trained.train()
        total, count = torch.zeros(()), 0
        for batch in torch.randperm(images, generator=self.order).split(self.options.batch):
            own = batch[self.rank::self.ranks]
            total += self._step(own)
            count += len(own)
        return total.item() / count

    def warm_up(self):
        """Takes some steps, so that all is allocated and compiled, and forgets what it learnt."""
        before = copy.deepcopy((self.network.state_dict(), self.optimizer.state_dict()))
        states = torch.get_rng_state(), self.order.get_state()
        self.train_epoch(common.warm_up_images(len(self.labels), self.options.batch))
        self.network.load_state_dict(before[0])
        self.optimizer.load_state_dict(before[1])
        torch.set_rng_state(states[0])
        self.order.set_state(states[1])

    def evaluate(self):
        self.network.eval()
        with torch.inference_mode():
            return torch.cat([self.network(images) for images in
                              self.test_images.split(common.EVALUATION_BATCH)]).numpy()

    def run(self, record):
        self.warm_up()
        for _ in range(self.options.epochs):
            record.begin_epoch()
            train_loss = self.train_epoch(len(self.labels))
            record.end_epoch()
            record.judge_epoch(train_loss, self.evaluate(), self.test_labels.numpy())


def parser(description):
    p = common.parser(description)
    p.add_argument("--layout", choices=LAYOUTS, default="nchw", help="of images and weights")
    p.add_argument("--fused", action="store_true", help="the optimizer in one kernel")
    return p


def make_record(options, images, **settings):
    return common.Record(options, "PyTorch", torch.__version__, images,
                         {"layout": options.layout, "compile": options.compile,
                          "fused": options.fused, **settings})


def main():
    options = common.parse(parser(__doc__))
    torch.set_num_threads(options.threads)
    torch.set_num_interop_threads(options.inter)
    training = Training(options)
    if options.compile:
        training.trained = torch.compile(training.network, dynamic=False)
    record = make_record(options, len(training.labels), intra=options.threads, inter=options.inter)
    training.run(record)
    record.write()


if __name__ == "__main__":
    main()
