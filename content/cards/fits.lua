-- What fits on a card: ten models by four ways to use them, as the page of all cards and the page of each ask.
local margin = given(500 * 2^20, "B")
local models = {{"Qwen2.5 0.5B", "qwen2.5-0.5b"}, {"Llama 3.2 1B", "llama-3.2-1b"}, {"Qwen2.5 1.5B", "qwen2.5-1.5b"}, {"Llama 3.2 3B", "llama-3.2-3b"},
  {"Qwen3 4B", "qwen3-4b"}, {"Qwen2.5 7B", "qwen2.5-7b"}, {"Llama 3.1 8B", "llama-3.1-8b"}, {"Qwen2.5 14B", "qwen2.5-14b"},
  {"Qwen2.5 32B", "qwen2.5-32b"}, {"Llama 3.1 70B", "llama-3.1-70b"}}
for _, model in ipairs(models) do model[1] = model[1]:gsub(" ", "\u{a0}") end -- a name is not broken between lines
local ways = {
  full = {batch_size = 1, seq_len = 2048, checkpointing = "block", cross_entropy = "chunked", dtype = "bfloat16_pure"},
  qlora = {batch_size = 1, seq_len = 2048, checkpointing = "block", cross_entropy = "chunked", dtype = "bfloat16_loaded", lora_rank = 16,
    quantization = "nf4_double"},
  serve = {task = "inference", batch_size = 1, seq_len = 8192, max_new_tokens = 256},
  awq = {task = "inference", batch_size = 1, seq_len = 8192, max_new_tokens = 256, quantization = "awq"},
}
local STEP, MOST = 1024, 131072

local function config(way, preset, card, length)
  local c = {preset = preset, gpu = card.name}
  for key, value in pairs(ways[way]) do c[key] = value end
  if length then c.seq_len = length end
  return c
end

local known = {}
-- Bytes of the process on this card, a figure.
local function need(way, preset, card, length)
  local name = way .. " " .. preset .. " " .. card.name .. " " .. (length or "")
  known[name] = known[name] or vram.estimate(config(way, preset, card, length)).process_bytes
  return known[name]
end

local function room(card) return card.cuda_bytes.value - margin.value end
local function fits(way, preset, card, length) return need(way, preset, card, length).value <= room(card) end

-- key=value words, without the card, the preset and the name `but`.
local function words(c, but)
  local list = {}
  for key, value in pairs(c) do
    local text = tostring(value)
    if key ~= but and key ~= "gpu" and key ~= "preset" then list[#list + 1] = key .. "=" .. text end
  end
  table.sort(list)
  return table.concat(list, " ")
end

-- The index of the largest model whose run fits, 0 for none; they are in order of size.
local function largest(way, card)
  local low, high = 0, #models + 1
  while high - low > 1 do
    local middle = (low + high) // 2
    if fits(way, models[middle][2], card) then low = middle else high = middle end
  end
  return low
end

-- The longest sequence in tokens, in steps of 1,024; 0 where not even those fit. What a run needs grows almost evenly
-- with the length, so the next length to try lies on the line between the two that are known.
local function steps(way, preset, card)
  local function at(steps) return need(way, preset, card, steps * STEP).value end
  local limit, low, high = room(card), 1, MOST // STEP
  local bytes_low = at(low)
  if bytes_low > limit then return 0 end
  local bytes_high = at(high)
  if bytes_high <= limit then return MOST end
  while high - low > 1 do
    local guess = low + math.floor((limit - bytes_low) / (bytes_high - bytes_low) * (high - low))
    local try = math.max(low + 1, math.min(high - 1, guess))
    local bytes = at(try)
    if bytes <= limit then low, bytes_low = try, bytes else high, bytes_high = try, bytes end
  end
  return low * STEP
end
local function longest(way, preset, card)
  return computed(steps(way, preset, card), "", "vramcalc solve seq_len preset=" .. preset .. " " ..
    words(config(way, preset, card), "seq_len") .. " --gpu '" .. card.name .. "'")
end

-- The cards that have FlashAttention and bf16: NVIDIA's since Ampere.
local function modern(card) return card.compute_capability.value >= 80 end
-- As pages are named.
local function slug(name) return (name:lower():gsub("[^a-z0-9]+", "-"):gsub("^%-", ""):gsub("%-$", "")) end

return {margin = margin, models = models, ways = ways, config = config, need = need, fits = fits, largest = largest, longest = longest,
  modern = modern, slug = slug, room = room}
