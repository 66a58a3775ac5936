-- Figures of the page about the loss: bytes a logit by implementation, by vocabulary, and what changes a run's peak.
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local fms_liger = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb_liger.csv"
local cut = "https://github.com/apple/ml-cross-entropy"
local liger = "https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv"

local figures = {}

-- Bytes a logit at the peak, as the estimator has them.
local function nano(changes)
  local config = {preset = "gpt2", batch_size = 8}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config).breakdown.logits / (8 * 1024 * 50304)
end
local V = 128256
local function llama(changes)
  local config = {preset = "llama-3.2-1b", batch_size = 2, seq_len = 4096, checkpointing = "block"}
  for key, value in pairs(changes or {}) do config[key] = value end
  return vram.estimate(config)
end
local function of_llama(changes) return llama(changes).breakdown.logits / (2 * 4096 * V) end
figures.b_eager = nano{}
figures.b_eager_none = nano{keep_logits = "no"}
figures.b_fp32 = nano{dtype = "float32"}
figures.b_compiled = nano{compile = "2.5"}
figures.b_compiled_old = nano{compile = "2.4", torch = "2.4"}
figures.b_compiled_none = nano{compile = "2.5", compile_logits = false}
figures.b_hf = of_llama{}
figures.b_hf_old = of_llama{transformers = "4.48"}
figures.b_bf16 = of_llama{cross_entropy = "eager"}
figures.b_inplace = of_llama{cross_entropy = "inplace"}
figures.b_softcap = vram.estimate{preset = "gemma-2-2b", batch_size = 1, seq_len = 8192}.breakdown.logits / (8192 * 256000)

-- What 8192 tokens take, by vocabulary.
for name, size in pairs{gpt2 = 50304, llama2 = 32000, llama3 = 128256, qwen = 151936, gemma = 256000} do
  for _, bytes in ipairs{6, 12} do
    figures["v_" .. name .. "_" .. bytes] = computed(bytes * 8192 * size, "B", bytes .. " bytes * 8192 tokens * vocab_size")
  end
end

-- The worked run: Llama 3.2 1B, 2 x 4096, blocks checkpointed, weights in bfloat16.
local runs = {
  {"upcast", "float()", llama{}}, {"bf16", "bf16", llama{cross_entropy = "eager"}},
  {"inplace", "chart.in_place", llama{cross_entropy = "inplace"}}, {"chunked", "chart.fused", llama{cross_entropy = "chunked"}},
}
for _, row in ipairs(runs) do
  figures["process_" .. row[1]] = row[3].process_bytes
  if row[1] ~= "chunked" then figures["loss_" .. row[1]] = row[3].breakdown.logits end
end
figures.process_cce = llama{cross_entropy = "cce"}.process_bytes
figures.weights = runs[1][3].param_bytes
figures.one_chunk = computed(2048 * V * 4, "B", "2048 tokens * 128256 * 4 bytes")
local parts = {}
for _, name in ipairs{"parameters", "gradients", "optimizer", "activations", "logits", "backward"} do
  local row = {"calc.part." .. name}
  for i = 1, #runs do row[i + 1] = runs[i][3].breakdown[name] end
  parts[#parts + 1] = row
end
figures.by_loss = {title = "chart.by_loss", rows_title = "chart.part", rows = parts,
  columns = {runs[1][2], runs[2][2], runs[3][2], runs[4][2]}}
for name, card in pairs{card_12 = "RTX 4070", card_16 = "RTX 4080", card_24 = "RTX 4090"} do figures[name] = vram.gpu(card).cuda_bytes end

-- What a token costs in Llama 3.1 8B.
local function per_token(changes, part)
  local config = {preset = "llama-3.1-8b", batch_size = 1, seq_len = 8192, lora_rank = 16}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config).breakdown[part] / 8192
end
figures.token_loss = per_token({checkpointing = "block"}, "logits")
figures.token_blocks = per_token({checkpointing = "none"}, "activations")
figures.token_checkpointed = computed(32 * 2 * 4096, "B", "32 blocks * 4096 channels * 2 bytes")

-- Measured by others.
figures.gemma_seen = reported(28000 * 2^20, "B", cut)
figures.gemma_said = vram.estimate{preset = "gemma-2-2b", batch_size = 1, seq_len = 8192}.breakdown.logits
figures.cce_seen = reported(1164 * 2^20, "B", cut)
figures.mistral_seen = reported(26704571904, "B", fms)
local function said(text)
  local config = {}
  for key, value in text:gmatch("([%w_]+)=(%S+)") do config[key] = value:gsub("_", key == "gpu" and " " or "_") end
  return vram.estimate(config)
end
figures.mistral_said = said("preset=mistral-7b vocab_size=32001 framework=transformers torch=2.4 transformers=4.48 dtype=bfloat16_pure "
  .. "batch_size=4 seq_len=4096 gradient_accumulation_steps=1 lora_rank=16 lora_targets=q+k+v+o lora_dropout=0.1 optimizer=adamw_foreach "
  .. "checkpointing=block grad_clip=1 evaluation=false gpu=A100_80GB_SXM").peak_allocated_bytes
figures.mistral_plain = reported(23530188288, "B", "foak-fast-kernels; " .. fms_liger)
figures.mistral_fused = reported(23530188288, "B", "foak-fast-kernels-liger; " .. fms_liger)
local low, high = 4245.5478515625, 4910.4384765625
figures.slope_fused = reported((high - low) * 2^20 / 12288, "B", liger)
figures.slope_hf = reported((15302.3759765625 - 9162.3134765625) * 2^20 / 8192, "B", liger)
figures.slope_said = computed(6 * V + 4 * 4096, "B", "6 bytes * vocab_size + 4 bytes * n_embd")
figures.liger_hf = reported(40960.125 * 2^20, "B", liger)
figures.liger_own = reported(8192.328125 * 2^20, "B", liger)

return figures
