-- What each card holds: every card of the library since Ampere (FlashAttention, bf16) that somebody has observed, the largest models by task and the longest contexts.
-- An estimate is made once for all cards, with the usual context: what a run needs hardly depends on the card.
local MARGIN = given(500 * 2^20, "B")
local known = {}
local function need(config)
  local words = {}
  for key, value in pairs(config) do words[#words + 1] = key .. "=" .. tostring(value) end
  table.sort(words)
  local name = table.concat(words, " ")
  known[name] = known[name] or vram.estimate(config).process_bytes.value
  return known[name]
end

local models = {{"Qwen2.5 0.5B", "qwen2.5-0.5b"}, {"Llama 3.2 1B", "llama-3.2-1b"}, {"Qwen2.5 1.5B", "qwen2.5-1.5b"}, {"Llama 3.2 3B", "llama-3.2-3b"},
  {"Qwen3 4B", "qwen3-4b"}, {"Qwen2.5 7B", "qwen2.5-7b"}, {"Llama 3.1 8B", "llama-3.1-8b"}, {"Qwen2.5 14B", "qwen2.5-14b"},
  {"Qwen2.5 32B", "qwen2.5-32b"}, {"Llama 3.1 70B", "llama-3.1-70b"}}
local ways = {
  full = {batch_size = 1, seq_len = 2048, checkpointing = "block", cross_entropy = "chunked", dtype = "bfloat16_pure"},
  qlora = {batch_size = 1, seq_len = 2048, checkpointing = "block", cross_entropy = "chunked", dtype = "bfloat16_loaded", lora_rank = 16,
    quantization = "nf4_double"},
  serve = {task = "inference", batch_size = 1, seq_len = 8192, max_new_tokens = 256},
  awq = {task = "inference", batch_size = 1, seq_len = 8192, max_new_tokens = 256, quantization = "awq"},
}
local function with(way, preset, length)
  local config = {preset = preset, seq_len = length or ways[way].seq_len}
  for key, value in pairs(ways[way]) do config[key] = config[key] or value end
  return config
end

-- The largest of the models whose run fits; they are in order of size.
local function largest(way, limit)
  for i = #models, 1, -1 do
    if need(with(way, models[i][2])) <= limit then return models[i][1] end
  end
  return "–"
end

local STEP, MOST = 1024, 131072
local function longest(way, preset, limit)
  local low, high = 0, MOST // STEP
  if need(with(way, preset, MOST)) <= limit then return MOST end
  while high - low > 1 do
    local middle = (low + high) // 2
    if need(with(way, preset, middle * STEP)) <= limit then low = middle else high = middle end
  end
  return low * STEP
end

local function tokens(way, preset, card, limit)
  return integer(computed(longest(way, preset, limit), "", "vramcalc solve seq_len preset=" .. preset .. " --gpu '" .. card.name .. "'"))
end

local holds, lengths = {}, {}
for _, card in ipairs(vram.gpus("")) do
  local seen = card.cuda_seen
  if seen.value > 0 and card.compute_capability.value >= 80 then
    local limit = card.cuda_bytes.value - MARGIN.value
    holds[#holds + 1] = {card.name, MiB(card.cuda_bytes), integer(seen), largest("full", limit), largest("qlora", limit), largest("serve", limit)}
    lengths[#lengths + 1] = {card.name, tokens("qlora", "llama-3.1-8b", card, limit), tokens("awq", "llama-3.1-8b", card, limit)}
  end
end
return {margin = MARGIN,
  cards = {title = "chart.cards_title", rows = holds,
    columns = {"chart.card", "chart.cuda", "chart.cards_seen", "chart.cards_full", "chart.cards_qlora", "chart.cards_serve"}},
  lengths = {title = "chart.cards_title", rows = lengths, columns = {"chart.card", "chart.cards_train_length", "chart.cards_serve_length"}}}
