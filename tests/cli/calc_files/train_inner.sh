python train.py --model_name_or_path Qwen/Qwen3-0.6B --per_device_train_batch_size 6 --model_max_length 512
