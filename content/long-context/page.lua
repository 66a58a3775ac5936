-- Figures of the page about long sequences: what grows, in which order to save, how far a card reaches, and one measured series.
local figures = {}
local function run(changes)
  local config = {preset = "llama-3.1-8b", batch_size = 1, lora_rank = 16, dtype = "bfloat16_loaded"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local stages = {
  {"plain", {}}, {"block", {checkpointing = "block"}}, {"fused", {checkpointing = "block", cross_entropy = "chunked"}},
  {"four", {checkpointing = "block", cross_entropy = "chunked", quantization = "nf4_double"}},
}
local function with(stage, length)
  local changes = {seq_len = length}
  for key, value in pairs(stage) do changes[key] = value end
  return run(changes)
end
local names = {[2048] = "2k", [8192] = "8k", [32768] = "32k", [131072] = "128k"}
for _, stage in ipairs(stages) do
  for length, name in pairs(names) do figures[stage[1] .. "_" .. name] = with(stage[2], length).process_bytes end
end
local lengths = {}
for _, length in ipairs{2048, 4096, 8192, 12288, 16384, 24576, 32768} do
  local row = {length}
  for i, stage in ipairs(stages) do row[i + 1] = with(stage[2], length).process_bytes end
  lengths[#lengths + 1] = row
end
local card = vram.gpu("H100 SXM")
figures.card = card.cuda_bytes
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = lengths,
  columns = {"LoRA", "+ checkpointing", "+ Liger", "+ NF4"}, limit = card.cuda_bytes, limit_label = "H100"}

-- Bytes for one more token.
local function slope(stage, part)
  local low, high = with(stage, 8192), with(stage, 16384)
  return (high.breakdown[part] - low.breakdown[part]) / 8192
end
figures.t_blocks = slope(stages[1][2], "activations")
figures.t_logits = slope(stages[1][2], "logits")
figures.t_inputs = computed(32 * 2 * 4096, "B", "32 * 2 bytes * 4096")
figures.t_cache = computed(2 * 32 * 8 * 128 * 2, "B", "2 * 32 * 8 * 128 * 2 bytes")
local t_peak = (with(stages[3][2], 16384).peak_live_bytes - with(stages[3][2], 8192).peak_live_bytes) / 8192
figures.one_block = t_peak - figures.t_inputs

-- The matrix of scores, if it were there.
for length, name in pairs(names) do
  figures["scores_" .. name] = computed(32 * length * length * 2, "B", "32 heads * " .. length .. "^2 * 2 bytes")
end

-- All weights, on eight cards.
local function full(length, changes)
  local config = {preset = "llama-3.1-8b", batch_size = 1, seq_len = length, checkpointing = "block", cross_entropy = "chunked", parallel = "fsdp2",
    n_gpu = 8, gpu = "H100 SXM"}
  for key, value in pairs(changes or {}) do config[key] = value end
  return vram.estimate(config).process_bytes
end
for length, name in pairs(names) do figures["full_" .. name] = full(length) end

-- Measured: Qwen 7B, LoRA of rank 64, by length.
local qwen = "https://github.com/QwenLM/Qwen/blob/main/README.md"
for length, seen in pairs{[256] = 20.1, [1024] = 21.5, [2048] = 23.8, [8192] = 36.6} do
  figures["seen_" .. length] = reported(seen * 2^30, "B", qwen)
  figures["said_" .. length] = vram.estimate{family = "qwen2", n_layer = 32, n_head = 32, n_embd = 4096, n_inner = 11008, vocab_size = 151936,
    block_size = 32768, tie_embeddings = false, framework = "transformers", torch = "2.0", transformers = "4.32", dtype = "bfloat16_loaded",
    batch_size = 1, seq_len = length, gradient_accumulation_steps = 8, lora_rank = 64, lora_targets = "all", lora_dropout = 0.05,
    optimizer = "adamw_foreach", checkpointing = "block", grad_clip = 1, evaluation = false, gpu = "A100 80GB SXM"}.process_bytes
end
figures.slope_seen = (figures.seen_8192 - figures.seen_2048) / 6144
figures.slope_said = (figures.said_8192 - figures.said_2048) / 6144

local titan = "https://github.com/pytorch/torchtitan/blob/main/benchmarks/llama3_h100_202412_torchtitan.md"
figures.titan_32k, figures.titan_128k = reported(83.9 * 2^30, "B", titan), reported(84.0 * 2^30, "B", titan)

return figures
