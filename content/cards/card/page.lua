-- One card: what CUDA offers of it, the models that fit by task, and the longest contexts.
local fits = require("cards/fits")

local me
for _, c in ipairs(vram.gpus("")) do
  if c.name == card then me = c end
end
if not me then error("card.tsv has '" .. card .. "', which the library does not know") end
local observed = me.cuda_seen.value > 0

-- An advertised size, where no report of the driver was found.
local printed = me.memory_basis == "reported"
local total = (printed and reported or given)(me.memory_bytes.value, "B", me.memory_source)
local memory = {{printed and "chart.cards_smi" or "chart.cards_advertised", MiB(total)},
  {observed and "chart.cuda" or "chart.cards_rule", MiB(me.cuda_bytes)}}
local function row(words, figure) memory[#memory + 1] = {words, figure} end
if observed then
  row("chart.cards_lowest", MiB(me.cuda_low_bytes))
  row("chart.cards_highest", MiB(me.cuda_high_bytes))
  row("chart.cards_seen", integer(me.cuda_seen))
end
row("chart.cards_margin", MiB(fits.margin))

-- The calculator with a run on this card.
local function state(way, preset)
  local words = {}
  for key, value in pairs(fits.config(way, preset, me)) do words[#words + 1] = key .. "=" .. tostring(value):gsub(" ", "+") end
  table.sort(words)
  return table.concat(words, "&")
end

local ways, last = {"full", "qlora", "serve", "awq"}, {}
for _, way in ipairs(ways) do last[way] = fits.largest(way, me) end
local models = {}
for index, model in ipairs(fits.models) do
  local cells, one = {}, nil
  for i, way in ipairs(ways) do
    local fit = index <= last[way]
    one = one or fit and way
    cells[i] = fit and MiB(fits.need(way, model[2], me)) or "–"
  end
  if one then models[#models + 1] = {{model[1], page = "calculator", state = state(one, model[2])}, table.unpack(cells)} end
end

local lengths = {}
for _, model in ipairs(fits.models) do
  local cells, any = {model[1]}, false
  for _, way in ipairs(model[1]:find("Llama") and {"qlora", "serve", "awq"} or {}) do
    local tokens = fits.longest(way, model[2], me)
    any = any or tokens.value > 0
    cells[#cells + 1] = integer(tokens)
  end
  if any then lengths[#lengths + 1] = cells end
end

return {
  memory = {title = "chart.cards_memory", rows = memory, columns = {"chart.card", "sources.value"}},
  models = {title = "chart.cards_models", rows = models,
    columns = {"chart.cards_model", "chart.cards_full", "chart.cards_qlora", "chart.cards_serve", "chart.cards_awq"}},
  lengths = {title = "chart.cards_lengths", rows = lengths, columns = {"chart.cards_model", "chart.cards_qlora", "chart.cards_serve", "chart.cards_awq"}}}
