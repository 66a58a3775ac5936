-- What tests of the rules share: a plain row, what its words are once some of its cells have changed, and whether all was as wanted.
local words = require "words"

local rules = {}

local failed = false

function rules.check(good, what, got)
  print((good and "ok " or "not ok ") .. what .. (good and "" or ": got " .. tostring(got)))
  failed = failed or not good
end

function rules.equal(got, wanted, what)
  rules.check(got == wanted, what, got)
end

local plain = {id = "1", group = "somewhere/table", task = "train", model = "Llama-2-7B", gpu = "A100-80GB", n_gpu = "1",
  framework = "torch 2.4.1, transformers 4.48.1", precision = "bf16 pure", method = "full", batch = "4", seq = "4096",
  checkpointing = "none", optimizer = "adamw_torch", other = "", metric = "max_memory_allocated", quality = "***", source = "here"}

function rules.row(changes)
  local column = {}
  for key, value in pairs(plain) do column[key] = value end
  for key, value in pairs(changes) do column[key] = value end
  return column
end

-- Checks words of a row: every "key=value" of wanted is there, and no key of `without`.
function rules.says(what, changes, wanted, without)
  local list, wrong = words.of(rules.row(changes))
  if not list then return rules.check(false, what, wrong) end
  local config = words.config(list)
  for key, value in wanted:gmatch("([%w_]+)=(%S+)") do rules.equal(config[key], value, what .. ": " .. key) end
  for key in (without or ""):gmatch("%S+") do rules.equal(config[key], nil, what .. ": no " .. key) end
end

function rules.refuses(what, changes, sentence)
  local list, wrong = words.of(rules.row(changes))
  rules.equal(list and words.text(list) or wrong, sentence, what)
end

function rules.good()
  return not failed
end

return rules
