-- Figures of the page about memory that grows with time: the size of common leaks, of a longer batch, of holes, and of later phases.
local figures = {}
local function llama(changes)
  local config = {preset = "llama-3.2-1b", batch_size = 4, seq_len = 1024}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
figures.graph = llama{}.saved_bytes
figures.logits = computed(4 * 1024 * 128256 * 2, "B", "4 * 1024 * 128256 * 2 bytes")
figures.loss = computed(512, "B", "1 block * 512 bytes")

-- Logits that are kept, step by step: whole blocks of the allocator, beside the process at its peak.
local card = vram.gpu("RTX 4090").cuda_bytes
local process = llama{checkpointing = "block"}.process_bytes
figures.process, figures.card, figures.spare = process, card, card - process
figures.steps = figures.spare / figures.logits
local kept = {}
for step = 0, 8 do kept[#kept + 1] = {step, process + figures.logits * step, process} end
figures.by_step = {title = "chart.by_step", rows_title = "chart.step_number", x = "chart.step_number", rows = kept,
  columns = {"outputs.append(logits)", "losses.append(loss.item())"}, limit = card, limit_label = "RTX 4090"}

-- A longer batch.
local rows = {}
for _, length in ipairs{256, 512, 768, 1024, 1536, 2048} do
  rows[#rows + 1] = {length, llama{seq_len = length, checkpointing = "block"}.process_bytes,
    llama{seq_len = length, checkpointing = "block", cross_entropy = "chunked"}.process_bytes}
end
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = rows,
  columns = {"float()", "Liger"}, limit = card, limit_label = "RTX 4090"}
for name, length in pairs{median = 512, long = 2048} do
  figures["at_" .. name] = llama{seq_len = length, checkpointing = "block"}.process_bytes
end

-- Batches of several lengths, one after the other: the same is alive at the peak, but not reserved.
local orders = {rising = "512+768+1024+1536+2048", falling = "2048+1536+1024+768+512", alike = "2048"}
for name, lengths in pairs(orders) do
  local run = vram.estimate{preset = "llama-3.2-1b", batch_size = 4, seq_lens = lengths, checkpointing = "block"}
  figures[name] = run.peak_reserved_bytes
  figures.rising_alive = figures.rising_alive or run.peak_allocated_bytes
  -- A block keeps up to 1 MiB that nobody asked for: which one does depends on the order.
  assert(math.abs((run.peak_allocated_bytes - figures.rising_alive).value) < 4 * 2^20, "the order changes what is allocated")
end

-- Evaluation in between.
local function gpt2(evaluation) return vram.estimate{preset = "gpt2", compile = "none", batch_size = 8, evaluation = evaluation} end
figures.with_eval, figures.without_eval = gpt2("on").peak_reserved_bytes, gpt2("off").peak_reserved_bytes
figures.eval_holes = figures.with_eval - figures.without_eval

-- The first steps of a run, and an averaged copy of its weights.
local first = vram.estimate{preset = "oom-gpt2", compile = "none", mode = "reference"}
figures.first, figures.steady = first.first_step_peak_bytes, first.peak_live_bytes
figures.moments, figures.copy = first.optim_bytes, first.param_bytes

-- Reported.
figures.open_share = reported(0.20, "", "https://github.com/allenai/open-instruct/pull/777")
figures.fms_logits = computed(4096 * 128256 * 2, "B", "4096 * 128256 * 2 bytes")
figures.fms_said = reported(1 * 2^30, "B", "https://github.com/foundation-model-stack/fms-fsdp/pull/152")
figures.sky_holes = reported(20 * 2^30, "B", "https://github.com/NovaSky-AI/SkyRL/pull/1768")

-- Measured: 5,000 steps of a run with padded batches, logged after each step by its authors.
local peft = "https://github.com/huggingface/peft/blob/0a179c1/method_comparison/MetaMathQA/results/lora--llama-3.2-3B-rank64-rslora.json"
for name, bytes in pairs{first_250 = 7072427178, last_250 = 7064964919, reserved_mean = 12128059444, reserved_99 = 17953927987,
    reserved_most = 22538092544} do
  figures["seen_" .. name] = reported(bytes, "B", peft)
end
figures.tokens_mean = reported(4198051, "", peft) / 5000
local function padded(length)
  return vram.estimate{preset = "llama-3.2-3b", framework = "transformers", torch = "2.7", transformers = "4.52", dtype = "bfloat16_pure",
    batch_size = 4, seq_len = length, gradient_accumulation_steps = 1, lora_rank = 64, lora_targets = "q+v", lora_dropout = 0,
    adapter_dtype = "float32", optimizer = "adamw_foreach", keep_logits = true, grad_clip = 1, evaluation = false, gpu = "L40S"}
end
local longest = padded(768)
figures.said_states = longest.param_bytes + longest.grad_bytes + longest.optim_bytes
figures.said_logits = computed(840 * 128256 * 2, "B", "840 tokens * 128256 * 2 bytes")
figures.said_between = figures.said_states + figures.said_logits
figures.said_mean, figures.said_most = padded(210).peak_reserved_bytes, longest.peak_reserved_bytes

return figures
