-- What one source means by its columns, and what its own code does that no column says.
--
-- A source is found by the row's group. Its facts hold where the columns are silent; its reading function may look at the facts
-- and the columns, add facts, or refuse with a sentence. Each line comes from the code, the settings or the text of that source,
-- never from what was measured; where a source has two documented readings, `readings` says which one is taken and why.
local sources = {}

-- TheBloke's main branches of 30 billions and more have no groups: quantize_config.json of Mixtral and of Llama 2 70B has group_size -1, the
-- model cards of Wizard-Vicuna-30B-Uncensored-GPTQ, StableBeluga2-70B-GPTQ and dolphin-2.5-mixtral-8x7b-GPTQ say "main: GS None".
local large = {"%f[%d]30b", "%f[%d]65b", "%f[%d]70b", "mixtral"}

-- The size of GPTQ's groups where a model's file says another one than the library's: 0 for none.
function sources.group(model)
  local name = model:lower():match("^thebloke/(.*gptq.*)$")
  for _, pattern in ipairs(name and large or {}) do
    if name:find(pattern) then return 0 end
  end
end

-- ---- fms-acceleration -----------------------------------------------------------------------

-- sft_trainer.py adds the tokens that a tokenizer lacks (a padding token, for Llama 3 an unknown one too) and resizes the
-- embedding by exactly these rows.
local added_tokens = {
  {"^preset=mistral%-7b$", 32001}, {"^preset=mixtral%-8x7b$", 32001}, {"^preset=llama%-2%-", 32001}, {"^preset=llama%-3", 128258},
}

local function fms_vocabulary(facts)
  for _, entry in ipairs(added_tokens) do
    if facts.model:find(entry[1]) then return entry[2] end
  end
end

