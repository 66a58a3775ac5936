"""Experts divided by transformers' DistributedConfig: one rank of many, under Trainer or TRL's SFTTrainer."""
import sys
import tempfile

import torch

import models
import oracle
import trainers


def even():
    """Stand-in for the numbers of rows that the device counts and the host reads: every GPU gets as many as it sends."""
    from transformers.distributed import tensor_parallel
    try:
        from transformers.distributed.expert_parallel import AllToAllEP as sender
    except ImportError:  # up to 5.22; before 5.19 there is none
        sender = getattr(tensor_parallel, "EpDispatchExpertsParallel", None)
    if sender is None:
        return
    dispatch, stack = sender._dispatch_tokens, torch.stack

    def stacked(tensors):
        caller = sys._getframe(1).f_locals
        ways = len(tensors[0])
        return Rows(stack(tensors), [[caller["expert_ids"].numel() // ways] * ways] * 2)

    def even_dispatch(*args):
        torch.stack = stacked
        try:
            return dispatch(*args)
        finally:
            torch.stack = stack

    sender._dispatch_tokens = even_dispatch


class Rows:
    """A tensor whose values are known."""

    def __init__(self, tensor, values):
        self.tensor, self.values = tensor, values

    def tolist(self):
        self.tensor.tolist()
        return self.values


def divided(family, layers, dtype, attention, **words):
    """The model as from_pretrained leaves it: this rank's part of the weights on the card."""
    from transformers.distributed import DistributedConfig
    with torch.device("meta"):
        model = models.build(family, layers, dtype, attention, device="meta")
    distributed, _, meshes = type(model).prepare_distribute_model(DistributedConfig(**words))
    model = type(model).maybe_distribute_model(model, distributed, meshes)
    return model.to_empty(device="cuda")


def adapters(rank):
    """As TRL's example has them: experts have none."""
    import peft
    return peft.LoraConfig(task_type="CAUSAL_LM", r=int(rank), target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])


def spread(family, layers, batch, seq, steps=2, how="trl", ep=8, shared=False, fsdp=1, arguments="", lora="", noaux=False, dtype="bf16",
           attention="sdpa"):
    """ep GPUs divide the experts, fsdp GPUs what is not experts. shared: those that divide the experts have one batch, and all of
    what is not experts."""
    import datasets
    import lonely
    import transformers
    import trl
    tp = ep if shared else 1
    lonely.join(0, tp * fsdp)
    from torch.testing._internal.distributed import fake_pg  # noqa: F401  (the backend of meshes of one)
    even()
    words = dict(per_device_train_batch_size=batch, max_steps=steps, report_to=[], save_strategy="no", dataloader_pin_memory=False)
    words.update(trainers.chosen(arguments))
    if noaux:
        words["router_aux_loss_coef"] = 0.0
    sizes = dict(tp_size=tp, enable_expert_parallel=True) if shared else dict(ep_size=ep, tp_size=tp)
    model = divided(family, layers, trainers.DTYPES[dtype], attention, fsdp_size=fsdp, **sizes)
    model.config.use_cache = False
    oracle.watch_modules(model)
    trainers.name_logits(model)
    if how == "hf":
        args = transformers.TrainingArguments(tempfile.mkdtemp(), **words)
        trainer = transformers.Trainer(model, args, train_dataset=trainers.Rows(family, seq))
    else:
        args = trl.SFTConfig(tempfile.mkdtemp(), max_length=seq, **words)
        rows = datasets.Dataset.from_list([{"input_ids": [1] * seq}] * (steps * batch * tp * fsdp))
        trainer = trl.SFTTrainer(model=model, args=args, train_dataset=rows, processing_class=trainers.tokenizer(),
                                 peft_config=adapters(lora) if lora else None)
    trainers.Steps(trainer.model)
    oracle.phase("load")
    trainer.train()
