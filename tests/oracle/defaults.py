"""Writes the defaults of a framework's configuration classes, as they are installed: defaults.py ENV FOLDER

One TSV a class: field, type, default, whether it touches memory. What touches memory is the list below; it is kept
by hand and checked against the classes: a name in it that no class has any longer is an error."""
import dataclasses
import enum
import importlib
import importlib.metadata
import inspect
import os
import re
import sys

os.environ.setdefault("DISABLE_VERSION_CHECK", "1")  # LLaMA-Factory names the versions that it was tested with

# (distribution, module, class)
CLASSES = [
    ("transformers", "transformers", "TrainingArguments"),
    ("transformers", "transformers", "BitsAndBytesConfig"),
    ("transformers", "transformers", "GPTQConfig"),
    ("transformers", "transformers", "AwqConfig"),
    ("transformers", "transformers", "GenerationConfig"),
    ("trl", "trl", "SFTConfig"),
    ("trl", "trl", "DPOConfig"),
    ("trl", "trl", "RewardConfig"),
    ("trl", "trl", "ModelConfig"),
    ("trl", "trl", "ScriptArguments"),
    ("peft", "peft", "LoraConfig"),
    ("peft", "peft", "IA3Config"),
    ("accelerate", "accelerate.utils", "FullyShardedDataParallelPlugin"),
    ("accelerate", "accelerate.utils", "DeepSpeedPlugin"),
    ("accelerate", "accelerate.utils", "DistributedDataParallelKwargs"),
    ("accelerate", "accelerate.utils", "GradientAccumulationPlugin"),
    ("torchtitan", "torchtitan.config.job_config", "JobConfig"),
    ("litgpt", "litgpt.args", "TrainArgs"),
    ("litgpt", "litgpt.args", "EvalArgs"),
    ("litgpt", "litgpt.finetune.lora", "setup"),
    ("litgpt", "litgpt.finetune.full", "setup"),
    ("litgpt", "litgpt.pretrain", "setup"),
    ("litgpt", "litgpt.generate.base", "main"),
    ("nanotron", "nanotron.config", "Config"),
    ("nanotron", "nanotron.config", "ParallelismArgs"),
    ("nanotron", "nanotron.config", "LlamaConfig"),
    ("axolotl", "axolotl.utils.schemas.config", "AxolotlInputConfig"),
    ("llamafactory", "llamafactory.hparams.model_args", "ModelArguments"),
    ("llamafactory", "llamafactory.hparams.data_args", "DataArguments"),
    ("llamafactory", "llamafactory.hparams.finetuning_args", "FinetuningArguments"),
    ("deepspeed", "deepspeed.runtime.zero.config", "DeepSpeedZeroConfig"),
    ("deepspeed", "deepspeed.runtime.precision_config", "DeepSpeedBF16Config"),
    ("deepspeed", "deepspeed.runtime.precision_config", "DeepSpeedFP16Config"),
    ("deepspeed", "deepspeed.runtime.activation_checkpointing.config", "DeepSpeedActivationCheckpointingConfig"),
]

