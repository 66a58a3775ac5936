-- Why a row's figure is far off, as a key of the catalog or as words of vramcalc: what the table of the worst shows.
local causes = {}

-- What most rows need and what moves their figure least is named last.
local plain = {framework = true, torch = true, transformers = true, pipeline_schedule = true}

-- {pattern of the group, pattern of the words, key}: causes that were found, the first that fits.
local found = {
  {"^nanotron/", "tensor_parallel=32", "accuracy.cause.tensor_parallel"},
  {"^nanotron/", "tensor_parallel=16", "accuracy.cause.tensor_parallel"},
  {"^litgpt/config_hub", "loading=quantize_after", "accuracy.cause.loading"},
}

local function instead(notes)
  local list, rest = {}, {}
  for _, note in ipairs(notes) do
    local into = plain[note:match("^[%w_]+")] and rest or list
    into[#into + 1] = note:gsub("%->", "→"):gsub("→ nothing$", "→ –")
  end
  return table.concat(#list > 0 and list or rest, "; ")
end

-- The cause of a result's error.
function causes.of(result)
  if result.instead then return instead(result.instead) end
  for _, cause in ipairs(found) do
    if result.row.column.group:find(cause[1]) and result.words:find(cause[2], 1, true) then return cause[3] end
  end
  return "accuracy.cause.unknown"
end

return causes
