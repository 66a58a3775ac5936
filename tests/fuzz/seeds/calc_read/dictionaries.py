a = {"t": {"bf16": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}}
x = {**a["t"], **dict(per_device_train_batch_size=3, **{"seed": 1})} | {"fp16": False}
x["optim"] = "adamw_torch"
x.update({"tf32": True}, logging_steps=1 if a else 2)
x |= {**x, "k": [v for v in x]}
if a:
    x["bf16"] = False
args = TrainingArguments(output_dir="o", **x, **x.copy(), **a["t"]["gradient_checkpointing_kwargs"])
