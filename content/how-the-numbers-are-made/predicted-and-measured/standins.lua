-- What stands for a word that the library does not have yet, so that a row can be set beside its measurement all the same.
--
-- Nothing is chosen by what was measured: the library refuses a word, and its line here says what is nearest to it. A row that
-- needs such a line does not count as one that can be said, and shows it. Lines of words that the library has are never used.
local standins = {}

-- {key, value, or nil for any, what stands for it: "key=value ...", or "" for nothing}
standins.list = {
  -- whose loop and which versions: the newest ones
  {"framework", nil, ""}, {"torch", nil, ""}, {"transformers", nil, ""},
  -- what a step holds in 32 bits: autocast has the same weights and gradients
  {"dtype", "bfloat16_master", "dtype=bfloat16"}, {"dtype", "bfloat16_fsdp", "dtype=bfloat16"},
  {"dtype", "bfloat16_loaded", "dtype=bfloat16"}, {"dtype", "float16_loaded", "dtype=float16"},
  {"dtype", "bfloat16_accelerate", "dtype=bfloat16"}, {"dtype", "float16_accelerate", "dtype=float16"},
  {"dtype", "bfloat16_deepspeed", "dtype=bfloat16"}, {"dtype", "float16_deepspeed", "dtype=float16"},
  {"float8", nil, ""}, {"float8_all_gather", nil, ""},
  {"parallel", "fsdp1", "parallel=fsdp"}, {"parallel", "fsdp2", "parallel=fsdp"},
  {"pipeline_schedule", nil, ""}, {"pipeline_stage", nil, ""}, {"pipeline_first_layers", nil, ""}, {"fsdp_rank", nil, ""}, {"reshard_after_forward", nil, ""},
  {"checkpointing", "selective", "checkpointing=block"},
  {"compile", "true", "compile=2.5"}, {"compile", "false", "compile=none"},
  {"kernels", nil, ""}, {"cross_entropy", "inplace", "cross_entropy=eager"},
  {"attention", "sdpa", "attention=flash"}, {"attention", "flash_attention_2", "attention=flash"},
  {"adapter_dtype", nil, ""}, {"adapter", "dora", ""}, {"prepare_kbit", nil, ""}, {"modules_to_save", nil, ""},
  {"lora_targets", "q+v", "lora_targets=qv"}, {"lora_targets", "q+k+v+o", "lora_targets=attention"}, {"lora_targets", nil, "lora_targets=all"},
  {"quantization", "gptq", "quantization=nf4"}, {"quantization", "awq", "quantization=nf4"},
  {"quantization", "gptq_int8", "quantization=int8"}, {"quantization", "fp8", "quantization=int8"},
  {"loading", nil, ""}, {"padding_free", nil, ""},
  {"optimizer", "adamw_8bit_paged", "optimizer=adamw_8bit"}, {"optimizer", "adamw_torchao_8bit", "optimizer=adamw_8bit"},
}

-- The key that the library's sentence is about; whether it lacks the word itself, and not only beside the others; and the value
-- that the sentence asks for instead ("...: set compile=none").
local function refused(message)
  local text = message:gsub("^vram%.[%w_]+: ", "")
  local asked, value = text:match(": set ([%w_]+)=([%w_.]+)$")
  if asked then return asked, false, value end
  local key, rest = text:match("^([%w_]+): (.*)$")
  return key, rest ~= nil and (rest:find("^unknown key") or rest:find("^[%w_]+ cannot be '")) ~= nil
end

local function find(key, value)
  for _, entry in ipairs(standins.list) do
    if entry[1] == key and (entry[2] == nil or entry[2] == value) then return entry[3] end
  end
end

-- config with what stands for its word `key`, and "key=value -> what stands for it"; nil where nothing does. asked is what the
-- library asks for.
local function replace(config, key, asked)
  local value = config[key]
  local instead = value and (asked and key .. "=" .. asked or find(key, value))
  if not instead or instead == key .. "=" .. value then return nil end
  config[key] = nil
  for name, word in instead:gmatch("([%w_]+)=(%S+)") do config[name] = word end
  return ("%s=%s -> %s"):format(key, value, instead == "" and "nothing" or instead)
end

-- A function like estimate that tries again with what stands for a word which the library lacks. It returns the answer and a
-- list of what stands for what, nil where nothing was needed; or raises the library's error.
function standins.around(estimate)
  local lacking = {}   -- "key=value" -> true: known to be refused, so it is not tried again
  return function(config)
    local own, notes = {}, {}
    for key, value in pairs(config) do own[key] = value end
    for key, value in pairs(config) do
      if lacking[key .. "=" .. value] then notes[#notes + 1] = replace(own, key) end
    end
    while true do
      local said, answer = pcall(estimate, own)
      if said then
        table.sort(notes)
        return answer, #notes > 0 and notes or nil
      end
      local key, always, asked = refused(tostring(answer))
      local word = key and own[key] and key .. "=" .. own[key]
      local note = key and replace(own, key, asked)
      if not note then error(answer, 0) end
      if always then lacking[word] = true end
      notes[#notes + 1] = note
    end
  end
end

return standins
