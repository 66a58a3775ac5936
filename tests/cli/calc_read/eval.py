from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=1,
    eval_strategy="steps",
    bf16=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=train,
    eval_dataset=test,
    compute_metrics=accuracy,
)
trainer.train()
