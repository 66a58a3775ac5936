import torch
from trl import SFTConfig
BATCH = 2
LENGTH = 512 * 4
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B", dtype=torch.bfloat16)
args = SFTConfig(
    output_dir=sys.argv[1],
    per_device_train_batch_size=BATCH,
    max_length=LENGTH,  # tokens
    gradient_accumulation_steps=steps(),
    optim="adamw_8bit",
)
