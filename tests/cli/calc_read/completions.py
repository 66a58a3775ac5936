from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

args = SFTConfig(output_dir="out", per_device_train_batch_size=8, max_length=2048, assistant_only_loss=True, gradient_checkpointing=False,
                 model_init_kwargs={"dtype": "bfloat16"})
SFTTrainer("meta-llama/Llama-3.2-1B", args=args, train_dataset=load_dataset("trl-lib/Capybara", split="train")).train()
