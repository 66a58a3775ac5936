-- Figures of the page about serving: bytes of cache a token, longest context by card and weights, the pool of a server, what was measured.
local figures = {}
local MARGIN = 500 * 2^20
figures.margin = given(MARGIN, "B")

-- Keys and values of one token: 2 * layers * heads of keys and values * width of a head * 2 bytes.
local shapes = {
  {"llama2_7b", 32, 32, 128}, {"llama3_8b", 32, 8, 128}, {"llama3_70b", 80, 8, 128}, {"qwen_7b", 28, 4, 128}, {"qwen_32b", 64, 8, 128},
  {"qwen3_30b", 48, 4, 128}, {"gemma2_9b", 42, 8, 256}, {"mixtral", 32, 8, 128},
}
for _, row in ipairs(shapes) do
  local bytes = 2 * row[2] * row[3] * row[4] * 2
  local how = "2 * " .. row[2] .. " layers * " .. row[3] .. " heads * " .. row[4] .. " * 2 bytes"
  figures["t_" .. row[1]] = computed(bytes, "B", how)
  for name, tokens in pairs{["8k"] = 8192, ["32k"] = 32768, ["128k"] = 131072} do
    figures["c_" .. row[1] .. "_" .. name] = computed(bytes * tokens, "B", how .. " * " .. tokens .. " tokens")
  end
end

local function serve(preset, changes)
  local config = {preset = preset, task = "inference", batch_size = 1, max_new_tokens = 256}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end

-- The worked case: Llama 3.1 8B, a prompt of 8192 tokens.
local function llama(changes)
  local all = {seq_len = 8192}
  for key, value in pairs(changes) do all[key] = value end
  return serve("llama-3.1-8b", all)
end
local bf16 = llama{}
for name, changes in pairs{bf16 = {}, int8 = {quantization = "int8"}, fp8 = {quantization = "fp8"}, nf4 = {quantization = "nf4"},
    gptq = {quantization = "gptq"}, awq = {quantization = "awq"}, kv8 = {kv_dtype = "int8"}, batch = {batch_size = 8},
    long = {seq_len = 32768}} do
  local run = llama(changes)
  figures["w_" .. name], figures["p_" .. name], figures["k_" .. name] = run.breakdown.parameters, run.process_bytes, run.breakdown.kv_cache
end
figures.prefill = bf16.peak_live_bytes - bf16.breakdown.parameters - bf16.breakdown.kv_cache
local long = llama{seq_len = 131072, max_new_tokens = 1}
figures.prefill_128k = long.peak_live_bytes - long.breakdown.parameters - long.breakdown.kv_cache
figures.cache_128k = long.breakdown.kv_cache

-- What a cache that grows leaves behind on a card with room.
local grown = serve("llama-2-7b", {batch_size = 8, seq_len = 256, max_new_tokens = 512, gpu = "A100 80GB SXM"})
figures.grown_shown, figures.grown_needed = grown.process_bytes, grown.needed_bytes

-- The longest prompt with 256 new tokens that a card holds when the whole prompt goes through at once.
local cards = {"RTX 4060", "RTX 4070", "RTX 4080", "RTX 4090", "RTX 5090", "A100 80GB SXM"}
local models = {{"qwen2.5-3b", 32768}, {"qwen2.5-7b", 131072}, {"llama-3.1-8b", 131072}, {"qwen2.5-14b", 131072}, {"qwen2.5-32b", 131072}, {"llama-3.1-70b", 131072}}
local weights = {bf16 = {}, awq = {quantization = "awq"}}
local function longest(preset, changes, limit, most)
  local step = 1024
  local function fits(n)
    changes.seq_len = n * step
    return serve(preset, changes).process_bytes <= limit
  end
  local low, high = 0, most // step
  if fits(high) then return most end
  while high - low > 1 do
    local middle = (low + high) // 2
    if fits(middle) then low = middle else high = middle end
  end
  return low * step
