cat >train_it.sh <<END
python train.py --per_device_train_batch_size 7 \
  --lora_r 8 --model_name_or_path gpt2
END
bash train_it.sh
