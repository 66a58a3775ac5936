from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer
from peft import LoraConfig
q = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B", quantization_config=q)
peft = LoraConfig(r=16, target_modules="all-linear")
args = SFTConfig(output_dir="x", per_device_train_batch_size=2, bf16=True)
SFTTrainer(model=model, args=args, peft_config=peft)
