-- Why a row's figure is far off, as a key of the catalog or as words of vramcalc: what the table of the worst shows.
local causes = {}

-- What most rows need and what moves their figure least is named last.
local plain = {framework = true, torch = true, transformers = true, pipeline_schedule = true}

-- {pattern of the group, pattern of the words, sign of the error, key}: causes that were found, the first that fits. They come
-- before what stands for a word, which explains less.
local found = {
  -- finetune/lora.py: fabric.no_backward_sync(model, enabled=is_accumulating); 7B on two GPUs: 6.7 GB of shards and 13.5 GB of
  -- gradients of the 22.2 GB measured
  {"^litgpt/", "gradient_accumulation_steps=[2-9]%d* .*parallel=fsdp1", -1, "accuracy.cause.no_sync"},
  {"^litgpt/", "gradient_accumulation_steps=1%d+ .*parallel=fsdp1", -1, "accuracy.cause.no_sync"},
  -- Whole sequences that a collective takes come back up to 1,024 launches later, at once where the program is the slower one: rows
  -- that differ in nothing that matters are far apart (8B, TP 32: 46.3 and 18.5 GiB for 16 sequences). The slower ones were probably
  -- launched with TORCH_DISTRIBUTED_DEBUG=DETAIL, by their pace: 3 ms a layer and micro-batch times TP, as in the pipelines over several nodes, which a
  -- configuration does not say: 1453, 1452, 1721, 1744, 1782. And two programs made the rows of pipelines, as sources.lua says: nanotron's
  -- scripts/scaling_benchmarks.py (e24d2483) measures those of jobs before 14097150 again. The older is nanotron's branch nouamane/bench2 (67c5ebb6).
  -- In four stages with TP up to 16 (1337 to 1469, 1703 to 1756) nothing comes back between two messages, of one sequence, too, as if the
  -- card stood still; once in a run is enough (seven of nine rows of 8B with TP 16: -20 to -37 -> -3 to +3 % where the first backward pass and
  -- the forward pass behind it alone are so). In two stages it does come back. No line that says why was found.
  -- Whether a block of the last backward pass lies where ZeRO-1 gathers is chance, as far as the rows go: of 8B in two stages with TP 2
  -- there were three parts more with one sequence (1679) and none with two (1680).
  {"^nanotron/", "tensor_parallel=", 1, "accuracy.cause.drained"}, {"^nanotron/", "tensor_parallel=", -1, "accuracy.cause.launches"},
}

local function instead(notes)
  local list, rest = {}, {}
  for _, note in ipairs(notes) do
    local into = plain[note:match("^[%w_]+")] and rest or list
    into[#into + 1] = note:gsub("%->", "→"):gsub("→ nothing$", "→ –")
  end
  return "\u{2066}" .. table.concat(#list > 0 and list or rest, "; ") .. "\u{2069}"   -- from left to right on every page, as code
end

-- The cause of a result's error.
function causes.of(result)
  for _, cause in ipairs(found) do
    local same = result.row.column.group:find(cause[1]) and result.words:find(cause[2]) and result.error * cause[3] > 0
    if same then return cause[4] end
  end
  return result.instead and instead(result.instead) or "accuracy.cause.unknown"
end

return causes
