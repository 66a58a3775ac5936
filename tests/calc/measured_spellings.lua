-- Tests cells of other rows and other spellings in a row. Prints "ok" or "not ok" lines.
local figures = require "figures"
local rules = require "measured_row"

local says, refuses = rules.says, rules.refuses

for cell, length in pairs{["8k"] = 8192, ["1.5k"] = 1536, ["2^13"] = 8192, ["16,384"] = 16384, ["len 2048"] = 2048, ["8k context"] = 8192, ["1 M"] = 1 << 20} do
  says("sequences of '" .. cell .. "'", {seq = cell}, "seq_len=" .. length)
end
for cell, batch in pairs{["bs=4"] = 4, ["mbs 2"] = 2, ["1 (micro)"] = 1, ["micro-batch size 8"] = 8, ["2 per GPU"] = 2, ["2^3"] = 8} do
  says("a batch of '" .. cell .. "'", {batch = cell}, "batch_size=" .. batch)
end
for cell, cards in pairs{["8xH100"] = 8, ["8 x A100"] = 8, ["2x8"] = 16, ["2 nodes x 8"] = 16, ["n=4"] = 4, ["16 (2 nodes)"] = 16} do
  says("cards: '" .. cell .. "'", {n_gpu = cell, other = "FSDP full shard", method = "full FSDP"}, "parallel=fsdp1 n_gpu=" .. cards)
  says("cards of a source's own: '" .. cell .. "'", {n_gpu = cell, group = "fms-acceleration/a100_80gb", other = "FSDP full shard"}, "n_gpu=" .. cards)
end
refuses("no cards", {n_gpu = "0"}, "unknown n_gpu '0'")
refuses("no batch", {batch = "0", group = "litgpt/resource-tables"}, "the batch is not said: batch '0'")
says("the length of a source's row is its own", {group = "fms-acceleration/a100_80gb", model = "bigcode/gpt_bigcode-santacoder", seq = "512"}, "seq_len=512")
says("generation says that it is compiled", {task = "inference", method = "generate 32 after input", other = "torch.compile"}, "compile=true")
says("a file's layers are not those of the row", {group = "litgpt/config_hub", method = "lora r32 q,v", model = "tiny-llama"}, "lora_targets=q+v lora_rank=32")
says("sequences a step are of all cards", {group = "litgpt/config_hub", n_gpu = "4", batch = "4"}, "gradient_accumulation_steps=4")
says("a run takes as many cards as its file names", {group = "litgpt/config_hub", n_gpu = "4", method = "lora", batch = "2", checkpointing = "FSDP block"},
  "gradient_accumulation_steps=4", "parallel n_gpu")
says("its file may name two of four", {group = "litgpt/config_hub", n_gpu = "4", model = "stablelm-base-alpha-3b", batch = "1"},
  "parallel=fsdp1 n_gpu=2 checkpointing=block gradient_accumulation_steps=4")
local titan = {group = "torchtitan/pr 1", framework = "torch 2.5.0.dev20240605, torchtitan", method = "FSDP2", other = "reshard_after_forward never", n_gpu = "8"}
says("torchtitan of June 2024", titan, "keep_logits=yes reshard_after_forward=false", "expandable_segments")
titan.framework = "torch 2024-11-05, torchtitan"
says("torchtitan of November 2024", titan, "expandable_segments=true", "keep_logits")
says("attention of 2023", {framework = "transformers 4.35.2"}, "attention=math")
says("attention since", {framework = "transformers 4.36.0"}, "transformers=4.36", "attention")
says("files without groups", {model = "TheBloke/LLaMa-65B-GPTQ", precision = "GPTQ-4bit", task = "inference"}, "quantization_group=0")
says("FSDP said twice", {method = "full FSDP", other = "FSDP full shard", n_gpu = "2"}, "parallel=fsdp1 n_gpu=2")
for model, wanted in pairs{["starcoderbase-7b"] = "n_layer=42", ["dolly-v2-12b"] = "preset=pythia-12b vocab_size=50280", distilgpt2 = "n_layer=6", ["qwen3:8b"] = "preset=qwen3-8b"} do
  says(model, {model = model}, wanted)
end

-- ---- cells that rows of the same sources might have -------------------------------------------

for name, wanted in pairs{["unsloth/tinyllama-bnb-4bit"] = "preset=tinyllama-1.1b", ["unsloth/Qwen3-14B-unsloth-bnb-4bit"] = "preset=qwen3-14b",
    ["Llama-3.1 (8B)"] = "preset=llama-3.1-8b", ["ibm-granite/granite-8b-code-base"] = "n_layer=36 bias=1", ["DeepSeek-V3 671B"] = "preset=deepseek-v3",
    ["openchat/openchat-3.5-0106"] = "vocab_size=32002"} do
  says(name, {model = name, method = "LoRA r8 q_proj"}, wanted)
