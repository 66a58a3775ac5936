-- Reads the column that names frameworks and versions: "torch 2.4.1, transformers 4.48.1, peft 0.13.2", "litgpt 0.4-0.5 (Jul-Sep 2024)".
local frameworks = {}

-- Whose model code and training loop a run is: name in the column -> the library's word. PEFT, TRL, ms-swift and others run
-- transformers' model code. The first one that is named counts.
local stacks = {
  {"nanotron", "nanotron"}, {"torchtitan", "torchtitan"}, {"torchtune", "torchtune"}, {"litgpt", "litgpt"}, {"lit%-gpt", "litgpt"},
  {"nanogpt", "nanogpt"}, {"transformers", "transformers"}, {"trl", "transformers"}, {"peft", "transformers"},
  {"axolotl", "transformers"}, {"llama%-?factory", "transformers"}, {"ms%-swift", "transformers"}, {"swift", "transformers"},
  {"accelerate", "transformers"}, {"unsloth", "transformers"}, {"deepspeed", "transformers"}, {"optimum", "transformers"},
  {"llama%-recipes", "transformers"}, {"llama%-cookbook", "transformers"}, {"trainer", "transformers"}, {"sfttrainer", "transformers"},
}

-- What may be named too and decides nothing about whose code it is.
local beside = {"torch", "pytorch", "torchao", "bnb", "bitsandbytes", "flash%-attn", "flash%-attention", "liger", "liger%-kernel", "cuda",
  "rocm", "triton", "cudnn", "xformers", "python", "driver", "nccl", "autogptq", "auto%-gptq", "gptqmodel", "autoawq", "fp32",
  "torchvision", "lightning", "apex", "transformer engine", "te", "flashattention", "flashattention%-2", "datasets", "tokenizers", "safetensors",
  "kernels", "hf kernels", "git main", "main", "nightly", "numpy", "einops", "sentencepiece", "huggingface%-hub"}

