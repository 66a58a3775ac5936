-- Tests how the columns of a table of measurements are read: versions, methods, lists, sharding, broken tables. Prints "ok" or
-- "not ok" lines.
local figures = require "figures"
local frameworks = require "frameworks"
local models = require "models"
local rules = require "measured_row"
local score = require "score"
local standins = require "standins"
local tsv = require "tsv"
local words = require "words"

local check, equal, row, says, refuses = rules.check, rules.equal, rules.row, rules.says, rules.refuses

-- ---- a row and its words --------------------------------------------------------------------

says("a plain row", {}, "preset=llama-2-7b framework=transformers torch=2.4 transformers=4.48 dtype=bfloat16_pure batch_size=4 seq_len=4096 " ..
  "optimizer=adamw_foreach checkpointing=none gpu=A100_80GB_SXM", "lora_rank parallel n_gpu quantization")

-- ---- versions -------------------------------------------------------------------------------

local function versions(cell, group, stack, torch, transformers)
  local found, wrong = frameworks.read(cell, group or "x")
  if not found then return check(false, cell, wrong) end
  equal(found.stack, stack, cell .. ": framework")
  equal(found.torch, torch, cell .. ": torch")
  equal(found.transformers, transformers, cell .. ": transformers")
end

versions("torch 2.4.1, transformers 4.48.1, peft 0.13.2, trl 0.13.0, bnb 0.43.3, flash-attn 2.7.3", nil, "transformers", "2.4", "4.48")
versions("PyTorch 2.10.0+cu130; Transformers v5.13.1", nil, "transformers", "2.10", "5.13")
versions("torch 2.9.0.dev20250811+rocm6.4, torchtitan 0.1", nil, "torchtitan", "2.9")
versions("torch 1963fc8 (2024-12-23), torchtitan 9dec370", nil, "torchtitan", "2.7")
versions("nanotron 0.5, torch 2.4-2.5", nil, "nanotron", "2.4")
versions("litgpt 0.4-0.5 (Jul-Sep 2024)", nil, "litgpt", "2.4")
versions("torchtune 0.6", nil, "torchtune", "2.6")
versions("torchtitan + torchao PR 778", nil, "torchtitan", nil)
versions("torch 2.4", "torchtune/recipes", "torchtune", "2.4")
versions("axolotl 0.8, torch 2.6, deepspeed 0.16, Feb-Mar 2025", nil, "transformers", "2.6")
refuses("an unknown framework", {framework = "torch 2.4, colossalai 0.4"}, "unknown framework 'colossalai 0.4'")
refuses("no framework", {framework = "torch 2.4"}, "no framework is said: 'torch 2.4'")

-- ---- methods --------------------------------------------------------------------------------

says("LoRA with its modules", {method = "LoRA r16 q_proj k_proj v_proj o_proj"}, "lora_rank=16 lora_targets=q+k+v+o", "quantization adapter")
says("QLoRA by its words", {method = "QLoRA nf4-dq, r=64, all-linear"}, "lora_rank=64 lora_targets=all quantization=nf4_double")
says("axolotl's fused functions", {method = "LoRA r16 all [liger, fused LoRA kernels]"},
  "lora_rank=16 lora_targets=all lora_kernels=qkv+o+mlp kernels=liger")
says("what a model returns and a loop keeps", {other = "use_cache, keep logits"}, "keep_logits=yes use_cache=true")
says("DoRA", {method = "DoRA rank 8 q_proj v_proj"}, "adapter=dora lora_rank=8 lora_targets=q+v")
says("IA3", {method = "IA3 k_proj v_proj down_proj"}, "adapter=ia3 lora_targets=k+v+down", "lora_rank")
says("trainable parameters are no word", {method = "LoRA r8 q_proj v_proj (4,194,304 trainable)"}, "lora_rank=8 lora_targets=q+v")
says("a paged optimizer in the method", {method = "full, optimizer in bwd, paged 8-bit", optimizer = "AdamW"},
  "optimizer=adamw_8bit_paged optimizer_in_backward=true", "lora_rank")
says("full fine-tuning by PEFT's name of it", {group = "peft/MetaMathQA", precision = "bf16 pure, adapters fp32", optimizer = "AdamW",
  method = "full-finetuning--llama-3.2-3B-lr_0.00001 (3212749824 trainable)"}, "dtype=bfloat16_pure optimizer=adamw_foreach", "lora_rank adapter")
says("LoRA-FA", {group = "peft/MetaMathQA", method = "lora--llama-3.2-3B-rank32-lorafa (3670016 trainable)", optimizer = "lora-fa"},
  "adapter=lora_fa lora_rank=32 lora_targets=q+v optimizer=adamw_hf")
says("MiCA", {group = "peft/MetaMathQA", method = "lora--llama-3.2-3B-rank32-mica (5505024 trainable)"}, "adapter=mica lora_rank=32")
says("one matrix for q, k and v", {method = "LoRA r8 c_attn"}, "lora_targets=q+k+v")
says("ms-swift runs transformers' code", {framework = "ms-swift 1.5, torch 2.1.1, transformers 4.36"}, "framework=transformers torch=2.1 transformers=4.36")
says("float16 without autocast", {precision = "float16 pure"}, "dtype=float16_pure")
for _, start in ipairs{"pissa", "olora", "alpha64"} do
  says("another beginning of LoRA: " .. start, {group = "peft/MetaMathQA", method = "lora--llama-3.2-3B-rank32-" .. start}, "lora_rank=32 lora_targets=q+v")
