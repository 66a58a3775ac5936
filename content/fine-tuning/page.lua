-- Figures of the page about fine-tuning with adapters: what a run takes by model, method and length, how long a sequence a card holds, and
-- what was measured. One sequence a micro-step, every block checkpointed, weights loaded in bfloat16, Trainer with bf16=True.
local models = {"llama-3.2-1b", "llama-3.2-3b", "mistral-7b", "llama-3.1-8b", "qwen2.5-14b", "qwen2.5-32b"}
local cards = {"RTX 4060", "RTX 4070", "RTX 4080", "RTX 4090"}
local MARGIN = 500 * 2^20

local figures = {margin = given(MARGIN, "B")}

local function run(preset, changes)
  local config = {preset = preset, batch_size = 1, lora_rank = 16, checkpointing = "block", dtype = "bfloat16_loaded"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local methods = {
  lora = {cross_entropy = "chunked"},
  qlora = {cross_entropy = "chunked", quantization = "nf4"},
}
local function with(method, length)
  local changes = {seq_len = length}
  for key, value in pairs(methods[method]) do changes[key] = value end
  return changes
end
for i, card in ipairs(cards) do figures["card_" .. i] = vram.gpu(card).cuda_bytes end

-- The longest sequence, in steps of 256 tokens, whose process leaves the margin.
local function longest(preset, method, limit)
  local low, high = 0, 256   -- in units of 256 tokens: low fits, high does not or is the end of the search
  if run(preset, with(method, high * 256)).process_bytes <= limit then return high * 256 end
  while high - low > 1 do
    local middle = (low + high) // 2
    if run(preset, with(method, middle * 256)).process_bytes <= limit then low = middle else high = middle end
  end
  return low * 256
end

for i, preset in ipairs(models) do
  for method in pairs(methods) do
    for _, length in ipairs{512, 2048, 8192} do
      figures["m" .. i .. "_" .. method .. "_" .. length] = run(preset, with(method, length)).process_bytes
    end
    for k in ipairs(cards) do
      local limit = figures["card_" .. k] - figures.margin
      local length = longest(preset, method, limit)
      figures["len" .. i .. "_" .. method .. "_" .. k] = computed(length, "", "the longest that fits: vramcalc estimate preset=" .. preset
        .. " batch_size=1 lora_rank=16 dtype=bfloat16_loaded checkpointing=block cross_entropy=chunked"
        .. (method == "qlora" and " quantization=nf4" or "") .. " gpu='" .. cards[k] .. "'")
    end
  end
end

-- The worked run, changed one thing at a time: Llama 3.1 8B, 2048 tokens.
local function base(changes)
  local all = {seq_len = 2048}
  for key, value in pairs(changes) do all[key] = value end
  return run("llama-3.1-8b", all)
end
local variants = {
  lora = {}, none = {checkpointing = "none"}, fused = {cross_entropy = "chunked"}, int8 = {quantization = "int8"}, nf4 = {quantization = "nf4"},
  nf4_double = {quantization = "nf4_double"}, kbit = {quantization = "nf4", prepare_kbit = true},
  all = {quantization = "nf4_double", cross_entropy = "chunked"}, r64 = {lora_rank = 64}, r256 = {lora_rank = 256},
  qv = {lora_targets = "q+v"}, head = {modules_to_save = "head+embed"}, adam8 = {optimizer = "adamw_8bit"}, dora = {adapter = "dora"},
}
for name, changes in pairs(variants) do figures["v_" .. name] = base(changes).process_bytes end
local lora, qlora = base{}, base{quantization = "nf4"}
figures.trained = lora.params - vram.estimate{preset = "llama-3.1-8b"}.params
figures.params = vram.estimate{preset = "llama-3.1-8b"}.params
figures.states = lora.grad_bytes + lora.breakdown.optimizer
for _, part in ipairs{"parameters", "activations", "logits"} do
  figures["lora_" .. part], figures["qlora_" .. part] = lora.breakdown[part], qlora.breakdown[part]
end
figures.none_activations = base{checkpointing = "none"}.breakdown.activations
figures.full = vram.estimate{preset = "llama-3.1-8b", batch_size = 1, seq_len = 2048, checkpointing = "block"}.process_bytes

local lengths = {}
for _, length in ipairs{512, 1024, 2048, 4096, 6144, 8192, 12288, 16384} do
  lengths[#lengths + 1] = {length, run("llama-3.1-8b", {seq_len = length}).process_bytes, run("llama-3.1-8b", with("lora", length)).process_bytes,
    run("llama-3.1-8b", {seq_len = length, quantization = "nf4"}).process_bytes, run("llama-3.1-8b", with("qlora", length)).process_bytes}
end
figures.by_length = {title = "chart.by_length", rows_title = "chart.length", x = "chart.length", rows = lengths,
  columns = {"LoRA", "LoRA, Liger", "QLoRA", "QLoRA, Liger"}, limit = figures.card_4, limit_label = "RTX 4090"}

-- Measured by others: rows of measured.tsv whose configuration the source gives in full.
local fms = "https://github.com/foundation-model-stack/fms-acceleration/blob/main/scripts/benchmarks/refs/a100_80gb.csv"
local answer = "https://github.com/AnswerDotAI/fsdp_qlora/blob/main/benchmarks_03_2024.md"
local function said(text)
  local config = {}
  for key, value in text:gmatch("([%w_]+)=(%S+)") do config[key] = value:gsub("_", key == "gpu" and " " or "_") end
  return vram.estimate(config)
end
local mistral = "preset=mistral-7b vocab_size=32001 framework=transformers torch=2.4 transformers=4.48 seq_len=4096 gradient_accumulation_steps=1 "
  .. "lora_rank=16 lora_targets=q+k+v+o lora_dropout=0.1 optimizer=adamw_foreach checkpointing=block grad_clip=1 evaluation=false gpu=A100_80GB_SXM "
for name, row in pairs{
    lora_4 = {26704571904, "dtype=bfloat16_pure batch_size=4"}, lora_8 = {38742912512, "dtype=bfloat16_pure batch_size=8"},
    qlora_4 = {16373838336, "dtype=bfloat16_loaded quantization=nf4_double batch_size=4"},
    qlora_8 = {28412178944, "dtype=bfloat16_loaded quantization=nf4_double batch_size=8"}} do
  figures["seen_" .. name] = reported(row[1], "B", fms)
  figures["said_" .. name] = said(mistral .. row[2]).peak_allocated_bytes
end
local llama2 = "preset=llama-2-7b framework=transformers torch=2.2 transformers=4.38 dtype=bfloat16_pure seq_len=2048 gradient_accumulation_steps=1 "
  .. "lora_rank=64 lora_targets=q+k+v+gate+up+down lora_dropout=0.1 adapter_dtype=base optimizer=adamw_foreach checkpointing=block "
  .. "keep_logits=yes grad_clip=0 evaluation=false parallel=fsdp1 n_gpu=2 gpu=RTX_3090 "
for name, row in pairs{two_lora_1 = {10973641441, "batch_size=1"}, two_lora_4 = {17330193039, "batch_size=4"},
    two_qlora_1 = {5594194903, "batch_size=1 quantization=nf4_double"}, two_qlora_4 = {12047383265, "batch_size=4 quantization=nf4_double"}} do
  figures["seen_" .. name] = reported(row[1], "B", answer)
  figures["said_" .. name] = said(llama2 .. row[2]).peak_reserved_bytes
end
-- What merging writes: the weights of the whole model in two bytes.
figures.big = vram.estimate{preset = "llama-3.1-70b", batch_size = 1, seq_len = 512, checkpointing = "block", cross_entropy = "chunked", lora_rank = 16,
  quantization = "nf4_double", gpu = "H100 SXM"}.process_bytes
figures.merged = computed(2 * vram.estimate{preset = "llama-3.1-8b"}.params, "B", "2 bytes * parameters")
local torchtune = "https://github.com/pytorch/torchtune"
for name, GiB_seen in pairs{tune_lora = 16.2, tune_qlora = 7.4} do figures["seen_" .. name] = reported(GiB_seen * 2^30, "B", torchtune) end
-- The recipes' own configs of 0.6: adapters, loss, checkpointing, compiled blocks; packed to 2 x 2048.
for name, bits in pairs{tune_lora = "none", tune_qlora = "nf4_double"} do
  figures["said_" .. name] = vram.estimate{preset = "llama-3.1-8b", framework = "torchtune", torch = "2.6", dtype = "bfloat16_pure",
    batch_size = 2, seq_len = 2048, gradient_accumulation_steps = 1, lora_rank = 8, lora_targets = "q+v+o+gate+up+down",
    lora_dropout = 0, adapter_dtype = "base", checkpointing = "block", compile = "2.5", cross_entropy = "chunked_output", grad_clip = 0,
    evaluation = false, quantization = bits}.peak_reserved_bytes
end

return figures
