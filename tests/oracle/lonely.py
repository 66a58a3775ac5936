"""One process that takes itself for one of many: torch.distributed with the real ProcessGroupNCCL over the null NCCL."""
import datetime
import os

import torch.distributed as dist


class Store(dist.Store):
    """Answers for everybody else: a key is always there, a count has always been reached."""

    def __init__(self):
        super().__init__()
        self.kept = {}

    def set(self, key, value):
        self.kept[key] = value if isinstance(value, bytes) else value.encode()

    def get(self, key):
        return self.kept.get(key, bytes(128))

    def add(self, key, count):
        return 1 << 30

    def compare_set(self, key, expected, desired):
        return desired.encode()

    def check(self, keys):
        return True

    def wait(self, keys, timeout=None):
        return None

    def delete_key(self, key):
        return True

    def num_keys(self):
        return len(self.kept)

    def set_timeout(self, timeout):
        return None


def join(rank, world, backend="nccl"):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK="0", LOCAL_WORLD_SIZE=str(min(world, 8)),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", TORCH_NCCL_ASYNC_ERROR_HANDLING="0",
                      TORCH_NCCL_ENABLE_MONITORING="0", TORCH_NCCL_DUMP_ON_TIMEOUT="0")
    if backend == "fake":
        from torch.testing._internal.distributed.fake_pg import FakeStore
        dist.init_process_group("fake", rank=rank, world_size=world, store=FakeStore())
    else:
        join.store = Store()  # C++ calls back into it for as long as the process lives
        dist.init_process_group(backend, rank=rank, world_size=world, store=join.store,
                                timeout=datetime.timedelta(days=1))
        # Groups of some ranks are made, not split off: the null NCCL does not know how many a split takes.
        dist.distributed_c10d._get_default_group().bound_device_id = None


def _gather(objects, mine, group=None):
    for i in range(len(objects)):
        objects[i] = mine


dist.all_gather_object = dist.distributed_c10d.all_gather_object = _gather
dist.broadcast_object_list = dist.distributed_c10d.broadcast_object_list = lambda *args, **kwargs: None
# DDP compares the shapes of everybody's parameters by values that nobody computes.
dist._verify_params_across_processes = lambda *args, **kwargs: None