end
says("DPO", {framework = "trl 0.15, transformers 4.49", method = "DPO LoRA r16 all-linear"}, "trainer=dpo lora_rank=16 lora_targets=all")
says("pretraining", {group = "litgpt/pretrain", framework = "litgpt 0.5", precision = "bf16-mixed", method = "pretraining"}, "dtype=bfloat16", "lora_rank")
says("bits in the method", {precision = "bf16", method = "QLoRA 4-bit r8 all"}, "quantization=nf4 lora_rank=8")
says("Unsloth's checkpoints", {framework = "unsloth 2024.5", checkpointing = "block (unsloth)", method = "QLoRA nf4 r16 all"},
  "checkpointing=block offload_activations=inputs")
says("Unsloth's layers, by its version", {framework = "unsloth 2025.9, transformers 4.55", checkpointing = "block (unsloth)", method = "QLoRA nf4 r16 all"},
  "kernels=unsloth framework_version=2025.9 transformers=4.55", "cross_entropy")
says("and not of whole weights", {framework = "unsloth 2025.9, transformers 4.55", method = "full"}, "framework=transformers", "kernels framework_version")
says("rows that are padded", {other = "sdpa, padded"}, "attention=sdpa attention_mask=padded")
says("which have no mask of the kernel's in eager attention", {other = "eager attention, padded"}, "attention=math", "attention_mask")
says("a mask of ones", {other = "sdpa, attention mask of ones"}, "attention=sdpa", "attention_mask")
says("bitsandbytes' four bits by name", {task = "inference", method = "generate 8 after input", precision = "bnb 4-bit nf4-dq, float16"}, "dtype=float16_pure quantization=nf4_double")
says("a card of the same kind and another size", {gpu = "RTX 3080 Ti Laptop 16GB"}, "gpu=RTX_3080_Laptop gpu_memory=16GiB")
says("AMD's of the same kind", {gpu = "RX 7900 XTX"}, "gpu=MI210 gpu_memory=24GiB")
says("FSDP's mixed precision over what is loaded in float32", {precision = "FSDP mp fp16/fp32, float32 loaded", method = "LoRA r8 q_proj v_proj FSDP", n_gpu = "4"}, "dtype=bfloat16_fsdp parallel=fsdp1 n_gpu=4")
says("no optimizer", {optimizer = "none", method = "full, forward and backward"}, "optimizer=sgd")
refuses("GRPO", {method = "GRPO LoRA r32 all-linear, 4 generations"}, "unknown method 'GRPO'")
refuses("HSDP", {method = "HSDP 16x4", n_gpu = "64"}, "unknown method 'HSDP'")
says("the loss in another column", {other = "sdpa, CCE"}, "attention=sdpa cross_entropy=cce")
says("a step in backward in another column", {other = "optimizer_in_bwd"}, "optimizer_in_backward=true")
says("Falcon's output projection", {model = "tiiuae/falcon-7b", method = "LoRA r16 query_key_value dense"}, "lora_targets=q+k+v+o")
says("ZeRO in another column", {n_gpu = "8", other = "flash-attn 2, DeepSpeed ZeRO-2"}, "parallel=zero2 n_gpu=8")
refuses("another method", {method = "BOFT b8"}, "unknown method 'BOFT'")
refuses("a method and more", {method = "LoRA r8 q_proj v_proj, hydra heads"}, "unknown method 'hydra'")
refuses("no rank", {method = "LoRA q_proj v_proj"}, "the rank of the adapters is not said")
refuses("no modules", {method = "LoRA r8"}, "the layers with adapters are not said")
refuses("no method", {method = ""}, "no method is said: ''")
refuses("two ranks", {method = "LoRA r8 q_proj r16"}, "method 'LoRA r8 q_proj r16' says rank=16, and 8 is said too")

-- ---- number formats -------------------------------------------------------------------------

says("autocast", {precision = "bf16 AMP"}, "dtype=bfloat16")
says("autocast over two bytes", {group = "fms-acceleration/x", precision = "bfloat16 autocast", checkpointing = "block"},
  "dtype=bfloat16_loaded use_reentrant=true", "parallel")
local prepared = {group = "fms-acceleration/x", method = "QLoRA nf4 LoRA r16 q_proj v_proj [baseline-peft-bnb]", checkpointing = "block"}
for precision, wanted in pairs{["float16 autocast"] = "true", ["bfloat16 autocast"] = "trl"} do
  prepared.precision = precision
  says("what TRL casts back of a prepared model: " .. precision, prepared, "quantization=nf4_double prepare_kbit=" .. wanted)
end
says("float32", {precision = "fp32"}, "dtype=float32")
says("DeepSpeed's engine where ZeRO is said alone", {framework = "axolotl, torch 2.5", precision = "bf16", method = "full ZeRO-3", n_gpu = "8"},
  "dtype=bfloat16_deepspeed parallel=zero3")
says("accelerate's mixed precision under FSDP", {framework = "torch 2.5, transformers 4.46", precision = "bf16", method = "full FSDP", n_gpu = "4"},
  "dtype=bfloat16_accelerate parallel=fsdp1 n_gpu=4")
says("axolotl's autocast over loaded weights", {framework = "axolotl 0.8, torch 2.6, transformers 4.51", precision = "bf16", method = "QLoRA r16 all"},
  "dtype=bfloat16_loaded quantization=nf4_double lora_rank=16")
says("and under FSDP", {framework = "axolotl 0.8, torch 2.6, transformers 4.51", precision = "bf16", method = "QLoRA nf4 r16 all FSDP", n_gpu = "2"},
  "dtype=bfloat16_accelerate quantization=nf4 parallel=fsdp1")
