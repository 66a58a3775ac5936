-- Figures of the page about several GPUs: what one GPU holds by scheme, one model divided in fifteen ways and measured, and by number of GPUs.
local figures = {}
local card = vram.gpu("H100 SXM")
figures.card = card.cuda_bytes

local function run(preset, changes)
  local config = {preset = preset, batch_size = 1, seq_len = 8192, checkpointing = "block", gpu = "H100 SXM"}
  for key, value in pairs(changes) do config[key] = value end
  return vram.estimate(config)
end
local schemes = {
  ddp = {parallel = "ddp", dtype = "bfloat16"}, zero1 = {parallel = "zero1"}, zero2 = {parallel = "zero2"}, zero3 = {parallel = "zero3"},
  fsdp = {parallel = "fsdp2"}, fused = {parallel = "fsdp2", cross_entropy = "chunked"},
  lora = {parallel = "fsdp2", lora_rank = 16, cross_entropy = "chunked"},
}
local function with(scheme, n)
  local changes = {n_gpu = n}
  for key, value in pairs(schemes[scheme]) do changes[key] = value end
  return changes
end
for name in pairs(schemes) do
  figures["s_" .. name] = run("llama-3.1-8b", with(name, 8)).process_bytes
  figures["l_" .. name] = run("llama-3.1-70b", with(name, 64)).process_bytes
end
local tensor = {dtype = "bfloat16_master", tensor_parallel = 8, sequence_parallel = true}
figures.s_tensor = run("llama-3.1-8b", tensor).process_bytes
figures.l_tensor = run("llama-3.1-70b", {parallel = "fsdp2", n_gpu = 8, tensor_parallel = 8, sequence_parallel = true}).process_bytes
figures.s_pipeline = run("llama-3.1-8b", {dtype = "bfloat16_master", pipeline_parallel = 8}).process_bytes
figures.s_one = run("llama-3.1-8b", {dtype = "bfloat16"}).process_bytes
figures.whole_8b = computed(4 * vram.estimate{preset = "llama-3.1-8b"}.params, "B", "4 bytes * parameters")
figures.lerobot = reported(24.08e9, "B", "https://github.com/huggingface/lerobot/issues/4009")
figures.seven = reported(520 * 2^20, "B", "https://github.com/pytorch/pytorch/issues/151030")
figures.l_eight = run("llama-3.1-70b", with("fsdp", 8)).process_bytes
figures.l_lora_8 = run("llama-3.1-70b", with("lora", 8)).process_bytes
figures.l_sixteen = run("llama-3.1-70b", with("fused", 16)).process_bytes
figures.l_thirty_two = run("llama-3.1-70b", with("fused", 32)).process_bytes
figures.l_pure8 = run("llama-3.1-70b", {parallel = "fsdp2", n_gpu = 8, seq_len = 2048, cross_entropy = "chunked", dtype = "bfloat16_pure",
  optimizer = "adamw_torchao_8bit"}).process_bytes
figures.l_seen = reported(51e9, "B", "https://github.com/meta-pytorch/torchtune/issues/987")

-- Two cards for the home: sequences of 2048 tokens.
figures.card_24 = vram.gpu("RTX 4090").cuda_bytes
local function two(preset, scheme)
  local changes = with(scheme, 2)
  changes.seq_len, changes.gpu = 2048, "RTX 4090"
  return run(preset, changes).process_bytes
end
figures.two_8b, figures.two_3b, figures.two_1b, figures.two_lora = two("llama-3.1-8b", "fused"), two("llama-3.2-3b", "fused"),
  two("llama-3.2-1b", "fused"), two("llama-3.1-8b", "lora")
for name, n in pairs{two_70b = 2, four_70b = 4} do
  figures[name] = run("llama-3.1-70b", {parallel = "fsdp2", n_gpu = n, seq_len = 512, cross_entropy = "chunked", lora_rank = 16,
    quantization = "nf4_double", gpu = "RTX 4090"}).process_bytes
