-- Figures of the page that finds a reader's case of out of memory: a reported message taken apart, floors of a large model by method,
-- and one run that is brought to fit.
local trl = "https://github.com/huggingface/trl/issues/4237"
local nanogpt = "https://github.com/karpathy/nanoGPT/issues/88"

local function GiB_of(x) return x * 2^30 end

local figures = {
  -- the message of a T4 on which four test processes ran
  asked = reported(GiB_of(2.11), "B", trl),
  total = reported(GiB_of(14.74), "B", trl),
  free = reported(GiB_of(1.65), "B", trl),
  own = reported(GiB_of(6.79), "B", trl),
  others = reported(514 * 2^20 + GiB_of(4.93) + 894 * 2^20, "B", trl),
  allocated = reported(GiB_of(4.50), "B", trl),
  unallocated = reported(GiB_of(2.14), "B", trl),
}
figures.context = figures.own - figures.allocated - figures.unallocated

-- Which tensor asked: a message whose configuration its author gave.
local explained = vram.explain_oom("CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; "
  .. "10.16 GiB already allocated)", {preset = "gpt2", batch_size = 32, compile = "none"})
figures.known_asked = reported(GiB_of(6.14), "B", nanogpt)
figures.known_allocated = reported(GiB_of(10.16), "B", nanogpt)
figures.known_alive = explained.tensors[1].live_bytes

-- Sizes that messages about popular models name: batch x length x vocabulary x bytes.
for name, row in pairs{llama_1 = {1, 4096, 128256}, llama_2 = {1, 8192, 128256}, qwen = {1, 8192, 151936}, gemma = {1, 8192, 256000},
    gpt2 = {8, 1024, 50304}} do
  local count = row[1] * row[2] * row[3]
  figures["two_" .. name] = computed(2 * count, "B", "batch * length * vocabulary * 2 bytes")
  figures["four_" .. name] = computed(4 * count, "B", "batch * length * vocabulary * 4 bytes")
end

-- The worked run: Llama 3.1 8B, LoRA of rank 16, one sequence, blocks checkpointed.
local card = vram.gpu("RTX 4090")
local function llama(changes)
  local config = {preset = "llama-3.1-8b", batch_size = 1, lora_rank = 16, checkpointing = "block", seq_len = 8192, gpu = "RTX 4090"}
  for key, value in pairs(changes) do config[key] = value end
  if config.lora_rank == 0 then config.lora_rank = nil end
  if config.lora_rank then config.dtype = "bfloat16_loaded" end
  return vram.estimate(config)
end
figures.card = card.cuda_bytes
figures.run = llama{}.process_bytes
figures.run_loss = llama{}.breakdown.logits
figures.run_chunked = llama{cross_entropy = "chunked"}.process_bytes
figures.run_short = llama{seq_len = 2048}.process_bytes
figures.run_qlora = llama{quantization = "nf4"}.process_bytes
figures.run_both = llama{quantization = "nf4", cross_entropy = "chunked"}.process_bytes
figures.run_plain = llama{checkpointing = "none"}.process_bytes

-- One training in three versions of Transformers.
for name, version in pairs{old = "4.44", middle = "4.48", today = "5.23"} do
  figures["version_" .. name] = vram.estimate{preset = "llama-3.2-1b", batch_size = 2, seq_len = 4096, checkpointing = "block",
    transformers = version}.process_bytes
end

-- Llama 3.2 1B, evaluated by the Trainer between steps: not at all, with its default batch, with logits of four batches kept.
for name, words in pairs{none = {}, default = {eval_batch_size = 8}, kept = {eval_batch_size = 8, eval_accumulation_steps = 4}} do
  words.preset, words.batch_size, words.seq_len, words.dtype = "llama-3.2-1b", 1, 2048, "bfloat16_loaded"
  figures["evaluated_" .. name] = vram.estimate(words).peak_live_bytes
end

-- The floor: one short sequence, everything that is cheap switched on.
local function floor(changes)
  changes.seq_len, changes.cross_entropy = 512, "chunked"
  return llama(changes)
end
local floors = {
  {"autocast", "AdamW", floor{lora_rank = 0, dtype = "bfloat16"}},
  {"pure", "AdamW, bf16", floor{lora_rank = 0}},
  {"8bit", "AdamW8bit", floor{lora_rank = 0, optimizer = "adamw_8bit"}},
  {"lora", "LoRA", floor{}},
  {"qlora", "QLoRA", floor{quantization = "nf4_double"}},
}
for _, row in ipairs(floors) do figures["floor_" .. row[1]] = row[3].process_bytes end
local P = llama{lora_rank = 0}.params
figures.load_fp32 = computed(4 * P, "B", "4 bytes * parameters")
figures.load_bf16 = computed(2 * P, "B", "2 bytes * parameters")
figures.load_nf4 = vram.estimate{preset = "llama-3.1-8b", task = "inference", batch_size = 1, seq_len = 1, max_new_tokens = 1, quantization = "nf4"}.param_bytes

-- The same as a picture, without the first: what is alive at the peak.
local parts = {}
for _, name in ipairs{"parameters", "gradients", "optimizer", "activations", "backward"} do
  local row = {"calc.part." .. name}
  for i = 2, #floors do row[i] = floors[i][3].breakdown[name] end
  parts[#parts + 1] = row
end
figures.floors = {title = "chart.by_method", rows_title = "chart.part", rows = parts,
  columns = {floors[2][2], floors[3][2], floors[4][2], floors[5][2]}}

-- The questions that lead to a section.
local function leaf(answer, text, to) return {answer, text, to = to} end
figures.cases = {title = "chart.case_title", root = {"", "chart.case_others",
  leaf("yes", "chart.case_end_process", "#others"),
  {"no", "chart.case_when",
    leaf("chart.case_loading", "chart.case_load", "#load"),
    {"chart.case_training", "chart.case_step",
      {"chart.case_first", "chart.case_one",
        leaf("no", "chart.case_first_fix", "#first-step"),
        leaf("yes", "chart.case_one_fix", "#batch-one")},
      leaf("chart.case_second", "chart.case_second_fix", "#first-step"),
      leaf("chart.case_evaluation", "chart.case_evaluation_fix", "#evaluation"),
      leaf("chart.case_later", "chart.case_later_fix", "#later")},
    leaf("chart.case_serving", "chart.case_serving_fix", "#serving"),
    leaf("chart.case_windows", "chart.case_windows_fix", "#windows")}}}

return figures
