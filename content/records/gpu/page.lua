-- Peaks of the runs that the pages discuss, computed and, where a record of this GPU has them, measured.
local small = {batch_size = 16, block_size = 512, n_layer = 6, n_head = 6, n_embd = 384, dtype = "float16",
  gradient_accumulation_steps = 4}
local gpt2 = {batch_size = 16, block_size = 1024, n_layer = 12, n_head = 12, n_embd = 768, dtype = "float16",
  gradient_accumulation_steps = 32}
local runs = {
  {"30M", "nanogpt-30m", small, {}},
  {"30M, batch_size=8", "nanogpt-30m", small, {batch_size = 8, gradient_accumulation_steps = 8}},
  {"30M, block_size=256", "nanogpt-30m", small, {block_size = 256}},
  {"30M, bfloat16", "nanogpt-30m", small, {dtype = "bfloat16"}},
  {"30M, float32", "nanogpt-30m", small, {dtype = "float32", attention = "mem_efficient"}},
  {"124M, batch_size=16", "oom-gpt2", gpt2, {}},
  {"124M, batch_size=8", "oom-gpt2", gpt2, {batch_size = 8, gradient_accumulation_steps = 64}},
  {"124M, batch_size=4", "oom-gpt2", gpt2, {batch_size = 4, gradient_accumulation_steps = 128}},
  {"124M, batch_size=2", "oom-gpt2", gpt2, {batch_size = 2, gradient_accumulation_steps = 256}},
  {"124M, n_layer=9", "oom-gpt2", gpt2, {n_layer = 9}},
  {"124M, n_embd=512", "oom-gpt2", gpt2, {n_embd = 512, n_head = 8}},
}

local function merged(...)
  local all = {}
  for _, part in ipairs{...} do
    for key, value in pairs(part) do all[key] = value end
  end
  return all
end

local function allocated(engine, config)
  local query = merged({attention = "flash"}, config, {device = gpu, engine = engine, checkpointing = "none", loop = "train",
    vocab_size = 50304, value = "max_memory_allocated_bytes", optional = true})
  query.seq_len = query.block_size
  return measured("framework_step", query)
end

local rows = {}
for _, run in ipairs(runs) do
  local name, preset, base, changes = run[1], run[2], run[3], run[4]
  for _, engine in ipairs{"torch-eager", "torch-compile"} do
    local seen = allocated(engine, merged(base, changes))
    if not seen.missing then
      local config = merged({preset = preset}, changes)
      if engine == "torch-eager" then config.compile = "none" end
      rows[#rows + 1] = {name .. ", " .. engine, vram.estimate(config).peak_allocated_bytes, seen}
    end
  end
end

return {
  peaks = #rows > 0 and {title = "chart.peaks", rows_title = "chart.setup", band = 0.05, rows = rows,
    columns = {"chart.predicted", "figure.kind.measured"}},
  unmeasured = allocated("torch-eager", small),
}
