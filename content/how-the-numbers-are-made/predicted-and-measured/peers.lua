-- What other estimators make of the same public measurements: the medians of their errors, as they came out on 2026-11-22.
--
-- Each estimator's own code was run where that is possible, else its formula was transcribed; nothing was fitted. The rows that one can
-- say included some that are kept apart for a later check: this library's error beside it is that of all rows of the group in
-- measured.tsv, at each build.
local score = require "score"

local peers = {}

-- {group, estimator (its name, or the key of its words), repository and commit, rows that it can say, median of its error in per cent}
peers.list = {
  {group = "full", name = "accuracy.peer.unsloth_less", at = "unslothai/unsloth@015bdef0", rows = 21, median = 7.9},
  {group = "full", name = "xtuner llm_calc", at = "InternLM/xtuner@b934f46", rows = 19, median = 15.3},
  {group = "full", name = "llm-analysis", at = "cli99/llm-analysis@d841e40", rows = 21, median = 20.0},
  {group = "full", name = "accelerate estimate-memory", at = "huggingface/accelerate@16cb6eb8", rows = 19, median = 20.0},
  {group = "full", name = "gpu_poor", at = "RahulSChand/gpu_poor@ad2fc0e", rows = 19, median = 166},
  {group = "full", name = "EleutherAI cookbook", at = "EleutherAI/cookbook@827ee3b", rows = 19, median = 199},
  {group = "full", name = "accuracy.peer.hf_18", at = "https://huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy", rows = 19, median = 80.0},
  {group = "full", name = "Megatron Memory Estimator", at = "ISEEKYAN/mbridge@10cb17f", rows = 19, median = 100.9},
  {group = "full", name = "× 160", at = "https://lzwjava.github.io/rtx-4070-vram-usage-en", rows = 19, median = 969},
  {group = "full_sharded", name = "accuracy.peer.unsloth_less", at = "unslothai/unsloth@015bdef0", rows = 6, median = 7.8},
  {group = "full_sharded", name = "llm-analysis", at = "cli99/llm-analysis@d841e40", rows = 26, median = 10.7},
  {group = "full_sharded", name = "xtuner llm_calc", at = "InternLM/xtuner@b934f46", rows = 26, median = 12.6},
  {group = "full_sharded", name = "DeepSpeed ZeRO-3", at = "deepspeedai/DeepSpeed@38327e07", rows = 27, median = 19.6},
  {group = "full_sharded", name = "ultra-scale playbook", at = "lzx1413/ultra-scale-book@d267202", rows = 26, median = 16.4},
  {group = "full_sharded", name = "nanotron predict_memory", at = "https://huggingface.co/spaces/nanotron/predict_memory", rows = 20, median = 81},
  {group = "full_sharded", name = "EleutherAI cookbook", at = "EleutherAI/cookbook@827ee3b", rows = 26, median = 188},
  {group = "lora", name = "axolotl", at = "axolotl-ai-cloud/axolotl: docs/choosing_method.qmd", rows = 12, median = 8.5},
  {group = "lora", name = "Unsloth studio", at = "unslothai/unsloth@015bdef0", rows = 33, median = 28.9},
  {group = "lora", name = "LLaMA-Factory", at = "hiyouga/LLaMA-Factory: README", rows = 33, median = 52},
  {group = "lora", name = "LLM-System-Requirements", at = "manuelescobar-dev/LLM-System-Requirements@9e90973", rows = 33, median = 58},
  {group = "lora", name = "gpu_poor", at = "RahulSChand/gpu_poor@ad2fc0e", rows = 33, median = 120},
  {group = "lora_sharded", name = "Unsloth studio", at = "unslothai/unsloth@015bdef0", rows = 38, median = 57.4},
  {group = "qlora", name = "axolotl", at = "axolotl-ai-cloud/axolotl: docs/choosing_method.qmd", rows = 15, median = 20.2},
  {group = "qlora", name = "Unsloth studio", at = "unslothai/unsloth@015bdef0", rows = 46, median = 33.7},
  {group = "qlora", name = "LLaMA-Factory", at = "hiyouga/LLaMA-Factory: README", rows = 46, median = 77},
  {group = "qlora", name = "LLM-System-Requirements", at = "manuelescobar-dev/LLM-System-Requirements@9e90973", rows = 40, median = 128},
  {group = "qlora", name = "gpu_poor", at = "RahulSChand/gpu_poor@ad2fc0e", rows = 40, median = 498},
  {group = "qlora_sharded", name = "Unsloth studio", at = "unslothai/unsloth@015bdef0", rows = 42, median = 63.7},
  {group = "inference", name = "hf-mem", at = "alvarobartt/hf-mem@e994679", rows = 54, median = 0.7},
  {group = "inference", name = "llm-analysis", at = "cli99/llm-analysis@d841e40", rows = 61, median = 7.7},
  {group = "inference", name = "accelerate estimate-memory", at = "huggingface/accelerate@16cb6eb8", rows = 59, median = 13.0},
  {group = "nanotron", name = "Megatron Memory Estimator", at = "ISEEKYAN/mbridge@10cb17f", rows = 73, median = 11.2},
  {group = "nanotron", name = "Megatron-LM", at = "NVIDIA/Megatron-LM@d98e8a64", rows = 73, median = 17.6},
  {group = "nanotron", name = "nanotron predict_memory", at = "https://huggingface.co/spaces/nanotron/predict_memory", rows = 73, median = 20.7},
  {group = "nanotron", name = "xtuner llm_calc", at = "InternLM/xtuner@b934f46", rows = 46, median = 42},
  {group = "nanotron", name = "llm-analysis", at = "cli99/llm-analysis@d841e40", rows = 73, median = 46},
  {group = "nanotron", name = "EleutherAI cookbook", at = "EleutherAI/cookbook@827ee3b", rows = 73, median = 195},
}

-- ---- this library ---------------------------------------------------------------------------

local groups = {["full"] = "full", ["sharded"] = "full_sharded", ["adapters"] = "lora", ["sharded adapters"] = "lora_sharded",
  ["quantized adapters"] = "qlora", ["sharded quantized adapters"] = "qlora_sharded", ["inference"] = "inference"}

-- The group of a row that PyTorch's own counters measured; nil for others.
local function group_of(r)
  if not r.error or r.class == "unstated" or r.class == "nvidia-smi" or r.class == "outside" then return nil end
  return r.class == "nanotron" and "nanotron" or groups[r.regime]
end

-- {group = {median, rows}} of the results of score.rows, and the errors of all of them.
function peers.ours_today(results)
  local ours, all = {}, {}
  for _, group in ipairs(score.group(results, group_of)) do
    local errors = {}
    for i, r in ipairs(group.results) do errors[i], all[#all + 1] = r.error, r.error end
    ours[group.key] = {median = score.median(errors), rows = #errors}
  end
  return ours, all
end

-- Over all rows on that day: the best estimator of each group, chosen with hindsight, and this one.
peers.best, peers.ours_median = 18.6, 8.4
peers.ours_then = "libvram 4e9616b, 2026-11-22"

-- Where an estimator's code is: "https://github.com/OWNER/NAME/tree/COMMIT".
function peers.address(p)
  if p.at:find("^https:") then return p.at end
  local repository, commit = p.at:match("^([^@]+)@(%x+)$")
  if repository then return ("https://github.com/%s/tree/%s"):format(repository, commit) end
  local name, file = p.at:match("^(%S+): (.*)$")
  return ("https://github.com/%s %s"):format(name, file)
end

return peers
