import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, HfArgumentParser, Trainer, TrainingArguments

CUTOFF = 768
on_gpu = torch.cuda.is_available()
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen3-0.6B")


def tokenize(row, limit=CUTOFF):
    labels = tokenizer(row["answer"], max_length=128, truncation=True)
    return tokenizer(
        row["text"],
        truncation=True,
        max_length=limit,
    )


model = AutoModelForCausalLM.from_pretrained(
    "Qwen/Qwen3-0.6B",
    torch_dtype=torch.float16 if torch.backends.mps.is_available() else torch.float32,
)
args = TrainingArguments(
    per_device_train_batch_size=2,
    bf16=on_gpu and torch.cuda.is_bf16_supported(),
    fp16=not torch.cuda.is_bf16_supported(),
)
