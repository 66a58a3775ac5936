-- From the columns of a row to the words of the estimator: what a command line of vramcalc would say, or why it cannot be said.
--
-- The columns are read by their language (scan.lua, vocabulary.lua), completed by what is known of the source (sources.lua), and
-- written as fields. No rule sees what was measured: a row comes here without it.
local frameworks = require "frameworks"
local models = require "models"
local scan = require "scan"
local sources = require "sources"
local vocabulary = require "vocabulary"

local words = {}

-- ---- cells that are numbers -----------------------------------------------------------------

local thousands = {k = 1024, m = 1024 * 1024, [""] = 1}

-- "2048", "2,048", "2k", "1.5k", "2^11".
local function count(cell)
  local text = cell:lower():gsub("[,_]", "")
  local digits, thousand = text:match("^(%d+%.?%d*)%s?([km]?)$")
  local power = tonumber(text:match("^2%^(%d+)$"))
  local n = digits and math.tointeger(tonumber(digits) * thousands[thousand]) or power and power < 32 and 1 << power
  return n and n > 0 and n or nil
end

-- "8", "8x", "4 GPUs", "8 (1 node)", "8xH100"; "2 nodes x 8", "2x8": either way round as many.
local function cards_of(cell)
  local text = cell:lower():gsub("\u{d7}", "x"):gsub("^%s+", ""):gsub("^n%s*=%s*", "")
  local nodes, each = text:match("^(%d+)%s*nodes?%s*x%s*(%d+)")
  if not nodes then nodes, each = text:match("^(%d+)%s*x%s*(%d+)$") end
  if nodes then return count(("%d"):format(nodes * each)) end
  return count((text:gsub("%s*%b()$", ""):gsub("%s*gpus?$", ""):gsub("^(%d+)%s*x%s*%a[%w%s-]*$", "%1"):gsub("%s*x$", "")))
end

-- What may stand around a batch.
local around_batch = {"^per_device_train_batch_size%s*[=:]?%s*", "^local[_ ]?b?a?t?c?h?[_ ]?s?i?z?e?%s*[=:]?%s*", "^micro[%a _-]*[=:]?%s*", "^m?bs?%s*[=:]?%s*%f[%d]",
  "^batch[_ ]?s?i?z?e?%s*[=:]?%s*", "%s*%(micro%)$", "%s*%(?per[ -]device%)?", "%s*%(?per[ -]gpu%)?", "%s*/%s*gpu$"}

-- "2", "2 per GPU", "mbs 2", "2 (GA 8)": sequences of one pass on one card, and how many passes make a step. "8x4" and a batch of
-- all cards do not say which is which.
local function batch_of(cell)
  local text = cell:lower()
  for _, pattern in ipairs(around_batch) do text = text:gsub(pattern, "") end
  local size, passes = text:gsub("grad%a*%s+acc%a*", "ga"):gsub("%s*x%s*ga", ",ga"):match("^(%d+)%s*[,(]%s*ga%s*=?%s*(%d+)%)?$")
  if size then return count(size), count(passes) end
  return count((text:gsub("%s*seq%a*$", "")))
end

-- A prompt and what follows: "~32+50", "2048 in / 128 out", "prompt 128, gen 256".
local prompts = {"^~?(%d+)%s*%+%s*(%d+)$", "^prompt (%d+)%s*[,+/]%s*completion (%d+)$", "^input (%d+)%s*[,+/]?%s*output (%d+)$", "^(%d+) in%a*%s*[,+/]%s*(%d+) out%a*$", "^prompt (%d+)%s*[,+/]%s*gen%a* (%d+)$"}

-- "2,048" is one number, and "512, 1024" two; of "128,256" nobody knows.
local function one_number(cell)
  if not cell:find("^%d%d?%d?,%d%d%d$") then return false end
  local n = count(cell)
  if n % 1000 == 0 or tonumber(cell:match("^%d+")) < 64 then return true end   -- nobody lists sequences of 14 tokens
  while n % 2 == 0 do n = n // 2 end
  return n == 1 or n == 3, true
end

-- What may stand around a length.
local around = {"^%s+", "^up to%s*", "^max_[%a_]+%s*[=:]?%s*", "^seq_?len%a*%s*[=:]?%s*", "^seq%a*%s*[=:]?%s*", "^[tls]%s*=%s*", "^s%f[%d]", "%s*%(?padded%)?$", "^len%a*%s*=?%s*",
  "^ctx%s*=?%s*", "^context%a*%s*=?%s*", "%s*context%s*$", "%s*ctx%s*$", "^max%a*%.?%s*", "%s*max%a*%.?$", "%s*%(?packed%)?$", "^%s*[<~]?=?%s*", "%s*tokens?%s*$", "%s+$"}

