-- Figures of the page about the allocator: four sizes of one run, rounding, reserved memory by batch and by setting, what cards offer.
local run = vram.estimate{preset = "oom-gpt2", batch_size = 8, gradient_accumulation_steps = 64, compile = "none"}
local figures = {
  live = run.peak_live_bytes, allocated = run.peak_allocated_bytes, reserved = run.peak_reserved_bytes, context = run.context_bytes,
  process = run.process_bytes,
}
figures.rounding = figures.allocated - figures.live
figures.unused = figures.reserved - figures.allocated
local card = vram.gpu("RTX 4070")
figures.card, figures.shown = card.cuda_bytes, card.memory_bytes
figures.kept = figures.shown - figures.card

-- Reserved beside allocated, GPT-2 124M in eager mode.
local rows = {}
for _, batch in ipairs{6, 7, 8, 9, 10, 11, 12, 13, 14} do
  local estimate = vram.estimate{preset = "oom-gpt2", compile = "none", batch_size = batch}
  rows[#rows + 1] = {batch, estimate.peak_allocated_bytes, estimate.peak_reserved_bytes}
  if batch == 9 or batch == 10 then
    figures["allocated_" .. batch], figures["reserved_" .. batch] = estimate.peak_allocated_bytes, estimate.peak_reserved_bytes
  end
end
figures.by_batch = {title = "chart.batch", rows_title = "chart.batch.size", x = "chart.batch.size", rows = rows, columns = {"chart.allocated", "chart.reserved"}}

-- The large segments of that run when no free block was large enough for the last time: blocks in use, and gaps (negative).
local held = vram.segments{preset = "oom-gpt2", batch_size = 8, gradient_accumulation_steps = 64, compile = "none"}
local source = "vramcalc segments preset=oom-gpt2 batch_size=8 gradient_accumulation_steps=64 compile=none --format csv"
local large = {}
for _, segment in ipairs(held.segments) do
  if segment.bytes >= 64 * 2^20 then
    local points = {}
    for _, block in ipairs(segment.blocks) do points[#points + 1] = block.state == "used" and block.bytes or -block.bytes end
    large[#large + 1] = {#large + 1, computed(segment.bytes, "B", source), computed(segment.used_bytes, "B", source), points = points}
  end
end
figures.segments = {title = "chart.segments.growth", rows_title = "chart.segment", columns = {"chart.reserved", "chart.used"}, over = "chart.gap", rows = large}

-- The settings, on four runs.
local runs = {
  eager = {preset = "oom-gpt2", batch_size = 8, compile = "none"}, compiled = {preset = "oom-gpt2", batch_size = 8},
  lora = {preset = "llama-3.1-8b", lora_rank = 16, batch_size = 1, seq_len = 8192, checkpointing = "block"},
}
local settings = {
  default = {}, expandable = {expandable_segments = true}, split64 = {max_split_size_mb = 64}, split512 = {max_split_size_mb = 512},
  round = {roundup_power2_divisions = 8},
}
for name, config in pairs(runs) do
  for setting, changes in pairs(settings) do
    local all = {}
    for key, value in pairs(config) do all[key] = value end
    for key, value in pairs(changes) do all[key] = value end
    figures[name .. "_" .. setting] = vram.estimate(all).peak_reserved_bytes
  end
end
figures.lora_allocated = vram.estimate(runs.lora).peak_allocated_bytes
figures.compiled_allocated = vram.estimate(runs.compiled).peak_allocated_bytes

-- What CUDA offers.
for i, name in ipairs{"RTX 3060", "RTX 4060", "RTX 4060 Ti 16GB", "RTX 4070", "RTX 3090", "RTX 4090", "RTX 5070", "RTX 5090", "A100 80GB SXM", "H100 SXM"} do
  local g = vram.gpu(name)
  figures["total_" .. i], figures["cuda_" .. i], figures["less_" .. i] = g.memory_bytes, g.cuda_bytes, g.memory_bytes - g.cuda_bytes
end
local b200 = "https://github.com/unslothai/unsloth/pull/9362"
figures.b200_total, figures.b200_reserved = reported(183359 * 2^20, "B", b200), reported(726 * 2^20, "B", b200)
figures.b200_cuda = reported(182633 * 2^20, "B", b200)

-- Contexts, by others.
figures.lazy = reported(287047680, "B", "https://github.com/pytorch/pytorch/pull/86509")
figures.eager_context = reported(666632192, "B", "https://github.com/pytorch/pytorch/pull/86509")
figures.ada = reported(426 * 2^20, "B", "https://github.com/unslothai/unsloth-zoo/pull/1053")
figures.v100 = reported(1343 * 2^20, "B", "https://huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy")
local hip = "https://docs.pytorch.org/docs/2.15/notes/hip.html"
figures.hip_workspace, figures.hip_workspace_mi300 = reported(32 * 2^20, "B", hip), reported(128 * 2^20, "B", hip)

-- Reserved memory measured by others, where the source states the run.
local answer = "https://github.com/AnswerDotAI/fsdp_qlora/blob/main/benchmarks_03_2024.md"
local function llama2(changes)
  local config = {preset = "llama-2-7b", framework = "transformers", torch = "2.2", transformers = "4.38", dtype = "bfloat16_pure", seq_len = 2048,
    gradient_accumulation_steps = 1, lora_rank = 64, lora_targets = "q+k+v+gate+up+down", lora_dropout = 0.1, adapter_dtype = "base",
    optimizer = "adamw_foreach", checkpointing = "block", keep_logits = "yes", grad_clip = 0, evaluation = false, parallel = "fsdp1", n_gpu = 2,
    gpu = "RTX 3090"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
for name, row in pairs{one = {10973641441, 1}, four = {17330193039, 4}} do
  figures["seen_" .. name] = reported(row[1], "B", answer)
  figures["said_" .. name] = llama2{batch_size = row[2]}.peak_reserved_bytes
end

return figures