says("ms-swift's adapters", {framework = "ms-swift 3.0, transformers 4.48", precision = "bf16", method = "LoRA"}, "dtype=bfloat16_loaded lora_rank=8 lora_targets=all")
says("LLaMA-Factory's weights", {framework = "LLaMA-Factory 0.9, transformers 4.45", precision = "bf16"}, "dtype=bfloat16")
says("where a row says pure it is", {framework = "trl 0.15, transformers 4.49"}, "dtype=bfloat16_pure")
says("nothing but two bytes under FSDP", {precision = "bf16 pure", method = "full FSDP", n_gpu = "4"}, "dtype=bfloat16_pure parallel=fsdp1")
says("torchtune's FSDP", {framework = "torchtune 0.4", group = "torchtune/README", precision = "bf16", method = "full", batch = "2", checkpointing = "block", n_gpu = "4"},
  "dtype=bfloat16_pure parallel=fsdp2")
says("nanoGPT's autocast", {model = "GPT-2 124M", framework = "nanoGPT, torch 2.5", precision = "fp16"}, "framework=nanogpt dtype=float16")
says("half under deepspeed", {framework = "torch 2.4, transformers 4.48, deepspeed 0.15", precision = "fp16", n_gpu = "8", method = "full ZeRO-3"},
  "dtype=float16_deepspeed parallel=zero3 n_gpu=8")
refuses("an unknown format", {precision = "mxfp4"}, "unknown precision 'mxfp4'")
refuses("no format", {precision = ""}, "the number format is not said")

-- ---- lengths and batches --------------------------------------------------------------------

says("a limit", {seq = "<=768"}, "seq_len=768")
says("a list", {seq = "512, 1024, 4096, 2048"}, "seq_len=4096")
says("thousands", {seq = "8K"}, "seq_len=8192")
says("a prompt and what follows", {task = "inference", method = "generate", seq = "~32+50"}, "task=inference seq_len=32 max_new_tokens=50",
  "optimizer gradient_accumulation_steps")
refuses("no length", {seq = "alpaca"}, "the length of the sequences is not said: seq 'alpaca'")
refuses("no batch", {batch = ""}, "the batch is not said: batch ''")

-- ---- several GPUs ---------------------------------------------------------------------------

says("FSDP", {method = "full FSDP1", n_gpu = "4"}, "parallel=fsdp1 n_gpu=4")
says("FSDP in another column", {other = "flash-attn 2, FSDP full shard", n_gpu = "2"}, "parallel=fsdp1 n_gpu=2 attention=flash_attention_2")
says("three ways", {method = "full DP4 TP2 PP2 ZeRO-1", n_gpu = "16"}, "parallel=zero1 n_gpu=4 tensor_parallel=2 pipeline_parallel=2")
says("torchtitan's tensor parallelism", {group = "torchtitan/pr 1", framework = "torch 2.10, torchtitan", precision = "FSDP2 MP bf16/fp32",
  method = "FSDP4 TP8", n_gpu = "32", optimizer = "AdamW fused"}, "parallel=fsdp2 n_gpu=4 tensor_parallel=8 sequence_parallel=true expandable_segments=true")
says("states on the host", {framework = "torch 2.13, transformers 5.14, deepspeed 0.19", method = "full [liger] ZeRO-3", n_gpu = "8",
  precision = "bf16", optimizer = "AdamW, offloaded to the CPU", other = "flash-attention 3"}, "offload_optimizer=true parallel=zero3 attention=flash_attention_2")
says("the second FSDP", {method = "LoRA r8 all FSDP2", n_gpu = "2"}, "parallel=fsdp2 n_gpu=2")
says("sequences divided over the cards", {framework = "deepspeed 0.15, transformers 4.45", method = "full ZeRO-3 Ulysses SP8", n_gpu = "8", batch = "1",
  seq = "131072"}, "seq_len=16384 parallel=zero3 n_gpu=8", "context_parallel")
says("but by accelerate's FSDP2 in turns", {group = "trl/long-context", framework = "trl 1.10, transformers 5.17, torch 2.14", method = "full FSDP2 CP=8", n_gpu = "8",
  batch = "1", seq = "1048576", precision = "bf16 autocast", checkpointing = "block, activation offload", other = "chunked_nll"},
  "seq_len=1048576 context_parallel=8 parallel=fsdp2 offload_activations=inputs cross_entropy=chunked dtype=bfloat16_accelerate")
says("over all of them", {method = "full FSDP1, ring attention", n_gpu = "4", batch = "1", seq = "65537"}, "seq_len=16385 parallel=fsdp1 n_gpu=4")
says("torchtitan's are its own", {group = "torchtitan/x", framework = "torchtitan, torch 2.7", precision = "FSDP2 MP bf16/fp32", method = "FSDP2 CP4", n_gpu = "8",
  batch = "1", seq = "32768", other = "ring attention"}, "seq_len=32768 context_parallel=4 n_gpu=2")
says("layers over cards", {task = "inference", method = "generate", seq = "~32+50", other = "device_map auto", n_gpu = "4"}, "device_map=4")
says("tensor parallel alone", {method = "full TP8", n_gpu = "8"}, "tensor_parallel=8", "parallel n_gpu")
refuses("ways that do not fill the GPUs", {method = "full DP4 TP2", n_gpu = "16"}, "16 GPUs are not DP 4 x TP 2 x PP 1")
refuses("no way said", {n_gpu = "8"}, "how 8 GPUs share the work is not said")
refuses("GPUs in words", {n_gpu = "many"}, "unknown n_gpu 'many'")
says("two FSDP ways of torchtitan", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "8", method = "FSDP2 CP4"},
  "parallel=fsdp2 n_gpu=2 context_parallel=4 dtype=bfloat16_fsdp")
says("its first FSDP, and what the loop of that month did", {group = "torchtitan/x", framework = "torchtitan, torch (2024-03-26)", n_gpu = "8",
  method = "full FSDP1", optimizer = "AdamW"}, "parallel=fsdp1 n_gpu=8 torch=2.4 optimizer=adamw_foreach keep_logits=yes")