-- "4096", "<=768", "512, 1024, 2048", "512-1024": the largest length is the one that decides the peak.
local function lengths(cell)
  cell = cell:gsub("^%s+", "")
  for _, pattern in ipairs(prompts) do
    local prompt, new = cell:lower():match(pattern)
    if prompt then return math.tointeger(tonumber(prompt)), math.tointeger(tonumber(new)) end
  end
  local one, ambiguous = one_number(cell)
  if one then return count(cell) end
  if ambiguous then return nil end
  local longest
  for part in cell:gsub("^(%d+)%s*%-%s*(%d+)$", "%1,%2"):gmatch("[^,;]+") do
    part = part:lower():gsub("^%s+", "")
    for _, pattern in ipairs(around) do part = part:gsub(pattern, "") end
    local n = count(part)
    if not n then return nil end
    longest = math.max(longest or 0, n)
  end
  return longest
end

-- ---- the columns ----------------------------------------------------------------------------

local read_columns = {"precision", "method", "checkpointing", "optimizer", "other"}

local function read(column, source)
  local facts = {}
  for _, name in ipairs(read_columns) do
    local cell = column[name]
    if name == "method" and source.method then cell = source.method(cell) end
    local wrong = scan.cell(name, cell, name == "method" and source.steps and vocabulary.steps or vocabulary[name], facts)
    if wrong then return nil, wrong end
  end
  return facts
end