end
for name, member in pairs{["torch.cuda.max_memory_allocated() (GiB)"] = "peak_allocated_bytes", ["memory/max_reserved(GiB)"] = "peak_reserved_bytes",
    ["Peak Mem. Allocated"] = "peak_allocated_bytes", ["Peak VRAM (GB)"] = "peak_reserved_bytes", ["DCGM max"] = "process_bytes", ["GPU memory used"] = "peak_reserved_bytes"} do
  rules.equal((figures.find(name, {})), member, "metric " .. name)
end
rules.equal(figures.find("train_mem_gpu_peaked_delta", {}), nil, "a difference is no peak")
local on_card = {process_bytes = 900, peak_reserved_bytes = 500, peak_allocated_bytes = 300, gpu = {memory_bytes = 8000, cuda_bytes = 7900}}
for name, bytes in pairs{["nvidia-smi"] = 900, ["nvidia-smi (NVML used at the end)"] = 1000, ["peak memory (max allocated + nvml - max reserved)"] = 800} do
  local _, take = figures.find(name, {})
  rules.equal(take(on_card), bytes, "the bytes of " .. name)
end
says("torchao's optimizer in the host's memory", {optimizer = "CPUOffloadOptimizer(AdamW)"}, "offload_optimizer=true optimizer=adamw_foreach")
says("evaluation between steps", {other = "eval batch 1"}, "evaluation=true eval_batch_size=1")
local march = {group = "torchtitan/issue 929", framework = "torch (2025-03-06), torchtitan 9a2f578", n_gpu = "8", method = "full FSDP2", other = "compile"}
says("torchtitan's loss was not compiled before April 2025", march, "torch=2.7 expandable_segments=true")
march.framework = "torch (2025-04-20), torchtitan"
says("and is since", march, "torch=2.8")
for cell, wanted in pairs{["deepspeed zero3 offload"] = "offload_optimizer=true offload_params=true", ["ZeRO-2 + CPU offload"] = "offload_optimizer=true"} do
  says("offloading by ZeRO: " .. cell, {other = cell, n_gpu = "2"}, wanted, "offload_activations")
end
for cell, every in pairs{["AC every 2 layers"] = 2, ["every 2nd layer (selective)"] = 2, ["selective layer 2"] = 2, ["every other layer"] = 2} do
  says("checkpointing '" .. cell .. "'", {checkpointing = cell}, "checkpointing=every checkpoint_every=" .. every)
end
for cell, size in pairs{["per_device_train_batch_size=4"] = 4, ["2 (grad accum 4)"] = 2, ["4 x GA 8"] = 4} do
  says("a batch of '" .. cell .. "'", {batch = cell}, "batch_size=" .. size)
end
says("a length with a comma", {seq = "14,336"}, "seq_len=14336")
says("cards by torchtitan's words", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "256", method = "FSDP 32, TP 8"}, "parallel=fsdp2 n_gpu=32 tensor_parallel=8")
says("experts and a batch that GPUs share", {framework = "trl 1.10, transformers 5.17", n_gpu = "8", method = "full EP=8"}, "expert_parallel=8 expert_shared_batch=true", "n_gpu=8")
says("two such groups", {framework = "trl 1.10, transformers 5.17", n_gpu = "64", method = "full FSDP2 EP=32"}, "parallel=fsdp2 n_gpu=2 expert_parallel=32 expert_shared_batch=true")
says("torchtitan's experts", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "8", method = "FSDP2 EP=8"}, "n_gpu=8 expert_parallel=8", "expert_shared_batch")
says("torchtitan's other way", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "8", method = "DDP"}, "parallel=ddp n_gpu=8")
says("float8 of written kernels", {group = "torchao/float8nocompile", framework = "torchtitan + torchao PR 778", n_gpu = "8", method = "FSDP2", precision = "float8nocompile"}, "float8=nocompile compile=false")
says("FP8 of a product", {group = "torchtitan/x", framework = "torchtitan", n_gpu = "8", method = "FSDP2", precision = "fp8", other = "compile"}, "float8=tensorwise", "quantization")
for method, wanted in pairs{["full"] = "parallel=zero3", ["LoRA r64"] = "parallel=zero2"} do
  says("Qwen over two cards: " .. method, {group = "Qwen/README", model = "Qwen-7B", precision = "BF16", method = method, n_gpu = "2"}, wanted .. " dtype=bfloat16_deepspeed")