# Fields that change what is on the card, over all frameworks.
MEMORY = set("""
per_device_train_batch_size per_device_eval_batch_size train_batch_size micro_batch_size global_batch_size local_batch_size
gradient_accumulation_steps gradient_checkpointing gradient_checkpointing_kwargs activation_checkpointing bf16 fp16
fp16_full_eval bf16_full_eval half_precision_backend optim optim_args optim_target_modules adafactor fsdp fsdp_config
deepspeed deepspeed_plugin ddp_bucket_cap_mb ddp_find_unused_parameters ddp_broadcast_buffers torch_compile
torch_compile_backend torch_compile_mode eval_accumulation_steps prediction_loss_only use_liger_kernel
liger_kernel_config neftune_noise_alpha group_by_length max_grad_norm use_cpu torch_empty_cache_steps use_cache
include_for_metrics average_tokens_across_devices label_smoothing_factor parallelism_config max_length max_seq_length
packing packing_strategy padding_free pad_to_multiple_of eval_packing completion_only_loss assistant_only_loss
loss_type activation_offloading shuffle_dataset truncation_mode model_init_kwargs dataset_text_field
use_weighting precompute_ref_log_probs ref_model_init_kwargs max_prompt_length max_completion_length
model_name_or_path dtype torch_dtype attn_implementation use_peft lora_r lora_alpha lora_dropout
lora_target_modules lora_modules_to_save use_rslora use_dora load_in_8bit load_in_4bit bnb_4bit_quant_type
use_bnb_nested_quant bnb_4bit_quant_storage bnb_4bit_use_double_quant bnb_4bit_compute_dtype llm_int8_threshold
llm_int8_skip_modules llm_int8_enable_fp32_cpu_offload llm_int8_has_fp16_weight bits group_size desc_act sym
backend r target_modules exclude_modules modules_to_save layers_to_transform lora_bias bias rank_pattern
init_lora_weights runtime_config trainable_token_indices layer_replication target_parameters feedforward_modules
sharding_strategy backward_prefetch mixed_precision_policy auto_wrap_policy cpu_offload ignored_modules
state_dict_type use_orig_params sync_module_states forward_prefetch limit_all_gathers reshard_after_forward
fsdp_version cpu_ram_efficient_loading transformer_cls_names_to_wrap min_num_params zero_stage
offload_optimizer_device offload_param_device zero3_init_flag gradient_clipping bucket_cap_mb
gradient_as_bucket_view static_graph find_unused_parameters stage contiguous_gradients reduce_scatter
reduce_bucket_size allgather_partitions allgather_bucket_size overlap_comm offload_param offload_optimizer
sub_group_size prefetch_bucket_size param_persistence_threshold model_persistence_threshold max_live_parameters
max_reuse_distance zero_hpz_partition_size zero_quantized_weights round_robin_gradients elastic_checkpoint
cache_implementation max_new_tokens num_beams num_return_sequences
seq_len seq_length sequence_len cutoff_len max_steps precision compile selective_ac_option mode enable
lora_rank quantize devices num_nodes fsdp_reshard_after_forward data_parallel_shard_degree
data_parallel_replicate_degree tensor_parallel_degree pipeline_parallel_degree context_parallel_degree
expert_parallel_degree pipeline_parallel_schedule pipeline_parallel_microbatch_size enable_async_tensor_parallel
dp tp pp expert_parallel_size tp_mode tp_linear_async_communication recompute_layer zero_stage
mixed_precision_param mixed_precision_reduce enable_cpu_offload steps loss sample_packing
sample_packing_group_size eval_sample_packing pad_to_sequence_len adapter flash_attention sdp_attention
eager_attention xformers_attention optimizer gradient_checkpointing_kwargs quantization_bit quantization_type
double_quantization flash_attn enable_liger_kernel use_unsloth disable_gradient_checkpointing
use_reentrant_gc upcast_layernorm upcast_lmhead_output finetuning_type pure_bf16 use_galore use_badam lora_target
additional_target mixture_of_depths shift_attn neat_packing max_samples
number_checkpoints contiguous_memory_optimization cpu_checkpointing partition_activations
""".split())


def text(value):
    if value is dataclasses.MISSING or value is inspect.Parameter.empty:
        return "-"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, int) and type(value) not in (int, bool):
        return str(int(value))  # DeepSpeed's print their thousands
    if isinstance(value, type):
        return value.__name__
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"<function \1>", " ".join(repr(value).split()))


def fields(cls, prefix="", seen=()):
    """(name, type, default) of a dataclass, a pydantic model, a class's or a function's parameters; nested ones too."""
    if dataclasses.is_dataclass(cls):
        for f in dataclasses.fields(cls):
            default = f.default
            if default is dataclasses.MISSING and f.default_factory is not dataclasses.MISSING:
                try:
                    default = f.default_factory()
                except Exception:  # a factory that asks the machine
                    default = f.default_factory
            if dataclasses.is_dataclass(default) and not isinstance(default, type) and type(default) not in seen:
                yield from fields(type(default), f"{prefix}{f.name}.", (*seen, type(default)))
            else:
                yield prefix + f.name, text(f.type), text(default)
    elif hasattr(cls, "model_fields"):
        for name, f in cls.model_fields.items():
            default = f.default if f.default_factory is None else f.default_factory
            if "Undefined" in type(default).__name__:
                default = dataclasses.MISSING
            yield prefix + name, text(f.annotation), text(default)
    else:
        target = cls if inspect.isfunction(cls) else cls.__init__
        for name, p in inspect.signature(target).parameters.items():
            if name in ("self", "kwargs"):
                continue
            if dataclasses.is_dataclass(p.default) and not isinstance(p.default, type):
                for f in dataclasses.fields(p.default):
                    yield f"{prefix}{name}.{f.name}", text(f.type), text(getattr(p.default, f.name))
            else:
                yield prefix + name, text(p.annotation), text(p.default)


def main():
    _, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    for distribution, module, name in CLASSES:
        try:
            version = importlib.metadata.version(distribution)
            found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as why:
            if distribution in {d.metadata["Name"] for d in importlib.metadata.distributions()}:
                print(f"{module}.{name}: {type(why).__name__}: {why}".splitlines()[0])
            continue
        label = f"{module.split('.')[-1]}.{name}" if name[0].islower() else name
        path = os.path.join(folder, f"{distribution}-{version}-{label}.tsv")
        with open(path, "w") as f:
            f.write(f"# {distribution} {version}: {module}.{name}\nfield\ttype\tdefault\tmemory\n")
            for field, kind, default in fields(found):
                touches = "yes" if field.split(".")[-1] in MEMORY else "no"
                f.write(f"{field}\t{kind.replace(chr(9), ' ')}\t{default.replace(chr(9), ' ')[:200]}\t{touches}\n")
        print(path)


if __name__ == "__main__":
    main()
