-- Figures of the page about looking inside a run: what each tool shows of one run, the predicted step, and pairs of measured figures.
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local run = vram.estimate{preset = "nanogpt-30m"}
local figures = {
  allocated = run.peak_allocated_bytes, reserved = run.peak_reserved_bytes,
  process = run.process_bytes,
  seen = reported(4464 * 2^20, "B", "https://lzwjava.github.io/rtx-4070-vram-usage-en"),
  card = reported(6582 * 2^20, "B", "https://lzwjava.github.io/rtx-4070-vram-usage-en"),
  logits = computed(2 * 16 * 512 * 50304, "B", "batch_size * block_size * vocab_size * 2 bytes"),
  state = 4 * run.param_bytes,
  tune = computed(2 * 512 * 32000 * 4, "B", "2 * 512 tokens * vocabulary of 32000 * 4 bytes"),
}
local moment = "https://github.com/karpathy/nanoGPT/issues/618"
figures.moment_seen, figures.moment_held = reported(2.47 * 2^30, "B", moment), reported(16.69 * 2^30, "B", moment)
figures.between = figures.reserved - figures.allocated

-- Two steps of the run, as a snapshot shows them: the highest of each of 240 slices of the second iteration.
local live, marks, micro, highest = {}, {}, nil, {}
vram.trace({preset = "nanogpt-30m"}, function(event)
  local phase = event.phase
  if not phase:find("it1", 1, true) then return end
  local kind = phase:match("m%d+$") or phase
  if micro and kind ~= micro then marks[#marks + 1] = #live end
  micro = kind
  live[#live + 1] = event.live
  local name = phase:match("^(%a+):") or phase:match("^(%a+)")
  if not highest[name] or event.live > highest[name] then highest[name] = event.live end
end)
local slices, points = 240, {}
for i, bytes in ipairs(live) do
  local slice = (i - 1) * slices // #live + 1
  points[slice] = math.max(points[slice] or 0, bytes)
end
for i, at in ipairs(marks) do marks[i] = at * slices // #live end
local how = "vramcalc trace preset=nanogpt-30m"
local rows = {}
for _, row in ipairs{{"chart.forward", "fwd"}, {"chart.backward", "bwd"}, {"chart.optimizer", "step"}} do
  if highest[row[2]] then rows[#rows + 1] = {row[1], computed(highest[row[2]], "B", how)} end
end
figures.step = {title = "chart.timeline", rows_title = "chart.phase", x = "chart.step.x", columns = {"chart.peak"}, points = points, marks = marks, rows = rows}
figures.events = computed(#live, "", how)

-- The same runs by two tools: what PyTorch counted and what nvidia-smi showed.
local function said(text)
  local config = {}
  for key, value in text:gmatch("([%w_]+)=(%S+)") do config[key] = value:gsub("_", key == "gpu" and " " or "_") end
  return vram.estimate(config)
end
local mistral = "preset=mistral-7b vocab_size=32001 framework=transformers torch=2.4 transformers=4.48 seq_len=4096 gradient_accumulation_steps=1 "
  .. "lora_rank=16 lora_targets=q+k+v+o lora_dropout=0.1 optimizer=adamw_foreach checkpointing=block grad_clip=1 evaluation=false gpu=A100_80GB_SXM "
for name, row in pairs{lora_4 = {26704571904, 29576, "dtype=bfloat16_pure batch_size=4"}, lora_8 = {38742912512, 43232, "dtype=bfloat16_pure batch_size=8"},
    qlora_4 = {16373838336, 19912, "dtype=bfloat16_loaded quantization=nf4_double batch_size=4"}} do
  local estimate = said(mistral .. row[3])
  figures["a_" .. name], figures["s_" .. name] = reported(row[1], "B", fms), reported(row[2] * 2^20, "B", fms)
  figures["pa_" .. name], figures["ps_" .. name] = estimate.peak_allocated_bytes, estimate.process_bytes
end
figures.least = reported(1.10, "", fms)
figures.middle = reported(1.275, "", fms)
figures.most = reported(1.55, "", fms)

return figures