says("a later loop", {group = "torchtitan/x", framework = "torchtitan 0.1, torch 2.8", n_gpu = "8", method = "full FSDP2", optimizer = "AdamW",
  other = "expandable segments"}, "parallel=fsdp2 optimizer=adamw_fused expandable_segments=true", "keep_logits")
says("its second FSDP", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "8", method = "full FSDP2"}, "parallel=fsdp2 n_gpu=8")

-- ---- what a source's code does that its table does not say ----------------------------------

local lit = {group = "litgpt/resource-tables", framework = "litgpt 8641822, torch 2.1.0", precision = "bf16-true", checkpointing = "none",
  method = "Finetuning with LoRA on Multiple GPUs None (4,194,304 trainable)", n_gpu = "2"}
says("fine-tuning with FSDP checkpoints blocks", lit, "parallel=fsdp1 n_gpu=2 checkpointing=block use_reentrant=false cross_entropy=chunked_output framework_version=0.1")
lit.n_gpu, lit.method = "1", "Finetuning with LoRA on 1 GPU None (4,194,304 trainable)"
says("and does not on one GPU", lit, "checkpointing=none cross_entropy=chunked_output", "parallel use_reentrant")
says("nor in pretraining", {group = "litgpt/thunder", framework = "litgpt, torch 2.4", precision = "bf16-true", method = "full fsdp", n_gpu = "8"},
  "parallel=fsdp1 n_gpu=8 checkpointing=none cross_entropy=eager keep_logits=no gradient_accumulation_steps=1 framework_version=0.3")
lit = {group = "litgpt/thunder", framework = "litgpt, torch 2.4", precision = "bf16-true", method = "full ddp", n_gpu = "8", batch = "4"}
says("its steps are of 512 sequences", lit, "parallel=ddp gradient_accumulation_steps=16")
says("nanotron's first process is in the first stage", {group = "nanotron/x", framework = "nanotron 0.5, torch 2.4", n_gpu = "4",
  precision = "bf16 params, fp32 master+grad accumulation", method = "DP1 TP2 PP2 ZeRO-0"}, "dtype=bfloat16_master pipeline_stage=first sequence_parallel=true")

says("FP8 files of Qwen3 have the head by itself", {group = "Qwen3 speed benchmark", task = "inference", precision = "FP8", model = "Qwen3-0.6B", method = "generate 2048 after input", seq = "1"},
  "tie_embeddings=false quantization=fp8")
says("its other files do not", {group = "Qwen3 speed benchmark", task = "inference", model = "Qwen3-0.6B", method = "generate 2048 after input", seq = "1"},
  "task=inference", "tie_embeddings")
says("Qwen1.5 is of a version", {group = "Qwen1.5 speed benchmark", task = "inference", framework = "torch 2.1.2, transformers", model = "Qwen1.5-0.5B-Chat",
  method = "generate 2048 after input", seq = "1", n_gpu = "2"}, "transformers=4.38 device_map=2")
says("LitGPT's tutorials are of its tables' code", {group = "litgpt/finetune_lora", framework = "lit-gpt 0cc02afa, torch 2.1", precision = "bf16-true",
  method = "Finetuning with LoRA on 1 GPU bnb.fp4"}, "lora_rank=8 lora_targets=q+v framework_version=0.1 quantization=nf4")

local tune = {group = "torchtune/README", framework = "torchtune", model = "Llama 3.1 8B", precision = "bf16", method = "LoRA",
  checkpointing = "?", optimizer = "AdamW", other = "compile"}
says("torchtune's table of September 2024", tune, "torch=2.6 lora_targets=q+v lora_rank=8 optimizer=adamw_fused cross_entropy=chunked_output " ..
  "checkpointing=block compile=true", "quantization")
tune.method = "QLoRA"
says("and QLoRA of that month, of every layer", tune, "lora_targets=all quantization=nf4_double")
tune.method, tune.model, tune.n_gpu = "LoRA", "Llama 3.1 70B", "8"
says("and 70B, of k, too", tune, "lora_targets=q+k+v lora_rank=16 parallel=fsdp2")
tune.group, tune.framework, tune.model, tune.n_gpu = "torchtune/README ladder", "torchtune 0.4-0.6", "Llama-3.2-3B", "1"
says("its later table, of what came then", tune, "lora_targets=q+v+o+gate+up+down lora_rank=64")

-- ---- the same in other people's words --------------------------------------------------------

