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
    if name == "n30" and (way == "eager" or way == "new") then figures["n30_" .. way .. "_process"] = run.process_bytes end
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
for name, GiB_seen in pairs{h100 = 47.65, mi300 = 39.07, b200 = 33.38} do figures["titan_" .. name] = reported(GiB_seen * 2^30, "B", ao) end
local nocompile = "https://github.com/pytorch/ao/blob/main/torchao/prototype/float8nocompile/README.md"
figures.ao_eager, figures.ao_compile = reported(53.12 * 2^30, "B", nocompile), reported(46.64 * 2^30, "B", nocompile)
local ladder = "https://github.com/pytorch/torchtune/blob/main/README.md"
figures.ladder_base, figures.ladder_check = reported(51.0 * 2^30, "B", ladder), reported(24.9 * 2^30, "B", ladder)

return figures
