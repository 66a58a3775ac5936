-- Figures of the page about bytes a parameter: what each optimizer and precision keeps, computed on Llama 3.1 8B with a step of 128 tokens.
local figures = {}
local setups = {
  fp32 = {dtype = "float32"}, autocast = {dtype = "bfloat16"}, foreach = {dtype = "bfloat16", optimizer = "adamw_foreach"},
  pure = {dtype = "bfloat16_pure"}, pure_foreach = {dtype = "bfloat16_pure", optimizer = "adamw_foreach"},
  master = {dtype = "bfloat16_master"}, deepspeed = {dtype = "bfloat16_deepspeed", parallel = "zero1", n_gpu = 1},
  mixed8 = {dtype = "bfloat16", optimizer = "adamw_8bit"}, pure8 = {optimizer = "adamw_8bit"},
  pure4 = {optimizer = "adamw_torchao_4bit"}, sgd = {optimizer = "sgd"}, momentum = {optimizer = "sgd_momentum"}, adafactor = {optimizer = "adafactor"},
  lion = {optimizer = "lion"}, lion8 = {optimizer = "lion_8bit"}, muon = {dtype = "bfloat16", optimizer = "muon"},
  backward8 = {optimizer = "adamw_8bit", optimizer_in_backward = true}, paged = {optimizer = "adamw_8bit_paged", optimizer_in_backward = true},
}
local runs = {}
for name, changes in pairs(setups) do
  local config = {preset = "llama-3.1-8b", batch_size = 1, seq_len = 128, checkpointing = "block"}
  for key, value in pairs(changes) do config[key] = value end
  local run = vram.estimate(config)
  runs[name] = run
  local P = run.param_bytes / (config.dtype == "float32" and 4 or config.dtype == "bfloat16" and 4 or 2) / given(1, "B")
  local each = given(1, "B") * P
  figures["w_" .. name], figures["g_" .. name] = run.param_bytes / each, run.grad_bytes / each
  figures["o_" .. name], figures["p_" .. name] = run.optim_bytes / each, run.peak_live_bytes / each
  figures["s_" .. name] = (run.param_bytes + run.grad_bytes + run.optim_bytes) / each
end
figures.each_8b = computed(runs.pure.params, "B", "1 byte * parameters")
for _, name in ipairs{"autocast", "pure", "pure8", "backward8", "paged"} do figures["m_" .. name] = runs[name].peak_live_bytes end

local rows = {}
for _, row in ipairs{{"calc.part.parameters", "param_bytes"}, {"calc.part.gradients", "grad_bytes"}, {"calc.part.optimizer", "optim_bytes"}} do
  local line = {row[1]}
  for i, name in ipairs{"autocast", "pure", "pure8", "backward8"} do line[i + 1] = runs[name][row[2]] end
  rows[#rows + 1] = line
end
figures.kept = {title = "chart.optimizers", rows_title = "chart.part", rows = rows, columns = {"AdamW", "bf16", "AdamW8bit", "AdamW8bit, in_bwd"}}

-- Savings that do not show: GPT-2 with the state in eight bits, autocast with few tokens, and the state of an adapter.
local function gpt2(optimizer) return vram.estimate{preset = "gpt2", batch_size = 12, seq_len = 1024, optimizer = optimizer} end
local plain, eight = gpt2 "adamw_fused", gpt2 "adamw_8bit"
figures.same_saved = plain.peak_live_bytes - eight.peak_live_bytes
figures.same_plain, figures.same_8bit = plain.process_bytes, eight.process_bytes
figures.same_state = plain.breakdown.optimizer / plain.peak_live_bytes
figures.same_rest = (plain.breakdown.logits + plain.breakdown.activations) / plain.peak_live_bytes
for name, dtype in pairs{few_autocast = "bfloat16", few_fp32 = "float32"} do
  figures[name] = vram.estimate{preset = "gpt2", batch_size = 1, seq_len = 128, dtype = dtype}.process_bytes
end
for name, optimizer in pairs{lora_state = "adamw_fused", lora_state8 = "adamw_8bit"} do
  figures[name] = vram.estimate{preset = "llama-3.1-8b", lora_rank = 16, batch_size = 1, seq_len = 2048, checkpointing = "block",
    optimizer = optimizer}.optim_bytes
end

-- Rules of thumb.
local anatomy = "https://huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy"
figures.hf = claimed(18, "", anatomy)
figures.seed_low = claimed(12, "", "https://lzwjava.github.io/rtx-4070-vram-usage-en")
figures.seed_high = claimed(20, "", "https://lzwjava.github.io/rtx-4070-vram-usage-en")
figures.megatron = claimed(18, "", "https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/theoretical_memory_usage.py")

-- fp8: what a matrix of 4096 x 14336 takes in each.
figures.cast_two = computed(2 * 4096 * 14336, "B", "4096 * 14336 * 2 bytes")
figures.cast_one = computed(4096 * 14336, "B", "4096 * 14336 bytes")

-- Measured by others.
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local mistral = vram.estimate{preset = "mistral-7b", vocab_size = 32001, framework = "transformers", torch = "2.4", transformers = "4.48",
  dtype = "bfloat16_pure", batch_size = 4, seq_len = 4096, gradient_accumulation_steps = 1, optimizer = "adamw_foreach", checkpointing = "block",
  grad_clip = 1, evaluation = false, gpu = "A100 80GB SXM"}
figures.mistral_said, figures.mistral_seen = mistral.peak_allocated_bytes, reported(72434837504, "B", fms)
figures.mistral_each = figures.mistral_seen / (mistral.param_bytes / 2)
local ao = "https://github.com/pytorch/ao/blob/main/torchao/optim/README.md"
local function tune(optimizer)
  return vram.estimate{preset = "llama-2-7b", framework = "torchtune", torch = "2.4", dtype = "bfloat16_pure", batch_size = 2, seq_len = 512,
    gradient_accumulation_steps = 1, optimizer = optimizer, checkpointing = "block", cross_entropy = "upcast", grad_clip = 0, evaluation = false,
    gpu = "A100 80GB SXM"}.peak_allocated_bytes
end
figures.fused_said, figures.ao_said = tune "adamw_fused", tune "adamw_torchao_8bit"
figures.fused_seen, figures.ao_seen = reported(51.6e9, "B", ao), reported(39.1e9, "B", ao)

return figures
