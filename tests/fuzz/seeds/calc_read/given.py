import argparse

from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import SFTConfig

RANK = 4


def load(name, rank: int = 8, *, four_bits=False):
    """load("x", 1) is an example."""
    bits = None
    if four_bits:
        bits = BitsAndBytesConfig(load_in_4bit=True)
    model = AutoModelForCausalLM.from_pretrained(name, quantization_config=bits)
    return model, LoraConfig(r=rank, target_modules="all-linear")


def settings(args, length=512, modules: list[str] = ["q", "v"]):
    def inner(length):
        return length

    return SFTConfig(per_device_train_batch_size=args.rows, max_length=length)


def flags():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3)
    parser.add_argument("--four-bits", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    args = flags()
    model, lora = load("meta-llama/Llama-3.2-1B", RANK, four_bits=args.four_bits)
    settings(args, length=256)
