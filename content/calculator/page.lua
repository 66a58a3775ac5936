-- For readers without JavaScript: what eight runs take, and what six cards have left beside them.

local runs = {
  {"run_1", {preset = "nanogpt-30m"}},
  {"run_2", {preset = "gpt2", batch_size = 4, compile = "2.5"}},
  {"run_3", {preset = "gpt2", batch_size = 8, compile = "2.5"}},
  {"run_4", {preset = "gpt2", batch_size = 16, compile = "2.5"}},
  {"run_5", {preset = "gpt2-medium", batch_size = 4, compile = "2.5"}},
  {"run_6", {preset = "gpt2-xl", batch_size = 1, checkpointing = "block"}},
  {"run_7", {preset = "tinyllama-1.1b"}},
  {"run_8", {preset = "llama-3.1-8b", lora_rank = 16, quantization = "nf4", checkpointing = "block"}},
}
local cards = {"RTX 4060", "RTX 4070", "RTX 4080", "RTX 4090", "RTX 5090", "A100 80GB SXM"}

local figures = {}
for i, name in ipairs(cards) do
  figures["card_" .. i] = vram.gpu(name).cuda_bytes
end
for _, run in ipairs(runs) do
  local config = run[2]
  for i, name in ipairs(cards) do
    config.gpu = name
    local process = vram.estimate(config).process_bytes
    figures[run[1] .. "_left_" .. i] = figures["card_" .. i] - process
    if name == "RTX 4070" then figures[run[1]] = process end
  end
end
return figures