-- {column, cell, words that are there, keys that are not}
for _, entry in ipairs{
  {"framework", "transformers==4.46.0, torch==2.5.1", "torch=2.5 transformers=4.46"}, {"framework", "transformers 4.46 (torch 2.3)", "torch=2.3 transformers=4.46"},
  {"framework", "Hugging Face Transformers v4.44 / PyTorch 2.4", "torch=2.4 transformers=4.44"}, {"framework", "LLaMA Factory 0.9, HF Trainer", "framework=transformers"},
  {"framework", "torchtune v0.4.0", "torch=2.5 cross_entropy=chunked_output grad_clip=0 dtype=bfloat16_pure"},
  {"optimizer", "torch.optim.AdamW", "optimizer=adamw_foreach"}, {"optimizer", "AdamW(fused=True)", "optimizer=adamw_fused"}, {"optimizer", "bnb.optim.AdamW8bit", "optimizer=adamw_8bit"},
  {"optimizer", "8-bit AdamW (lr 2e-4)", "optimizer=adamw_8bit"}, {"optimizer", "PagedAdamW 8bit", "optimizer=adamw_8bit_paged"}, {"optimizer", "AdamW8bit (torchao)", "optimizer=adamw_torchao_8bit"},
  {"optimizer", "SGD, momentum 0.9", "optimizer=sgd_momentum"}, {"optimizer", "SGD (no momentum)", "optimizer=sgd"}, {"optimizer", "DeepSpeedCPUAdam", "offload_optimizer=true"},
  {"precision", "torch_dtype=bfloat16", "dtype=bfloat16_pure"}, {"precision", "bf16=True", "dtype=bfloat16"}, {"precision", "fp32 weights, bf16 autocast", "dtype=bfloat16"},
  {"checkpointing", "True", "checkpointing=block"}, {"checkpointing", "disabled", "checkpointing=none"}, {"checkpointing", "gradient checkpointing (use_reentrant=False)", "checkpointing=block use_reentrant=false"},
  {"checkpointing", "selective AC (op)", "checkpointing=selective"}, {"checkpointing", "selective (2)", "checkpointing=every checkpoint_every=2"}, {"checkpointing", "w/o gradient checkpointing", "checkpointing=none"},
  {"checkpointing", "fsdp_activation_checkpointing", "checkpointing=block use_reentrant=false"}, {"checkpointing", "use_reentrant=True", "checkpointing=block use_reentrant=true"},
  {"other", "attn_implementation=flash_attention_2, use_cache=False", "attention=flash_attention_2", "use_cache"}, {"other", "Flash Attention 2, gradient_accumulation_steps=8", "gradient_accumulation_steps=8"},
  {"other", "GA 4; lr 1e-4; cosine; 3 epochs", "gradient_accumulation_steps=4"}, {"other", "effective batch 64", "gradient_accumulation_steps=16"},
  {"other", "BetterTransformer, exllama", "attention=sdpa"}, {"other", "use_liger_kernel=True, no packing", "kernels=liger cross_entropy=chunked"}, {"other", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "expandable_segments=true"},
  {"method", "full-parameter", "optimizer=adamw_foreach", "lora_rank"}, {"method", "LoRA r=16 target_modules=all-linear lora_dropout=0.05", "lora_rank=16 lora_targets=all lora_dropout=0.05"},
  {"method", "rsLoRA rank 64, alpha 16, q, k, v, o, gate, up, down", "lora_rank=64 lora_targets=q+k+v+o+gate+up+down"}, {"method", "LoRA r8 attn + MLP (20.9M trainable)", "lora_rank=8 lora_targets=all"},
  {"method", "LoRA r8 all-linear + lm_head", "lora_targets=all+head"}, {"method", "LoRA r8 all modules_to_save=embed_tokens,lm_head", "lora_targets=all modules_to_save=head+embed"},
  {"method", "QLoRA nf4 double quant r16 all", "quantization=nf4_double"}, {"method", "GPTQ-LoRA r16 all", "quantization=gptq lora_rank=16"}, {"method", "LoRA(8) q/v, GA=2", "lora_rank=8 lora_targets=q+v gradient_accumulation_steps=2"},
  {"batch", "2 per GPU", "batch_size=2"}, {"batch", "1 (GA 8)", "batch_size=1 gradient_accumulation_steps=8"}, {"seq", "2,048", "seq_len=2048"}, {"seq", "131,072", "seq_len=131072"}, {"seq", "up to 2K tokens", "seq_len=2048"},
  {"seq", "512-1024", "seq_len=1024"}, {"gpu", "1x A100 (80 GB)", "gpu=A100_80GB_SXM"}, {"gpu", "B200 180GB", "gpu=B200 gpu_memory=180GiB"}} do
  says(entry[1] .. " '" .. entry[2] .. "'", {[entry[1]] = entry[2]}, entry[3], entry[4])
end
says("clipping by its name", {other = "max_grad_norm=0.3"}, "grad_clip=0.3")
says("no clipping", {other = "no grad clip, no max_grad_norm"}, "grad_clip=0")
says("the logits until a step ends", {other = "keep logits to the end of the step"}, "keep_logits=backward")
says("keys repeated beforehand on an old card", {gpu = "T4", other = "sdpa, repeat_kv"}, "attention=mem_efficient gpu=T4")
says("and on a new one", {gpu = "A100-80GB", other = "sdpa, repeat_kv"}, "attention=sdpa")
says("adapters' format among remarks", {method = "LoRA r8 q_proj", other = "adapters fp32"}, "adapter_dtype=float32")
says("FSDP that keeps its weights", {group = "lightning-thunder/x", framework = "litgpt, torch 2.5", n_gpu = "8", method = "full FSDP2 zero2", precision = "bf16-true"},
  "parallel=fsdp2 reshard_after_forward=false cross_entropy=eager keep_logits=yes")
says("a trainer that checkpoints unless told not to", {framework = "LLaMA-Factory 0.9, transformers 4.49", checkpointing = "?"}, "checkpointing=block")
says("GPUs by nodes", {n_gpu = "2 nodes x 8", method = "full ZeRO stage 3"}, "parallel=zero3 n_gpu=16")
says("what ZeRO-3 offload leaves on the card", {n_gpu = "8x", method = "full", other = "zero3 offload"}, "parallel=zero3 n_gpu=8 offload_optimizer=true offload_params=true", "offload_activations")
says("a prompt in words", {task = "inference", method = "inference", seq = "2048 in / 128 out"}, "seq_len=2048 max_new_tokens=128")
-- What may mean two things is refused, not guessed.
refuses("one number or two", {seq = "128,256"}, "the length of the sequences is not said: seq '128,256'")
refuses("whose batch", {batch = "8x4"}, "the batch is not said: batch '8x4'")
refuses("two optimizers", {method = "full, 8-bit AdamW"}, "optimizer 'adamw_torch' says optimizer=adamw_torch, and adamw_8bit is said too")
refuses("no dropout in the model", {method = "full, dropout 0.1"}, "unknown method 'dropout': of the model's own layers")
refuses("a batch that does not divide", {other = "global batch 30"}, "a batch of 30 in all is not 4 at once")
refuses("more ways than GPUs", {method = "full TP2", n_gpu = "1"}, "1 GPUs are not so many times TP 2 x PP 1 x CP 1")
refuses("a number behind LoRA", {method = "LoRA 8 q_proj"}, "unknown method '8'")

