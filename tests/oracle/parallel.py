"""A sequence divided among GPUs, as accelerate does it for transformers' and TRL's trainers: one rank of many."""
import os
import tempfile

import oracle
import trainers


def ring(cp, world):
    """Ring attention under FSDP2, and what `accelerate launch` says of it by its environment."""
    from accelerate import ParallelismConfig
    os.environ.update(ACCELERATE_USE_FSDP="true", FSDP_VERSION="2", FSDP_AUTO_WRAP_POLICY="TRANSFORMER_BASED_WRAP",
                      ACCELERATE_MIXED_PRECISION="bf16", FSDP_RESHARD_AFTER_FORWARD="true", FSDP_CPU_RAM_EFFICIENT_LOADING="false")
    return dict(parallelism_config=ParallelismConfig(cp_size=cp, dp_shard_size=world // cp))


def sequence(family, layers, batch, seq, steps=2, how="trl", cp=0, world=8, rank=0, arguments="", lora="", host=False, noaux=False,
             **more):
    """cp: so many GPUs have a sequence. how: SFTTrainer (trl) or Trainer (hf). host: gradient checkpointing's offload. noaux: no
    loss of a router, which TRL adds by itself."""
    import datasets
    import lonely
    import transformers
    import trl
    lonely.join(rank, world)
    words = dict(per_device_train_batch_size=batch, max_steps=steps, report_to=[], save_strategy="no", dataloader_pin_memory=False)
    words.update(trainers.chosen(arguments), **ring(cp, world))
    if host:
        words["gradient_checkpointing_kwargs"] = {"offload": True}
    if noaux:
        words["router_aux_loss_coef"] = 0.0
    model = trainers.prepare(family, layers, **more)
    if how == "hf":
        args = transformers.TrainingArguments(tempfile.mkdtemp(), **words)
        trainer = transformers.Trainer(model, args, train_dataset=trainers.Rows(family, seq))
    else:
        args = trl.SFTConfig(tempfile.mkdtemp(), max_length=seq, **words)
        rows = datasets.Dataset.from_list([{"input_ids": [1] * seq}] * (steps * batch * world))
        trainer = trl.SFTTrainer(model=model, args=args, train_dataset=rows, processing_class=trainers.tokenizer(),
                                 peft_config=trainers.adapter_config(lora) if lora else None)
    trainers.Steps(trainer.model)
    oracle.phase("load")  # the whole model is made on the card, which no run does
    trainer.train()
