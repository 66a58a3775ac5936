-- Prints one of the two tables on which the tolerances of estimates rest: accuracy.lua regimes|kinds FOLDER. Of each kind of run how many
-- public measurements there are, and the 90th percentile of the sizes of the estimator's errors beside them, over all tables
-- measured*.tsv of the folder. Only rows count that the library can say in full. `accuracy.lua check FOLDER` tests what estimates say of them.
local score = require "score"
local tsv = require "tsv"

local kinds = {peak_allocated_bytes = "allocator", peak_reserved_bytes = "allocator", reserved_end_bytes = "allocator", process_bytes = "process"}
local tables = {"measured", "measured_more", "measured_generation", "measured_revisions", "measured_world", "measured_world2", "measured_world3",
  "measured_world4"}
local LEAST = 5   -- rows that a percentile is stated of, but for the widest kinds
local LEVELS = 4

-- ---- the measurements -----------------------------------------------------------------------

-- Those that count: {what, regime, kind, error}.
local function measurements(folder)
  local found = {}
  for _, name in ipairs(tables) do
    local path = folder .. "/" .. name .. ".tsv"
    local file = assert(io.open(path, "rb"))
    for _, r in ipairs(score.rows(tsv.read(file:read("a"), path), vram.estimate)) do
      local what = kinds[r.figure]
      if what and score.counts(r) and not r.instead and r.class ~= "unstated" then
        found[#found + 1] = {what = what, regime = r.regime, kind = r.kind, error = r.error}
      end
    end
    file:close()
  end
  return found
end

-- Whole percents, upwards.
local function permille(errors)
  return 10 * math.ceil(100 * score.quantile(errors, 0.9) - 1e-9)
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- ---- by regime, for the small module --------------------------------------------------------

local function print_regimes(found)
  local errors = {}
  for _, m in ipairs(found) do
    errors[m.regime] = errors[m.regime] or {allocator = {}, process = {}}
    table.insert(errors[m.regime][m.what], m.error)
  end
  print("// Made by UPDATE=1 FILTER=calc/accuracy ./build.sh test from tests/calc/measured*.tsv; the same test recomputes it.")
  print("//")
  print("// ACCURACY(enum vram_regime, measurements of allocated or reserved memory, 90th percentile of the sizes of the errors in per mille,")
  print("//          measurements of the process, the same)\n")
  for _, name in ipairs(sorted_keys(errors)) do
    local e = errors[name]
    print(("ACCURACY(%s, %d, %d, %d, %d)"):format(name:upper():gsub(" ", "_"), #e.allocator, permille(e.allocator), #e.process, permille(e.process)))
  end
end

-- ---- by what tells kinds apart --------------------------------------------------------------

-- The rows of kinds.def by their words: {ident, level, place}.
local function read_kinds(folder)
  local bits, place = {}, 0
  for line in io.lines(folder .. "/../../calc/model/kinds.def") do
    local ident, level, words = line:match('^KIND%(([%u%d_]+), (%d), "([^"]+)"')
    if ident then
      place = place + 1
      bits[words] = {ident = ident, level = tonumber(level), place = place}
    end
  end
  return bits
end

-- The bits of a kind that tell at a level, in their order, as a text.
local function key_of(bits, kind, level)
  local here = {}
  for words in kind:gmatch("[^,]+") do
    local bit = assert(bits[words:match("^%s*(.*)$")], words)
    if bit.level >= level then here[#here + 1] = bit end
  end
  table.sort(here, function(a, b) return a.place < b.place end)
  for i, bit in ipairs(here) do here[i] = ("HAS(%s)"):format(bit.ident) end
  return table.concat(here, " ")
end

-- The kinds of a level: {key = {errors, present = {text = true}, kinds = number of those of the level below}}.
local function by_key(found, bits, what, level)
  local groups = {}
  for _, m in ipairs(found) do
    if m.what == what then
      local key = key_of(bits, m.kind, level)
      local group = groups[key] or {errors = {}, below = {}, present = {}}
      groups[key] = group
      group.errors[#group.errors + 1] = m.error
      group.below[key_of(bits, m.kind, math.max(level - 1, 0))] = true
      for bit in key_of(bits, m.kind, 0):gmatch("HAS%(([^)]+)%)") do group.present[bit] = true end
    end
  end
  return groups
end

local function present_text(bits, present)
  local here = {}
  for _, bit in pairs(bits) do
    if present[bit.ident] then here[#here + 1] = bit end
  end
  table.sort(here, function(a, b) return a.place < b.place end)
  for i, bit in ipairs(here) do here[i] = ("HAS(%s)"):format(bit.ident) end
  return table.concat(here, " ")
end

-- A wider kind with the rows of one narrower kind alone says no more than that one, unless it is stated for want of rows.
local function is_stated(group, level)
  local narrower = #sorted_keys(group.below)
  if level == LEVELS - 1 then return narrower > 1 or #group.errors < LEAST end
  return #group.errors >= LEAST and (level == 0 or narrower > 1)
end

local function print_kinds(found, bits)
  print("// Made by UPDATE=1 FILTER=calc/accuracy ./build.sh test from tests/calc/measured*.tsv; the same test recomputes it.")
  print("//")
  print("// ACCURACY_OF(allocated or reserved memory, or the process; level of kinds.def, what tells of the rows there, what some of them have,")
  print("//             rows, 90th percentile of the sizes of their errors in per mille)\n")
  for _, what in ipairs{"allocator", "process"} do
    for level = 0, LEVELS - 1 do
      local groups = by_key(found, bits, what, level)
      for _, key in ipairs(sorted_keys(groups)) do
        local group = groups[key]
        if is_stated(group, level) then
          print(("ACCURACY_OF(%s, %d, %s,\n            %s, %d, %d)"):format(what:upper(), level, key, present_text(bits, group.present), #group.errors, permille(group.errors)))
        end
      end
    end
  end
end

-- ---- what estimates say ---------------------------------------------------------------------

-- A configuration and how its figure is confirmed: by so many rows at least of its own kind, of a wider one, or by none.
local samples = {
  {"quantized adapters on one GPU", "framework=transformers lora_rank=8 quantization=nf4 checkpointing=block", "own", 90},
  {"adapters under FSDP1", "framework=transformers lora_rank=8 parallel=fsdp1 n_gpu=2 checkpointing=block dtype=bfloat16_accelerate", "own", 10},
  {"nothing of nanoGPT on one GPU", "framework=nanogpt preset=gpt2", "none"},
  {"nor of preference training", "framework=transformers trainer=dpo lora_rank=8", "none"},
  {"nor of NO_WRAP", "framework=transformers parallel=fsdp1 n_gpu=2 auto_wrap_policy=no_wrap dtype=bfloat16_accelerate", "none"},
  {"nor of an encoder", "preset=bert-base-uncased", "none"},
  {"nor of tensors divided by transformers", "framework=transformers tensor_parallel=2", "none"},
  {"tensors divided by nanotron", "framework=nanotron tensor_parallel=2", "own", 5},
  {"few of adapters under ZeRO-3", "framework=transformers parallel=zero3 n_gpu=2 lora_rank=8 checkpointing=block", "wider", 30},
  {"few of Unsloth's layers", "preset=llama-3.1-8b framework=transformers kernels=unsloth lora_rank=8 quantization=nf4_double lora_dropout=0", "wider", 90},
  {"generation", "framework=transformers task=inference", "own", 50},
}

local function sample_bounds(words)
  local config = {preset = "llama-3.2-1b", batch_size = 1, seq_len = 512}
  for key, value in words:gmatch("([%w_]+)=(%S+)") do config[key] = value end
  return vram.estimate(config).bounds.peak_allocated_bytes
end

local function check()
  local good = true
  for _, sample in ipairs(samples) do
    local said, bound = pcall(sample_bounds, sample[2])
    local how = said and (bound.measurements == 0 and "none" or bound.wider_kind ~= "" and "wider" or "own")
    local right = how == sample[3] and bound.measurements >= (sample[4] or 0)
    good = good and right
    print(("%s what confirms an estimate: %s%s"):format(right and "ok" or "not ok", sample[1],
      right and "" or said and (" (%s, %d: %s)"):format(how, bound.measurements, bound.wider_kind) or ": " .. tostring(bound)))
  end
  os.exit(good)
end

local action, folder = arg[1], arg[2]
if action == "check" then
  check()
else
  local found = measurements(folder)
  if action == "kinds" then print_kinds(found, read_kinds(folder)) else print_regimes(found) end
end