for metric, member in pairs{["torch.cuda.max_memory_allocated()"] = "peak_allocated_bytes", ["peak reserved memory"] = "peak_reserved_bytes",
  ["Peak memory allocated"] = "peak_allocated_bytes", ["max_memory_allocated (rank 0)"] = "peak_allocated_bytes", ["max_reserved (GiB)"] = "peak_reserved_bytes",
  ["GPU mem (nvidia-smi)"] = "process_bytes"} do
  equal((figures.find(metric, {})), member, "metric " .. metric)
end
equal(figures.find("max_memory_allocated, all GPUs", {}), nil, "a sum or the largest")

-- ---- checkpointing, cards, remarks ----------------------------------------------------------

says("every block", {checkpointing = "block, reentrant"}, "checkpointing=block use_reentrant=true")
says("every second block", {checkpointing = "every 2nd layer"}, "checkpointing=every checkpoint_every=2")
says("selective", {checkpointing = "selective (per-op)"}, "checkpointing=selective")
refuses("a new kind", {checkpointing = "by magic"}, "unknown checkpointing 'by'")
says("a card with a slash", {gpu = "RTX 3090/4090"}, "gpu=RTX_3090")
says("an unsaid card", {gpu = "?"}, "preset=llama-2-7b", "gpu")
refuses("an unknown card", {gpu = "Foo 9000"}, "unknown gpu 'Foo 9000'")
refuses("another kernel", {other = "exllama v2"}, "unknown other 'v2'")
refuses("another compiler", {other = "thunder"}, "Lightning Thunder compiles the model: not modelled")
says("a cache of one byte", {task = "inference", method = "generate 16 after input", other = "int8 KV cache"}, "kv_dtype=int8 max_new_tokens=16")
refuses("an unknown remark", {other = "sdpa, tiled mlp"}, "unknown other 'tiled'")
refuses("an unknown optimizer", {optimizer = "Sophia"}, "unknown optimizer 'Sophia'")
refuses("an operator", {task = "operator"}, "a single operator, no run of a model")
refuses("an unknown task", {task = "distill"}, "unknown task 'distill'")

-- ---- models ---------------------------------------------------------------------------------

local function named(name, wanted)
  local fields, wrong = models.find(name)
  equal(fields or wrong, wanted, "model " .. name)
end

for _, name in ipairs{"Llama-2-7b", "meta-llama/Llama-2-7b-chat-hf", "Llama 2 7 B", "llama2_7B", "TheBloke/Llama-2-7B-GPTQ"} do
  named(name, "preset=llama-2-7b")
end
for _, name in ipairs{"Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B-Instruct", "TechxGenus/Meta-Llama-3-8B-GPTQ"} do named(name, "preset=llama-3-8b") end
for _, name in ipairs{"mistralai/Mixtral-8x7B-Instruct-v0.1", "TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ"} do named(name, "preset=mixtral-8x7b") end
named("Qwen2.5-7B-Instruct-GPTQ-Int4", "preset=qwen2.5-7b")
for _, name in ipairs{"phi-1.5", "microsoft/phi-1_5", "Phi 1.5"} do named(name, "preset=phi-1.5") end
named("phi-2", "preset=phi-2")
named("falcon-7b", "preset=falcon-7b")
named("Falcon 40 B", "preset=falcon-40b")
named("Qwen2-7B", "preset=qwen2-7b")
named("Qwen2-7B-Instruct", "preset=qwen2-7b block_size=32768")
named("Qwen1.5-0.5B-Chat", "family=qwen2 n_layer=24 n_head=16 n_embd=1024 n_inner=2816 vocab_size=151936 block_size=32768 tie_embeddings=1")
named("Qwen3-30B-A3B-FP8", "preset=qwen3-30b-a3b")
named("Llama-shaped 3B (V 131072, MHA, n_layer=28 n_embd=3072 n_head=32 n_inner=8192 tie_embeddings=true)",
  "family=llama n_layer=28 n_embd=3072 n_head=32 n_inner=8192 tie_embeddings=true vocab_size=131072")
named("Llama-shaped 8B (V 131072, GQA 8, n_layer=32 n_embd=4096 n_head=32)", "family=llama n_layer=32 n_embd=4096 n_head=32 vocab_size=131072 n_kv_head=8")
named("DeepSeek_V3-shaped mini (V 129280, MHA, n_layer=2 n_head=128)", "family=deepseek_v3 n_layer=2 n_head=128 vocab_size=129280")
named("Llama-shaped 8B (n_layer=32)", "unknown model 'Llama-shaped 8B (n_layer=32)'")
named("Qwen/Qwen2.5-Coder-32B-Instruct", "preset=qwen2.5-coder-32b-instruct")   -- the library's own names
named("openai/gpt-oss-20b", "preset=gpt-oss-20b")
named("CodeLlama 70 B", "preset=codellama-70-b")
named("Llama-7-9B", "unknown model 'Llama-7-9B'")

