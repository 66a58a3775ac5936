-- Figures of the page about long sequences: what a token costs, in which order to save, how far a card reaches, and two measured series.
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
local function with(stage, changes)
  local all = {}
  for key, value in pairs(stage) do all[key] = value end
  for key, value in pairs(changes) do all[key] = value end
  return all
end
local function at(stage, length) return run(with(stage, {seq_len = length})) end

local names = {[2048] = "2k", [8192] = "8k", [32768] = "32k", [131072] = "128k"}
for _, stage in ipairs(stages) do
  for length, name in pairs(names) do figures[stage[1] .. "_" .. name] = at(stage[2], length).process_bytes end
end
local card = vram.gpu("H100 SXM")
figures.card = card.cuda_bytes
local rows = {}
for _, length in ipairs{2048, 8192, 16384, 32768, 49152, 65536, 98304, 131072} do
  local row = {length}
  for i = 2, 4 do row[i] = at(stages[i][2], length).process_bytes end
  rows[#rows + 1] = row
end
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = rows,
  columns = {"calc.checkpointing", "+ Liger", "+ NF4"}, limit = card.cuda_bytes, limit_label = "H100"}

-- Bytes for one more token, from two estimates.
local function slope(stage, part)
  return (at(stage, 16384).breakdown[part] - at(stage, 8192).breakdown[part]) / 8192
end
figures.t_blocks = slope(stages[1][2], "activations")
figures.t_logits = slope(stages[1][2], "logits")
figures.t_inputs = computed(32 * 2 * 4096, "B", "32 blocks * 4096 * 2 bytes")
figures.t_cache = computed(2 * 32 * 8 * 128 * 2, "B", "2 * 32 layers * 8 heads * 128 * 2 bytes")
figures.t_all = (at(stages[3][2], 16384).peak_live_bytes - at(stages[3][2], 8192).peak_live_bytes) / 8192
figures.one_block = figures.t_all - figures.t_inputs
figures.fixed = at(stages[3][2], 8192).peak_live_bytes - figures.t_all * 8192

-- The matrix of scores of one layer, and the mask of a padded batch of one sequence.
figures.mask_32k = computed(32768 * 32768, "B", "32768^2 * 1 byte")
figures.mask_128k = computed(131072 * 131072, "B", "131072^2 * 1 byte")
for length, name in pairs(names) do
  figures["scores_" .. name] = computed(32 * length * length * 2, "B", "32 heads * " .. length .. "^2 * 2 bytes")
end

-- Llama 2 7B with ZeRO-2 on two A100, as somebody reported it in October 2023: Transformers 4.34 wrote the scores.
local function zero(changes)
  local config = {preset = "llama-2-7b", parallel = "zero2", n_gpu = 2, batch_size = 1, seq_len = 4096, checkpointing = "block",
    torch = "2.1", transformers = "4.34", attention = "math", gpu = "A100 80GB SXM"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local zero2 = zero{}
figures.card_80 = vram.gpu("A100 80GB SXM").cuda_bytes
figures.zero2_4k, figures.zero2_2k = zero2.process_bytes, zero{seq_len = 2048}.process_bytes
figures.zero2_states = zero2.breakdown.parameters + zero2.breakdown.gradients + zero2.breakdown.optimizer
figures.zero3_4k, figures.zero2_lora = zero{parallel = "zero3"}.process_bytes, zero{lora_rank = 16}.process_bytes

-- The longest sequence by card; 0 where the weights do not fit.
local cards = {"RTX 4070", "RTX 4080", "RTX 4090", "RTX 5090", "A100 80GB SXM"}
for k, name in ipairs(cards) do
  for _, stage in ipairs{"block", "fused", "four"} do
    local chosen
    for _, entry in ipairs(stages) do if entry[1] == stage then chosen = entry[2] end end
    local config = with(chosen, {preset = "llama-3.1-8b", batch_size = 1, lora_rank = 16, dtype = "bfloat16_loaded", gpu = name})
    figures["longest_" .. stage .. "_" .. k] = computed(vram.solve("seq_len", config).value or 0, "",
      "vramcalc solve seq_len --gpu '" .. name .. "', " .. (stage == "block" and "checkpointing" or stage == "fused" and "and cross_entropy=chunked" or "and quantization=nf4_double"))
  end
end

-- All weights, on eight cards.
for length, name in pairs(names) do
  figures["full_" .. name] = vram.estimate{preset = "llama-3.1-8b", batch_size = 1, seq_len = length, checkpointing = "block",
    cross_entropy = "chunked", parallel = "fsdp2", n_gpu = 8, gpu = "H100 SXM"}.process_bytes
end

-- Measured: context parallelism by torchtitan, full checkpointing, eight H100 of 96 GB.
local titan = "https://github.com/pytorch/torchtitan/blob/31a17bf/benchmarks/llama3_h100_202412_torchtitan.md"
for way, row in pairs{[1] = {83.9, 3890}, [2] = {84.2, 2540}, [4] = {84.0, 1071}, [8] = {84.5, 548}} do
  figures["titan_" .. way], figures["speed_" .. way] = reported(row[1] * 2^30, "B", titan), reported(row[2], "", titan)
end
for _, way in ipairs{1, 2, 4, 8} do
  figures["said_cp" .. way] = vram.estimate{preset = "llama-3.1-8b", framework = "torchtitan", torch = "2.7", batch_size = 1,
    seq_len = 32768 * way, checkpointing = "block", compile = "2.5", float8 = "tensorwise", float8_all_gather = true, parallel = "fsdp2",
    n_gpu = 8 // way, context_parallel = way, gpu = "H100 SXM", gpu_memory = 96 * 1024}.peak_reserved_bytes
end

-- Measured: Qwen 7B, LoRA of rank 64, by length.
local qwen = "https://github.com/QwenLM/Qwen/blob/main/README.md"
for length, seen in pairs{[256] = 20.1, [1024] = 21.5, [2048] = 23.8, [8192] = 36.6} do
  figures["seen_" .. length] = reported(seen * 2^30, "B", qwen)
  figures["said_" .. length] = vram.estimate{family = "qwen2", n_layer = 32, n_head = 32, n_embd = 4096, n_inner = 11008,
    vocab_size = 151936, block_size = 32768, tie_embeddings = false, framework = "transformers", torch = "2.0", transformers = "4.32",
    dtype = "bfloat16_loaded", batch_size = 1, seq_len = length, gradient_accumulation_steps = 8, lora_rank = 64,
    lora_targets = "all", lora_dropout = 0.05, optimizer = "adamw_foreach", checkpointing = "block", grad_clip = 1,
    evaluation = false, gpu = "A100 80GB SXM"}.process_bytes
end
figures.slope_seen = (figures.seen_8192 - figures.seen_2048) / 6144
figures.slope_said = (figures.said_8192 - figures.said_2048) / 6144

return figures
