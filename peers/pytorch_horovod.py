"""keras_cnn and horovod_cnn in PyTorch, data-parallel by Horovod over MPI, a thread a rank."""

import horovod
import horovod.torch as hvd
import torch

import common
import pytorch


def main():
    options = common.parse(pytorch.parser(__doc__))
    hvd.init()
    torch.set_num_threads(1)
    training = pytorch.Training(options, hvd.rank(), hvd.size())
    hvd.broadcast_parameters(training.network.state_dict(), root_rank=0)
    training.optimizer = hvd.DistributedOptimizer(training.optimizer,
                                                  training.network.named_parameters())
    record = pytorch.make_record(options, len(training.labels), ranks=hvd.size(), intra=1,
                                 horovod=horovod.__version__)
    training.run(record)
    if hvd.rank() == 0:
        record.write()


if __name__ == "__main__":
    main()
