-- Holds the estimator against a table of measurements: each row its words, figure and error, and the sums by class.
local figures = require "figures"
local sources = require "sources"
local standins = require "standins"
local words = require "words"

local score = {}

-- ---- classes --------------------------------------------------------------------------------

-- What is scored together, in this order: the first that takes a row has it. goal: {median, {share, within}, ...} in per cent.
score.classes = {
  {id = "outside", title = "outside of what is modelled", scored = false},
  {id = "nanotron", title = "nanotron", scored = true, goal = {4, {75, 10}}},
  {id = "nvidia-smi", title = "nvidia-smi, below 90% of the card", scored = true, goal = {5, {70, 10}}},
  {id = "unstated", title = "quality *, or figure not stated", scored = false},
  {id = "complete", title = "allocated or reserved, ***", scored = true, goal = {0.5, {90, 3}, {97, 8}}},
  {id = "nearly", title = "allocated, reserved, active, **", scored = true, goal = {1.5, {80, 5}, {92, 10}}},
}

-- Rows that no run of a transformer's layers as the library knows them can say, by what their columns say.
local outside = {
  {"task", "^operator$", "operator", "a single operator"},
  {"group", "^modded%-nanogpt", "modded", "modded-nanogpt: its own layers, changed in each record"},
  {"model", "^ViT", "vit", "ViT"},
  {"model", "TransformerEncoder", "encoder", "nn.TransformerEncoder"},
  {"method", "INT8 QT", "int8", "INT8 training"},
  {"method", "with Adapter", "adapter", "litgpt Adapter"},
}

-- PEFT's comparison of methods: only these two kinds are adapters that the library knows.
local function other_peft_method(column)
  local kind = column.group:find("^peft/") and column.method:match("^([%w_%-]-)%-%-")
  return kind and kind ~= "lora" and kind ~= "ia3" and kind ~= "full-finetuning"
end

-- What puts a row outside, as a word and as a sentence; or nil.
function score.outside(column)
  for _, entry in ipairs(outside) do
    if column[entry[1]]:find(entry[2]) then return entry[3], entry[4] end
  end
  if other_peft_method(column) then return "peft", "a PEFT method other than LoRA and IA3" end
end

local function class_of(column)
  if score.outside(column) then return "outside" end
  local metric = column.metric:lower()
  if column.quality == "*" or metric:find("^unstated") then return "unstated" end
  if column.group:find("^nanotron/") or metric:find("not said", 1, true) then return "nanotron" end
  if figures.find(metric, {}) == "process_bytes" then return "nvidia-smi" end
  return column.quality == "***" and "complete" or "nearly"
end

-- ---- a row ----------------------------------------------------------------------------------

local FULL_CARD = 0.9

-- The sentence of the library without the name of the function that raised it.
local function reason(message)
  return "cannot be said yet: " .. tostring(message):gsub("^[^:]*:%d+: ", ""):gsub("^vram%.[%w_]+: ", "")
end

local function number(value) return type(value) == "number" and value or value.value end

-- An estimate of words, once for all rows that have them: whether there is one, it or the library's sentence, and what stands
-- for words that the library lacks. estimate is the library's function.
local function remembered(estimate)
  local known, nearest = {}, standins.around(estimate)
  return function(list)
    local text = words.text(list)
    if not known[text] then known[text] = table.pack(pcall(nearest, words.config(list))) end
    return table.unpack(known[text], 1, 3)
  end
end

local function measure(result, row, estimate)
  result.words = words.text(result.list)
  local name, take = figures.find(row.column.metric, sources.find(row.column.group))
  if not name then return take end
  local said, answer, instead = estimate(result.list)
  if not said then return reason(answer) end
  result.instead = instead
  result.figure, result.predicted = name, number(take(answer))
  result.error = (result.predicted - row.measured.bytes) / row.measured.bytes
  result.phase, result.regime, result.kind = answer.peak_at.phase, answer.regime, answer.kind
  result.full_card = answer.gpu and row.measured.bytes > FULL_CARD * number(answer.gpu.memory_bytes) or false
  result.trained = number(answer.trained_params)
