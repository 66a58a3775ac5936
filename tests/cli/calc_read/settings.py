import argparse

import torch
import yaml
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer


def load(path):
    with open(path) as f:
        return yaml.safe_load(f)


class Run:
    def __init__(self, path="settings.yaml"):
        self.config = load(path)
        self.lora = self.config["lora"]

    def model(self):
        quant = self.config["quantization"]
        kind = getattr(torch, quant["compute"])
        if quant["bits"] == 4:
            bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=kind)
        elif quant["bits"] == 8:
            bits = BitsAndBytesConfig(load_in_8bit=True)
        else:
            bits = None
        return AutoModelForCausalLM.from_pretrained(
            self.config["model"]["name"],
            quantization_config=bits,
            torch_dtype=torch.bfloat16 if quant.get("bf16", True) else torch.float32,
        )

    def adapters(self):
        return LoraConfig(r=self.lora["r"], target_modules=self.lora["target_modules"], task_type="CAUSAL_LM")


def arguments(config, rows):
    training = config.get("training", {})
    return SFTConfig(
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=training.get("accumulate", 4),
        bf16=training["precision"] == "bf16",
        max_length=int(config["data"]["length"]),
        **config["more"],
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int)
    args = parser.parse_args()
    run = Run()
    if args.rows:
        run.config["training"]["rows"] = args.rows
    config = run.config
    SFTTrainer(model=run.model(), args=arguments(config, config["training"]["rows"]), peft_config=run.adapters()).train()


main()
