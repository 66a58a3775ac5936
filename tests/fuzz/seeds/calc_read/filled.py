# A script of our own: what its classes of settings say by their defaults.
import dataclasses
from dataclasses import dataclass, field
from typing import Optional

import torch
from config import TrainingConfig
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser
from trl import SFTConfig, SFTTrainer


@dataclass
class ModelArguments:
    name: str = field(default="meta-llama/Llama-3.2-1B", metadata={"help": "which (one)"})
    rank: int = field(default=8, metadata={"help": "of the adapter"})
    four_bits: bool = True


@dataclass
class RunArguments:
    rows: Optional[int] = field(metadata={"help": "a card"}, default=2)
    length: int = 768
    steps: int = dataclasses.field(default_factory=lambda: 10)


def tokens(model_args, run_args):
    def cut(rows):
        return tokenizer(rows["text"], max_length=run_args.length)

    return cut


def main(model_args, run_args):
    own = TrainingConfig(accumulate=4, rate=1e-4)
    quantization = BitsAndBytesConfig(load_in_4bit=model_args.four_bits, bnb_4bit_quant_type="nf4")
    model = AutoModelForCausalLM.from_pretrained(model_args.name, quantization_config=quantization)
    args = SFTConfig(
        per_device_train_batch_size=run_args.rows,
        gradient_accumulation_steps=own.accumulate,
        max_length=run_args.length,
        max_steps=run_args.steps,
        learning_rate=own.rate,
        bf16=True,
    )
    lora = LoraConfig(r=model_args.rank, target_modules="all-linear")
    SFTTrainer(model=model, args=args, peft_config=lora).train()


if __name__ == "__main__":
    parser = HfArgumentParser((ModelArguments, RunArguments))
    model_args, run_args = parser.parse_args_into_dataclasses()
    main(model_args, run_args)