-- Ulysses and ring attention outside of torchtitan and accelerate's FSDP2: each card has its part of every sequence, the weights are
-- divided over all cards. SRC: deepspeed runtime/sequence_parallel/ulysses_sp.py; EasyContext easy_context/dist_flash_attn
local function divide_sequence(facts)
  local ways = facts.cp or facts.sequence_divided and facts.gpus
  local ring = facts.cp and facts.framework == "transformers" and facts.parallel == "fsdp2" and facts.base ~= "float32"
  if not ways or facts.framework == "torchtitan" or ring then return end
  facts.length, facts.cp = facts.length and -(-facts.length // ways), nil
end

-- A batch of all cards and passes is so many passes; one that does not divide says something else.
local function share_batch(facts)
  if not facts.effective then return end
  local at_once = facts.batch * (facts.dp or facts.gpus // ((facts.tp or 1) * (facts.pp or 1) * (facts.cp or 1)))
  local passes = facts.effective // at_once
  if passes * at_once ~= facts.effective or (facts.accumulation or passes) ~= passes then
    return ("a batch of %d in all is not %d at once"):format(facts.effective, at_once)
  end
  facts.accumulation = passes
end

local function silent(facts, more)
  for name, value in pairs(more) do
    if facts[name] == nil then facts[name] = value end
  end
end

local function complete(facts, column, source)
  facts.length, facts.new = lengths(column.seq)
  facts.new_tokens = facts.new_tokens or facts.new
  local passes
  facts.batch, passes = batch_of(column.batch)
  facts.accumulation, facts.gpus = facts.accumulation or passes, cards_of(column.n_gpu)
  if not facts.gpus then return ("unknown n_gpu '%s'"):format(column.n_gpu) end
  if not facts.batch then return ("the batch is not said: batch '%s'"):format(column.batch) end
  if facts.trained == "all" and tonumber(facts.dropout or 0) > 0 then return "unknown method 'dropout': of the model's own layers" end
  if facts.checkpointing_unsaid and frameworks.checkpoints(facts.found) then facts.checkpointing = facts.checkpointing or "block" end
  if facts.reentrant ~= nil and not facts.checkpointing then facts.checkpointing = "block" end
  facts.parallel = facts.parallel or facts.sharded and "fsdp"
  if facts.unmodelled then return ("unknown method '%s'"):format(facts.unmodelled) end
  local wrong = source.reading and source.reading(facts, column)
  if wrong then return wrong end
  silent(facts, source.facts)
  if not next(source.facts) then
    for _, more in ipairs(frameworks.trainer(facts.found, facts.trained)) do silent(facts, more) end
  end
  if facts.bits and not facts.quantized then return ("unknown precision 'int%d': of what kind is not said"):format(facts.bits) end
  -- QLoRA alone is its paper's: NF4, the scales quantized once more
  if facts.quantized_adapters and facts.framework == "transformers" then facts.quantized = facts.quantized or facts.twice == false and "nf4" or "nf4_double" end
  if facts.quantized == "nf4" and facts.twice then facts.quantized = "nf4_double" end
  if facts.fsdp_number and not facts.parallel then facts.parallel = facts.fsdp_number == 2 and "fsdp2" or "fsdp" end
  -- "FSDP zero2": after the forward pass the weights stay whole, as DeepSpeed's stages have it
  if facts.zero and facts.parallel and facts.parallel:find("^fsdp") then
    if facts.zero < 2 then return ("unknown method 'zero%d' of FSDP"):format(facts.zero) end
    if facts.zero == 2 then facts.reshard = false end
    facts.zero = nil
  end
  facts.length = facts.length or facts.longest
  wrong = share_batch(facts)
  if wrong then return wrong end
  divide_sequence(facts)
  if facts.repeat_kv and facts.attention == "math" then facts.repeat_kv = nil end   -- attention without a kernel always does
  if facts.flex then return "flex attention is not modelled here" end
  if facts.compiler then return ("%s compiles the model: not modelled"):format(facts.compiler) end
  if not facts.length then return ("the length of the sequences is not said: seq '%s'"):format(column.seq) end
  if column.task ~= "inference" and not facts.trained then return ("no method is said: '%s'"):format(column.method) end
end

-- ---- number formats -------------------------------------------------------------------------

-- The word for numbers under a way of dividing the weights: bfloat16 becomes bfloat16_loaded and so on.
local function dtype_suffix(facts, stack)
  if facts.master then return "_master" end
  if stack == "torchtitan" or facts.fsdp_precision then return "_fsdp" end
  if stack == "nanogpt" then return "" end   -- train.py: autocast over float32 weights
  local trainer = stack == "transformers" and facts.trained ~= "none" and facts.autocast ~= false
  if facts.deepspeed or trainer and (facts.zero or 0) > 0 then return "_deepspeed" end
  -- accelerate's FSDP has mixed precision, which is autocast too, where a run says no more than bf16
  local sharded = facts.parallel == "fsdp" or facts.parallel == "fsdp1" or facts.parallel == "fsdp2"
  if trainer and facts.autocast == nil and sharded and facts.gpus > 1 then return "_accelerate" end
  if facts.autocast ~= true then return "_pure" end
  if not facts.loaded then return "" end
  return sharded and "_accelerate" or "_loaded"
end

local function dtype(facts, stack)
  local base = facts.base or facts.stored or (facts.quantized or facts.float8) and "bfloat16"
  if not base then return nil, "the number format is not said" end
  if base == "float32" then return base end
  return base .. dtype_suffix(facts, stack)
end

-- ---- adapters -------------------------------------------------------------------------------

local modules = {"q", "k", "v", "o", "gate", "up", "down", "head", "embed"}

-- The modules that a row names one by one, as the library's set; a model with one matrix for q, k and v has that one. Beside
-- others c_attn is a name that the model lacks.
local function targets(facts)
  if facts.targets then
    return facts.targets .. (facts.target_head and "+head" or "") .. (facts.target_embed and "+embed" or "")
  end
  if facts.target_c_attn and facts.model:find("gpt_bigcode", 1, true) then return "c_attn" end
  local set = {}
  for _, name in ipairs(modules) do
    if facts["target_" .. name] then set[#set + 1] = name end
  end
  for _, name in ipairs{"c_proj", "w1", "w2"} do
    if facts["target_" .. name] then return nil end
  end
  if #set == 0 and facts.target_c_attn then return "q+k+v" end
  return #set > 0 and table.concat(set, "+") or nil
end

local function put_adapters(put, facts)
  put("adapter", facts.dora and "dora" or facts.trained == "ia3" and "ia3" or facts.half_trained)
  put("lora_rank", facts.trained == "lora" and facts.rank or nil)
  put("lora_targets", targets(facts))
  put("lora_kernels", facts.lora_kernels)
  put("lora_dropout", facts.trained == "lora" and facts.dropout or nil)
  put("adapter_dtype", facts.trained ~= "all" and facts.adapters or nil)
  put("modules_to_save", facts.saved_modules)
end

local function adapter_fault(facts)
  if facts.trained == "lora" and not facts.rank then return "the rank of the adapters is not said" end
  if facts.trained == "lora" or facts.trained == "ia3" then
    return not targets(facts) and "the layers with adapters are not said" or nil
  end
end

-- ---- the run --------------------------------------------------------------------------------

-- AdamW without more is what the framework's trainer takes: PyTorch's default is foreach.
local function optimizer(facts)
  if facts.optimizer == "adamw_torch" then return "adamw_foreach" end
  if facts.optimizer then return facts.optimizer end
  return facts.adam and "adamw_foreach" or nil
end

local function loss(facts)
  if facts.fused_loss then return "chunked" end
  return facts.loss or facts.kernels == "foak" and "inplace" or nil
end

local function yes(flag) return flag and "true" or nil end

local function said(flag)
  if flag == nil then return nil end
  return tostring(flag)
end

-- torchao casts to float8 with one scale a tensor where nothing else is said; weights that have one a row are gathered as they are.
local function put_float8(put, facts)
  if not facts.float8 then return end
  local scaling = facts.float8_scaling or "tensorwise"
  put("float8", scaling)
  put("float8_all_gather", yes(facts.float8_gather and scaling == "tensorwise" and facts.parallel == "fsdp2"))
end

local function put_training(put, facts)
  put("gradient_accumulation_steps", facts.accumulation or 1)
  put_adapters(put, facts)
  put("optimizer", optimizer(facts))
  put("optimizer_in_backward", yes(facts.optimizer_in_backward))
  put("offload_optimizer", yes(facts.offload_optimizer))
  put("offload_params", yes(facts.offload_params))
  put("checkpointing", facts.checkpointing)
  put("checkpoint_every", facts.every)
  put("use_reentrant", facts.checkpointing == "block" and said(facts.reentrant) or nil)
  put("offload_activations", facts.activation_offload and tostring(facts.activation_offload) or nil)
  put("compile", facts.compile ~= nil and tostring(facts.compile) or nil)
  put("kernels", facts.kernels)
  put("cross_entropy", loss(facts))
  put("keep_logits", facts.keep_logits)
  put("use_cache", yes(facts.use_cache))
  put_float8(put, facts)
  put("grad_clip", facts.clip)
  put("evaluation", tostring(facts.evaluation == true or facts.eval_batch ~= nil))
  put("eval_batch_size", facts.eval_batch)
  put("trainer", facts.trainer)
end

-- The GPUs that share experts have one batch where transformers divides them by enable_expert_parallel, as TRL's guide has it.
local function shares_batch(facts) return facts.framework == "transformers" and (facts.ep or 1) > 1 end

-- The GPUs that are one way of the batch.
local function taken_ways(facts)
  return (facts.tp or 1) * (facts.pp or 1) * (facts.cp or 1) * (shares_batch(facts) and facts.ep or 1)
end

-- The ways that divide the batch: what is left of the GPUs after those that share it.
local function put_parallel(put, facts)
  local ways = facts.dp or facts.gpus // taken_ways(facts)
  local scheme = facts.parallel
  if scheme == "fsdp" then scheme = facts.framework == "transformers" and "fsdp1" or "fsdp2" end   -- accelerate: fsdp_version is 1
  if not scheme and facts.zero then scheme = facts.zero == 0 and "ddp" or "zero" .. facts.zero end
  if scheme and (ways > 1 or (facts.cp or 1) > 1) then put("parallel", scheme) end
  if scheme and ways > 1 then put("n_gpu", ways) end
  put("fsdp_rank", scheme == "fsdp1" and ways > 1 and facts.first_card and "first" or nil)
  put("reduce_bucket_size", scheme and scheme:find("^zero") and facts.bucket or nil)
  put("shard_ends", yes(facts.ends))
  put("reshard_after_forward", facts.reshard == false and "false" or nil)
  put("tensor_parallel", facts.tensor_parallel and facts.gpus or facts.tp and facts.tp > 1 and facts.tp or nil)
  put("sequence_parallel", yes(facts.sequence_parallel and (facts.tp or 1) > 1))
  put("pipeline_parallel", facts.pp and facts.pp > 1 and facts.pp or nil)
  put("pipeline_schedule", facts.schedule)
  put("pipeline_first_layers", facts.first_layers)
  put("pipeline_stage", facts.stage)
  put("context_parallel", facts.cp and facts.cp > 1 and facts.cp or nil)
  put("expert_parallel", facts.ep and facts.ep > 1 and facts.ep or nil)
  put("expert_shared_batch", yes(shares_batch(facts)))
  put("device_map", facts.devices or facts.spread_layers and facts.gpus or nil)
end

local function parallel_fault(facts)
  local taken = taken_ways(facts)
  if facts.gpus % taken ~= 0 then
    return ("%d GPUs are not so many times TP %d x PP %d x CP %d"):format(facts.gpus, facts.tp or 1, facts.pp or 1, facts.cp or 1)
  end
  if facts.dp and facts.dp * taken ~= facts.gpus then
    return ("%d GPUs are not DP %d x TP %d x PP %d"):format(facts.gpus, facts.dp, facts.tp or 1, facts.pp or 1)
  end
  local one_way = facts.tensor_parallel or facts.spread_layers or facts.devices or taken == facts.gpus
  if facts.gpus > 1 and not (facts.parallel or facts.zero or one_way) then
    return ("how %d GPUs share the work is not said"):format(facts.gpus)
  end
end

-- ---- cards ----------------------------------------------------------------------------------

-- Names that the library does not have, and the card that it has of the same kind. What is measured inside the allocator depends
-- on the card's generation, and on its memory where a run fills it: then that of the column is said. "3090/4090": either, and the
-- first is taken.
local cards = {
  {"^a100$", "A100 80GB SXM"}, {"^a100%-sxm4$", "A100 80GB SXM"}, {"^h100%-80gb$", "H100 SXM"},
  {"^h100%-%d+gb$", "H100 SXM", true}, {"^h20[- ]%d+gb$", "H100 SXM", true}, {"^h20$", "H100 SXM"},
  {"^a100[- ]40gb sxm4?$", "A100 40GB"}, {"^a6000 ada$", "RTX 6000 Ada"},
  {"^rtx 3080 ti laptop", "RTX 3080 Laptop", true}, {"^rtx 3050 ti laptop", "RTX 3060 Laptop", true}, {"^gb300$", "B200", "276"}, {"^rx 7900 xtx$", "MI210", "24"}, {"^mi100$", "MI210", "32"},
  {"^rtx 3090/4090$", "RTX 3090"}, {"^h800%-?%d*g?b?$", "H100 SXM"}, {"^a800%-?%d*g?b?$", "A100 80GB SXM"},
}

local function card(cell)
  cell = cell:gsub("^%d+%s*[xX]%s*", ""):gsub("[()]", " "):gsub("[Cc]olab", ""):gsub("(%d)%s+([Gg][Bb])", "%1%2"):gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s+", " ")
  cell = cell:gsub("^(%d+[Gg][Bb]) (.+)$", "%2 %1")   -- "80GB A100"
  local name = cell:lower()
  if name == "?" or name == "" or name == "-" then return nil end
  for _, entry in ipairs(cards) do
    if name:find(entry[1]) then return entry[2], nil, entry[3] and (name:match("(%d+)gb$") or entry[3] ~= true and entry[3]) or nil end
  end
  local found, gpu = pcall(vram.gpu, cell)
  if found then return gpu.name end
  local kind, memory = name:match("^(.-)[ -]?(%d+)gb$")
  if kind then found, gpu = pcall(vram.gpu, kind) end
  if found then return gpu.name, nil, memory end
  return nil, ("unknown gpu '%s'"):format(cell)
end

-- ---- all of it ------------------------------------------------------------------------------

-- A list of {key, value} and a function that adds to it, but not nil. A later word takes the place of an earlier one.
local function writer()
  local list, place = {}, {}
  local function put(key, value)
    if value == nil then return end
    if not place[key] then
      list[#list + 1] = {key}
      place[key] = list[#list]
    end
    place[key][2] = tostring(value)
  end
  return list, put
end

local function put_model(put, facts)
  for key, value in facts.model:gmatch("([%w_]+)=(%S+)") do put(key, value) end
  put("vocab_size", facts.vocabulary)
  put("tie_embeddings", facts.untied and "false" or nil)
end

-- The attention of transformers' models before PyTorch's own was one of them. SRC: transformers 4.36.0, modeling_utils.py,
-- _check_and_enable_sdpa; LLAMA_ATTENTION_CLASSES and its kin. The first Qwen has its own code.
local function eager_alone(facts)
  local minor = facts.framework == "transformers" and (facts.transformers or ""):match("^4%.(%d+)$")
  return minor and tonumber(minor) < 36 and not facts.own_code and "math" or nil
end

-- Keys and values that are repeated beforehand are for memory-efficient attention, which knew no groups before PyTorch 2.14; xformers,
-- which Unsloth takes on cards without flash attention, is that kernel, and gets them repeated, too. SRC: unsloth models/_utils.py
-- (HAS_FLASH_ATTENTION, xformers_attention), utils/attention_dispatch.py.
local function attention_of(facts, gpu)
  local old = (gpu or ""):find("^T4") or (gpu or ""):find("^V100") or (gpu or ""):find("^P100") or (gpu or ""):find("^RTX_20")
  local efficient = old and (facts.repeat_kv or facts.found.unsloth) and (facts.attention or "sdpa") == "sdpa"
  return efficient and "mem_efficient" or facts.attention or eager_alone(facts)
end

local function first_fault(facts, column, source)
  local fault = complete(facts, column, source)
  if not fault and column.task ~= "inference" then fault = adapter_fault(facts) end
  return fault or parallel_fault(facts)
end

local refused_tasks = {operator = "a single operator, no run of a model"}

local function facts_of(column)
  if refused_tasks[column.task] then return nil, refused_tasks[column.task] end
  if column.task ~= "train" and column.task ~= "inference" then return nil, ("unknown task '%s'"):format(column.task) end
  local source = sources.find(column.group)
  local model, wrong = models.find(column.model)
  if not model then return nil, wrong end
  local versions
  versions, wrong = frameworks.read(column.framework, column.group)
  if not versions then return nil, wrong end
  if not source.name then source = sources.of_framework(versions.stack) end
  local facts
  facts, wrong = read(column, source)
  if not facts then return nil, wrong end
  facts.model, facts.versions, facts.found = model, versions.versions, versions
  facts.framework = source.framework or versions.stack
  facts.torch, facts.transformers = versions.torch or source.torch, versions.transformers or source.transformers
  facts.deepspeed = versions.versions.deepspeed and true or nil
  wrong = first_fault(facts, column, source)
  if wrong then return nil, wrong end
  if not facts.framework then return nil, ("no framework is said: '%s'"):format(column.framework) end
  return facts
end

local function write(facts, column)
  local list, put = writer()
  local numbers, wrong = dtype(facts, facts.framework)
  if not numbers then return nil, wrong end
  local gpu, memory
  gpu, wrong, memory = card(column.gpu)
  if wrong then return nil, wrong end
  put_model(put, facts)
  put("framework", facts.framework)
  put("framework_version", facts.framework_version)
  put("torch", facts.torch)
  put("transformers", facts.framework == "transformers" and facts.transformers or nil)
  put("task", column.task)
  put("dtype", numbers)
  put("batch_size", facts.batch)
  put("seq_len", facts.length)
  if column.task == "inference" then
    put("max_new_tokens", facts.new_tokens)
    put("kv_dtype", facts.cache)
    put("compile", yes(facts.compile))
    put_float8(put, facts)
  else
    put_training(put, facts)
  end
  put("quantization", facts.quantized)
  put("quantization_group", sources.group(column.model))
  put("prepare_kbit", facts.prepare_kbit)
  put("loading", facts.loading)
  put("attention", attention_of(facts, gpu))
  put("attention_mask", facts.framework == "transformers" and facts.attention == "sdpa" and facts.mask or nil)
  put_parallel(put, facts)
  put("gpu", gpu and gpu:gsub(" ", "_") or nil)
  put("gpu_memory", memory and memory .. "GiB")
  put("expandable_segments", yes(facts.expandable and not (gpu or ""):find("^MI%d")))
  return list
end

local function words_of(column)
  local facts, wrong = facts_of(column)
  if not facts then return nil, wrong end
  local list
  list, wrong = write(facts, column)
  if not list then return nil, wrong end
  return list, facts
end

-- The words of a row's columns as a list of {key, value}, and the facts that they are from; or nil and a sentence. A fault of the
-- rules is a sentence, too, so that one row costs no other.
function words.of(column)
  local read, list, rest = pcall(words_of, column)
  if not read then return nil, ("a fault of the rules: %s"):format(list) end
  return list, rest
end

function words.text(list)
  local parts = {}
  for i, word in ipairs(list) do parts[i] = word[1] .. "=" .. word[2] end
  return table.concat(parts, " ")
end

-- As a configuration for the library.
function words.config(list)
  local config = {}
  for _, word in ipairs(list) do config[word[1]] = word[2] end
  return config
end

return words
