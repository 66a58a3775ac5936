-- Figures of the accuracy page: computed values beside recorded, publicly reported and measured ones, none left out.

-- What PyTorch 1.13.1's own dispatcher, autocast and autograd recorded, on tensors without storage: peaks of live bytes.
local recorded = {
  {"rtx4070_fp16", 6187763980, {preset = "nanogpt-30m"}},
  {"rtx4070_fp32", 8310966532, {preset = "nanogpt-30m", dtype = "float32", attention = "mem_efficient"}},
  {"rtx4070_fp16_math", 7100418220, {preset = "nanogpt-30m", attention = "math"}},
  {"rtx4070_fp16_bias", 6188175776, {preset = "nanogpt-30m", bias = true}},
  {"rtx4070_V256", 943540488, {preset = "nanogpt-30m", vocab_size = 256}},
  {"rtx4070_fp16_ckpt", 5560584364, {preset = "nanogpt-30m", checkpointing = "block"}},
  {"shakespeare_char", 1694418952, {preset = "shakespeare-char"}},
  {"gpt2_B4", 6090805756, {preset = "gpt2", batch_size = 4, dtype = "float16"}},
  {"oom_gpt2_B16", 17651847676, {preset = "oom-gpt2"}},
  {"gpt2_B32_V256_ckpt", 3880571204, {preset = "gpt2", batch_size = 32, vocab_size = 256, checkpointing = "block"}},
}

local figures = {}
for i, row in ipairs(recorded) do
  row[3].compile, row[3].mode = "none", "reference"
  figures["recorded_" .. i] = reported(row[2], "B", "recorded from the dispatcher of PyTorch 1.13.1, tests/calc/truth/nanogpt.json: " .. row[1])
  figures["exact_" .. i] = vram.estimate(row[3]).peak_live_bytes
end

-- Reserved memory of one sequence more.
for _, batch in ipairs{9, 10} do
  figures["reserved_" .. batch] = vram.estimate{preset = "gpt2", compile = "none", torch = "2.4", batch_size = batch}.peak_reserved_bytes
end

-- What others measured: name, MiB, address, configuration, field of the estimate that stands beside it.
local torchtune = "https://github.com/pytorch/torchtune"
local gpt2_2019 = "https://github.com/huggingface/transformers/pull/2356"
-- The recipes' own configs of 0.6: lora_attn_modules, apply_lora_to_mlp, loss; the README has batch 2, packed to 2048, no accumulation.
local function tune(changes)
  local config = {preset = "llama-3.1-8b", framework = "torchtune", dtype = "bfloat16_pure", batch_size = 2, seq_len = 2048,
    gradient_accumulation_steps = 1, cross_entropy = "chunked_output", evaluation = false, grad_clip = 0, keep_logits = "no", compile = "2.5", torch = "2.6"}
  if changes.lora_rank then config.lora_targets, config.adapter_dtype = "q+v+o+gate+up+down", "base" end
  for key, value in pairs(changes) do config[key] = value end
  return config
end
local function hf_gpt2(changes)
  local config = {preset = "hf-gpt2", dtype = "float32", attention = "math", batch_size = 4}
  for key, value in pairs(changes) do config[key] = value end
  return config
end
local function titan(cross_entropy)
  return {preset = "llama-3.1-8b", seq_len = 8192, parallel = "fsdp", n_gpu = 8, checkpointing = "block",
    cross_entropy = cross_entropy}