end
figures.card_3090 = vram.gpu("RTX 3090").cuda_bytes
figures.eight_7b = run("llama-2-7b", {parallel = "fsdp2", n_gpu = 8, seq_len = 2048, cross_entropy = "chunked", gpu = "RTX 3090"}).process_bytes

-- Where the bytes are on one of 8 and on one of 64 GPUs.
local fsdp8, fsdp64 = run("llama-3.1-8b", with("fsdp", 8)), run("llama-3.1-8b", with("fsdp", 64))
for name, estimate in pairs{["8"] = fsdp8, ["64"] = fsdp64} do
  local b = estimate.breakdown
  figures["states_" .. name] = b.parameters + b.gradients + b.optimizer
  figures["gathered_" .. name] = b.weight_casts
  figures["activations_" .. name] = b.activations
  figures["logits_" .. name] = b.logits
  figures["process_" .. name] = estimate.process_bytes
end

local rows = {}
for _, n in ipairs{2, 4, 8, 16, 32, 64} do
  local row = {n}
  for k, name in ipairs{"zero1", "zero3", "fsdp", "fused"} do row[k + 1] = run("llama-3.1-8b", with(name, n)).process_bytes end
  rows[#rows + 1] = row
end
figures.by_gpus = {title = "chart.by_gpus", rows_title = "chart.gpus", x = "chart.gpus", rows = rows,
  columns = {"ZeRO-1", "ZeRO-3", "FSDP2", "FSDP2, Liger"}, limit = card.cuda_bytes, limit_label = "H100"}

-- One model of a billion parameters on eight H100, divided in every way that its authors measured: 1 x 4096 a micro-step.
local nanotron = "https://github.com/lzx1413/ultra-scale-book/blob/main/docs/assets/data/benchmarks/benchmarks_interactive.html"
local layouts = {
  {"d8", 36.7, {parallel = "ddp", n_gpu = 8}}, {"z8", 24.2, {parallel = "zero1", n_gpu = 8}},
  {"d4t2", 19.5, {parallel = "ddp", n_gpu = 4, tensor_parallel = 2}}, {"z4t2", 12.5, {parallel = "zero1", n_gpu = 4, tensor_parallel = 2}},
  {"d4p2", 26.8, {parallel = "ddp", n_gpu = 4, pipeline_parallel = 2}}, {"z4p2", 20.6, {parallel = "zero1", n_gpu = 4, pipeline_parallel = 2}},
  {"d2t4", 10.4, {parallel = "ddp", n_gpu = 2, tensor_parallel = 4}}, {"z2t4", 8.2, {parallel = "zero1", n_gpu = 2, tensor_parallel = 4}},
  {"d2t2p2", 14.7, {parallel = "ddp", n_gpu = 2, tensor_parallel = 2, pipeline_parallel = 2}},
  {"d2p4", 20.8, {parallel = "ddp", n_gpu = 2, pipeline_parallel = 4}},
  {"t8", 5.4, {tensor_parallel = 8}}, {"t4p2", 7.6, {tensor_parallel = 4, pipeline_parallel = 2}}, {"t2p4", 11.1, {tensor_parallel = 2, pipeline_parallel = 4}},
}
for _, row in ipairs(layouts) do
  local config = {family = "llama", n_layer = 16, n_embd = 2048, n_head = 32, n_inner = 8192, tie_embeddings = true, vocab_size = 131072,
    framework = "nanotron", torch = "2.4", dtype = "bfloat16_master", batch_size = 1, seq_len = 4096, optimizer = "adamw_fused",
    checkpointing = "none", grad_clip = 1, evaluation = false, gpu = "H100 SXM"}
  for key, value in pairs(row[3]) do config[key] = value end
  config.gradient_accumulation_steps = 256 // (config.n_gpu or 1)
  if config.tensor_parallel then config.sequence_parallel = true end
  if config.pipeline_parallel then config.pipeline_schedule, config.pipeline_stage = "1f1b", "first" end
  figures["said_" .. row[1]] = vram.estimate(config).peak_reserved_bytes
  figures["seen_" .. row[1]] = reported(row[2] * 2^30, "B", nanotron)
end

return figures
