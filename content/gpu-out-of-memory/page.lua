-- Figures of the out-of-memory case: GPT-2 124M on a card with 12 GB.
local user = "https://lzwjava.github.io/gpu-memory-fix-en"

-- The run, eager, step for step as the reference values of the estimator were recorded.
local function eager(changes)
  local config = {preset = "oom-gpt2", compile = "none", mode = "reference"}
  for key, value in pairs(changes or {}) do config[key] = value end
  return vram.estimate(config)
end

local run = eager()
local compiled_16 = vram.estimate{preset = "oom-gpt2"}
local process_8 = {preset = "oom-gpt2", compile = "none", batch_size = 8, gradient_accumulation_steps = 64}
local eager_8 = vram.estimate(process_8)
process_8.expandable_segments = true
local eager_8_expandable = vram.estimate(process_8)
local compiled_8 = vram.estimate{preset = "oom-gpt2", batch_size = 8, gradient_accumulation_steps = 64}
local whole = vram.estimate{preset = "oom-gpt2", compile = "none"}   -- with evaluation and scaler, as train.py runs
local none = vram.estimate{preset = "oom-gpt2", compile_logits = false}

local B, T, V = 16, 1024, 50304
local logits = B * T * V

-- A reported message, with what its author said of the run; the estimator names the tensor.
local explained = vram.explain_oom("CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; "
  .. "10.16 GiB already allocated)",
  {preset = "gpt2", batch_size = 32, compile = "none"})

-- Time of a token on an RTX 4070 by the estimator's roofline: what a change costs is the ratio of two of these.
local function token_time(changes)
  local config = {preset = "oom-gpt2", compile = "none", gpu = "RTX 4070"}
  for key, value in pairs(changes) do config[key] = value end
  local time = vram.step_seconds(config)
  local tokens = (config.batch_size or B) * (config.gradient_accumulation_steps or 32) * (config.block_size or T)
  return computed(time / tokens, "s", "roofline, not compared with a clock: " .. time.source)
end

-- What a row of the table changes.
local rows = {
  ["16"] = {}, ["8"] = {batch_size = 8, gradient_accumulation_steps = 64},
  ["4"] = {batch_size = 4, gradient_accumulation_steps = 128}, ["2"] = {batch_size = 2, gradient_accumulation_steps = 256},
  checkpointing = {checkpointing = "block"}, alone = {batch_size = 8}, short = {block_size = 512}, l9 = {n_layer = 9},
  c512 = {n_embd = 512, n_head = 8},
}

