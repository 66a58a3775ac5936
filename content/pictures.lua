-- Pictures that documents share: tables for chart_nest, chart_cells, chart_chain, chart_block and chart_area.

-- The second iteration of a run, stacked by kind of tensor: the highest moment of each of so many slices, what runs then, and
-- where the passes of its micro-steps begin.
local kinds = {"parameters", "gradients", "optimizer", "weight_casts", "activations", "logits", "backward", "workspaces", "inputs"}
local passes = {fwd = "chart.forward", bwd = "chart.backward", step = "chart.optimizer"}

local function source_of(config)
  local words = {}
  for key, value in pairs(config) do words[#words + 1] = key .. "=" .. tostring(value) end
  table.sort(words)
  return "vramcalc trace " .. table.concat(words, " ") .. " --format csv"
end

local function step_area(config, slices)
  local now, moments, spans, pass = {}, {}, {}, nil
  for _, kind in ipairs(kinds) do now[kind] = 0 end
  vram.trace(config, function(event)
    if now[event.category] then now[event.category] = now[event.category] + (event.is_free and -event.bytes or event.bytes) end
    if not event.phase:find("it1", 1, true) then return end
    if event.phase ~= pass then
      pass = event.phase
      local words = passes[pass:match("^%a+")]
      if words then spans[#spans + 1] = {words, #moments} end
    end
    local moment = {live = event.live, op = event.op}
    for _, kind in ipairs(kinds) do moment[kind] = now[kind] end
    moments[#moments + 1] = moment
  end)
  local best, highest = {}, moments[1]
  for i, moment in ipairs(moments) do
    local slice = (i - 1) * slices // #moments + 1
    if not best[slice] or moment.live > best[slice].live then best[slice] = moment end
    if moment.live > highest.live then highest = moment end
  end
  local rows, runs, source = {}, {}, source_of(config)
  for _, kind in ipairs(kinds) do
    local points, most = {}, 0
    for i, moment in ipairs(best) do
      points[i] = moment[kind]
      most = math.max(most, moment[kind])
    end
    if most > 2^22 then
      rows[#rows + 1] = {"calc.part." .. kind, computed(highest[kind], "B", source), points = points}
    end
  end
  for i, moment in ipairs(best) do
    local last = runs[#runs]
    if last and last[1] == moment.op then last[2] = last[2] + 1 else runs[#runs + 1] = {moment.op, 1} end
  end
  for i, run in ipairs(runs) do runs[i] = run[1] .. "*" .. run[2] end
  for i, span in ipairs(spans) do
    span[2] = span[2] * slices // #moments
    span[3] = spans[i + 1] and spans[i + 1][2] * slices // #moments or slices - 1
  end
  return {title = "chart.step", rows_title = "chart.part", columns = {"chart.peak"}, rows = rows, spans = spans,
    operations = table.concat(runs, "|")}
end

-- The tensors of the loss by their first moment in the second iteration.
local function loss_tensors(config)
  local bytes = {}
  vram.trace(config, function(event)
    if event.category == "logits" and not event.is_free and event.phase:find("it1", 1, true) and not bytes[event.name] then
      bytes[event.name] = computed(event.bytes, "B", source_of(config))
    end
  end)
  return bytes
end

local function loss_chain(eager, compiled)
  local e, c, rows = loss_tensors(eager), loss_tensors(compiled), {}
  for _, stage in ipairs{{"chart.logits", "logits"}, {"chart.logprobs", "logits log-probabilities"},
      {"chart.logprobs32", "logits log-probabilities in float32"}, {"chart.loss_gradient", "logits gradient"}} do
    rows[#rows + 1] = {stage[1], e[stage[2]], c[stage[2]]}
  end
  return {title = "chart.chain", rows_title = "chart.tensor", columns = {"chart.eager", "chart.compiled"}, rows = rows}
end

-- What lies in what, from the card to the tensors.
local function memory_nest(card, run)
  return {title = "chart.nest", rows_title = "chart.box", columns = {"chart.bytes"}, rows = {
    {"chart.card", card.memory_bytes}, {"chart.process", run.process_bytes}, {"chart.reserved", run.peak_reserved_bytes},
    {"chart.allocated", run.peak_allocated_bytes}, {"chart.live", run.peak_live_bytes}}}
end

-- The process at its peak, by part, in the card's cells.
local function card_cells(card, run)
  local rows = {}
  for _, kind in ipairs(kinds) do
    if run.breakdown[kind] > 2^25 then rows[#rows + 1] = {"calc.part." .. kind, run.breakdown[kind]} end
  end
  rows[#rows + 1] = {"calc.part.cache", run.process_bytes - run.context_bytes - run.peak_live_bytes}
  rows[#rows + 1] = {"calc.part.context", run.context_bytes}
  return {title = "chart.cells", rows_title = "calc.parts", columns = {"chart.peak"}, rows = rows, limit = card.cuda_bytes,
    limit_label = "chart.cuda", over = "chart.over"}
end

-- What the operations of a block keep until the backward pass: bytes a token, by the first word of the tensors' names.
local function block_saved(config, tokens)
  local kept, order, source = {}, {}, source_of(config)
  vram.trace(config, function(event)
    if event.block ~= 1 or event.phase ~= "fwd:it1.m0" or event.category ~= "activations" then return end
    local operation = event.name:gsub("^block%.", ""):match("^%S+")
    if not kept[operation] then order[#order + 1] = operation end
    kept[operation] = (kept[operation] or 0) + (event.is_free and -event.bytes or event.bytes)
  end)
  local rows = {}
  for _, operation in ipairs(order) do rows[#rows + 1] = {operation, computed(kept[operation] / tokens, "B", source)} end
  return {title = "chart.block", rows_title = "chart.operation", columns = {"chart.token"}, rows = rows, unit = "B"}
end

return {memory_nest = memory_nest, card_cells = card_cells, loss_chain = loss_chain, block_saved = block_saved, step_area = step_area}
