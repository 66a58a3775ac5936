-- Figures of the RTX 4070 case: what the user saw, what the estimator computes for the run and its variations, and what
-- rules of thumb claim. Bytes are integers; every figure says where it comes from.
local user = "https://lzwjava.github.io/rtx-4070-vram-usage-en"
local cookbook = "EleutherAI cookbook, calc_transformer_mem.py"
local accelerate = "Hugging Face accelerate, estimate-memory, by its formula"
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

-- The shape of the run, for sizes that are products of it.
local B, T, C, L, H, V = 16, 512, 384, 6, 6, 50304
local tokens = B * T
local logits = tokens * V
local per_logit = "batch_size * block_size * vocab_size * bytes of the type"

local function framework(engine, batch, steps)
  return measured("framework_step", {engine = engine, batch_size = batch or B, block_size = T, seq_len = T, n_embd = C, n_layer = L,
    vocab_size = V, dtype = "float16", attention = "flash", gradient_accumulation_steps = steps or 4, checkpointing = "none",
    loop = "train", value = "max_memory_allocated_bytes"})
end

local figures = {
  -- what the user saw
  process = reported(4464 * 2^20, "B", user),
  card_used = reported(6582 * 2^20, "B", user),
  card_shown = card.memory_bytes,
  card_cuda = card.cuda_bytes,
  card_nominal = given(12288 * 2^20, "B"),
  kept_back = card.memory_bytes - card.cuda_bytes,
  others = computed((6582 - 4464) * 2^20, "B", "card total less the process, both reported: " .. user),

  -- parameters and what belongs to each
  params = run.params,
  params_logged = run.reported_params,
  decayed = run.decayed_params,
  weights = run.param_bytes,
  gradients = run.grad_bytes,
  moments = computed(8 * run.params, "B", "two fp32 moments for each parameter"),
  state = computed(16 * run.params, "B", "weight, gradient and two moments of each parameter, in fp32"),
  casts = run.breakdown.weight_casts,
  claimed_state = claimed(300e6, "B", "rule of thumb, 10 bytes a parameter: " .. user),
  claimed_gradients = claimed(0.06e9, "B", "rule of thumb, 2 bytes a parameter: " .. user),
  claimed_moments = claimed(241e6, "B", "rule of thumb, 8 bytes for each decayed parameter: " .. user),
  claimed_batch = claimed(16e3, "B", "tokens of a batch, two bytes each: " .. user),
  batch = computed(8 * tokens, "B", "int64: 8 * batch_size * block_size bytes"),
  compiled_activations = compiled.breakdown.activations + compiled.breakdown.logits,
  claimed_compile_low = claimed(0.5e9, "B", "memory that compiling adds: " .. user),
  claimed_compile_high = claimed(1e9, "B", "memory that compiling adds: " .. user),
  compiling = compiled.peak_live_bytes - run.peak_live_bytes,
  claimed_overhead = claimed(1e9, "B", "context, kernels and fragmentation: " .. user),
  claimed_halving_low = claimed(2e9, "B", "saved by batch_size=8: " .. user),
  claimed_halving_high = claimed(3e9, "B", "saved by batch_size=8: " .. user),
  claimed_total = claimed(6.4e9, "B", "rule of thumb, all parts together: " .. user),
  compiled_process = compiled.process_bytes,
  claimed_weights = claimed(59.88e6, "B", "rule of thumb, 2 bytes a parameter: " .. user),

  -- activations
  block_activations = run.breakdown.activations,
  per_layer = computed(36 * tokens * C, "B", "36 bytes for each token and channel of a layer"),
  logit_count = computed(logits, "", "batch_size * block_size * vocab_size"),
  logits_half = computed(2 * logits, "B", per_logit),
  logprobs_half = computed(2 * logits, "B", per_logit),
  logprobs_full = computed(4 * logits, "B", per_logit),
  loss_gradient = computed(4 * logits, "B", per_logit),
  loss_total = run.breakdown.logits,
  attention_matrix = claimed(B * H * T * T * 2, "B", "batch_size * n_head * block_size^2 * 2 bytes a layer: " .. user),
  attention_math = math_attention.peak_live_bytes - run.peak_live_bytes,
  claimed_activations = claimed(tokens * C * L * 160 * 2, "B", "rule of thumb, 160 values for each token, channel and layer: " .. user),
  claimed_24 = claimed(tokens * C * L * 24 * 2, "B", "rule of thumb, 24 values for each token, channel and layer: " .. user),

  -- peaks
  peak = run.peak_live_bytes,
  allocated = whole.peak_allocated_bytes,
  reserved = whole.peak_reserved_bytes,
  reserved_no_eval = vram.estimate{preset = "nanogpt-30m", compile = "none", evaluation = "off"}.peak_reserved_bytes,
  compiled_peak = compiled.peak_live_bytes,
  compiled_reserved = compiled.peak_reserved_bytes,
  compiled_context = computed(4464 * 2^20 - compiled.peak_reserved_bytes, "B",
    "the reported process less the computed reserved memory; inferred, not measured"),
  eager_measured = framework("torch-eager"),
  compiled_measured = framework("torch-compile"),
  eager_measured_b8 = framework("torch-eager", 8, 8),
  context_measured = measured("context", {value = "context_bytes"}),
  context_lazy = reported(287047680, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_eager = reported(666632192, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_high = reported(426 * 2^20, "B", "https://github.com/unslothai/unsloth-zoo/pull/1053"),

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
    b8_t256 = {batch_size = 8, block_size = 256}, bf16 = {dtype = "bfloat16"},
    fp32 = {dtype = "float32", attention = "mem_efficient"}, v256 = {vocab_size = 256}} do
  changes.preset = "nanogpt-30m"
  figures["process_" .. name] = vram.estimate(changes).process_bytes
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
  figures["thumb_" .. i] = claimed(rules[1].bytes, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user)
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

-- The second iteration, event by event: the highest of each of 240 slices.
local live, marks, micro = {}, {}, nil
vram.trace({preset = "nanogpt-30m", compile = "none", mode = "reference"}, function(event)
  local phase = event.phase
  if not phase:find("it1", 1, true) then return end
  local kind = phase:match("m%d+$") or phase
  if micro and kind ~= micro then marks[#marks + 1] = #live end
  micro = kind
  live[#live + 1] = event.live
end)
local slices, points = 240, {}
for i, bytes in ipairs(live) do
  local slice = (i - 1) * slices // #live + 1
  points[slice] = math.max(points[slice] or 0, bytes)
end
for i, at in ipairs(marks) do marks[i] = at * slices // #live end
local highest = {}
for i = 1, #run.phases do
  local phase = run.phases[i]
  local kind = phase.name:match("^(%a+):it1") or phase.name:match("^(step)")
  local bytes = phase.peak_live_bytes
  if kind and (not highest[kind] or bytes > highest[kind]) then highest[kind] = bytes end
end
figures.step_memory = {title = "chart.step", rows_title = "chart.phase", x = "chart.step.x", columns = {"chart.peak"},
  points = points, marks = marks,
  rows = {{"chart.forward", highest.fwd}, {"chart.backward", highest.bwd}, {"chart.optimizer", highest.step}}}

-- Names of presets and keys, alike in every language.
local names = {"nanogpt-30m", "gpt2, 16 × 1024", "gpt2, 4 × 1024", "gpt2, 4 × 1024, float32", "shakespeare-char", "gpt2-medium, 4 × 1024",
  "nanogpt-30m, vocab_size=256"}
local pairs_of_rule = {}
for i, name in ipairs(names) do pairs_of_rule[i] = {name, figures["thumb_" .. i], figures["truth_" .. i]} end
figures.rule_and_truth = {title = "chart.rules", rows_title = "chart.setup", columns = {"chart.rule", "chart.computed"}, rows = pairs_of_rule}

return figures
