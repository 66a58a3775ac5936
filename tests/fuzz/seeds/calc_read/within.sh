#!/bin/bash
#SBATCH --nodes=1
srun --nodes=1 bash -lc "cd /work && torchrun --nproc_per_node=4 train.py \
    --model_name_or_path \"Qwen/Qwen3-0.6B\" --per_device_train_batch_size 3 --model_max_length 1024 \
    --gradient_accumulation_steps \$STEPS"