-- Parameters as the model's page on the hub gives them, in thousands of millions; Falcon's page counts the tied head twice (7.2).
local published = {["Llama-3.1-405B"] = "405.9", ["Mistral-7B-v0.3"] = "7.2", ["Mixtral-8x22B-v0.1"] = "140.6", ["CodeLlama-34b-hf"] = "33.7",
  ["Yi-6B"] = "6.1", ["Yi-34B"] = "34.4", ["Qwen3-235B-A22B"] = "235.1", ["Qwen-1.8B"] = "1.8", ["Qwen-7B"] = "7.7", ["Qwen-14B"] = "14.2",
  ["Qwen-72B"] = "72.3", ["open_llama_3b"] = "3.4", ["stablelm-base-alpha-3b"] = "3.6", ["falcon-7b"] = "6.9", ["PowerLM-3b"] = "3.5",
  ["Phi-3-mini-4k-instruct"] = "3.8", ["Qwen1.5-32B-Chat"] = "32.5", ["Qwen1.5-72B"] = "72.3", ["Qwen1.5-110B"] = "111.2",
  ["Qwen2-57B-A14B-Instruct"] = "57.4", ["llama-30b"] = "32.5", ["llama-65b"] = "65.3", ["deepseek-llm-7b-base"] = "6.9",
  ["deepseek-coder-1.3b-base"] = "1.3", ["deepseek-coder-6.7b-instruct"] = "6.7", ["Mistral-Small-24B-Instruct-2501"] = "23.6",
  ["Codestral-22B-v0.1"] = "22.2", ["Yi-1.5-9B"] = "8.8", ["Phi-3-medium-4k-instruct"] = "14.0", ["gemma-3-270m-it"] = "0.3",
  ["granite-3.0-3b-a800m-base"] = "3.3", ["LLaMa-13B-GPTQ"] = "13.0", ["starcoder2-7b"] = "7.2", ["starcoder2-15b"] = "16.0", ["starcoderbase-1b"] = "1.1", ["SOLAR-10.7B-v1.0"] = "10.7",
  ["DeepSeek-R1-Distill-Qwen-1.5B"] = "1.8", ["OpenHermes-2.5-Mistral-7B"] = "7.2"}

for name, wanted in pairs(published) do
  local fields = models.find(name)
  local said, answer = pcall(vram.params, fields:gsub(" ", "\n") .. "\nbatch_size=1\nseq_len=128")
  if said then
    local count = 0
    for _, tensor in ipairs(answer) do count = count + tensor.rows * math.max(tensor.cols, 1) end
    equal(("%.1f"):format(count / 1e9), wanted, "parameters of " .. name)
  else
    check(answer:find("family cannot be", 1, true), name .. ": its family is not modelled, and nothing else is wrong", answer)
  end
end

-- ---- no rule sees what was measured ---------------------------------------------------------

local head = table.concat(tsv.columns, "\t") .. "\tvalue\tunit\tbytes\n"

local function line(changes, bytes)
  local cells, column = {}, row(changes)
  for i, name in ipairs(tsv.columns) do cells[i] = column[name] end
  return table.concat(cells, "\t") .. ("\t1\tB\t%s\n"):format(bytes or "1000")
end

local function read(text) return tsv.read(text, "t.tsv") end