end
local others = {
  {"nanogpt", 4464, "https://lzwjava.github.io/rtx-4070-vram-usage-en", {preset = "nanogpt-30m"}, "process_bytes"},
  {"mingpt", 5747.7, "https://github.com/karpathy/minGPT/pull/106", {preset = "hf-gpt2-xl", dtype = "float32"}, "grad_bytes"},
  {"gemma", 28000, "https://arxiv.org/abs/2411.09009", {preset = "gemma-2-2b", seq_len = 8192}, "logits"},
  {"titan", 50769.9, "https://github.com/pytorch/torchtitan/pull/996", titan(nil), "peak_reserved_bytes"},
  {"titan_chunked", 43274.2, "https://github.com/pytorch/torchtitan/pull/996", titan("chunked"), "peak_reserved_bytes"},
  {"full_4090", 19353.6, torchtune, tune{optimizer = "adamw_8bit_paged", optimizer_in_backward = true,
    checkpointing = "block"}, "peak_reserved_bytes"},
  {"full_a6000", 38297.6, torchtune, tune{optimizer = "adamw_8bit_paged", checkpointing = "block"}, "peak_reserved_bytes"},
  {"lora_4090", 16588.8, torchtune, tune{lora_rank = 8, checkpointing = "block"}, "peak_reserved_bytes"},
  {"lora_a6000", 31027.2, torchtune, tune{lora_rank = 8}, "peak_reserved_bytes"},
  {"qlora_4090", 7577.6, torchtune, tune{lora_rank = 8, quantization = "nf4_double", checkpointing = "block"},
    "peak_reserved_bytes"},
  {"lora_70b", 28262.4, torchtune, tune{preset = "llama-3.1-70b", lora_rank = 16, checkpointing = "block", parallel = "fsdp",
    n_gpu = 8, gpu = "A100 80GB SXM"}, "peak_reserved_bytes"},
  {"gpt2_512", 10137.6, gpt2_2019, hf_gpt2{seq_len = 512}, "process_bytes"},
  {"gpt2_1024", 20889.6, gpt2_2019, hf_gpt2{}, "process_bytes"},
  {"medium_512", 23920.6, gpt2_2019, hf_gpt2{preset = "hf-gpt2-medium", seq_len = 512}, "process_bytes"},
  {"zero2", 26316.8, "https://arxiv.org/abs/2309.12307", {preset = "llama-2-7b", seq_len = 8192, lora_rank = 8,
    lora_targets = "attention", checkpointing = "block", parallel = "zero2", n_gpu = 8}, "peak_reserved_bytes"},
  {"context_lazy", 273.75, "https://github.com/pytorch/pytorch/pull/86509", {preset = "gpt2"}, "context_bytes"},
}
for _, row in ipairs(others) do
  local name, MiB_seen, address, config, field = row[1], row[2], row[3], row[4], row[5]
  local run = vram.estimate(config)
  figures[name .. "_reported"] = reported(MiB_seen * 2^20, "B", address)
  figures[name .. "_predicted"] = field == "logits" and run.breakdown.logits or run[field]
end

-- The same as a picture. Names are those of programs and cards, alike in every language.
local pictured = {
  {"nanoGPT 30M, RTX 4070", "nanogpt"}, {"GPT-2 1.5B, minGPT", "mingpt"}, {"Gemma 2 2B", "gemma"},
  {"Llama 3.1 8B LoRA, RTX 4090", "lora_4090"}, {"Llama 3.1 8B LoRA, A6000", "lora_a6000"},
  {"Llama 3.1 8B QLoRA, RTX 4090", "qlora_4090"}, {"Llama 3.1 70B LoRA, A100", "lora_70b"},
  {"Llama 3.1 8B, RTX 4090", "full_4090"}, {"Llama 3.1 8B, A6000", "full_a6000"}, {"torchtitan", "titan"},
  {"torchtitan, cross_entropy=chunked", "titan_chunked"}, {"Llama 2 7B LoRA, ZeRO-2", "zero2"}, {"GPT-2 124M, 512 (2019)", "gpt2_512"},
  {"GPT-2 124M, {1024} (2019)", "gpt2_1024"}, {"GPT-2 medium, 512 (2019)", "medium_512"},
}
local points = {}
for i, row in ipairs(pictured) do
  points[i] = {row[1], figures[row[2] .. "_predicted"], figures[row[2] .. "_reported"]}
end
figures.accuracy = {title = "chart.accuracy", rows_title = "chart.setup", band = 0.05, rows = points,
  columns = {"chart.predicted", "figure.kind.reported"}}

