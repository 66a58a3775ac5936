-- Figures of the page about mixtures of experts: all and active parameters, what serving and training take, and measured runs.
local figures = {}
local models = {mixtral = "mixtral-8x7b", qwen = "qwen3-30b-a3b"}
local ways = {
  bf16 = {task = "inference", seq_len = 8192}, awq = {task = "inference", seq_len = 8192, quantization = "awq"},
  nf4 = {task = "inference", seq_len = 8192, quantization = "nf4", transformers = "4.57"},
  qlora = {lora_rank = 16, lora_targets = "q+k+v+o", quantization = "nf4_double", seq_len = 2048, checkpointing = "block",
    cross_entropy = "chunked", transformers = "4.57"},
  lora = {lora_rank = 16, lora_targets = "q+k+v+o", seq_len = 2048, checkpointing = "block", cross_entropy = "chunked"},
  full = {seq_len = 2048, checkpointing = "block", cross_entropy = "chunked"},
}
for name, preset in pairs(models) do
  for way, changes in pairs(ways) do
    local config = {preset = preset, batch_size = 1}
    for key, value in pairs(changes) do config[key] = value end
    local run = vram.estimate(config)
    figures[name .. "_" .. way] = run.process_bytes
    if way == "full" then figures[name .. "_params"] = run.params end
    if way == "bf16" and name == "qwen" then figures.qwen_weights, figures.qwen_cache = run.breakdown.parameters, run.breakdown.kv_cache end
  end
end
-- Experts' matrices: three of them, n_embd by the expert's width, in each layer.
local function experts(layers, count, width, inner) return 3 * layers * count * width * inner end
figures.mixtral_experts = computed(experts(32, 8, 4096, 14336), "", "3 * 32 layers * 8 experts * 4096 * 14336")
figures.qwen_unquantized = computed(2 * experts(48, 128, 2048, 768), "B", "3 * 48 layers * 128 experts * 2048 * 768 * 2 bytes")
-- What batched_mm copies for 2,048 tokens: gate and up of each visited expert, for each token.
figures.batched = computed(2048 * 8 * 2 * 768 * 2048 * 2, "B", "2048 tokens * 8 experts * 2 * 768 * 2048 * 2 bytes")
figures.pairs = computed(48 * 128 * 3, "", "48 layers * 128 experts * 3 matrices")
figures.visited_64 = computed(1 - (1 - 8 / 128)^64, "", "1 - (1 - 8 / 128) ^ 64 tokens")
local visited = {}
visited.mixtral = computed(experts(32, 2, 4096, 14336), "", "3 * 32 layers * 2 experts * 4096 * 14336")
figures.qwen_experts = computed(experts(48, 128, 2048, 768), "", "3 * 48 layers * 128 experts * 2048 * 768")
visited.qwen = computed(experts(48, 8, 2048, 768), "", "3 * 48 layers * 8 experts * 2048 * 768")
for name in pairs(models) do figures[name .. "_active"] = figures[name .. "_params"] - figures[name .. "_experts"] + visited[name] end

-- Expert parallelism over 4 cards: what is outside of the experts is copied, or divided by tensor parallelism, too.
figures.ep_copied = figures.qwen_weights - figures.qwen_unquantized + figures.qwen_unquantized / 4
figures.ep_divided = figures.qwen_weights / 4

local b = vram.estimate{preset = "qwen3-30b-a3b", batch_size = 1, lora_rank = 16, lora_targets = "q+k+v+o", seq_len = 2048}.breakdown
local d = vram.estimate{preset = "qwen3-8b", batch_size = 1, lora_rank = 16, lora_targets = "q+k+v+o", seq_len = 2048}.breakdown
figures.act_moe, figures.act_dense = b.activations / 2048, d.activations / 2048
local rows = {}
for _, part in ipairs{"parameters", "kv_cache", "activations"} do
  local row = {"calc.part." .. part}
  for i, preset in ipairs{"qwen3-8b", "qwen3-30b-a3b", "qwen3-32b", "mixtral-8x7b"} do
    row[i + 1] = vram.estimate{preset = preset, task = "inference", batch_size = 1, seq_len = 8192}.breakdown[part]
  end
  rows[#rows + 1] = row
end
figures.by_model = {title = "chart.by_model", rows_title = "chart.part", rows = rows, columns = {"Qwen3 8B", "30B-A3B", "32B", "Mixtral"}}
for name, card in pairs{card_24 = "RTX 4090", card_80 = "A100 80GB SXM"} do figures[name] = vram.gpu(card).cuda_bytes end

-- Mixtral over several cards, with FSDP2 and the settings of the table.
for name, changes in pairs{full = {n_gpu = 8, dtype = "bfloat16_pure"}, lora = {n_gpu = 8, lora_rank = 16, lora_targets = "q+k+v+o"},
    qlora = {n_gpu = 2, lora_rank = 16, lora_targets = "q+k+v+o", quantization = "nf4_double", transformers = "4.57", gpu = "RTX 4090"}} do
  local config = {preset = "mixtral-8x7b", batch_size = 1, seq_len = 2048, checkpointing = "block", cross_entropy = "chunked", parallel = "fsdp2",
    gpu = "H100 SXM"}
  for key, value in pairs(changes) do config[key] = value end
  figures["each_" .. name] = vram.estimate(config).process_bytes
end

-- Measured by others.
local qwen = "https://github.com/QwenLM/Qwen3/blob/main/docs/source/getting_started/speed_benchmark.md"
for i, row in ipairs{{1, 58462}, {14336, 59806}, {30720, 61342}} do
  local run = vram.estimate{preset = "qwen3-30b-a3b", task = "inference", batch_size = 1, seq_len = row[1], max_new_tokens = 2048, torch = "2.6",
    transformers = "4.51", dtype = "bfloat16_pure", gpu = "H100 SXM"}
  local cache = computed(2 * 48 * 4 * 128 * 2 * (row[1] + 2048), "B", "2 * 48 layers * 4 heads * 128 * 2 bytes * tokens")
  figures["seen_" .. i] = reported(row[2] * 2^20, "B", qwen)
  figures["said_" .. i] = run.param_bytes + cache
end
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local quantized = {dtype = "bfloat16_loaded", quantization = "nf4_double"}
for name, row in pairs{q4 = {36731843072, 4, quantized}, q8 = {48770183680, 8, quantized},
    kbit = {42794268160, 4, {dtype = "bfloat16_loaded", quantization = "nf4_double", prepare_kbit = "trl"}},
    fsdp = {57554708992, 2, {dtype = "bfloat16_pure", parallel = "fsdp1", n_gpu = 2}}} do
  local config = {preset = "mixtral-8x7b", vocab_size = 32001, framework = "transformers", torch = "2.4", transformers = "4.48",
    batch_size = row[2], seq_len = 4096, gradient_accumulation_steps = 1, lora_rank = 16, lora_targets = "q+k+v+o",
    lora_dropout = 0.1, optimizer = "adamw_foreach", checkpointing = "block", use_reentrant = true, grad_clip = 1, evaluation = false,
    attention = "flash_attention_2", gpu = "A100 80GB SXM"}
  for key, value in pairs(row[3]) do config[key] = value end
  figures["seen_" .. name] = reported(row[1], "B", fms)
  figures["said_" .. name] = vram.estimate(config).peak_allocated_bytes
end

return figures