local rows = read(head .. line{})
equal(#rows, 1, "a row is read")
for _, name in ipairs{"bytes", "value", "unit"} do
  local seen, fault = pcall(function() return rows[1].column[name] end)
  check(not seen and fault:find("no rule may read '" .. name .. "'", 1, true), "no rule may read " .. name, fault)
end
local other = read(head .. line({}, "999999"))
equal(words.text(words.of(other[1].column)), words.text(words.of(rows[1].column)), "the words do not depend on the measurement")

-- ---- broken tables --------------------------------------------------------------------------

local function broken(what, text, ...)
  local _, faults = read(text)
  equal(table.concat(faults, "\n"), table.concat({...}, "\n"), what)
end

broken("an empty file", "", "t.tsv:1: error: the file is empty: a line with the names of the columns is needed")
broken("columns that are missing", (head:gsub("batch\t", ""):gsub("\tbytes", "")),
  "t.tsv:1: error: no column 'batch'", "t.tsv:1: error: no column 'bytes'")
broken("a column twice", head:gsub("\n", "\tid\n"), "t.tsv:1: error: column 'id' is there twice")
broken("too few cells, and the next line is read", head .. "1\t2\n" .. line({}, "none"),
  ("t.tsv:2: error: 2 cells where the first line has %d"):format(#tsv.columns + 3),
  "t.tsv:3: error: 'bytes' is 'none': a number of bytes is needed")
broken("numbers that are no bytes", head .. line({id = "a"}, "-5") .. line({id = "b"}, "1e300") .. line({id = "c"}, "0x10"),
  "t.tsv:2: error: 'bytes' is -5: a measurement is more than 0", "t.tsv:3: error: 'bytes' is 1e300: more than 2^53",
  "t.tsv:4: error: 'bytes' is '0x10': a number of bytes is needed")
broken("an id twice", head .. line{} .. line{}, "t.tsv:3: error: id '1' is that of line 2 too")
broken("a byte that is no text", head .. line{model = "Llama\xff"}, "t.tsv:2: error: 'model' is not UTF-8")
broken("a control character", head .. line{model = "Llama\1"}, "t.tsv:2: error: 'model' has a control character")
broken("a cell of 20 kB", head .. line{model = ("x"):rep(20000)}, "t.tsv:2: error: 'model' has more than 10000 bytes")
broken("CR LF, a byte order mark, empty lines", "\xEF\xBB\xBF" .. (head .. line{} .. "\n"):gsub("\n", "\r\n"))
equal(read(head .. line{model = '"Llama-2-7B"'})[1].column.model, "Llama-2-7B", "quotes around a cell")

-- ---- sums -----------------------------------------------------------------------------------

equal(score.median{-0.1, 0.3, 0.2}, 0.2, "the median of three")
equal(score.median{0.1, -0.3}, 0.2, "the median of two")
equal(score.median{}, 0, "the median of none")
equal(score.quantile({0.1, -0.2, 0.3, -0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, 0.9), 0.9, "the 90th percentile")
equal(score.within({0.01, -0.02, 0.03, 0.5}, 0.03), 0.75, "the share within a limit")

local judged = score.rows(read(head .. line({id = "1"}, "1000") .. line({id = "2", method = "BOFT"}, "5") .. line({id = "3", quality = "*"}, "1000")),
  function(config)
    equal(config.preset, "llama-2-7b", "the estimator gets the words")
    return {peak_allocated_bytes = 1100, trained_params = 1, peak_at = {phase = "bwd:it1.m0"}}
  end)
equal(math.floor(1000 * judged[1].error + 0.5), 100, "an error")
equal(judged[1].class, "complete", "a class")
equal(judged[2].why, "cannot be said: unknown method 'BOFT'", "a reason")
equal(judged[3].class, "unstated", "quality * is not scored")
local refused = score.rows(read(head .. line{}), function() error("vram.estimate: compile: not modelled", 0) end)
equal(refused[1].why, "cannot be said yet: compile: not modelled", "the library's sentence")

-- A full fine-tuning whose peak is in the optimizer's step proves states only: it counts in no class. An adapter's does.
local function stepping(method)
  return score.rows(read(head .. line{method = method}), function()
    return {peak_allocated_bytes = 1100, trained_params = 1, peak_at = {phase = "step:it0"}}
  end)[1]
end
equal(stepping("full").step_bound, true, "a peak in the step")
equal(score.counts(stepping("full")), false, "a peak in the step does not count")
equal(stepping("LoRA r8 q_proj v_proj").step_bound, false, "a peak in the step of adapters")

-- ---- kinds of runs --------------------------------------------------------------------------

for _, entry in ipairs{
  {"full", ""}, {"full", "checkpointing=block"}, {"full", "n_gpu=2"}, {"adapters", "lora_rank=8"}, {"quantized adapters", "lora_rank=8 quantization=nf4"},
  {"sharded", "parallel=ddp n_gpu=2"}, {"sharded adapters", "parallel=zero3 n_gpu=2 lora_rank=8"},
  {"sharded quantized adapters", "parallel=fsdp n_gpu=2 lora_rank=8 quantization=nf4"}, {"model parallel", "tensor_parallel=2"},
  {"model parallel", "pipeline_parallel=2 parallel=zero1 n_gpu=2"}, {"compiled", "preset=gpt2 compile=2.5 parallel=ddp n_gpu=2"},
  {"compiled adapters", "framework=torchtune compile=2.6 lora_rank=8 lora_dropout=0 adapter_dtype=base"}, {"gpt2", "preset=gpt2 compile=2.5"}, {"gpt2", "preset=gpt2"},
  {"adapters", "preset=gpt2 lora_rank=8"}, {"inference", "task=inference"}} do
  local config = {preset = "llama-3.2-1b", batch_size = 1, seq_len = 128}
  for key, value in entry[2]:gmatch("([%w_]+)=(%S+)") do config[key] = value end
  equal(vram.estimate(config).regime, entry[1], "the kind of run: " .. entry[2])
end

-- ---- what stands for words that the library lacks -------------------------------------------

local asked = {}

-- A library that knows of dtype only float16 and bfloat16, no framework, and no compile with checkpointing.
local function poor_library(config)
  asked[#asked + 1] = config
  if config.framework then error("vram.estimate: framework: unknown key 'framework'", 0) end
  if config.dtype ~= "float16" and config.dtype ~= "bfloat16" then
    error(("vram.estimate: dtype: dtype cannot be '%s': it is one of float16, bfloat16"):format(config.dtype), 0)
  end
  if config.checkpointing then error("vram.estimate: compile with checkpointing is not modelled", 0) end
  return config
end

local nearest = standins.around(poor_library)
local answer, notes = nearest{framework = "nanotron", dtype = "bfloat16_master"}
equal(answer.dtype, "bfloat16", "the nearest format")
equal(answer.framework, nil, "a word that nothing stands for is left out")
equal(table.concat(notes, "; "), "dtype=bfloat16_master -> dtype=bfloat16; framework=nanotron -> nothing", "what stands for what is said")
asked = {}
nearest{framework = "nanotron", dtype = "bfloat16_master"}
equal(#asked, 1, "a word that is lacking is tried once only")
_, notes = nearest{dtype = "float16"}
equal(notes, nil, "where nothing is lacking nothing stands for it")
local own = {framework = "nanotron", dtype = "float16"}
nearest(own)
equal(own.framework, "nanotron", "the row's own words stay as they are")
local said, fault = pcall(nearest, {dtype = "float16", checkpointing = "block"})
equal(not said and fault, "vram.estimate: compile with checkpointing is not modelled", "a refusal without a key stays one")
local advising = standins.around(function(config)
  if config.compile ~= "none" then error("vram.estimate: compile with fsdp is not modelled: set compile=none", 0) end
  return config
end)
answer, notes = advising{compile = "2.5"}
equal(answer.compile .. ", " .. notes[1], "none, compile=2.5 -> compile=none", "what the library asks for stands for a word")
said, fault = pcall(advising, {dtype = "float16"})
check(not said, "but not where the row says no such word", fault)
said, fault = pcall(nearest, {dtype = "int3"})
check(not said and fault:find("cannot be 'int3'", 1, true), "a value for which nothing stands is refused", fault)

-- Every line that is used stands for something else, and every library word that it names can be set.
for _, entry in ipairs(standins.list) do
  for key, value in entry[3]:gmatch("([%w_]+)=(%S+)") do
    local set, wrong = pcall(vram.params, {preset = "llama-2-7b", [key] = value})
    check(set or not wrong:find("cannot be", 1, true) and not wrong:find("unknown key", 1, true),
      ("%s=%s can be set"):format(key, value), wrong)
  end
end

os.exit(rules.good())
