"""Unsloth: its loader, its patched classes and kernels, under its SFTTrainer."""
import json
import os
import struct
import tempfile

import torch

import models
import oracle
import trainers

os.environ.update(UNSLOTH_DISABLE_STATISTICS="1", UNSLOTH_DISABLE_AUTO_PADDING_FREE="1", UNSLOTH_BLOCK_COMPILE="0",
                  UNSLOTH_COMPILE_LOCATION=tempfile.mkdtemp())


def checkpoint(family, layers, dtype, **more):
    """A folder as from the Hub; its weights are a hole in a file, which reads as zeros."""
    folder = tempfile.mkdtemp()
    cfg = models.config(family, layers, **more)
    cfg.dtype = dtype
    cfg.save_pretrained(folder)
    with torch.device("meta"):
        from transformers import AutoModelForCausalLM
        model = AutoModelForCausalLM.from_config(cfg, dtype=dtype)
    names = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}
    header, at = {"__metadata__": {"format": "pt"}}, 0
    tied = {"lm_head.weight"} if cfg.tie_word_embeddings else set()
    for name, t in model.state_dict().items():
        if name in tied:
            continue
        size = t.numel() * t.element_size()
        header[name] = {"dtype": names[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + at)
    words = trainers.tokenizer()
    words.save_pretrained(folder)
    return folder


ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def fast(family, layers, batch, seq, bits=4, lora=16, checkpointing="unsloth", dtype="bf16", full=False, steps=2, arguments="",
         dropout="0", loss="rows", **more):
    """FastLanguageModel.from_pretrained, get_peft_model and SFTTrainer, as the notebooks call them. loss=parts: as before 2026.10."""
    os.environ["UNSLOTH_CHUNKED_CE"] = str(int(loss == "rows"))
    every = torch.Tensor.nonzero
    torch.Tensor.nonzero = lambda t, **w: (  # of labels, all of which count
        torch.arange(t.numel(), device=t.device).unsqueeze(1) if t.is_cuda and t.dim() == 1 and not w else every(t, **w))
    from unsloth import FastLanguageModel
    import datasets
    import trl
    dtype = trainers.DTYPES[dtype]
    model, words = FastLanguageModel.from_pretrained(
        checkpoint(family, layers, dtype, **more), max_seq_length=seq, dtype=dtype, load_in_4bit=bits == 4,
        full_finetuning=bool(full), local_files_only=True)
    gc = {"none": False, "true": True}.get(checkpointing, checkpointing)
    if not full:
        model = FastLanguageModel.get_peft_model(model, r=lora, target_modules=ALL, lora_alpha=16, lora_dropout=float(dropout),
                                                 bias="none", use_gradient_checkpointing=gc, random_state=3407)
    args = trl.SFTConfig(tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps, report_to=[], save_strategy="no",
                         dataloader_pin_memory=False, max_length=seq, **trainers.chosen(arguments))
    rows = datasets.Dataset.from_list([{"input_ids": [1] * seq}] * (steps * batch))
    trainer = trl.SFTTrainer(model=model, args=args, train_dataset=rows, processing_class=words)
    trainers.Steps(trainer.model)
    trainer.train()
    return {"options": f"{arguments} bf16={args.bf16} fp16={args.fp16} optim={args.optim}"}
