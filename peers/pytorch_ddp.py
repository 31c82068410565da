"""keras_cnn and horovod_cnn in PyTorch, data-parallel by DDP over gloo, a rank for each thread."""

import os
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"  # before PyTorch reads it

import torch
from torch import distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

import common
import pytorch


def train(rank, options, meeting_place):
    ranks = options.threads
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{meeting_place}", rank=rank, world_size=ranks)
    training = pytorch.Training(options, rank, ranks)
    training.trained = DistributedDataParallel(training.network)
    record = pytorch.make_record(options, len(training.labels), ranks=ranks, intra=1)
    training.run(record)
    if rank == 0:
        record.write()
    distributed.destroy_process_group()


def main():
    options = common.parse(pytorch.parser(__doc__))
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train, (options, os.path.join(folder, "ranks")), options.threads)


if __name__ == "__main__":
    main()