local function fms(facts, column)
  local several = facts.gpus > 1
  facts.vocabulary = fms_vocabulary(facts)
  -- packing to min(4096, the model's own length)
  if facts.model:find("family=gpt_bigcode", 1, true) then facts.length = facts.length and math.min(facts.length, 2048) end
  if facts.quantized_adapters then facts.quantized = "nf4_double" end
  -- TRL calls PEFT's preparation on one GPU, and with bf16 alone takes head and embeddings back to it (sft_trainer.py, "args.bf16 and");
  -- with the weights of FSDP still on the CPU it calls none.
  facts.prepare_kbit = facts.prepared == "peft" and not several and (facts.base == "bfloat16" and "trl" or "true") or nil
  if facts.quantized == "nf4_double" and several then facts.adapters = "base" end
  if column.method:lower():find("scattermoe", 1, true) then return "unknown method 'scattermoe'" end
end

-- ---- litgpt ---------------------------------------------------------------------------------

-- utils.py, chunked_cross_entropy. Several GPUs: FSDPStrategy(auto_wrap_policy={Block}).
local function litgpt_sharded(facts, column)
  if facts.trained ~= "none" then facts.loss = "chunked_output" end
  if facts.gpus > 1 then facts.parallel = facts.parallel == "ddp" and "ddp" or "fsdp1" end
end

-- extensions/thunder/pretrain.py of April 2024: F.cross_entropy on whole logits, float32 as Fabric hands them out, inside of
-- forward_and_loss. 512 sequences a step, under FSDP 32: README.md, "Gradient accumulation is disabled in the FSDP setting".
local function litgpt_thunder(facts, column)
  litgpt_sharded(facts, column)
  local gpus = facts.gpus
  facts.loss, facts.keep_logits, facts.framework_version = "eager", "no", "0.3"
  facts.accumulation = facts.parallel == "fsdp1" and 1 or 512 // (gpus * facts.batch)
end

-- lightning-thunder, thunder/benchmarks/benchmark_litgpt.py: LitGPT's models in a loop of its own, F.cross_entropy on whole logits, which
-- live until the next ones are there; checkpoint_wrapper around blocks.
local function thunder(facts)
  facts.loss, facts.keep_logits = "eager", "yes"
  if facts.checkpointing == "block" then facts.reentrant = false end
  if facts.parallel == "fsdp" then facts.parallel = "fsdp1" end
end

-- finetune/{full,lora}.py, lit-gpt's and litgpt's: on several GPUs activation_checkpointing_policy={Block}, in PyTorch's wrapper and
-- so not reentrant; the tables do not say so. pretrain.py has none.
local function litgpt_finetuned(facts, column)
  litgpt_sharded(facts, column)
  if facts.parallel == "fsdp1" then facts.checkpointing, facts.reentrant = "block", false end
end

-- config_hub/finetune/MODEL/{lora,qlora}.yaml: rank, dropout, layers with adapters; {lora, qlora} where they differ.
local hub_all = "all+head"
local hub_adapters = {
  ["gemma-2b"] = {rank = {8, 16}, dropout = "0.1", targets = hub_all, sequences = 6},
  ["gemma-7b"] = {rank = {16, 16}, dropout = "0.1", targets = hub_all, sequences = 6},
  ["gemma-2-2b"] = {rank = {8, 16}, dropout = "0.1", targets = hub_all, sequences = 6},
  ["gemma-2-9b"] = {rank = {16, 16}, dropout = "0.1", targets = hub_all, sequences = 6},
  ["phi-2"] = {rank = {8, 8}, dropout = "0.05", targets = hub_all, sequences = 8},
  ["phi3"] = {rank = {8, 8}, dropout = "0.05", targets = hub_all, sequences = 8},
  ["tinyllama-1.1b"] = {rank = {32, 32}, dropout = "0.05", targets = hub_all, sequences = 8},
  other = {rank = {32, 32}, dropout = "0.05", targets = "q+v", sequences = 8},
}
-- The same for full.yaml: sequences a step, and its `devices`, which is 1 in all of the others.
local hub_full = {
  ["tinyllama-1.1b"] = {32, 1}, ["phi3"] = {8, 1}, ["phi-2"] = {8, 2}, ["gemma-2b"] = {16, 4}, ["stablelm-base-alpha-3b"] = {8, 2},
  ["llama-3.2-1b"] = {64, 1}, ["llama-3.2-3b"] = {64, 1}, other = {64, 4},
}

local function hub_name(facts)
  return facts.model:match("^preset=(%S+)") or facts.model:match("family=(phi3)") or "other"
end

-- README.md of September 2024: full.yaml of Llama 3.2 names AdamW, whose states of 3B are 25.7 GB in bfloat16, on an A10G of 24 GB.
local function contradicts_itself(facts)
  return facts.trained == "all" and (facts.model:find("llama%-3%.2%-") or facts.model:find("family=phi3", 1, true)) ~= nil
end

local function litgpt_hub(facts, column)
  if contradicts_itself(facts) then return "the states of the optimizer that its file names do not fit in its card: another one ran" end
  local name, batch = hub_name(facts), facts.batch
  local sequences, devices = table.unpack(hub_full[name] or hub_full.other)
  if facts.trained == "lora" then
    local yaml = hub_adapters[name] or hub_adapters.other
    facts.rank = facts.rank or yaml.rank[facts.quantized_adapters and 2 or 1]
    if not facts.target_q and not facts.target_v then facts.targets = facts.targets or yaml.targets end
    facts.dropout, sequences, devices = facts.dropout or yaml.dropout, yaml.sequences, 1
  end
  if facts.quantized_adapters then
    facts.quantized, facts.optimizer = "nf4", "adamw_paged"   -- each layer is quantized as it is made, none is loaded whole
  end
  facts.gpus = math.min(facts.gpus, devices)
  if facts.gpus == 1 then facts.checkpointing = nil end   -- the column has that of FSDP
  -- args.py, TrainArgs: batch_size(devices) and gradient_accumulation_iters(devices)
  facts.accumulation = facts.accumulation or math.max(1, sequences // facts.gpus // batch)
  litgpt_finetuned(facts, column)
end

-- lit-gpt of November 2023, finetune/lora.py: rank 8 on q and v, dropout 0.05; 128 sequences a step.
local function litgpt_tables(facts, column)
  facts.framework_version = "0.1"
  facts.keep_logits = facts.trained and "no" or nil   -- its longest sequence is the first of all: there are none of a pass before
  if facts.trained == "lora" then
    facts.rank, facts.targets, facts.dropout = facts.rank or 8, facts.targets or "q+v", "0.05"
    facts.accumulation = facts.accumulation or 128 // facts.batch
    if facts.quantized then facts.optimizer = "adamw_paged" end
  elseif column.method:lower():find("^generate") then
    facts.new_tokens, facts.length = facts.new_tokens or 50, facts.length or 32   -- the defaults of generate/base.py; the column says "~32+50"
    return
  end
  litgpt_finetuned(facts, column)
end

-- tutorials/inference.md: --max_new_tokens 256, and the prompt of generate/, eight tokens.
local function litgpt_inference(facts)
  facts.new_tokens, facts.length = facts.new_tokens or 256, facts.length or 8
end

-- ---- torchtune ------------------------------------------------------------------------------

-- recipes/configs/**/*_lora*.yaml: until 0.3 q and v, of 70B k, too, and of *_qlora*.yaml every layer of the blocks; then every
-- layer but k. The rank is 8 for 7B and 8B, 16 for 70B, 64 for the small Llamas of version 3.2.
local function tune_adapters(facts, version)
  local large = facts.model:find("70b")
  local rank = large and 16 or facts.model:find("llama%-3%.2") and 64 or 8
  facts.rank = facts.rank or rank
  facts.targets = facts.targets or version >= 0.4 and "q+v+o+gate+up+down" or facts.quantized_adapters and "all" or large and "q+k+v" or "q+v"
  facts.dropout = "0"
  if facts.quantized_adapters then facts.quantized = "nf4_double" end
end

-- A commit has no version: then PyTorch's says which half of 2024 it is.
local function tune_version(facts)
  local torch = facts.torch and tonumber(facts.torch:match("%.(%d+)"))
  return tonumber(facts.versions.torchtune) or facts.release or (torch and torch < 5 and 0.2) or 0.6
end

-- README, "Optimization flags": each line adds to the one above, LoRA and QLoRA without what stands last.
local ladder = {"baseline", "packed", "compile", "chunked", "checkpointing", "in_backward", "offloading", "adamw_8bit"}
local longest_alpaca = 512   -- tokens: alpaca_dataset(max_seq_len=512)

local function ladder_step(facts)
  if facts.trained == "lora" then return 7 end
  local name = facts.ladder or facts.compile and "compile"
  for i, step in ipairs(ladder) do
    if step == name then return i end
  end
end

local function tune_ladder(facts)
  local step = ladder_step(facts)
  if not step then return "unknown method: no step of the ladder of torchtune's README" end
  facts.trained = facts.trained or "all"
  if step < 2 then return "the lengths of the sequences are not said: the baseline does not pack them" end
  facts.compile, facts.checkpointing = step >= 3, step >= 5 and "block" or "none"
  facts.activation_offload = step >= 7
  facts.optimizer_in_backward = facts.trained == "all" and step >= 6
  facts.optimizer = step >= 8 and "adamw_8bit" or "adamw_fused"
  facts.loss = step >= 4 and "chunked_output" or "upcast"
  if facts.trained == "lora" then tune_adapters(facts, 0.5) end
end

-- recipes/configs/llama3*/{8B,70B}_full.yaml have custom_sharded_layers: ['tok_embeddings', 'output'] since FSDP2 (0.3).
local function tune_ends(facts, version)
  return version >= 0.3 and facts.trained == "all" and facts.model:find("llama%-3") ~= nil
end

local function tune(facts, column)
  local version = tune_version(facts)
  facts.trained = facts.trained or "all"
  if facts.trained == "lora" then tune_adapters(facts, version) end
  -- The recipes checkpoint every block by default, and the tables do not say otherwise.
  if facts.checkpointing_unsaid then facts.checkpointing = "block" end
  if not facts.optimizer then facts.optimizer = version < 0.3 and "adamw_foreach" or "adamw_fused" end
  facts.loss = version < 0.3 and "upcast" or "chunked_output"
  if facts.gpus > 1 then
    facts.parallel, facts.ends = facts.parallel == "ddp" and "ddp" or version < 0.3 and "fsdp1" or "fsdp2", tune_ends(facts, version)
  end
  if facts.compiled_row then facts.compile = (facts.compiled_row == "qlora") == (facts.quantized_adapters == true) end
  if column.seq:lower():find("alpaca", 1, true) then facts.length = longest_alpaca end
end

-- README of 0.2: the lines with a star use bitsandbytes' PagedAdamW: full fine-tuning on one GPU, and of 70B.
local function tune_02(facts, column)
  if facts.trained == "all" and (column.n_gpu == "1" or facts.model:find("70b")) then facts.optimizer = "adamw_paged" end
  return tune(facts, column)
end

-- README of today: its table came in September 2024 (commit 30b8519e), after 0.3.0.
local function tune_2024(facts, column)
  facts.release = 0.3
  return tune(facts, column)
end

-- ---- torchtitan -----------------------------------------------------------------------------

-- "FSDP2 CP4" on 8 GPUs are two ways times four; "FSDP2" alone is the second implementation.
local function fsdp_ways(facts, gpus)
  local ways = (facts.tp or 1) * (facts.pp or 1) * (facts.cp or 1)
  if facts.fsdp_number and facts.fsdp_number * ways == gpus then return facts.fsdp_number end
  return gpus // ways
end

-- What train.py did when PyTorch's main branch was a version: AdamW was foreach before PR 881 of February 2025; the logits lived to
-- the next step before PR 391 of June 12, 2024; run_llama_train.sh did not set expandable_segments before a5e57e4a of October 22, 2024.
local function titan_code(facts)
  local version, day = facts.torch and tonumber(facts.torch:match("^2%.(%d+)")), facts.found.day or "9"
  if day < "2024-10-22" then facts.expandable = facts.expandable or false end
  if not version then return end
  if facts.adam and not facts.optimizer then facts.optimizer = version < 8 and "adamw_foreach" or "adamw_fused" end
  if version == 8 and day < "2025-04-02" then facts.torch = "2.7" end   -- what 2.8 stands for came with PR 1033: a compiled loss
  if version < 5 or day < "2024-06-12" then facts.keep_logits = "yes" end
end

-- PR 268 of May 21, 2024: before, the whole model with FSDP's units in it was compiled.
local function compiles_whole(facts)
  return facts.compile and facts.found.day and facts.found.day < "2024-05-21"
end

local function titan(facts, column)
  if compiles_whole(facts) then return "torchtitan compiled the whole model before May 21, 2024: not modelled" end
  if facts.flex and (facts.cp or 1) == 1 then facts.flex = nil end   -- its kernel keeps as many tensors as flash attention
  facts.trained = facts.trained or "all"
  facts.sequence_parallel = true   -- with tensor parallelism always: models/llama3/infra/parallelize.py, apply_tp (SequenceParallel)
  facts.parallel = (facts.parallel == "fsdp1" or facts.parallel == "ddp") and facts.parallel or "fsdp2"
  if facts.quantized == "fp8" then facts.quantized, facts.float8 = nil, true end   -- a product's format here
  facts.dp = fsdp_ways(facts, facts.gpus)
  if facts.compile == nil then facts.compile = false end
  titan_code(facts)
end

-- The tables of December 2024 on 405B: "512 GPUs (TP 8, PP 8)" stands above the table.
local function titan_2024(facts, column)
  if facts.model:find("405b", 1, true) then facts.tp, facts.pp = facts.tp or 8, facts.pp or 8 end
  return titan(facts, column)
end

-- ---- others ---------------------------------------------------------------------------------

-- method_comparison/MetaMathQA: an experiment is called "lora--llama-3.2-3B-rank32-dora".
local function peft_words(method)
  local kind, rest = method:match("^([%w_%-]-)%-%-[Ll]lama%-3%.2%-3[Bb]%-?(.*)$")
  if not kind then return method end
  return kind .. " " .. rest:gsub("%f[%a]lora%-", "lora_"):gsub("%-(%a)", " %1")
end

-- experiments/*/*/adapter_config.json: without target modules PEFT takes its own for the model.
local function peft(facts)
  if facts.trained == "ia3" then
    facts.targets = facts.targets or "k+v+down"
  elseif facts.trained == "lora" then
    facts.targets, facts.dropout = facts.targets or "q+v", "0"
  end
end

-- train.py with lora_target_modules="all", lora_rank=64, lora_dropout=0.1; Linear4bit keeps bitsandbytes' compressed scales.
-- PEFT of early 2024 makes adapters in the type of their weights. Without --reentrant_checkpointing it is the other form.
local function fsdp_qlora(facts)
  facts.rank, facts.targets, facts.dropout = facts.rank or 64, facts.targets or "q+k+v+gate+up+down", "0.1"
  if facts.quantized_adapters then facts.quantized = "nf4_double" end
  if facts.offload_params then facts.offload_optimizer = true end
  if facts.parallel == "fsdp" then facts.parallel = "fsdp1" end
end

local function inference_over_gpus(facts, column)
  local gpus = facts.gpus
  if gpus > 1 then facts.devices = gpus end
end

-- finetune/finetune_ds.sh and finetune_lora_ds.sh, which are for several cards: ds_config_zero3.json for all weights, ds_config_zero2.json
-- for adapters, and README.md, "Profiling": those of 72B under ZeRO-3, too.
local function qwen_sharded(facts)
  if facts.gpus == 1 or facts.zero or facts.parallel then return end
  facts.zero = (facts.trained == "all" or facts.model:find("n_layer=80", 1, true)) and 3 or 2
end

-- finetune.py: rank 64 on c_attn, c_proj, w1, w2, dropout 0.05; Q-LoRA on a GPTQ model, prepared by PEFT, in float16; bf16 is the
-- trainer's flag. Its models in four and eight bits are GPTQ's.
local function qwen(facts, column)
  if facts.bits then facts.quantized = facts.bits == 4 and "gptq" or "gptq_int8" end
  if column.task == "inference" then return inference_over_gpus(facts, column) end
  if facts.autocast == nil then facts.autocast = true end
  qwen_sharded(facts)
  if facts.trained == "lora" then
    facts.rank, facts.targets, facts.dropout = facts.rank or 64, facts.targets or "all", "0.05"
    for name in pairs{target_c_attn = 0, target_c_proj = 0, target_w1 = 0, target_w2 = 0} do facts[name] = nil end
  end
  if facts.quantized_adapters then facts.base, facts.prepare_kbit = "float16", "true" end
end

local function qwen3(facts, column)
  facts.untied = facts.quantized == "fp8" or nil
  return inference_over_gpus(facts, column)
end

-- DP, TP, PP and ZeRO of scripts/scaling_benchmarks.py; tensor parallelism reduces and scatters, so sequences are divided too. The
-- 5 blocks beside the layers: embedding, which is in the first stage, norm, head, cast and loss (models/llama.py).
local function nanotron(facts)
  facts.trained, facts.master, facts.sequence_parallel = "all", true, true
  facts.parallel = (facts.dp or 1) > 1 and (facts.zero == 1 and "zero1" or "ddp") or nil
  if (facts.zero or 0) > 1 then return ("unknown method 'ZeRO-%d': nanotron has ZeRO-1"):format(facts.zero) end
  if (facts.pp or 1) == 1 then return end
  facts.schedule, facts.stage = facts.schedule or "1f1b", "first"
  local layers = tonumber(facts.model:match("n_layer=(%d+)"))
  if layers and (facts.tp or 1) <= 16 then facts.first_layers = (layers + 5 + facts.pp - 1) // facts.pp - 1 end
end

-- ---- the table ------------------------------------------------------------------------------

-- ---- TRL ------------------------------------------------------------------------------------

-- The guide's runs keep checkpointed layers' inputs in the host's memory: gradient_checkpointing_kwargs={"offload": True}, or accelerate's
-- activation_checkpointing_offload, "measured back to back" the same (pull request 6846).
local function trl_long(facts)
  if facts.activation_offload then facts.activation_offload = "inputs" end
end

-- {name for readers, pattern of the group, framework, facts, reading, what else}
sources.list = {
  {name = "fms-acceleration", match = "^fms%-acceleration/", framework = "transformers", reading = fms,
    facts = {reentrant = true, loaded = true, dropout = "0.1", accumulation = 1, clip = "1"},
    readings = {"nvidia-smi (initial subtracted) is the process: the first reading is taken before it begins; of several cards it is the "
      .. "mean, for which one that is not the first stands"}},
  {name = "PEFT", match = "^peft/", framework = "transformers", reading = peft, method = peft_words,
    facts = {adapters = "float32", keep_logits = "yes", accumulation = 1, clip = "1", optimizer = "adamw_foreach"},
    readings = {"<=768 is taken as 768: how long the longest batch is, nobody states; it is shorter by what its rows have in common"}},
  {name = "LitGPT", match = "^litgpt/config_hub", framework = "litgpt", reading = litgpt_hub, facts = {untied = true, adapters = "base", clip = "0", evaluation = true},
    readings = {"a run takes as many cards as its file names (`devices`), which is one for adapters: the column names the machine, and a run "
      .. "takes the same time on one with four cards"}},
  {name = "LitGPT", match = "^litgpt/resource%-tables", framework = "litgpt", reading = litgpt_tables, facts = {untied = true, adapters = "base", clip = "0", evaluation = true}},
  {name = "LitGPT", match = "^litgpt/finetune_lora", framework = "litgpt", reading = litgpt_tables, facts = {untied = true, adapters = "base", clip = "0", evaluation = true}},
  {name = "LitGPT", match = "^litgpt/prepare_dataset", framework = "litgpt", reading = litgpt_tables, facts = {untied = true, adapters = "base", clip = "0", evaluation = true}},
  {name = "LitGPT", match = "^litgpt/0_to_litgpt", framework = "litgpt", reading = litgpt_hub, facts = {untied = true, adapters = "base", clip = "0", evaluation = true}},
  {name = "LitGPT", match = "^litgpt/quantize", framework = "litgpt", reading = litgpt_inference, facts = {untied = true, trained = "none", framework_version = "0.1"}},
  {name = "LitGPT", match = "^litgpt/inference", framework = "litgpt", reading = litgpt_inference, facts = {untied = true, trained = "none"}},
  {name = "LitGPT", match = "^litgpt/thunder", framework = "litgpt", reading = litgpt_thunder, facts = {untied = true, clip = "0"}},
  {name = "LitGPT", match = "^litgpt/", framework = "litgpt", reading = litgpt_sharded, facts = {untied = true, adapters = "base", clip = "0", accumulation = 1}},
  {name = "lightning-thunder", match = "^lightning%-thunder/", framework = "litgpt", reading = thunder, facts = {untied = true, clip = "0", accumulation = 1}},
  {name = "torchtune", match = "^torchtune/README ladder", framework = "torchtune", reading = tune_ladder, steps = true, facts = {adapters = "base", accumulation = 1, clip = "0"}},
  {name = "torchtune", match = "^torchtune/README v0%.2", framework = "torchtune", reading = tune_02, facts = {adapters = "base", accumulation = 1, clip = "0", first_card = true},
    readings = {"peak memory per GPU is taken as max_memory_reserved of rank 0, as the recipes of 0.2 log it beside the others"}},
  {name = "torchtune", match = "^torchtune/README$", framework = "torchtune", torch = "2.6", reading = tune_2024, figure = "memory active",
    facts = {adapters = "base", accumulation = 1, clip = "0"},
    readings = {"peak memory per GPU is taken as memory active, as the other table of the same README calls its figures; the recipes log both "
      .. "(training/memory.py, get_memory_stats)", "its table is of September 2024 (commit 30b8519e): adapters are those of the recipes between 0.3.0 and 0.3.1, and so is the "
      .. "checkpointing that it does not name: every block"}},
  {name = "torchtune", match = "^torchtune/", framework = "torchtune", reading = tune, facts = {adapters = "base", accumulation = 1, clip = "0"}},
  {name = "torchtitan", match = "^torchtitan/202412", framework = "torchtitan", reading = titan_2024,
    facts = {accumulation = 1, clip = "1", float8_gather = true},
    readings = {"Float8 is as docs/float8.md of that commit starts it: with float8 all-gather"}},
  {name = "torchtitan", match = "^torchtitan/pr ", framework = "torchtitan", reading = titan, facts = {accumulation = 1, clip = "1", expandable = true},
    readings = {"a pull request's runs are started by run_train.sh, which sets expandable_segments"}},
  {name = "torchtitan", match = "^torchtitan/issue ", framework = "torchtitan", reading = titan, facts = {accumulation = 1, clip = "1", expandable = true},
    readings = {"a log shows run_train.sh, which sets expandable_segments"}},
  {name = "torchtitan", match = "^torchtitan/torchao tutorial", framework = "torchtitan", reading = titan, facts = {accumulation = 1, clip = "1", expandable = true},
    readings = {"its commands are run_train.sh, which sets expandable_segments"}},
  {name = "torchtitan", match = "^torchtitan/", framework = "torchtitan", reading = titan, facts = {accumulation = 1, clip = "1"}},
  {name = "torchao", match = "^torchao/float8nocompile", framework = "torchtitan", torch = "2.7", reading = titan, facts = {accumulation = 1, clip = "1"}},
  {name = "torchao", match = "^torchao/training", framework = "torchtitan", reading = titan, facts = {accumulation = 1, clip = "1", float8_gather = true, expandable = true},
    readings = {"tensorwise is with float8 all-gather, as benchmarks/float8/training/llama3.sh starts it, "
      .. "and torchtitan's run_train.sh, which that runs, sets expandable_segments, which ROCm does not know"}},
  {name = "torchao", match = "^torchao/optim", framework = "torchtune", reading = tune, facts = {adapters = "base", accumulation = 1, clip = "0"}},
  {name = "fsdp_qlora", match = "^fsdp_qlora", framework = "transformers", torch = "2.2", transformers = "4.38", reading = fsdp_qlora,
    facts = {autocast = false, adapters = "base", keep_logits = "yes", reentrant = false, clip = "0", accumulation = 1, optimizer = "adamw_foreach", first_card = true},
    readings = {"train.py writes the memory of rank 0"}},
  {name = "Qwen", match = "^Qwen/", framework = "transformers", transformers = "4.32", reading = qwen,
    facts = {own_code = true, reentrant = true, loaded = true, clip = "1"}},
  {name = "Qwen1.5", match = "^Qwen1%.5", framework = "transformers", transformers = "4.38", reading = inference_over_gpus, facts = {trained = "none"}},
  {name = "Qwen2", match = "^Qwen2 ", framework = "transformers", reading = inference_over_gpus, facts = {trained = "none"}},
  {name = "Qwen2.5", match = "^Qwen2%.5", framework = "transformers", reading = inference_over_gpus, facts = {trained = "none"}},
  {name = "Qwen3", match = "^Qwen3", framework = "transformers", reading = qwen3, facts = {trained = "none"}, figure = "weights and cache",
    readings = {"in FP8 the head is there by itself, tied or not: the figures of 0.6B, 1.7B and 4B are those of two matrices at every length",
      "the figure is taken after generation with the peak statistics of prefill gone: weights, cache of all tokens and cuBLAS's workspace"}},
  -- utils/config/__init__.py, normalize_config: bf16 loads in bfloat16 and trains under autocast; schemas/config.py has the defaults.
  {name = "axolotl", match = "^axolotl/pr%-", framework = "transformers",
    facts = {reentrant = true, loaded = true, clip = "1", optimizer = "adamw_fused", accumulation = 1, expandable = true}},
  {name = "TRL", match = "^trl/long%-context", framework = "transformers", reading = trl_long,
    facts = {autocast = true, loaded = true, clip = "1", reentrant = false, accumulation = 1}, figure = "memory active",
    readings = {"peak memory is that of tensors: accelerate's pull request 4175, by the same author, has beside it what is there after the "
      .. "forward pass, 1.54 GB less for inputs of 1.61 GB on the host"}},
  {name = "nanotron", match = "^nanotron/", framework = "nanotron", reading = nanotron, facts = {clip = "1", optimizer = "adamw_fused"},
    readings = {"max_memory_reserved of world rank 0, which is in the first pipeline stage: helpers.py, log_throughput writes Mem Alloc and "
      .. "Mem Res of that rank; the rows with data parallelism only are reserved, to 0.3 %",
      "what is reserved at the end of the third step: trainer.py, training_step calls log_memory after the backward passes of the first five steps, "
      .. "logging.py has it reset the peaks, and train_step_logs calls log_throughput in the third step: what a full card got back before is not in it",
      "with tensor parallelism of up to 16 the first stage of a pipeline has its share of the model's blocks by number, not by cost: by the tokens a "
      .. "second on one node a micro-batch of 1B takes 0.50 to 0.51 of the time of one stage in two, 0.25 to 0.26 in four, as 10 and 5 layers "
      .. "do; the published build_model gives 11 and 6, which would take 0.56 and 0.31. That of 32 was run by the published one: "
      .. "its pipelines have the pace of its p2p.py, which waits for messages by tenths of a second"}},
}

local none = {facts = {}}

-- What the recipes of a framework do, whoever ran them: the sources that stand for it where a group is of none.
local recipes = {torchtune = "torchtune/", torchtitan = "torchtitan/", litgpt = "litgpt/"}

-- The source of a group, or one that knows nothing more than the columns.
function sources.find(group)
  for _, source in ipairs(sources.list) do
    if group:find(source.match) then return source end
  end
  return none
end

-- The source that says what the recipes of a framework do; or one that knows nothing.
function sources.of_framework(stack)
  return recipes[stack] and sources.find(recipes[stack]) or none
end

return sources
