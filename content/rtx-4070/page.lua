-- Figures of the RTX 4070 case: what the user saw, what the estimator computes for the run and its variations, and what
-- rules of thumb claim. Bytes are integers; every figure says where it comes from.
local user = "https://lzwjava.github.io/rtx-4070-vram-usage-en"
local cookbook = "EleutherAI cookbook, calc_transformer_mem.py"
local accelerate = "Hugging Face accelerate, estimate-memory"
local megatron = "Megatron-LM, theoretical_memory_usage.py"

-- The run, eager, step for step as the reference values of the estimator were recorded: no evaluation, no scaler.
local function eager(changes)
  local config = {preset = "nanogpt-30m", compile = "none", mode = "reference"}
  for key, value in pairs(changes or {}) do config[key] = value end
  return vram.estimate(config)
end

local run = eager()
local card = vram.gpu("RTX 4070")
local compiled = vram.estimate{preset = "nanogpt-30m"}
local whole = vram.estimate{preset = "nanogpt-30m", compile = "none"}   -- with evaluation and scaler, as train.py runs
local math_attention = eager{attention = "math"}
local returned_none = vram.estimate{preset = "nanogpt-30m", compile_logits = false}
local eager_none = eager{keep_logits = "no"}

-- The shape of the run, for sizes that are products of it.
local B, T, C, L, H, V = 16, 512, 384, 6, 6, 50304
local tokens = B * T
local logits = tokens * V
local logit = "batch_size * block_size * vocab_size"

