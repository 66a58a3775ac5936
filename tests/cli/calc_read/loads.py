from transformers import AutoModelForCausalLM, TrainingArguments, Trainer
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(output_dir="x", per_device_train_batch_size=2, bf16=True)
Trainer(model=model, args=args)