-- Requests that failed: the size in the message, and the tensor that the estimator finds for it.
local message = "CUDA out of memory. Tried to allocate 786.00 MiB"
figures.v100_reported = reported(786 * 2^20, "B", "https://github.com/karpathy/nanoGPT/issues/61")
local v100 = vram.explain_oom(message, {preset = "gpt2", batch_size = 4, dtype = "float16"})
figures.v100_predicted = computed(v100.tensors[1].bytes, "B", "vramcalc explain-oom: batch_size=4 dtype=float16 preset=gpt2")
figures.t4_reported = reported(786 * 2^20, "B", "https://github.com/huggingface/transformers/issues/3360")
local t4 = vram.explain_oom(message, hf_gpt2{})
figures.t4_predicted = computed(t4.tensors[1].bytes, "B",
  "vramcalc explain-oom: attention=math batch_size=4 dtype=float32 preset=hf-gpt2")

-- A run that failed in evaluation, with its batch size stated: what was allocated by then.
local failed = vram.explain_oom("CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; "
  .. "10.16 GiB already allocated)", {preset = "gpt2", batch_size = 32, compile = "none"})
figures.failed_predicted = failed.tensors[1].live_bytes
figures.failed_reported = reported(10.16 * 2^30, "B", "https://github.com/karpathy/nanoGPT/issues/88")
-- The first row with another version of the compiler.
figures.nanogpt_before = vram.estimate{preset = "nanogpt-30m", compile = "2.4"}.process_bytes

-- The run that did not fit: what it needs, and what the card offers.
figures.oom_predicted = vram.estimate{preset = "oom-gpt2"}.process_bytes
figures.oom_card = vram.gpu("RTX 4070").cuda_bytes

-- Reported, and not compared.
figures.nanochat = reported(9448 * 2^20, "B", "https://lzwjava.github.io/nanochat-rtx-4070-training-summary-en")
figures.small_3090 = reported(9178 * 2^20, "B", "https://github.com/karpathy/autoresearch/pull/24")
figures.one_head = reported(45347.2 * 2^20, "B", "https://github.com/huggingface/trl/pull/6858")
figures.offloaded = reported(14233.6 * 2^20, "B", torchtune)
figures.bert = reported(14949 * 2^20, "B", "https://huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy")

-- The range of the context.
figures.context_from = given(200 * 2^20, "B")
figures.context_usual = given(300 * 2^20, "B")
figures.context_to = given(430 * 2^20, "B")

-- Our own measurements, or "not measured yet", and the same runs computed for their card and version.
local recorded = {preset = "nanogpt-30m", gpu = "H200", torch = "2.11"}
local compiled = vram.estimate(recorded)
recorded.compile = "none"
local eager = vram.estimate(recorded)
local function framework(engine, value)
  return measured("framework_step", {engine = engine, device = "NVIDIA H200", batch_size = 16, block_size = 512, seq_len = 512,
    n_embd = 384, n_layer = 6, vocab_size = 50304, dtype = "float16", attention = "flash", gradient_accumulation_steps = 4,
    checkpointing = "none", loop = "train", value = value})
end
figures.eager_allocated = eager.peak_allocated_bytes
figures.eager_reserved = eager.peak_reserved_bytes
figures.compiled_allocated = compiled.peak_allocated_bytes
figures.compiled_reserved = compiled.peak_reserved_bytes
figures.default_context = vram.estimate{preset = "nanogpt-30m"}.context_bytes
figures.eager_allocated_measured = framework("torch-eager", "max_memory_allocated_bytes")
figures.eager_reserved_measured = framework("torch-eager", "max_memory_reserved_bytes")
figures.compiled_allocated_measured = framework("torch-compile", "max_memory_allocated_bytes")
figures.compiled_reserved_measured = framework("torch-compile", "max_memory_reserved_bytes")
figures.context_measured = measured("context", {value = "context_bytes"})

return figures