local figures = {
  -- what the user saw
  process = reported(4464 * 2^20, "B", user),
  card_used = reported(6582 * 2^20, "B", user),
  card_shown = card.memory_bytes,
  card_cuda = card.cuda_bytes,
  card_nominal = given(12288 * 2^20, "B"),
  kept_back = card.memory_bytes - card.cuda_bytes,
  others = computed((6582 - 4464) * 2^20, "B", "6582 MiB - 4464 MiB; " .. user),

  -- parameters and what belongs to each
  params = run.params,
  params_logged = run.reported_params,
  decayed = run.decayed_params,
  weights = run.param_bytes,
  gradients = run.grad_bytes,
  moments = computed(8 * run.params, "B", "8 bytes * parameters"),
  state = computed(16 * run.params, "B", "16 bytes * parameters"),
  casts = run.breakdown.weight_casts,
  claimed_state = claimed(300e6, "B", "10 bytes * parameters; " .. user),
  claimed_gradients = claimed(0.06e9, "B", "2 bytes * parameters; " .. user),
  claimed_moments = claimed(241e6, "B", "8 bytes * decayed; " .. user),
  claimed_batch = claimed(16e3, "B", "2 bytes * batch_size * block_size; " .. user),
  compiled_activations = compiled.breakdown.activations + compiled.breakdown.logits,
  claimed_compile_low = claimed(0.5e9, "B", user),
  claimed_compile_high = claimed(1e9, "B", user),
  compiling = compiled.peak_live_bytes - run.peak_live_bytes,
  claimed_halving_low = claimed(2e9, "B", user),
  claimed_halving_high = claimed(3e9, "B", user),
  claimed_total = claimed(6.4 * 2^30, "B", user),
  compiled_process = compiled.process_bytes,
  doubled_process = vram.estimate{preset = "nanogpt-30m", batch_size = 32}.process_bytes,
  largest_batch = computed(vram.max_batch{preset = "nanogpt-30m", gpu = "RTX 4070"}, "", "vramcalc max-batch preset=nanogpt-30m gpu=RTX 4070"),
  compiled_allocated = compiled.peak_allocated_bytes,
  claimed_weights = claimed(59.88e6, "B", "2 bytes * parameters; " .. user),

  -- activations
  block_activations = run.breakdown.activations,
  per_layer = computed(36 * tokens * C, "B", "36 bytes * tokens * n_embd"),
  logit_count = computed(logits, "", logit),
  logits_half = computed(2 * logits, "B", "2 bytes * " .. logit),
  logprobs_half = computed(2 * logits, "B", "2 bytes * " .. logit),
  logprobs_full = computed(4 * logits, "B", "4 bytes * " .. logit),
  loss_gradient = computed(4 * logits, "B", "4 bytes * " .. logit),
  loss_total = run.breakdown.logits,
  attention_matrix = claimed(B * H * T * T * 2, "B", "batch_size * n_head * block_size^2 * 2 bytes; " .. user),
  attention_math = math_attention.peak_live_bytes - run.peak_live_bytes,
  claimed_activations = claimed(tokens * C * L * 160 * 2, "B", "160 * 2 bytes * tokens * n_embd * n_layer; " .. user),
  claimed_24 = claimed(tokens * C * L * 24 * 2, "B", "24 * 2 bytes * tokens * n_embd * n_layer; " .. user),

  -- peaks
  peak = run.peak_live_bytes,
  reserved = whole.peak_reserved_bytes,
  reserved_no_eval = vram.estimate{preset = "nanogpt-30m", compile = "none", evaluation = "off"}.peak_reserved_bytes,
  compiled_peak = compiled.peak_live_bytes,
  compiled_reserved = compiled.peak_reserved_bytes,
  compiled_context = computed(4464 * 2^20 - compiled.peak_reserved_bytes, "B",
    "4464 MiB - max_memory_reserved"),
  context_lazy = reported(287047680, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_eager = reported(666632192, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_high = reported(426 * 2^20, "B", "https://github.com/unslothai/unsloth-zoo/pull/1053"),

  -- the ledger of the run as it was: compiled
  ledger_logits = compiled.breakdown.logits,
  ledger_blocks = compiled.breakdown.activations,
  ledger_casts = compiled.breakdown.weight_casts,
  ledger_rounding = compiled.peak_allocated_bytes - compiled.peak_live_bytes,
  reserved_no_eval_compiled = vram.estimate{preset = "nanogpt-30m", evaluation = "off"}.peak_reserved_bytes,
  ledger_unused = compiled.peak_reserved_bytes - compiled.peak_allocated_bytes,
  eager_process = whole.process_bytes,
  saved_blocks_none = returned_none.peak_live_bytes,
  process_none = returned_none.process_bytes,
  freed_none = compiled.process_bytes - returned_none.process_bytes,
  peak_none = eager_none.peak_live_bytes,
  one_logits_tensor = computed(2 * logits, "B", "2 bytes * " .. logit),

  -- what else is often said
  claimed_parameters = claimed(0.5e9, "B", user),
  claimed_state_low = claimed(0.3e9, "B", user),
  claimed_state_high = claimed(0.6e9, "B", user),
  claimed_act_low = claimed(4e9, "B", user),
  claimed_act_high = claimed(5e9, "B", user),
  claimed_attention_low = claimed(0.3e9, "B", user),
  claimed_attention_high = claimed(0.5e9, "B", user),
  claimed_context = claimed(500e6, "B", user),
  claimed_sum_overhead = claimed(1.5e9, "B", user),
  claimed_small_low = claimed(6e9, "B", user),
  claimed_small_high = claimed(10e9, "B", user),
  claimed_online_low = claimed(5e9, "B", user),
  claimed_online_high = claimed(7e9, "B", user),
  gpt2_small_b8 = eager{preset = "gpt2", batch_size = 8, dtype = "float16"}.peak_live_bytes,
  gpt2_small_b16 = eager{preset = "gpt2", batch_size = 16, dtype = "float16"}.peak_live_bytes,
  share_state = computed(4 * run.param_bytes / compiled.process_bytes, "", "16 bytes * parameters / process"),
  share_activations = computed((compiled.breakdown.logits + compiled.breakdown.activations) / compiled.process_bytes, "",
    "(activations + logits) / process"),
  share_rest = computed(1 - (4 * run.param_bytes + compiled.breakdown.logits + compiled.breakdown.activations) / compiled.process_bytes, "",
    "1 - (16 bytes * parameters + activations + logits) / process"),
  vocabulary_share = computed(V * C / run.params, "", "vocab_size * n_embd of all parameters"),
  batch_pair = computed(2 * 8 * tokens, "B", "2 * 8 bytes * batch_size * block_size"),
  elements = computed(tokens * C * L, "", "batch_size * block_size * n_embd * n_layer"),
  foreach = eager{optimizer = "adamw_foreach"}.peak_live_bytes,
  foreach_copy = computed(4 * run.params, "B", "4 bytes * parameters"),

  -- ways below 4 GB, eager
  peak_b8 = eager{batch_size = 8}.peak_live_bytes,
  peak_t256 = eager{block_size = 256}.peak_live_bytes,
  peak_b8_t256 = eager{batch_size = 8, block_size = 256}.peak_live_bytes,
  peak_checkpointing = eager{checkpointing = "block"}.peak_live_bytes,
  peak_v256 = eager{vocab_size = 256}.peak_live_bytes,
  peak_fp32 = eager{dtype = "float32", attention = "mem_efficient"}.peak_live_bytes,
  peak_bf16 = eager{dtype = "bfloat16"}.peak_live_bytes,
  limit = given(4 * 2^30, "B"),
}

-- The whole process of the compiled run, with the same changes.
for name, changes in pairs{b8 = {batch_size = 8, gradient_accumulation_steps = 8}, t256 = {block_size = 256},
    b8_t256 = {batch_size = 8, block_size = 256}, checkpointing = {checkpointing = "block"}, bf16 = {dtype = "bfloat16"},
    fp32 = {dtype = "float32", attention = "mem_efficient"}, v256 = {vocab_size = 256}} do
  changes.preset = "nanogpt-30m"
  figures["process_" .. name] = vram.estimate(changes).process_bytes
end

-- A calculator on the web, by its formula: 18 bytes a parameter, a float32 logit twice, blocks with attention scores, a constant context.
do
  local P = 30135168
  local layer = 34 * tokens * C + 5 * B * H * T * T
  figures.calculator = claimed(1000 * 2^20 + 18 * P + 8 * logits + L * layer, "B",
    "https://github.com/furiousteabag/vram-calculator/blob/main/app/_lib/index.ts")
end

-- The same peak by four rules, on seven configs: truth_N beside thumb_N, eleuther_N, accelerate_N and megatron_N.
local setups = {
  {preset = "nanogpt-30m"},
  {preset = "gpt2", batch_size = 16, dtype = "float16"},
  {preset = "gpt2", batch_size = 4, dtype = "float16"},
  {preset = "gpt2", batch_size = 4, dtype = "float32", attention = "mem_efficient"},
  {preset = "shakespeare-char"},
  {preset = "gpt2-medium", batch_size = 4},
  {preset = "nanogpt-30m", vocab_size = 256},
}
for i, config in ipairs(setups) do
  config.compile, config.mode = "none", "reference"
  local rules = vram.compare(config).formulas
  figures["truth_" .. i] = vram.estimate(config).peak_live_bytes
  figures["thumb_" .. i] = claimed(rules[1].bytes, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2; " .. user)
  figures["eleuther_" .. i] = claimed(rules[2].bytes, "B", cookbook)
  figures["accelerate_" .. i] = claimed(rules[3].bytes, "B", accelerate)
  figures["megatron_" .. i] = claimed(rules[4].bytes, "B", megatron)
end

-- The peak by category, eager and compiled: what is more than a mebibyte.
local parts = {}
for _, name in ipairs{"logits", "activations", "backward", "parameters", "gradients", "optimizer", "weight_casts", "workspaces"} do
  local a, b = run.breakdown[name], compiled.breakdown[name]
  if a > 2^20 or b > 2^20 then parts[#parts + 1] = {"calc.part." .. name, a, b} end
end
figures.peak_parts = {title = "chart.parts", rows_title = "chart.part", columns = {"chart.eager", "chart.compiled"}, rows = parts}

-- Names of presets and keys, alike in every language but for {numbers}.
local names = {"nanogpt-30m", "gpt2, 16 × {1024}", "gpt2, 4 × {1024}", "gpt2, 4 × {1024}, float32", "shakespeare-char", "gpt2-medium, 4 × {1024}",
  "nanogpt-30m, vocab_size=256"}
local pairs_of_rule = {}
for i, name in ipairs(names) do pairs_of_rule[i] = {name, figures["thumb_" .. i], figures["truth_" .. i]} end
figures.rule_and_truth = {title = "chart.rules", rows_title = "chart.setup", columns = {"chart.rule", "chart.computed"}, rows = pairs_of_rule}

-- The pictures: what lies in what, a block, the loss, the step.
do
  local pictures = require "pictures"
  local reference = {preset = "nanogpt-30m", compile = "none", mode = "reference"}
  figures.memory_nest = pictures.memory_nest(card, compiled)
  figures.block_saved = pictures.block_saved(reference, tokens)
  figures.step_area = pictures.step_area(reference, 140)
end

return figures
