-- Figures of the page about memory that grows with time: the size of common leaks, of a longer batch, and of holes by changing lengths.
local figures = {}
local function llama(changes)
  local config = {preset = "llama-3.2-1b", batch_size = 4, seq_len = 1024}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local run = llama{}
figures.graph = run.saved_bytes
figures.logits = computed(4 * 1024 * 128256 * 2, "B", "4 * 1024 * 128256 * 2 bytes")
figures.loss = computed(512, "B", "1 block * 512 bytes")
local card = vram.gpu("RTX 4090").cuda_bytes
figures.spare = card - llama{checkpointing = "block"}.process_bytes
figures.steps = figures.spare / figures.logits

-- A longer batch.
local rows = {}
for _, length in ipairs{256, 512, 768, 1024, 1536, 2048} do
  rows[#rows + 1] = {length, llama{seq_len = length, checkpointing = "block"}.process_bytes, llama{seq_len = length, checkpointing = "block", cross_entropy = "chunked"}.process_bytes}
end
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = rows, columns = {"float()", "Liger"},
  limit = card, limit_label = "RTX 4090"}
for name, length in pairs{median = 512, long = 2048} do figures["at_" .. name] = llama{seq_len = length, checkpointing = "block"}.process_bytes end

-- Evaluation in between.
local eight = vram.estimate{preset = "gpt2", compile = "none", batch_size = 8}
figures.with_eval, figures.without_eval = eight.peak_reserved_bytes, vram.estimate{preset = "gpt2", compile = "none", batch_size = 8, evaluation = "off"}.peak_reserved_bytes
figures.eval_holes = figures.with_eval - figures.without_eval

-- The first steps of a run.
local first = vram.estimate{preset = "oom-gpt2", compile = "none", mode = "reference"}
figures.first, figures.steady = first.first_step_peak_bytes, first.peak_live_bytes
figures.moments = first.optim_bytes

-- Reported.
figures.open_share = reported(0.20, "", "https://github.com/allenai/open-instruct/pull/777")
figures.fms_logits = computed(4096 * 128256 * 2, "B", "4096 * 128256 * 2 bytes")
figures.fms_said = reported(1 * 2^30, "B", "https://github.com/foundation-model-stack/fms-fsdp/pull/152")

return figures