end

-- Whether a row proves states only: all weights are trained and the peak is the optimizer's step.
local function is_step_bound(result)
  return result.facts.trained == "all" and result.phase ~= nil and result.phase:find("^step:") ~= nil
end

local function judge(row, estimate)
  local source = sources.find(row.column.group)
  local result = {row = row, class = class_of(row.column), source = source.name or "others", framework = source.framework or "others"}
  local outside_word, outside_sentence = score.outside(row.column)
  local list, facts = words.of(row.column)
  if not list then
    result.outside, result.why = outside_word, "cannot be said: " .. (outside_sentence or facts)
    return result
  end
  result.list, result.facts, result.framework = list, facts, facts.framework
  result.why = measure(result, row, estimate)
  result.step_bound = result.predicted ~= nil and is_step_bound(result)
  return result
end

-- A result for each row: {row, class, source, framework, words, figure, predicted, error, regime}, and instead where something stands for what the library
-- lacks; or {row, class, source, framework, why}. estimate: vram.estimate.
function score.rows(rows, estimate)
  local results, known = {}, remembered(estimate)
  for i, row in ipairs(rows) do results[i] = judge(row, known) end
  return results
end

-- ---- sums -----------------------------------------------------------------------------------

-- Whether the error of a row counts in its class.
function score.counts(result)
  return result.error ~= nil and not result.step_bound and not (result.class == "nvidia-smi" and result.full_card)
end

-- The p-quantile of the sizes of errors, 0 for none: the smallest value that a share p of them does not exceed.
function score.quantile(errors, p)
  if #errors == 0 then return 0 end
  local sizes = {}
  for i, e in ipairs(errors) do sizes[i] = math.abs(e) end
  table.sort(sizes)
  return sizes[math.max(1, math.ceil(p * #sizes))]
end

-- The median, of an even number the mean of the two in the middle.
function score.median(errors)
  if #errors == 0 then return 0 end
  local sizes = {}
  for i, e in ipairs(errors) do sizes[i] = math.abs(e) end
  table.sort(sizes)
  local half = #sizes // 2
  return #sizes % 2 == 1 and sizes[half + 1] or (sizes[half] + sizes[half + 1]) / 2
end

-- The share of errors of at most limit (a fraction), as a fraction of all.
function score.within(errors, limit)
  local n = 0
  for _, e in ipairs(errors) do
    if math.abs(e) <= limit then n = n + 1 end
  end
  return #errors > 0 and n / #errors or 0
end

-- Sums of results: rows, those that can be said, those of which something else can be said, and the errors that count.
function score.sum(results)
  local sum = {rows = 0, said = 0, instead = 0, errors = {}, step_bound = {}, full_card = 0}
  for _, r in ipairs(results) do
    sum.rows = sum.rows + 1
    if r.error and r.instead then sum.instead = sum.instead + 1
    elseif r.error then sum.said = sum.said + 1 end
    if score.counts(r) then sum.errors[#sum.errors + 1] = r.error end
    if r.step_bound then sum.step_bound[#sum.step_bound + 1] = r.error end
    if r.class == "nvidia-smi" and r.full_card then sum.full_card = sum.full_card + 1 end
  end
  return sum
end

-- Results by a key: a list of {key, results}, in order of first appearance.
function score.group(results, key_of)
  local groups, place = {}, {}
  for _, r in ipairs(results) do
    local key = key_of(r)
    if key and not place[key] then
      groups[#groups + 1] = {key = key, results = {}}
      place[key] = groups[#groups]
    end
    if key then table.insert(place[key].results, r) end
  end
  return groups
end

-- {class, sum} for each class that has rows, in order of score.classes.
function score.by_class(results)
  local list, found = {}, {}
  for _, g in ipairs(score.group(results, function(r) return r.class end)) do found[g.key] = g.results end
  for _, class in ipairs(score.classes) do
    if found[class.id] then list[#list + 1] = {class = class, sum = score.sum(found[class.id])} end
  end
  return list
end

return score
