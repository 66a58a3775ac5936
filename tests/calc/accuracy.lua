-- Prints calc/replay/accuracy.def: of each kind of run how many public measurements there are, and the 90th percentile of the sizes
-- of the estimator's errors beside them: accuracy.lua FILE.tsv. Only rows count that the library can say in full.
local score = require "score"
local tsv = require "tsv"

local kinds = {peak_allocated_bytes = "allocator", peak_reserved_bytes = "allocator", reserved_end_bytes = "allocator", process_bytes = "process"}

-- The errors of each kind of run: {regime = {allocator = {...}, process = {...}}}, and the regimes in order of name.
local function errors_of(results)
  local errors, names = {}, {}
  for _, r in ipairs(results) do
    local kind = kinds[r.figure]
    if kind and score.counts(r) and not r.instead and r.class ~= "unstated" then
      if not errors[r.regime] then
        errors[r.regime] = {allocator = {}, process = {}}
        names[#names + 1] = r.regime
      end
      table.insert(errors[r.regime][kind], r.error)
    end
  end
  table.sort(names)
  return errors, names
end

-- Whole percents, upwards.
local function permille(errors)
  return 10 * math.ceil(100 * score.quantile(errors, 0.9) - 1e-9)
end

-- ---- what estimates say ---------------------------------------------------------------------

-- A configuration of each kind of run.
local samples = {
  INFERENCE = "task=inference", GPT2 = "preset=gpt2", COMPILED = "preset=gpt2 compile=2.5 parallel=ddp n_gpu=2", MODEL_PARALLEL = "tensor_parallel=2",
  SHARDED_QUANTIZED_ADAPTERS = "parallel=zero3 n_gpu=2 lora_rank=8 quantization=nf4", SHARDED_ADAPTERS = "parallel=zero3 n_gpu=2 lora_rank=8",
  SHARDED = "parallel=zero3 n_gpu=2", QUANTIZED_ADAPTERS = "lora_rank=8 quantization=nf4", ADAPTERS = "lora_rank=8", FULL = "",
  COMPILED_ADAPTERS = "framework=torchtune compile=2.6 lora_rank=8 lora_dropout=0 adapter_dtype=base",
  OFFLOADED = "parallel=zero2 offload_optimizer=true dtype=bfloat16_deepspeed",
}

local function bounds_of(words)
  local config = {preset = "llama-3.2-1b", batch_size = 1, seq_len = 512}
  for key, value in words:gmatch("([%w_]+)=(%S+)") do config[key] = value end
  local answer = vram.estimate(config)
  return answer.bounds, answer.regime:upper():gsub(" ", "_")
end

local function check_sample(name, words, row)
  local bounds, regime = bounds_of(words)
  local inside, process = bounds.peak_allocated_bytes, bounds.process_bytes
  local least = row[3] > 0 and row[4] or row[2]
  local good = regime == name and inside.measurements == row[1] and bounds.peak_reserved_bytes.measurements == row[1] and process.measurements == row[3]
    and 10 * inside.tolerance_percent >= row[2] and 10 * bounds.peak_reserved_bytes.tolerance_percent >= math.max(50, row[2])
    and 10 * process.tolerance_percent >= math.max(50, least)
  print(("%s an estimate's tolerance and measurements: %s"):format(good and "ok" or "not ok", name))
  return good
end

local function check(path)
  local rows, good = {}, true
  for line in assert(io.open(path, "rb")):lines() do
    local name, a, b, c, d = line:match("^ACCURACY%(([%u%d_]+), (%d+), (%d+), (%d+), (%d+)%)$")
    if name then rows[name] = {tonumber(a), tonumber(b), tonumber(c), tonumber(d)} end
  end
  for name, words in pairs(samples) do good = check_sample(name, words, rows[name] or {0, 0, 0, 0}) and good end
  for name in pairs(rows) do
    if not samples[name] then error("no sample of " .. name) end
  end
  os.exit(good)
end

if arg[1] == "check" then check(arg[2]) end

local file = assert(io.open(arg[1], "rb"))
local errors, names = errors_of(score.rows(tsv.read(file:read("a"), arg[1]), vram.estimate))
print("// Made by UPDATE=1 FILTER=calc/accuracy ./build.sh test from tests/calc/measured.tsv; the same test recomputes it.")
print("//")
print("// ACCURACY(enum vram_regime, measurements of allocated or reserved memory, 90th percentile of the sizes of the errors in per mille,")
print("//          measurements of the process, the same)")
if #names > 0 then print() end
for _, name in ipairs(names) do
  local e = errors[name]
  print(("ACCURACY(%s, %d, %d, %d, %d)"):format(name:upper():gsub(" ", "_"), #e.allocator, permille(e.allocator), #e.process, permille(e.process)))
end
