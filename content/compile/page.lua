-- Figures of the page about torch.compile: three models by version and by what forward() returns, and public runs that differ in the version.
local figures = {}
local models = {n30 = {preset = "nanogpt-30m"}, small = {preset = "gpt2", batch_size = 8}, medium = {preset = "gpt2-medium", batch_size = 4}}
local ways = {
  eager = {compile = "none"}, old = {compile = "2.4", torch = "2.4"}, new = {compile = "2.5"}, none = {compile = "2.5", compile_logits = false},
  drop_eager = {compile = "none", dropout = 0.1}, drop = {compile = "2.5", dropout = 0.1},
}
local parts = {}
for name, model in pairs(models) do
  for way, changes in pairs(ways) do
    local config = {}
    for key, value in pairs(model) do config[key] = value end
    for key, value in pairs(changes) do config[key] = value end
    local run = vram.estimate(config)
    figures[name .. "_" .. way] = run.peak_live_bytes
    if name == "small" then parts[way] = run end
    if name == "n30" and way == "new" then figures.n30_new_process = run.process_bytes end
  end
end
local rows = {}
for _, name in ipairs{"logits", "activations", "parameters", "gradients", "optimizer", "weight_casts"} do
  rows[#rows + 1] = {"calc.part." .. name, parts.eager.breakdown[name], parts.old.breakdown[name], parts.new.breakdown[name], parts.none.breakdown[name]}
end
figures.by_way = {title = "chart.by_method", rows_title = "chart.part", rows = rows, columns = {"chart.eager", "2.4", "2.5", "2.5, None"}}
figures.a_eager, figures.a_new = parts.eager.breakdown.activations, parts.new.breakdown.activations

figures.seen = reported(4464 * 2^20, "B", "https://lzwjava.github.io/rtx-4070-vram-usage-en")

-- A static cache has the length of the prompt and of all new tokens at once; a growing one that of the prompt first.
figures.static_cache = computed(2 * 32 * 8 * 128 * 2 * (2048 + 8192), "B", "2 * 32 layers * 8 heads * 128 * 2 bytes * (2048 + 8192) tokens")
figures.grown_cache = computed(2 * 32 * 8 * 128 * 2 * 2048, "B", "2 * 32 layers * 8 heads * 128 * 2 bytes * 2048 tokens")
local vae = "https://github.com/pytorch/pytorch/issues/160247"
figures.vae_compiled, figures.vae_eager = reported(26e9, "B", vae), reported(20e9, "B", vae)

-- The same training by torchtitan, 8 cards, 1 x 8192, compiled, in three versions of PyTorch and on three cards.
local ao = "https://github.com/pytorch/ao/blob/main/docs/source/workflows/training.md"
for name, GiB_seen in pairs{h100 = 47.65, h100_fp8 = 47.79, mi300 = 39.07, b200 = 33.38} do
  figures["titan_" .. name] = reported(GiB_seen * 2^30, "B", ao)
end
local nocompile = "https://github.com/pytorch/ao/blob/main/torchao/prototype/float8nocompile/README.md"
figures.ao_eager, figures.ao_compile = reported(53.12 * 2^30, "B", nocompile), reported(46.64 * 2^30, "B", nocompile)
local ladder = "https://github.com/pytorch/torchtune/blob/main/README.md"
figures.ladder_base, figures.ladder_check = reported(51.0 * 2^30, "B", ladder), reported(24.9 * 2^30, "B", ladder)

-- The same runs computed, in the settings that their sources state.
local function titan(changes)
  local config = {preset = "llama-3-8b", framework = "torchtitan", batch_size = 1, seq_len = 8192, compile = "2.5", parallel = "fsdp2",
    n_gpu = 8, checkpointing = "selective"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local fp8 = {float8 = "tensorwise", float8_all_gather = true}
local function with_fp8(changes)
  for key, value in pairs(fp8) do changes[key] = value end
  return titan(changes)
end
local short = {preset = "llama-3.1-8b", seq_len = 4096, torch = "2.7", checkpointing = "none", gpu = "H100 SXM"}
local function of_short(changes)
  for key, value in pairs(short) do changes[key] = value end
  return changes
end
figures.said_eager = titan(of_short{compile = "none"}).peak_reserved_bytes
figures.said_compile = titan(of_short{float8 = "tensorwise"}).peak_reserved_bytes
local h100 = {torch = "2.7", gpu = "H100 SXM", expandable_segments = true}
figures.said_h100 = titan(h100).peak_reserved_bytes
figures.said_mi300 = with_fp8{torch = "2.9", gpu = "MI300X"}.peak_reserved_bytes
figures.said_b200 = with_fp8{torch = "2.9", gpu = "B200", expandable_segments = true}.peak_reserved_bytes
figures.live_27, figures.live_29 = titan{torch = "2.7"}.peak_live_bytes, titan{torch = "2.9"}.peak_live_bytes
local function tune(changes)
  local config = {preset = "llama-3.2-3b", framework = "torchtune", torch = "2.5", dtype = "bfloat16_pure", batch_size = 2, seq_len = 4096,
    gradient_accumulation_steps = 1, optimizer = "adamw_fused", compile = "2.5", grad_clip = 0, evaluation = false}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config).peak_allocated_bytes
end
figures.said_base = tune{cross_entropy = "upcast"}
figures.said_check = tune{cross_entropy = "chunked_output", checkpointing = "block"}

return figures