-- The PyTorch that a release of a framework asks for, where the column does not name one: {framework, version from, PyTorch}.
-- SRC: litgpt 0.4 and 0.5 pyproject.toml (torch<=2.4); lit-gpt of 2023 requirements.txt; torchtune README of v0.1 to v0.6 ("latest
-- stable PyTorch"), by date of release.
local torch_of = {
  {"litgpt", 0.4, "2.4"}, {"litgpt", 0.0, "2.1"},
  {"torchtune", 0.6, "2.6"}, {"torchtune", 0.4, "2.5"}, {"torchtune", 0.2, "2.4"}, {"torchtune", 0.0, "2.3"},
}

-- The version that PyTorch's main branch was becoming from a month on. SRC: pytorch RELEASE.md, branch cuts.
local main_branch = {{"2025-09", "2.10"}, {"2025-06", "2.9"}, {"2025-03", "2.8"}, {"2024-12", "2.7"}, {"2024-08", "2.6"}, {"2024-06", "2.5"},
  {"2024-03", "2.4"}, {"2023-12", "2.3"}, {"2023-08", "2.2"}}

-- What trainers over transformers' code do where a row is silent, in two bytes: weights as loaded, autocast over them; LLaMA-Factory's
-- trained weights are float32, unless they are adapters. SRC: the libraries' own files as the library reads them, calc/parse/formats/
-- axolotl.def, llamafactory.def, swift.def, unsloth.def, sft.def.
local over_loaded = {autocast = true, loaded = true, clip = "1"}
-- Those that checkpoint every block unless they are told not to. SRC: LLaMA-Factory hparams/model_args.py (disable_gradient_checkpointing =
-- False); ms-swift arguments/base_args (gradient_checkpointing = True).
local checkpointed = {["llama-factory"] = true, llamafactory = true, ["ms-swift"] = true, swift = true}
local adapted = {rank = 8, targets = "all"}   -- lora_rank and lora_target of LLaMA-Factory, lora_rank and target_modules of ms-swift
frameworks.trainers = {
  {"axolotl", over_loaded, {}}, {"llama-factory", over_loaded, adapted, trains_float32 = true}, {"llamafactory", over_loaded, adapted, trains_float32 = true},
  {"ms-swift", over_loaded, adapted}, {"swift", over_loaded, adapted},
  {"unsloth", over_loaded, {rank = 16, targets = "all", kernels = "unsloth"}},   -- SRC: unsloth models/llama.py, FastLlamaModel.get_peft_model
  {"trl", over_loaded, {}},
}

-- Whether the trainer checkpoints where a table leaves it open.
function frameworks.checkpoints(found)
  for name in pairs(checkpointed) do
    if found[name] then return true end
  end
  return false
end

-- The facts of the trainer that a column names, as a list of tables; trained is "all" or a kind of adapter.
function frameworks.trainer(found, trained)
  for _, entry in ipairs(found.stack == "transformers" and frameworks.trainers or {}) do
    local own = entry[3].kernels and {framework_version = found.versions[entry[1]]}
    if found[entry[1]] and trained == "lora" then return {entry[2], entry[3], own} end
    if found[entry[1]] then return {entry.trains_float32 and {autocast = true, clip = "1"} or entry[2]} end
  end
  return {}
end

local function listed(name, patterns)
  for _, pattern in ipairs(patterns) do
    if name:find("^" .. pattern .. "$") then return true end
  end
end

local function stack_of(name)
  for _, entry in ipairs(stacks) do
    if name:find("^" .. entry[1] .. "$") then return entry[2] end
  end
end

-- "1963fc8 (2024-12-23)" -> "2.7"
local function of_date(text)
  local month = text:match("(%d%d%d%d%-%d%d)%-%d%d")
  for _, entry in ipairs(month and main_branch or {}) do
    if month >= entry[1] then return entry[2] end
  end
end

-- The day of a development version, or one that stands for a version: "2.5.0.dev20240605", "1963fc8 (2024-12-23)".
local function day_of(text)
  local year, month, day = text:match("dev(20%d%d)(%d%d)(%d%d)")
  return year and year .. "-" .. month .. "-" .. day or text:match("20%d%d%-%d%d%-%d%d")
end

-- Of a range the first one: "2.4-2.5" -> "2.4".
local function version_in(text)
  return text:match("^v?(%d+%.%d+)")
end

-- "transformers==4.46", "torch: 2.4"; "SFTTrainer (trl 0.11)": what stands in brackets and is a program, too, is a part of its own.
local function spelled(cell)
  local text = cell:lower():gsub("%s*[=:><~@]+%s*", " "):gsub("%s+/%s+", ", "):gsub("%f[%w]hf%s+", ""):gsub("hugging ?face%s+", "")
  return (text:gsub("llama factory", "llama-factory"):gsub("%((%a[^()]*)%)", function(inside)
    local name = inside:match("^([%a_%-]+)%s+v?%d")
    if name and (stack_of(name) or listed(name, beside)) then return ", " .. inside .. "," end
  end))
end

local function parts_of(cell)
  local parts = {}
  for part in (spelled(cell) .. ","):gmatch("%s*([^,;]-)%s*[,;]") do
    for piece in (part .. " + "):gmatch("%s*(.-)%s+%+%s") do
      if piece ~= "" then parts[#parts + 1] = piece end
    end
  end
  return parts
end

local function is_date(part)
  return part:find("^%a%a%a%-?%a*%s+20%d%d$") or part:find("^%a+%s+20%d%d$") or part:find("^20%d%d%-%d%d")
end

local function default_torch(found)
  for _, entry in ipairs(torch_of) do
    local version = found.versions[entry[1]]
    if version and tonumber(version) >= entry[2] then return entry[3] end
  end
end

-- {stack, torch, transformers, day, versions = {name = "4.48"}}, or nil and a sentence. group is where the row is from: it may name
-- the framework that the column leaves out ("torchtune/README").
function frameworks.read(cell, group)
  local found = {versions = {}}
  for _, part in ipairs(parts_of(cell)) do
    local name, rest = part:match("^([%a_%-]+)%s*(.*)$")
    name = (name or part):gsub("%s*per record date.*$", "")
    local stack = stack_of(name)
    if stack then
      found.stack = found.stack or stack
      found[name] = true
    elseif not listed(name, beside) and not listed(part, beside) and not is_date(part) and part ~= "same" then
      return nil, ("unknown framework '%s'"):format(part)
    end
    if name == "pytorch" then name = "torch" end
    found.versions[name] = rest and (version_in(rest) or of_date(rest))
    found.day = found.day or rest and day_of(rest)
  end
  for word in group:lower():gmatch("[%a%-_]+") do found.stack = found.stack or stack_of(word) end
  found.torch = found.versions.torch or default_torch(found)
  found.transformers = found.versions.transformers
  return found
end

return frameworks