-- What the process takes at other batch sizes. Two micro-steps are enough: more of them take no more memory.
local batches = {}
for _, batch in ipairs{1, 2, 4, 8, 12, 16, 20, 24} do
  local changes = {preset = "oom-gpt2", batch_size = batch, gradient_accumulation_steps = 2}
  local with = vram.estimate(changes).process_bytes
  changes.compile = "none"
  batches[#batches + 1] = {batch, vram.estimate(changes).process_bytes, with}
end

-- What a row changes, for the whole process.
local function process(changes, compile)
  local config = {preset = "oom-gpt2", compile = compile}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end

local card = vram.gpu("RTX 4070")
local figures = {
  compiled_blocks = compiled_16.breakdown.activations,
  compiled_loss = compiled_16.breakdown.logits,
  compiled_activations = compiled_16.breakdown.activations + compiled_16.breakdown.logits,
  compiled_16_reserved = compiled_16.peak_reserved_bytes,
  context = compiled_16.context_bytes,
  whole_process = whole.process_bytes,
  eager_reserved = whole.peak_reserved_bytes,
  none_process = none.process_bytes,
  none_eager = eager{keep_logits = "no"}.peak_live_bytes,
  none_spare = card.cuda_bytes - none.process_bytes,
  both_process = process({compile_logits = false, batch_size = 8, gradient_accumulation_steps = 64}, "2.5").process_bytes,
  chunked_eager_process = process({cross_entropy = "chunked"}, "none").process_bytes,
  adam8_reserved = process({optimizer = "adamw_8bit"}, "2.5").peak_reserved_bytes,
  compiled_16_expandable = process({expandable_segments = true}, "2.5").peak_reserved_bytes,
  compiled_8_expandable = process({batch_size = 8, gradient_accumulation_steps = 64, expandable_segments = true}, "2.5").peak_reserved_bytes,
  adam8_7b = computed(6 * 7e9, "B", "6 bytes * 7000000000"),
  adam8_here = computed(6 * run.params, "B", "6 bytes * parameters"),
  card = card.cuda_bytes,
  card_shown = card.memory_bytes,

  params = run.params,
  weights = run.param_bytes,
  gradients = run.grad_bytes,
  moments = computed(8 * run.params, "B", "8 bytes * parameters"),
  state = computed(16 * run.params, "B", "16 bytes * parameters"),
  casts = run.breakdown.weight_casts,
  blocks = run.breakdown.activations,
  loss = run.breakdown.logits,
  activations = run.breakdown.activations + run.breakdown.logits,
  tokens = computed(B * T, "", "batch_size * block_size"),
  weights_half = computed(2 * run.params, "B", "2 bytes * parameters"),
  compiling = compiled_16.peak_allocated_bytes - run.peak_allocated_bytes,
  halved = 1 - eager{batch_size = 8}.breakdown.activations / run.breakdown.activations,
  claimed_weights_low = claimed(500e6, "B", user),
  claimed_weights_high = claimed(550e6, "B", user),
  claimed_gradients = claimed(500e6, "B", user),
  claimed_moments_low = claimed(1e9, "B", user),
  claimed_moments_high = claimed(1.2e9, "B", user),
  claimed_halving_low = claimed(0.4, "", user),
  claimed_halving_high = claimed(0.5, "", user),
  claimed_slower_low = claimed(0.1, "", user),
  claimed_slower_high = claimed(0.15, "", user),
  claimed_compile_low = claimed(1e9, "B", user),
  claimed_compile_high = claimed(2e9, "B", user),
  claimed_activations_low = claimed(9e9, "B", user),
  claimed_activations_high = claimed(11e9, "B", user),

  eager_16 = run.peak_live_bytes,
  eager_checkpointing = eager{checkpointing = "block"}.peak_live_bytes,
  eager_8_reserved = eager_8.peak_reserved_bytes,
  eager_8_expandable = eager_8_expandable.peak_reserved_bytes,
  eager_chunked = eager{cross_entropy = "chunked"}.peak_live_bytes,
  compiled_16 = compiled_16.peak_live_bytes,
  compiled_16_process = compiled_16.process_bytes,
  compiled_8 = compiled_8.peak_allocated_bytes,
  compiled_8_reserved = compiled_8.peak_reserved_bytes,

  half_logits = computed(2 * logits, "B", "batch_size * block_size * vocab_size * 2 bytes"),
  full_logits = computed(4 * logits, "B", "batch_size * block_size * vocab_size * 4 bytes"),
  message_tensor = explained.tensors[1].bytes,
  message_alive = explained.tensors[1].live_bytes,
  message_allocated = reported(10.16 * 2^30, "B", "https://github.com/karpathy/nanoGPT/issues/88"),

  batch_fit = {title = "chart.batch", rows_title = "chart.batch.size", x = "chart.batch.size", rows = batches,
    columns = {"chart.eager", "chart.compiled"}, limit = card.cuda_bytes, limit_label = "chart.card"},
}

for name, changes in pairs(rows) do
  figures["time_" .. name] = token_time(changes)
  figures["eager_process_" .. name] = process(changes, "none").process_bytes
  figures["process_" .. name] = process(changes, "2.5").process_bytes
end

-- The pictures. Two micro-steps are enough: more of them take no more memory.
do
  local pictures = require "pictures"
  local reference = {preset = "oom-gpt2", compile = "none", mode = "reference", gradient_accumulation_steps = 2}
  local run = vram.estimate{preset = "oom-gpt2", gradient_accumulation_steps = 2}
  figures.memory_nest = pictures.memory_nest(card, vram.estimate{preset = "oom-gpt2", batch_size = 8, gradient_accumulation_steps = 2})
  figures.card_cells = pictures.card_cells(card, run)
  figures.loss_chain = pictures.loss_chain(reference, {preset = "oom-gpt2", gradient_accumulation_steps = 2})
  figures.step_area = pictures.step_area(reference, 140)
  figures.batch_fit.slider = "chart.slider"
end

return figures