end
says("Qwen's bf16 is the trainer's", {group = "Qwen/README", model = "Qwen-7B", precision = "BF16", method = "LoRA r64"}, "dtype=bfloat16_loaded")
says("Qwen in four bits", {group = "Qwen/README", model = "Qwen-7B", task = "inference", precision = "Int4", method = "generate 2048"}, "quantization=gptq")
refuses("four bits of no kind", {precision = "int4", method = "LoRA r8 q_proj"}, "unknown precision 'int4': of what kind is not said")
says("a plugin and what it is with", {group = "fms-acceleration/x", method = "LoRA r16 q_proj [accelerated-peft-bnb-foak-padding-free]"}, "kernels=foak", "padding_free")
refuses("packed in another way", {group = "fms-acceleration/x", method = "full [padding-free-multipack]"}, "unknown method 'padding-free-multipack'")
refuses("kernels of experts", {group = "fms-acceleration/x", method = "full [foak-fast-kernels-multipack]"}, "unknown method 'multipack'")
says("LoRA-GA and LoRA+", {group = "peft/MetaMathQA", method = "lora--llama-3.2-3B-rank32-lora-ga"}, "lora_rank=32")
says("Unsloth's own layers", {framework = "unsloth 2025.9", method = "QLoRA nf4"}, "lora_rank=16 lora_targets=all")
for cell, name in pairs{["80GB A100"] = "A100_80GB_SXM", ["A100-40GB (SXM)"] = "A100_40GB", ["T4 (Colab)"] = "T4"} do
  says("a card: " .. cell, {gpu = cell}, "gpu=" .. name)
end

for _, cell in ipairs{"seq 4096", "max_seq_len=4096", "T=4096", "s4096", " 4096 ", "seq_len: 4k", "max_length=4096"} do says("sequences of '" .. cell .. "'", {seq = cell}, "seq_len=4096") end
says("a prompt behind a blank", {task = "inference", method = "generate", seq = " ~32+50"}, "seq_len=32 max_new_tokens=50")
for _, cell in ipairs{"batch_size=4", "batch 4", "local_batch_size: 4", "local 4", "micro_batch_size: 4", "per_device_train_batch_size: 4", "bs4"} do
  says("a batch of '" .. cell .. "'", {batch = cell}, "batch_size=4")
end
for _, cell in ipairs{"8x4", "4 total", "batch of 4"} do refuses("a batch of '" .. cell .. "'", {batch = cell}, ("the batch is not said: batch '%s'"):format(cell)) end
for cell, wanted in pairs{["no checkpointing"] = "none", ["without checkpointing"] = "none", ["full checkpointing"] = "block"} do says(cell, {checkpointing = cell}, "checkpointing=" .. wanted) end
for cell, wanted in pairs{["adamw_torch (foreach)"] = "foreach", ["torch AdamW fused"] = "fused", ["AdamW (fused)"] = "fused"} do says(cell, {optimizer = cell}, "optimizer=adamw_" .. wanted) end
for cell, wanted in pairs{["bfloat16-mixed"] = "bfloat16", ["float16-true"] = "float16_pure", ["float16 loaded, bf16 autocast"] = "bfloat16_loaded", ["bf16 loaded"] = "bfloat16_pure"} do
  says(cell, {precision = cell}, "dtype=" .. wanted)
end
says("blanks between words", {task = "inference", method = "generate  2048  after  input"}, "max_new_tokens=2048")
says("remarks that change nothing", {other = "packed sequences, n/a, ?"}, "batch_size=4")
refuses("the first step has no states yet", {other = "step 1"}, "unknown method 'the first step alone'")
says("a later step", {other = "step 10"}, "batch_size=4")
local early = {group = "torchtitan/pr 183", framework = "torch (2024-04-01), torchtitan", method = "FSDP1", n_gpu = "4", other = "compile"}
refuses("torchtitan compiled whole models", early, "torchtitan compiled the whole model before May 21, 2024: not modelled")
early.framework = "torch (2024-05-21), torchtitan"
says("and blocks since", early, "compile=true parallel=fsdp1")
says("torchtitan's flex attention", {group = "torchtitan/pr 1", framework = "torchtitan", n_gpu = "8", method = "FSDP2", other = "FlexAttention"}, "parallel=fsdp2", "attention")
refuses("another flex attention", {other = "flex attention"}, "flex attention is not modelled here")
says("DeepSpeed's bucket", {other = "DeepSpeed ZeRO-3, reduce_bucket_size 50000000", n_gpu = "8"}, "parallel=zero3 reduce_bucket_size=50000000")
says("llama-recipes", {framework = "llama-recipes (Sep 2023), transformers 4.33, torch 2.1"}, "framework=transformers torch=2.1")
says("a name's two bytes", {model = "casperhansen/llama-3-70b-fp16"}, "preset=llama-3.1-70b")

os.exit(rules.good())
