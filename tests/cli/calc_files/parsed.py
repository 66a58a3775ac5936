from peft import LoraConfig
from transformers import HfArgumentParser, TrainingArguments

parser = HfArgumentParser((ModelArguments, TrainingArguments))
model_args, training_args = parser.parse_yaml_file(yaml_file="own.yaml")
peft = LoraConfig(r=12, target_modules=["q_proj", "v_proj"])
