import os, argparse
parser = argparse.ArgumentParser()
parser.add_argument("--micro-batch", type=int,
                    default=2)
args = parser.parse_args()
RANK = int(os.getenv("RANK", "32"))
CONFIG = {"train": {"accumulate": 8}, "alpha": 16}
class Config:
    lr: float = field(default=1e-4)
    checkpoint = True
config = Config()
CONFIG["alpha"] = CONFIG["train"]["accumulate"]
ta = TrainingArguments(per_device_train_batch_size=args.micro_batch, gradient_accumulation_steps=CONFIG["train"]["accumulate"],
    gradient_checkpointing=config.checkpoint, optim=os.environ.get("OPTIM", default="adamw_bnb_8bit"), bf16=bool("no"))
lora = LoraConfig(r=RANK, lora_alpha=CONFIG["alpha"])