end
for k, card in ipairs(cards) do
  local limit = vram.gpu(card).cuda_bytes - figures.margin
  for i, row in ipairs(models) do
    for name, changes in pairs(weights) do
      local length = longest(row[1], {quantization = changes.quantization}, limit, row[2])
      figures["len" .. i .. "_" .. name .. "_" .. k] = computed(length, "", "the longest that fits: vramcalc estimate task=inference preset="
        .. row[1] .. " batch_size=1" .. (changes.quantization and " quantization=awq" or "") .. " gpu='" .. card .. "'")
    end
  end
end

-- A server's pool by vLLM's source: a share of the card, less weights, context and the peak of its profile run.
local card = vram.gpu("RTX 4090")
figures.card = card.cuda_bytes
figures.share = given(0.92, "")
figures.usable = figures.share * card.cuda_bytes
local function pool(changes)
  local words = {}
  for _, key in ipairs{"preset", "tensor_parallel", "quantization"} do
    if changes[key] then words[#words + 1] = key .. "=" .. changes[key] end
  end
  return vram.serve(changes), "vramcalc serve " .. table.concat(words, " ") .. " gpu='" .. changes.gpu .. "'"
end
for name, quantization in pairs{bf16 = "none", fp8 = "fp8", awq = "awq"} do
  local server, how = pool{preset = "llama-3.1-8b", quantization = quantization, gpu = "RTX 4090"}
  figures["pool_" .. name] = computed(server.pool_bytes, "B", how)
  figures["tokens_" .. name] = computed(server.tokens, "", how)
  figures["requests_" .. name] = figures["tokens_" .. name] / given(8192)
end

-- One model over several cards.
local function divided(cards, quantization)
  local server, how = pool{preset = "llama-3.1-70b", tensor_parallel = cards, quantization = quantization, gpu = "H100 SXM"}
  return computed(server.tokens, "", how)
end
figures.two_bf16, figures.two_fp8, figures.two_awq, figures.four_bf16 = divided(2), divided(2, "fp8"), divided(2, "awq"), divided(4)

local rows = {}
for _, length in ipairs{1024, 4096, 8192, 16384, 32768, 65536, 131072} do
  rows[#rows + 1] = {length, llama{seq_len = length}.process_bytes, llama{seq_len = length, quantization = "awq"}.process_bytes,
    llama{seq_len = length, quantization = "awq", kv_dtype = "int8"}.process_bytes}
end
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = rows,
  columns = {"bf16", "AWQ", "AWQ, int8"}, limit = card.cuda_bytes, limit_label = "RTX 4090"}

-- Measured by others.
local qwen = "https://github.com/QwenLM/Qwen2.5/blob/a912d23/docs/source/benchmark/speed_benchmark.rst"
local seen = {{1, 14.38, 5.39}, {6144, 15.38, 6.39}, {14336, 16.91, 7.92}, {30720, 19.97, 10.98}}
for i, row in ipairs(seen) do
  for k, name in ipairs{"bf16", "awq"} do
    figures["seen_" .. name .. "_" .. i] = reported(row[k + 1] * 2^30, "B", qwen)
    figures["said_" .. name .. "_" .. i] = vram.estimate{preset = "qwen2.5-7b", task = "inference", batch_size = 1, seq_len = row[1], max_new_tokens = 2048,
      torch = "2.3", transformers = "4.46", dtype = "bfloat16_pure", gpu = "A100 80GB SXM", quantization = name == "awq" and "awq" or "none"}.peak_allocated_bytes
  end
end
local vllm = "https://github.com/vllm-project/vllm/issues/10517"
local block = 16 * 2 * 32 * 8 * 128 * 2
figures.vllm_pool = reported(3.81 * 2^30, "B", vllm)
figures.vllm_blocks = reported(1952, "", vllm)
figures.vllm_said = computed(1952 * block, "B", "1952 blocks * 16 tokens * 131072 bytes")
figures.vllm_weights = reported(14.9888 * 2^30, "B", vllm)
figures.weights = bf16.breakdown.parameters
for name, row in pairs{["20k"] = {20000, 17.06}, ["29k"] = {29000, 17.98}} do
  local run = llama{seq_len = row[1], max_new_tokens = 1}
  figures["vllm_peak_" .. name] = reported(row[2] * 2^30, "B", vllm)
  figures["peak_" .. name] = run.peak_allocated_bytes - run.breakdown.kv_cache
end

return figures
