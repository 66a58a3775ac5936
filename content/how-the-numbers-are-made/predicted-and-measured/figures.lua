-- Which figure of an estimate stands beside which metric of a table.
local figures = {}

-- {pattern of the metric in lower case, member of the estimate, why}
figures.metrics = {
  {"^max_memory_allocated summed over gpus$", "cards_allocated_bytes", "each card's own peak, summed"},
  {"^max_memory_allocated$", "peak_allocated_bytes", "the same counter"},
  {"^max_memory_reserved", "peak_reserved_bytes", "the same counter"},
  {"^max_memory_allocated,? ?%(?rank 0%)?$", "peak_allocated_bytes", "the same counter"}, {"^max_memory_allocated,? ?%(?per gpu%)?$", "peak_allocated_bytes", "the same counter"},
  {"^max_memory_allocated,? ?worst rank$", "peak_allocated_bytes", "the same counter"}, {"^peak %(?allocated%)?$", "peak_allocated_bytes", "the same counter"},
  {"^peak allocated mem%a*$", "peak_allocated_bytes", "the same counter"}, {"^peak mem%a* %(?allocated%)?$", "peak_allocated_bytes", "the same counter"}, {"^max allocated", "peak_allocated_bytes", "the same counter"},
  {"^peak reserved mem", "peak_reserved_bytes", "the same counter"}, {"^peak mem%a* %(?reserved%)?$", "peak_reserved_bytes", "the same counter"}, {"^max_?%s?reserved", "peak_reserved_bytes", "the same counter"},
  {"^max_active", "peak_allocated_bytes", "active_bytes counts the blocks of live tensors, as allocated does"}, {"^peak active mem%a*$", "peak_allocated_bytes", "the same"},
  {"^mem%a* active$", "peak_allocated_bytes", "the same"},
  {"^peak memory active$", "peak_allocated_bytes", "active_bytes counts the blocks of live tensors, as allocated does"},
  {"^peak memory per gpu$", "peak_reserved_bytes", "what the process holds of the card; the table does not say which counter"},
  {"^peak reserved$", "peak_reserved_bytes", "the same counter"},
  {"^peak memory$", "peak_reserved_bytes", "which counter is not said"},
  {"^max memory$", "peak_reserved_bytes", "which counter is not said"}, {"^peak gpu mem%a*$", "peak_reserved_bytes", "which counter is not said"},
  {"^peak_memory_alloc", "peak_allocated_bytes", "torchtune's name of the counter"}, {"^peak_memory_active$", "peak_allocated_bytes", "the same"},
  {"^peak_memory_reserved$", "peak_reserved_bytes", "torchtune's name of the counter"},
  {"^peak vram$", "peak_reserved_bytes", "which counter is not said"},
  {"^nvidia%-smi %(initial subtracted%)$", "process_bytes", "the card's memory less what was taken before the process began"},
  {"^nvidia%-smi", "process_bytes", "the process in the card"}, {"%(nvidia%-smi%)$", "process_bytes", "the process in the card"},
  {"^p?y?nvml", "process_bytes", "the process in the card"},
  {"^unstated", "process_bytes", "which figure is not said; it is not scored"},
  {"^gpu memory %(reserved or allocated not said%)$", "reserved_end_bytes",
    "nanotron logs both; the rows with data parallelism only are the reserved ones. The peak is reset after each step's backward passes"},
}

local CONSTANT = 40 * 2 ^ 20   -- Qwen3's tables: cuBLAS's workspace on these cards, 32 MiB, and what a step of decoding holds

-- A number of an estimate; in page.lua it is a figure.
local function plain(value) return type(value) == "number" and value or value.value end

-- Weights, keys and values of every token, and the constant: the way in which a source took its figure.
local function weights_and_cache(estimate)
  local function of(name) return plain(estimate.config[name]) end
  local heads = of "n_kv_head" > 0 and of "n_kv_head" or of "n_head"
  local width = of "head_dim" > 0 and of "head_dim" or of "n_embd" // of "n_head"
  local cache = 2 * 2 * of "n_layer" * heads * width * of "batch_size" * (of "seq_len" + of "max_new_tokens")
  return plain(estimate.param_bytes) + cache + math.tointeger(CONSTANT)
end

-- active_bytes counts the blocks of live tensors, as allocated does.
local function active(estimate) return estimate.peak_allocated_bytes end

-- What the driver keeps of a card, which NVML counts as used. SRC: nvml.h, nvmlMemory_t: "used: sum of Reserved and Allocated"
local function kept_by_driver(estimate)
  local gpu = estimate.gpu
  return gpu and plain(gpu.memory_bytes) - plain(gpu.cuda_bytes) or 0
end

local function used_in_nvml(estimate) return plain(estimate.process_bytes) + kept_by_driver(estimate) end

-- What tensors take and what is outside of the allocator. SRC: optimum tests/benchmark/benchmark_gptq.py, benchmark_memory
local function allocated_and_outside(estimate)
  return used_in_nvml(estimate) - plain(estimate.peak_reserved_bytes) + plain(estimate.peak_allocated_bytes)
end

local of_source = {["weights and cache"] = {"weights and cache", weights_and_cache}, ["memory active"] = {"peak_allocated_bytes", active}}

-- Whether a metric is another one, by its words, than the figure that a source's own words mean.
local function names_its_own(metric)
  local text = metric:lower()
  return text:find("nvidia%-smi") or text:find("nvml") or text:find("reserved")
end

-- Without what says only who asks or in which unit: "torch.cuda.max_memory_allocated() (GiB)", "memory/max_reserved(GiB)".
local function plain_name(metric)
  local text = metric:lower():gsub("^torch%.cuda%.", ""):gsub("%(%)", ""):gsub("%s*%(?%f[%a][kmg]i?b%)?$", ""):gsub("^memory/", "")
  return (text:gsub("^max memory ", "max_memory_"):gsub("%s+$", ""))
end

-- The counter by its words, where no line above has the name.
local counters = {
  {"nvidia%-smi", "process_bytes"}, {"nvml", "process_bytes"}, {"dcgm", "process_bytes"}, {"gpustat", "process_bytes"}, {"nvtop", "process_bytes"},
  {"wandb", "process_bytes"}, {"^system/gpu", "process_bytes"},   -- SRC: wandb system metrics, gpu.N.memoryAllocated: nvidia-smi's
  {"reserved", "peak_reserved_bytes"}, {"alloc", "peak_allocated_bytes"}, {"active", "peak_allocated_bytes"},
  {"mem", "peak_reserved_bytes"}, {"vram", "peak_reserved_bytes"},   -- which counter is not said
}

local function member_of(text, list)
  for _, entry in ipairs(list) do
    if text:find(entry[1]) then return entry[2] end
  end
end

-- A sum over cards or the largest of them, nobody knows.
local function of_many(text)
  return text:find("all gpus", 1, true) or text:find("total", 1, true) or text:find("op_mem", 1, true) or text:find("delta", 1, true)
end

-- What to take out of an estimate for a metric: a name, and a function of the estimate; or nil and a sentence.
function figures.find(metric, source)
  local own = of_source[source.figure]
  if own and not names_its_own(metric) then return own[1], own[2] end
  local text = plain_name(metric)
  if text:find("max allocated + nvml - max reserved", 1, true) then return "allocated and outside", allocated_and_outside end
  if text:find("nvml", 1, true) then return "process_bytes", used_in_nvml end
  local member = member_of(text, figures.metrics) or not of_many(text) and member_of(text, counters)
  if not member then return nil, ("unknown metric '%s'"):format(metric) end
  return member, function(estimate) return estimate[member] end
end

return figures
