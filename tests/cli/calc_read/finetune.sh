#!/bin/bash
# Two cards; what is in quotes, in a list and behind ${...} is a word like any other
set -e
MODEL=meta-llama/Llama-3.2-1B
GPUS=2
LENGTH=${LENGTH:-1024}
ARGS=(
    --learning_rate 2e-5   # memory does not depend on it
    --gradient_checkpointing
)
export CUDA_VISIBLE_DEVICES=0,1
torchrun --standalone --nproc_per_node $GPUS train.py \
    --model_name_or_path "$MODEL" \
    --per_device_train_batch_size $((2 * GPUS)) \
    --model_max_length "$LENGTH" \
    --run-name "$(date +%F)" \
    --bf16 True "${ARGS[@]}" \
    --deepspeed ds.json \
    2>&1 | tee train.log
