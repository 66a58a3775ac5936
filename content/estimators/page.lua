-- Figures of the page about estimators: six public runs as a test, what five rules and the estimator make of them, and where each misses.
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local user = "https://lzwjava.github.io/rtx-4070-vram-usage-en"
local qwen = "https://github.com/QwenLM/Qwen2.5/blob/a912d23/docs/source/benchmark/speed_benchmark.rst"
local nanotron = "https://github.com/lzx1413/ultra-scale-book/blob/main/docs/assets/data/benchmarks/benchmarks_interactive.html"
local factory = "https://github.com/hiyouga/LLaMA-Factory/blob/main/README.md"
local anatomy = "https://huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy"
local estimate = "https://github.com/huggingface/accelerate/blob/main/src/accelerate/commands/estimate.py"
local calculator = "https://github.com/furiousteabag/vram-calculator/blob/main/app/_lib/index.ts"
local figures = {}

local function mistral(changes)
  local config = {preset = "mistral-7b", vocab_size = 32001, framework = "transformers", torch = "2.4", transformers = "4.48", dtype = "bfloat16_pure",
    batch_size = 4, seq_len = 4096, gradient_accumulation_steps = 1, optimizer = "adamw_foreach", checkpointing = "block", grad_clip = 1,
    evaluation = false, gpu = "A100 80GB SXM"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local lora = {lora_rank = 16, lora_targets = "q+k+v+o", lora_dropout = 0.1}
local qlora = {lora_rank = 16, lora_targets = "q+k+v+o", lora_dropout = 0.1, dtype = "bfloat16_loaded", quantization = "nf4_double"}
local one = {family = "llama", n_layer = 16, n_embd = 2048, n_head = 32, n_inner = 8192, tie_embeddings = true, vocab_size = 131072,
  framework = "nanotron", torch = "2.4", dtype = "bfloat16_master", batch_size = 1, seq_len = 4096, optimizer = "adamw_fused", checkpointing = "none",
  grad_clip = 1, evaluation = false, gpu = "H100 SXM", parallel = "ddp", n_gpu = 8, gradient_accumulation_steps = 32}
local generate = {preset = "qwen2.5-7b", task = "inference", batch_size = 1, seq_len = 30720, max_new_tokens = 2048, torch = "2.3", transformers = "4.46",
  dtype = "bfloat16_pure", gpu = "A100 80GB SXM"}
local runs = {
  nano = {reported(4464 * 2^20, "B", user), vram.estimate{preset = "nanogpt-30m"}, "process_bytes"},
  full = {reported(72434837504, "B", fms), mistral{}, "peak_allocated_bytes"},
  lora = {reported(26704571904, "B", fms), mistral(lora), "peak_allocated_bytes"},
  qlora = {reported(16373838336, "B", fms), mistral(qlora), "peak_allocated_bytes"},
  generate = {reported(19.97 * 2^30, "B", qwen), vram.estimate(generate), "peak_allocated_bytes"},
  ddp = {reported(36.7 * 2^30, "B", nanotron), vram.estimate(one), "peak_reserved_bytes"},
}
for name, run in pairs(runs) do figures["seen_" .. name], figures["said_" .. name] = run[1], run[2][run[3]] end
local function rule(name, per_parameter, source)
  return claimed(1, "B", per_parameter .. " bytes * parameters; " .. source) * (per_parameter * runs[name][2].params)
end
local base = vram.estimate{preset = "mistral-7b", vocab_size = 32001}.params
local function of_base(per_parameter, source) return claimed(1, "B", per_parameter .. " bytes * parameters; " .. source) * (per_parameter * base) end

figures.hf_nano, figures.hf_full, figures.hf_ddp = rule("nano", 18, anatomy), of_base(18, anatomy), rule("ddp", 18, anatomy)
figures.acc_nano, figures.acc_full, figures.acc_ddp = rule("nano", 16, estimate), of_base(8, estimate), rule("ddp", 16, estimate)
figures.acc_generate = rule("generate", 2, estimate)
figures.fac_full, figures.fac_lora, figures.fac_qlora = of_base(8, factory), of_base(2, factory), of_base(0.5, factory)
figures.cache_generate = claimed(1, "B", "weights + keys and values * 32768 tokens") * (2 * runs.generate[2].params + 2 * 28 * 4 * 128 * 2 * 32768)
do
  local tokens, C, L, H, V = 16 * 512, 384, 6, 6, 50304
  local layer = 34 * tokens * C + 5 * 16 * H * 512 * 512
  figures.web_nano = claimed(1000 * 2^20 + 18 * 30135168 + 8 * tokens * V + L * layer, "B", calculator)
  figures.x_nano = claimed(6401379840, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2; " .. user)
end
figures.x_full = claimed(160 * 2 * 4 * 4096 * 4096 * 32, "B", "160 * 2 bytes * tokens * n_embd * n_layer; " .. user)

-- What is in the peak of the LoRA run, beside what a rule counts.
local b = runs.lora[2].breakdown
figures.lora_weights, figures.lora_states = b.parameters, b.gradients + b.optimizer
figures.lora_activations, figures.lora_logits = b.activations, b.logits
local parts = {}
for _, part in ipairs{"parameters", "activations", "logits"} do
  parts[#parts + 1] = {"calc.part." .. part, part == "parameters" and figures.fac_lora or computed(0, "B", factory), b[part]}
end
figures.by_rule = {title = "chart.by_method", rows_title = "chart.part", rows = parts, columns = {"LLaMA-Factory", "vramcalc"},
  limit = figures.seen_lora, limit_label = "figure.kind.reported"}

-- All public measurements by kind: what others make of them, and this library today.
local FOLDER = "how-the-numbers-are-made/predicted-and-measured/"
local score, tsv, peers = require(FOLDER .. "score"), require(FOLDER .. "tsv"), require(FOLDER .. "peers")
local SOURCE = "measured.tsv, tests/calc/measured.sh"
local results = score.rows((tsv.read(contents(FOLDER .. "measured.tsv"), "measured.tsv")), vram.estimate)
local ours, all = peers.ours_today(results)
local function share(x, what) return computed(x, "", SOURCE .. ": " .. what) end
local rows, ahead, behind = {}, 0, 0
for i, p in ipairs(peers.list) do
  local mine, source = ours[p.group], peers.address(p)
  if mine.median * 100 < p.median then ahead = ahead + 1 else behind = behind + 1 end
  rows[i] = {"accuracy.group." .. p.group, p.name, integer(reported(p.rows, "", source)), percent(reported(p.median / 100, "", source), 1),
    percent(share(mine.median, p.group), 1), integer(share(mine.rows, p.group))}
end
figures.peers = {title = "accuracy.peers", columns = {"accuracy.group", "accuracy.estimator", "accuracy.rows", "accuracy.median",
  "accuracy.ours_today", "accuracy.rows"}, rows = rows}
figures.ahead, figures.behind = share(ahead, "accuracy.rows"), share(behind, "accuracy.rows")
figures.all_rows, figures.all_median = share(#all, "by PyTorch's counters"), share(score.median(all), "by PyTorch's counters")
figures.peers_best, figures.peers_ours = reported(peers.best / 100, "", peers.ours_then), computed(peers.ours_median / 100, "", peers.ours_then)

-- What nvidia-smi shows, and pipelines.
local smi = {}
for _, r in ipairs(results) do
  if r.class == "nvidia-smi" and r.error and not r.full_card then smi[#smi + 1] = r.error end
end
figures.smi_rows, figures.smi_median = share(#smi, "nvidia-smi"), share(score.median(smi), "nvidia-smi")
figures.smi_within = share(score.within(smi, 0.1), "nvidia-smi")
local unsloth = "https://github.com/unslothai/unsloth commit 015bdef0"
figures.unsloth_full, figures.full_then = reported(0.025, "", unsloth), computed(0.030, "", peers.ours_then)
figures.nanotron_rows, figures.nanotron_median = share(ours.nanotron.rows, "nanotron"), share(ours.nanotron.median, "nanotron")

return figures
