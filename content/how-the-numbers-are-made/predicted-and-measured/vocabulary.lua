-- The words that tables of measurements use, column by column, and the facts that they state.
--
-- A fact is what a person who knows the field reads from the word; what it means for memory in one framework is decided in
-- words.lua. A word without facts is one that changes nothing in the memory of a run.
local vocabulary = {}

local NOTHING = {}

local function number(name)
  return function(digits) return {[name] = math.tointeger(tonumber((digits:gsub("[,_]", ""))))} end
end

-- "q_proj k_proj" is one set of modules, however many words it takes: each word is a fact of its own.
local function target(name) return {["target_" .. name] = true} end

-- A plugin of fms-acceleration and what it was combined with: "accelerated-peft-bnb-foak-liger". Packed by "multipack" or with kernels
-- of experts it is another run.
local function accelerated(name)
  local facts = {prepared = name:find("peft", 1, true) and "own" or nil}
  for part in name:gmatch("%a+") do
    if part == "foak" then facts.kernels = "foak"
    elseif part == "liger" then facts.fused_loss = true
    elseif part == "padding" then facts.padding_free = true
    elseif part == "multipack" or part == "scattermoe" or part == "moe" then facts.unmodelled = part end
  end
  return facts
end

-- One matrix for q, k and v.
local fused = {target_q = true, target_k = true, target_v = true}

vocabulary.precision = {
  {"bfloat16", {base = "bfloat16"}}, {"bf16", {base = "bfloat16"}},
  {"float16", {base = "float16"}}, {"fp16", {base = "float16"}}, {"half", {base = "float16"}},
  {"float32", {base = "float32"}}, {"fp32", {base = "float32"}}, {"tf32", {base = "float32"}}, {"32%-true", {base = "float32"}},
  {"pure", {autocast = false}},
  {"bf16%-true", {base = "bfloat16", autocast = false}}, {"16%-true", {base = "float16", autocast = false}},
  {"bf16%-mixed", {base = "bfloat16", autocast = true}}, {"16%-mixed", {base = "float16", autocast = true}},
  {"autocast", {autocast = true}}, {"amp", {autocast = true}}, {"mixed precision", {autocast = true}}, {"mixed", {autocast = true}},
  {"bf16/fp16 autocast", {base = "bfloat16", autocast = true}},
  {"adapters? fp32", {adapters = "float32"}}, {"adapters? bf16", {adapters = "base"}}, {"fp32 adapters?", {adapters = "float32"}},
  {"bf16 params", {base = "bfloat16"}}, {"bf16 weights", {base = "bfloat16"}},
  {"fp32 master", {master = true}}, {"fp32 master weights", {master = true}}, {"grad accumulation", NOTHING},
  {"fsdp2? mp bf16/fp32", {base = "bfloat16", fsdp_precision = true}}, {"mp bf16/fp32", {base = "bfloat16", fsdp_precision = true}},
  {"fsdp1? mp fp16/fp32", {base = "bfloat16", fsdp_precision = true}},   -- as many bytes
  {"float32 loaded", {stored = "float32"}}, {"loaded in float32", {stored = "float32"}}, {"fp32 loaded", {stored = "float32"}},
  {"float8", {float8 = true}}, {"fp8", {quantized = "fp8"}}, {"rowwise", {float8_scaling = "rowwise"}},
  {"tensorwise", {float8_scaling = "tensorwise"}}, {"all%-gather", {float8_gather = true}},
  {"float8nocompile", {float8 = true, float8_scaling = "nocompile", compile = false}}, {"compile", {compile = true}}, {"eager", {compile = false}},
  {"gptq%-int4", {quantized = "gptq"}}, {"gptq%-4bit", {quantized = "gptq"}}, {"gptq int4", {quantized = "gptq"}},
  {"gptq%-int8", {quantized = "gptq_int8"}}, {"gptq%-8bit", {quantized = "gptq_int8"}}, {"gptq int8", {quantized = "gptq_int8"}},
  {"awq", {quantized = "awq"}}, {"awq%-int4", {quantized = "awq"}}, {"awq int4", {quantized = "awq"}},
  {"bnb%-?int8", {quantized = "int8"}}, {"llm%.int8", {quantized = "int8"}}, {"bnb%-?nf4", {quantized = "nf4"}},
  {"nf4", {quantized = "nf4"}}, {"bnb%-?int4", {quantized = "nf4"}}, {"bnb 4%-bit", {quantized = "nf4"}}, {"bnb 8%-bit", {quantized = "int8"}},
  -- as files and command lines say it: bf16 alone as a flag of TrainingArguments is autocast
  {"torch%.bfloat16", {base = "bfloat16"}}, {"torch%.float16", {base = "float16"}}, {"torch%.float32", {base = "float32"}},
  {"torch_dtype%s*=%s*bfloat16", {base = "bfloat16"}}, {"torch_dtype%s*=%s*float16", {base = "float16"}},
  {"bf16%s*=%s*true", {base = "bfloat16", autocast = true}}, {"fp16%s*=%s*true", {base = "float16", autocast = true}},
  {"full bf16", {base = "bfloat16", autocast = false}}, {"bf16 full", {base = "bfloat16", autocast = false}},
  {"bf16%-pure", {base = "bfloat16", autocast = false}}, {"fp16%-pure", {base = "float16", autocast = false}},
  {"bf16,? %+? ?tf32", {base = "bfloat16"}}, {"half precision", {base = "float16"}}, {"full precision", {base = "float32"}}, {"single precision", {base = "float32"}},
  {"fp32 weights,? bf16 autocast", {base = "bfloat16", autocast = true}}, {"bf16 autocast,? fp32 weights", {base = "bfloat16", autocast = true}},
  {"bf16 compute", {base = "bfloat16"}}, {"compute bf16", {base = "bfloat16"}}, {"fp16 compute", {base = "float16"}},
  {"nf4%-dq", {quantized = "nf4_double"}}, {"bnb 4%-bit nf4%-dq", {quantized = "nf4_double"}}, {"bnb 4%-bit nf4", {quantized = "nf4"}}, {"4%-?bit nf4", {quantized = "nf4"}}, {"nf4 4%-?bit", {quantized = "nf4"}},
  {"4%-?bit", {quantized = "nf4"}}, {"8%-?bit", {quantized = "int8"}}, {"bnb 4bit", {quantized = "nf4"}}, {"bnb 8bit", {quantized = "int8"}},
  {"load_in_4bit", {quantized = "nf4"}}, {"load_in_8bit", {quantized = "int8"}},
  {"double quant%a*", {twice = true}}, {"no double quant%a*", {twice = false}},
  -- as weights that stay so: of what kind, their source says (words.lua)
  {"int4", {bits = 4}}, {"int8", {bits = 8}}, {"int8 %(bitsandbytes%)", {quantized = "int8"}}, {"bnb", NOTHING}, {"bitsandbytes", NOTHING},
  {"torch_dtype%s*=%s*torch%.bfloat16", {base = "bfloat16"}}, {"dtype%s*=%s*torch%.bfloat16", {base = "bfloat16"}}, {"dtype%s*=%s*bfloat16", {base = "bfloat16"}},
  {"torch_dtype%s*=%s*torch%.float16", {base = "float16"}}, {"dtype%s*=%s*torch%.float16", {base = "float16"}}, {"model%.half", {base = "float16", autocast = false}},
  {"full_bf16", {base = "bfloat16", autocast = false}}, {"tf32%s*=%s*true", NOTHING}, {"bf16%s*=%s*true, tf32%s*=%s*true", {base = "bfloat16", autocast = true}},
  {"fp32 weights %+ bf16 autocast", {base = "bfloat16", autocast = true}}, {"fp32 params,? %+? ?bf16 amp", {base = "bfloat16", autocast = true}},
  {"fp32 params,? %+? ?bf16 autocast", {base = "bfloat16", autocast = true}}, {"weights in fp32", {autocast = true}}, {"model loaded in fp32", {autocast = true}},
  {"with", NOTHING}, {"prototype", NOTHING}, {"dynamic", NOTHING}, {"h100", NOTHING},
  {"gptq 4%-?bit", {quantized = "gptq"}}, {"gptq%-4bit%-128g", {quantized = "gptq"}}, {"awq 4%-?bit", {quantized = "awq"}},
}

-- What weights are loaded in says what they take; in what a product is, autocast does.
for _, entry in ipairs{{"bf16", "bfloat16"}, {"bfloat16", "bfloat16"}, {"fp16", "float16"}, {"float16", "float16"}} do
  for _, form in ipairs{"%s loaded", "loaded in %s", "loaded as %s", "weights in %s", "%s weights"} do
    table.insert(vocabulary.precision, {form:format(entry[1]), {stored = entry[2], loaded = true}})
  end
  table.insert(vocabulary.precision, {entry[1] .. "%-mixed", {base = entry[2], autocast = true}})
  table.insert(vocabulary.precision, {entry[1] .. "%-true", {base = entry[2], autocast = false}})
  table.insert(vocabulary.precision, {entry[1] .. "%-pure", {base = entry[2], autocast = false}})
end

vocabulary.method = {
  -- what is trained
  {"full", {trained = "all"}}, {"pre%-?train", {trained = "all"}}, {"pre%-?training", {trained = "all"}}, {"full[ %-]?fine%-?tun%a+", {trained = "all"}},
  {"fft", {trained = "all"}}, {"lora", {trained = "lora"}},
  {"qlora", {trained = "lora", quantized_adapters = true}}, {"q%-lora", {trained = "lora", quantized_adapters = true}},
  {"dora", {trained = "lora", dora = true}}, {"qdora", {trained = "lora", dora = true, quantized_adapters = true}},
  {"ia3", {trained = "ia3"}},
  {"rslora", {trained = "lora"}},   -- another factor, the same tensors
  {"full ft", {trained = "all"}}, {"full[ %-]param%a*", {trained = "all"}}, {"full[ %-]param%a* fine[ %-]?tun%a+", {trained = "all"}},
  {"continued pre%-?training", {trained = "all"}}, {"cpt", {trained = "all"}}, {"from scratch", NOTHING},
  {"gptq[ %-]?lora", {trained = "lora", quantized = "gptq"}},
  -- other beginnings of the same two matrices. SRC: peft tuners/lora/layer.py, reset_lora_parameters and what it calls
  {"pissa", NOTHING}, {"olora", NOTHING}, {"lora[_-]ga", NOTHING},
  -- another rate for one of the two. SRC: peft optimizers/loraplus.py, create_loraplus_optimizer
  {"lora[_-]?plus", NOTHING}, {"steps%d+", NOTHING},
 {"loftq", NOTHING}, {"eva", NOTHING}, {"corda", NOTHING}, {"orthogonal", NOTHING},
  {"lora_?alpha[ =]?%d+", NOTHING}, {"alpha[ =]?%d+", NOTHING}, {"a=?%d+", NOTHING}, {"α[ =]?%d+", NOTHING}, {"beta[ =]?[%d.]+", NOTHING},
  {"dropout[ =]?([%d.]+)", function(share) return {dropout = share} end},
  -- what is learned from
  {"sft", NOTHING}, {"forward and backward", NOTHING}, {"grpo", {unmodelled = "GRPO"}}, {"%d+ generations", NOTHING}, {"dpo", {trainer = "dpo"}}, {"reward model%a*", {trainer = "reward"}}, {"reward", {trainer = "reward"}}, {"rm", {trainer = "reward"}},
  {"lora%-?fa", {trained = "lora", half_trained = "lora_fa"}}, {"mica", {trained = "lora", half_trained = "mica"}},
  -- ranks and what gets adapters
  {"r=?(%d+)", number "rank"}, {"rank[ =]?(%d+)", number "rank"}, {"lora_r[ =]?(%d+)", number "rank"},
  {"lora%-(%d+)", function(rank) return {trained = "lora", rank = math.tointeger(tonumber(rank))} end},
  {"lora%((%d+)%)", function(rank) return {trained = "lora", rank = math.tointeger(tonumber(rank))} end},
  {"([%d,]+) trainable", number "trainable"}, {"([%d,]+) trainable param%a*", number "trainable"}, {"[%d.]+[mb%%] trainable", NOTHING}, {"[%d.]+[mb%%] trainable param%a*", NOTHING},
  {"q_proj", target "q"}, {"k_proj", target "k"}, {"v_proj", target "v"}, {"o_proj", target "o"}, {"gate_proj", target "gate"},
  {"up_proj", target "up"}, {"down_proj", target "down"}, {"lm_head", target "head"}, {"embed_tokens", target "embed"},
  {"c_attn", target "c_attn"}, {"query_key_value", fused}, {"qkv_proj", fused}, {"wqkv", fused},
  {"out_proj", target "o"}, {"output_proj", target "o"}, {"output", target "head"}, {"gate_up_proj", {target_gate = true, target_up = true}}, {"dense", target "o"}, {"dense_h_to_4h", target "up"}, {"dense_4h_to_h", target "down"}, {"c_proj", target "c_proj"}, {"w1", target "w1"}, {"w2", target "w2"},
  {"w?_?q", target "q"}, {"w?_?k", target "k"}, {"w?_?v", target "v"}, {"w?_?o", target "o"}, {"query", target "q"}, {"key", target "k"}, {"value", target "v"},
  {"gate", target "gate"}, {"up", target "up"}, {"down", target "down"}, {"targets?", NOTHING}, {"and", NOTHING}, {"only", NOTHING},
  {"qkv", fused}, {"attn", {targets = "attention"}}, {"mlp", {targets = "gate+up+down"}}, {"linear", {targets = "all"}}, {"attn ?%+ ?mlp", {targets = "all"}}, {"attention ?%+ ?mlp", {targets = "all"}},
  {"all but o", {targets = "q+k+v+gate+up+down"}}, {"all", {targets = "all"}}, {"all%-linear", {targets = "all"}},
  {"all linear layers", {targets = "all"}}, {"all linear", {targets = "all"}}, {"q,v", {targets = "q+v"}}, {"qv", {targets = "q+v"}}, {"qkvo", {targets = "q+k+v+o"}},
  {"attention", {targets = "attention"}}, {"target mlp", {targets = "gate+up+down"}},
  {"all attn%-%d+k", {targets = "all"}},   -- and the steps
  {"emb", {saved_modules = "head+embed"}},
  -- frozen weights
  {"nf4", {quantized = "nf4"}}, {"nf4%-dq", {quantized = "nf4_double"}}, {"bnb%.nf4", {quantized = "nf4"}},
  {"bnb%.nf4%-dq", {quantized = "nf4_double"}}, {"bnb%.fp4", {quantized = "nf4"}},   -- as many bits
  {"bnb%.fp4%-dq", {quantized = "nf4_double"}}, {"bnb%.int8", {quantized = "int8"}}, {"int8", {quantized = "int8"}},
  {"gptq%-4bit", {quantized = "gptq"}}, {"gptq int4", {quantized = "gptq"}}, {"gptq%-int4", {quantized = "gptq"}},
  {"gptq int8", {quantized = "gptq_int8"}}, {"gptq%.int4", {quantized = "gptq"}}, {"bnb", NOTHING}, {"bitsandbytes", NOTHING}, {"16%-?bit", NOTHING}, {"awq", {quantized = "awq"}}, {"gptq", {quantized = "gptq"}}, {"bnb 4%-?bit", {quantized = "nf4"}}, {"bnb 8%-?bit", {quantized = "int8"}},
  {"4%-?bit", {quantized = "nf4"}}, {"int4", {quantized = "nf4"}}, {"8%-?bit", {quantized = "int8"}},
  {"bnb%-?nf4", {quantized = "nf4"}}, {"bnb%-?int8", {quantized = "int8"}},
  -- kernels and preparation, in the brackets of fms-acceleration
  {"(foak%-fast%-kernels[%a-]*)", accelerated}, {"baseline%-peft%-bnb", {prepared = "peft"}}, {"(accelerated%-peft%-%a+[%a-]*)", accelerated},
  {"liger", {kernels = "liger", fused_loss = true}}, {"unsloth", {kernels = "foak"}},
  {"fused lora kernels", {lora_kernels = "qkv+o+mlp"}},
  -- over several GPUs
  {"ddp", {parallel = "ddp"}}, {"fsdp", {sharded = true}}, {"fsdp1", {parallel = "fsdp1"}}, {"deepspeed", NOTHING},
  {"fsdp%s+%(?(%d+)%)?", number "fsdp_number"}, {"vanilla", NOTHING}, {"loss[ _]parallel", NOTHING}, {"z(%d)", number "zero"},
  {"fsdp shard_grad_op", {parallel = "fsdp1", reshard = false}}, {"fsdp1 shard_grad_op", {parallel = "fsdp1", reshard = false}},
  {"fsdp(%d+)", number "fsdp_number"}, {"zero[ -]?(%d)", number "zero"}, {"deepspeed zero[ -]?(%d)", number "zero"},
  {"sequence parallel", {sequence_parallel = true}}, {"ring attention", {sequence_divided = true}}, {"ulysses", {sequence_divided = true}},
  {"sequence parallel (%d+)", number "cp"}, {"sp=?(%d+)", number "cp"}, {"padding%-free", {padding_free = true}},
  {"dp=?%s?(%d+)", number "dp"}, {"tp=?%s?(%d+)", number "tp"}, {"pp=?%s?(%d+)", number "pp"}, {"cp=?%s?(%d+)", number "cp"}, {"async ?tp=?%s?(%d+)", number "tp"},
  {"ep=?(%d+)", number "ep"}, {"1f1b", {schedule = "1f1b"}}, {"interleaved 1f1b", {schedule = "interleaved"}},
  {"interleaved", {schedule = "interleaved"}}, {"interleaved%-?1f1b", {schedule = "interleaved"}}, {"gpipe", {schedule = "gpipe"}}, {"afab", {schedule = "gpipe"}},
  {"asynctp", NOTHING}, {"1d", NOTHING}, {"2d", NOTHING}, {"3d", NOTHING}, {"4d", NOTHING},
  {"cpu offload", {offload_params = true}}, {"tensor parallel", {tensor_parallel = true}}, {"hsdp[ x%d]*", {unmodelled = "HSDP"}},
  {"sequential layers", {spread_layers = true}},
  -- optimizers and compilers that a method names
  {"optimizer in bwd", {optimizer_in_backward = true}}, {"optimizer_in_bwd", {optimizer_in_backward = true}},
  {"paged 8%-bit", {optimizer = "adamw_8bit_paged"}}, {"paged adamw", {optimizer = "adamw_paged"}},
  {"compile", {compile = true}}, {"eager", {compile = false}},
  -- generation
  {"inference", NOTHING}, {"generate", NOTHING}, {"generate (%d+) after input", number "new_tokens"}, {"generate (%d+)", number "new_tokens"},
  -- words that change nothing
  {"finetun%a+", NOTHING}, {"fine%-tun%a+", NOTHING}, {"training", NOTHING}, {"with", NOTHING}, {"on", NOTHING},
  {"%d+ gpus?", NOTHING}, {"multiple gpus", NOTHING}, {"none", NOTHING}, {"no", NOTHING}, {"single device", NOTHING},
  {"distributed", NOTHING}, {"bf16", NOTHING}, {"llama%-3%.2%-3b", NOTHING}, {"default", NOTHING}, {"lr_[%d.e-]+", NOTHING},
  {"lr[%d.e-]+", NOTHING},
}

-- The lines of a table in which each adds to the one above (sources.lua, tune_ladder).
vocabulary.steps = {
  {"baseline", {ladder = "baseline"}}, {"baseline unpacked", {ladder = "baseline"}}, {"packed", {ladder = "packed"}},
  {"packed dataset", {ladder = "packed"}}, {"activation checkpointing", {ladder = "checkpointing"}},
  {"chunked cross entropy", {ladder = "chunked"}}, {"chunked ce", {ladder = "chunked"}},
  {"activation offloading", {ladder = "offloading"}}, {"fuse optimizer step into backward", {ladder = "in_backward"}},
  {"optimizer step in backward", {ladder = "in_backward"}}, {"8%-bit adamw", {ladder = "adamw_8bit"}},
}

vocabulary.checkpointing = {
  -- SRC: unsloth_zoo gradient_checkpointing.py: the inputs are in the host's memory
  {"unsloth", {checkpointing = "block", activation_offload = "inputs"}},
  {"none", {checkpointing = "none"}}, {"no", {checkpointing = "none"}}, {"off", {checkpointing = "none"}}, {"%-", NOTHING},
  {"block", {checkpointing = "block"}}, {"full", {checkpointing = "block"}}, {"yes", {checkpointing = "block"}},
  {"hf gradient_checkpointing", {checkpointing = "block"}}, {"gradient_checkpointing", {checkpointing = "block"}},
  {"fsdp block", {checkpointing = "block"}}, {"reentrant", {reentrant = true}}, {"non%-reentrant", {reentrant = false}},
  {"not reentrant", {reentrant = false}}, {"non reentrant", {reentrant = false}}, {"use_reentrant", {reentrant = true}}, {"no use_reentrant", {reentrant = false}},
  {"no checkpointing", {checkpointing = "none"}}, {"full checkpointing", {checkpointing = "block"}}, {"block checkpointing", {checkpointing = "block"}},
  {"without", {checkpointing = "none"}}, {"w/o", {checkpointing = "none"}}, {"n/a", NOTHING}, {"unsloth %(offload%a*%)", {checkpointing = "block", activation_offload = "inputs"}},
  {"true", {checkpointing = "block"}}, {"on", {checkpointing = "block"}}, {"enabled", {checkpointing = "block"}}, {"1", {checkpointing = "block"}},
  {"false", {checkpointing = "none"}}, {"disabled", {checkpointing = "none"}}, {"0", {checkpointing = "none"}}, {"no gc", {checkpointing = "none"}}, {"no ac", {checkpointing = "none"}},
  {"no gradient checkpointing", {checkpointing = "none"}}, {"no activation checkpointing", {checkpointing = "none"}},
  {"gradient checkpointing", {checkpointing = "block"}}, {"activation checkpointing", {checkpointing = "block"}}, {"activation_checkpointing", {checkpointing = "block"}},
  {"full activation checkpointing", {checkpointing = "block"}}, {"gc", {checkpointing = "block"}}, {"ac", {checkpointing = "block"}}, {"hf", {checkpointing = "block"}}, {"default", NOTHING},
  {"every layer", {checkpointing = "block"}}, {"each layer", {checkpointing = "block"}}, {"all layers", {checkpointing = "block"}}, {"layer", {checkpointing = "block"}},
  {"every block", {checkpointing = "block"}}, {"each block", {checkpointing = "block"}}, {"per block", {checkpointing = "block"}}, {"per layer", {checkpointing = "block"}},
  {"block%-?wise", {checkpointing = "block"}}, {"layer%-?wise", {checkpointing = "block"}}, {"mode=full", {checkpointing = "block"}},
  -- SRC: accelerate accelerator.py, prepare_model: fsdp_plugin.activation_checkpointing is CheckpointImpl.NO_REENTRANT
  {"fsdp[_ ]activation[_ ]checkpointing", {checkpointing = "block", reentrant = false}},
  {"offload", {activation_offload = true}}, {"offloading", {activation_offload = true}}, {"activation offload%a*", {activation_offload = true}},
  {"sac", {checkpointing = "selective"}}, {"selective ac", {checkpointing = "selective"}}, {"selective activation checkpointing", {checkpointing = "selective"}},
  {"selective %(?every (%d+)%a?%a?%)?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  -- SRC: torchtitan, activation_checkpoint.selective_ac_option: a number is every so many layers
  {"selective %((%d+)%)", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"selective", {checkpointing = "selective"}}, {"op", NOTHING}, {"grouped mm saved", {unmodelled = "the experts' products kept"}}, {"per[ %-]op", NOTHING}, {"per[ %-]op sac", {checkpointing = "selective"}},
  {"selective layer (%d+)", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"every (%d+)%a%a layer %(?selective%)?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"selective,? every (%d+) layers?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"s?ac every (%d+) layers?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"each (%d+)%a%a layer", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"every other layer", {checkpointing = "every", every = 2}}, {"every other block", {checkpointing = "every", every = 2}},
  {"use_gradient_checkpointing%s*=?%s*\"?unsloth\"?", {checkpointing = "block", activation_offload = "inputs"}}, {"ac=full", {checkpointing = "block"}},
  {"full recompute", {checkpointing = "block"}}, {"full recomputation", {checkpointing = "block"}}, {"recompute full", {checkpointing = "block"}},
  {"offloaded to cpu", {activation_offload = true}}, {"offloaded to the cpu", {activation_offload = true}}, {"cpu offload", {activation_offload = true}},
  {"every (%d+)%a%a layer", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"every (%d+) layers?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"see method", NOTHING}, {"%?", {checkpointing_unsaid = true}}, {"unknown", {checkpointing_unsaid = true}},
}

vocabulary.optimizer = {
  {"%-", NOTHING}, {"%?", NOTHING}, {"see method", NOTHING}, {"unknown", NOTHING}, {"default", NOTHING}, {"n/a", NOTHING},
  {"none", {optimizer = "sgd"}},   -- no state, and a step that takes less than a pass
  {"torch%.optim%.adamw", {optimizer = "adamw_torch"}}, {"torch%.optim%.adamw%(fused", {optimizer = "adamw_fused"}}, {"adamw %(torch%)", {optimizer = "adamw_torch"}}, {"32%-?bit", NOTHING}, {"lr[ =]?[%d.e-]+", NOTHING},
  {"fp32", NOTHING}, {"fp32 states", NOTHING}, {"for%-loop", {optimizer = "adamw_hf"}}, {"no foreach", {optimizer = "adamw_hf"}}, {"no fused", NOTHING},
  {"cpu adamw?", {adam = true, offload_optimizer = true}}, {"adamw? offloaded", {adam = true, offload_optimizer = true}}, {"adamw?,? offload", {adam = true, offload_optimizer = true}},
  {"apex", {optimizer = "adamw_fused"}}, {"apex fusedadam", {optimizer = "adamw_fused"}}, {"adamw_apex_fused", {optimizer = "adamw_fused"}}, {"beta[12][ =]?[%d.]+", NOTHING},
  {"fused", {optimizer = "adamw_fused"}}, {"foreach", {optimizer = "adamw_foreach"}}, {"deepspeed", NOTHING}, {"deepspeed fusedadam", {optimizer = "adamw_fused"}},
  {"deepspeedcpuadam", {adam = true, offload_optimizer = true}}, {"cpuadam", {adam = true, offload_optimizer = true}}, {"cpu offload", {offload_optimizer = true}},
  {"adamw", {adam = true}}, {"adam", {adam = true}}, {"torch adamw", {optimizer = "adamw_torch"}},
  {"adamw_torch", {optimizer = "adamw_torch"}}, {"adamw_hf", {optimizer = "adamw_hf"}}, {"pytorch adamw", {optimizer = "adamw_torch"}},
  {"torch adamw %(foreach%)", {optimizer = "adamw_foreach"}}, {"adamw_torch %(foreach%)", {optimizer = "adamw_foreach"}}, {"adamw_torch %(fused%)", {optimizer = "adamw_fused"}},
  {"torch adamw,? %(?fused%)?", {optimizer = "adamw_fused"}}, {"torch fused adamw", {optimizer = "adamw_fused"}}, {"adamw %(foreach%)", {optimizer = "adamw_foreach"}},
  {"adam %(foreach%)", {optimizer = "adamw_foreach"}}, {"adamw foreach", {optimizer = "adamw_foreach"}},
  {"adamw fused", {optimizer = "adamw_fused"}}, {"adamw_torch_fused", {optimizer = "adamw_fused"}},
  {"fused adamw", {optimizer = "adamw_fused"}}, {"fusedadam", {optimizer = "adamw_fused"}}, {"adamw%(fused%)", {optimizer = "adamw_fused"}}, {"pytorch fused", {optimizer = "adamw_fused"}},
  {"adamw ?8%-?bit", {optimizer = "adamw_8bit"}}, {"adam ?8%-?bit", {optimizer = "adamw_8bit"}}, {"8%-bit adamw", {optimizer = "adamw_8bit"}},
  {"adamw_8bit", {optimizer = "adamw_8bit"}}, {"adamw_bnb_8bit", {optimizer = "adamw_8bit"}}, {"bnb 8%-bit", {optimizer = "adamw_8bit"}},
  {"paged_adamw_8bit", {optimizer = "adamw_8bit_paged"}}, {"pagedadamw8bit", {optimizer = "adamw_8bit_paged"}},
  {"paged 8%-bit", {optimizer = "adamw_8bit_paged"}}, {"paged_adamw_32bit", {optimizer = "adamw_paged"}},
  {"paged_adamw", {optimizer = "adamw_paged"}}, {"pagedadamw", {optimizer = "adamw_paged"}}, {"paged adamw", {optimizer = "adamw_paged"}},
  {"adamw?%-8%-?bit", {optimizer = "adamw_8bit"}}, {"8%-?bit adamw?", {optimizer = "adamw_8bit"}}, {"bnb%.optim%.adamw?8bit", {optimizer = "adamw_8bit"}},
  {"bnb adamw? ?8%-?bit", {optimizer = "adamw_8bit"}}, {"bitsandbytes adamw? ?8%-?bit", {optimizer = "adamw_8bit"}},
  {"adamw?[ %-]?8%-?bit %(bitsandbytes%)", {optimizer = "adamw_8bit"}}, {"adamw?[ %-]?8%-?bit %(bnb%)", {optimizer = "adamw_8bit"}},
  {"paged[ _]?adamw?[ _%-]?8%-?bit", {optimizer = "adamw_8bit_paged"}}, {"8%-?bit paged adamw?", {optimizer = "adamw_8bit_paged"}}, {"paged 8%-?bit adamw?", {optimizer = "adamw_8bit_paged"}},
  {"bnb paged ?adamw?[ _%-]?8%-?bit", {optimizer = "adamw_8bit_paged"}}, {"bnb%.optim%.pagedadamw?8bit", {optimizer = "adamw_8bit_paged"}},
  {"paged[ _]?adamw?[ _%-]?32%-?bit", {optimizer = "adamw_paged"}}, {"bnb%.optim%.pagedadamw?", {optimizer = "adamw_paged"}},
  {"torchao adamw? ?8%-?bit", {optimizer = "adamw_torchao_8bit"}}, {"adamw?[ %-]?8%-?bit %(torchao%)", {optimizer = "adamw_torchao_8bit"}}, {"torchao 8%-?bit adamw?", {optimizer = "adamw_torchao_8bit"}},
  {"torchao adamw? ?4%-?bit", {optimizer = "adamw_torchao_4bit"}}, {"adamw?[ %-]?4%-?bit %(torchao%)", {optimizer = "adamw_torchao_4bit"}}, {"adamw?4bit", {optimizer = "adamw_torchao_4bit"}},
  {"adamw_torch_8bit", {optimizer = "adamw_torchao_8bit"}}, {"adamw_torch_4bit", {optimizer = "adamw_torchao_4bit"}},
  {"ao 8%-bit", {optimizer = "adamw_torchao_8bit"}}, {"ao 4%-bit", {optimizer = "adamw_torchao_4bit"}},
  {"sgd", {optimizer = "sgd"}}, {"sgd,? %(?no momentum%)?", {optimizer = "sgd"}}, {"sgd,? momentum", {optimizer = "sgd_momentum"}},
  {"sgd,? %(?momentum[ =]?0%.%d+%)?", {optimizer = "sgd_momentum"}}, {"momentum sgd", {optimizer = "sgd_momentum"}}, {"sgd with momentum", {optimizer = "sgd_momentum"}}, {"adafactor", {optimizer = "adafactor"}},
  {"lion", {optimizer = "lion"}}, {"lion_32bit", {optimizer = "lion"}}, {"lion[ _]?8%-?bit", {optimizer = "lion_8bit"}}, {"muon", {optimizer = "muon"}},
  {"paged[ _]lion", {optimizer = "lion_paged"}}, {"paged[ _]lion[ _]32bit", {optimizer = "lion_paged"}}, {"paged[ _]lion[ _]?8%-?bit", {optimizer = "lion_8bit_paged"}},
  {"ademamix", {optimizer = "ademamix"}}, {"ademamix[ _]?8%-?bit", {optimizer = "ademamix_8bit"}}, {"rmsprop", {optimizer = "rmsprop"}}, {"adagrad", {optimizer = "adagrad"}},
  {"offloaded to the cpu", {offload_optimizer = true}}, {"cpuoffloadoptimizer", {offload_optimizer = true}}, {"ao cpu offload", {adam = true, offload_optimizer = true}},
  {"lora%-fa", {optimizer = "adamw_hf", half_trained = "lora_fa"}},   -- SRC: peft optimizers/lorafa.py, "based on adamw-hf"
}

-- The norm to which gradients are clipped, by its argument's name or in words: whatever it is, clipping takes the same.
local function clip(norm) return {clip = norm:gsub("%.$", "")} end

-- What a method or a remark says of a run.
local run = {
  {"no clip%a*", {clip = "0"}}, {"no grad%a*[ _%-]clip%a*", {clip = "0"}}, {"no max_grad_norm", {clip = "0"}}, {"no clip_grad%a*", {clip = "0"}},
  {"max_grad_norm[ =:]*([%d.]+)", clip}, {"grad%a*[ _%-]clip%a*[ =:]*([%d.]+)", clip}, {"clip_grad[%a_]*[ =:]*([%d.]+)", clip}, {"clip[ =:]*([%d.]+)", clip},
  {"adapters? fp32", {adapters = "float32"}}, {"adapters? bf16", {adapters = "base"}}, {"fp32 adapters?", {adapters = "float32"}}, {"bf16 adapters?", {adapters = "base"}},
  {"float8 rowwise", {float8 = true, float8_scaling = "rowwise"}}, {"float8 tensorwise", {float8 = true, float8_scaling = "tensorwise"}}, {"rowwise", {float8_scaling = "rowwise"}}, {"tensorwise", {float8_scaling = "tensorwise"}},
  {"float8 all%-gather", {float8 = true, float8_gather = true}}, {"fp8 all%-gather", {float8 = true, float8_gather = true}}, {"float8_all_gather", {float8 = true, float8_gather = true}},
  {"enable_fsdp_float8_all_gather", {float8 = true, float8_gather = true}},
  {"sdpa attention", {attention = "sdpa"}}, {"attention sdpa", {attention = "sdpa"}}, {"attention eager", {attention = "math"}}, {"eager attn", {attention = "math"}},
  {"math attention", {attention = "math"}}, {"attention math", {attention = "math"}}, {"attention flash_attention_[23]", {attention = "flash_attention_2"}}, {"attention fa[234]", {attention = "flash_attention_2"}},
  {"flash[ _%-]?attention[ _%-]?[234]?", {attention = "flash_attention_2"}}, {"flash[ _%-]attn[ _%-]?[234]?", {attention = "flash_attention_2"}},
  {"fa%-?[234]", {attention = "flash_attention_2"}},
  {"packing", {packed = true}}, {"packed", {packed = true}}, {"no packing", {packed = false}}, {"no packed", {packed = false}}, {"padding_free", {padding_free = true}},
  {"grad%a*[ _%-]acc%a*[ =:]*(%d+)", number "accumulation"}, {"grad%a*[ _%-]acc%a*[ _]steps[ =:]*(%d+)", number "accumulation"},
  {"ga[ =:]*(%d+)", number "accumulation"}, {"accum%a*[ =:]*(%d+)", number "accumulation"},
  {"effective batch[ _]?[size]* ?[=:]? ?(%d+)", number "effective"}, {"global batch[ _]?[size]* ?[=:]? ?(%d+)", number "effective"},
  {"no compile", {compile = false}}, {"no torch%.compile", {compile = false}}, {"torch%.compile", {compile = true}}, {"torch compile", {compile = true}},
  {"use_liger_kernel", {kernels = "liger", fused_loss = true}}, {"liger[ _%-]kernels?", {kernels = "liger", fused_loss = true}},
  {"liger", {kernels = "liger", fused_loss = true}}, {"fused linear c[ross %-]*e[ntropy]*", {fused_loss = true}}, {"liger flce", {kernels = "liger", fused_loss = true}},
  {"cut[ %-]cross[ %-]entropy", {loss = "cce"}}, {"cce", {loss = "cce"}},
  {"fsdp full[_ ]shard", {parallel = "fsdp1"}}, {"fsdp v2", {parallel = "fsdp2"}}, {"fsdp v1", {parallel = "fsdp1"}}, {"fsdp2", {parallel = "fsdp2"}}, {"full_shard", {parallel = "fsdp1"}},
  {"full shard auto_wrap", {parallel = "fsdp1"}}, {"zero[ _%-]?stage[ =:%-]*(%d)", number "zero"}, {"deepspeed zero[ %-]?stage[ %-]?(%d)", number "zero"}, {"deepspeed stage[ %-]?(%d)", number "zero"},
  -- SRC: LLaMA-Factory examples/deepspeed/ds_z3_offload_config.json offloads both; ds_z2_offload_config.json the optimizer
  {"zero[ %-]?3[ %-]offload", {zero = 3, offload_optimizer = true, offload_params = true}}, {"zero[ %-]?2[ %-]offload", {zero = 2, offload_optimizer = true}},
  {"deepspeed zero[ %-]?3[ %-]offload", {zero = 3, offload_optimizer = true, offload_params = true}}, {"deepspeed zero[ %-]?2[ %-]offload", {zero = 2, offload_optimizer = true}},
  {"zero[ %-]?3,?[ %-]%+? ?cpu[ %-]offload%a*", {zero = 3, offload_optimizer = true, offload_params = true}}, {"zero[ %-]?2,?[ %-]%+? ?cpu[ %-]offload%a*", {zero = 2, offload_optimizer = true}},
  {"sequence packing", {packed = true}}, {"chunked ce", {loss = "chunked_output"}}, {"chunked cross[ %-]entropy", {loss = "chunked_output"}},
  {"optimizer offload%a*", {offload_optimizer = true}}, {"offload[_ ]optimizer", {offload_optimizer = true}}, {"param%a* offload%a*", {offload_params = true}}, {"offload[_ ]params?", {offload_params = true}}, {"offload[_ ]parameters", {offload_params = true}},
  -- SRC: torchtitan parallelism.fsdp_reshard_after_forward: default keeps the last block's weights only, and without pipelines "always" none
  {"reshard_after_forward[ =]never", {reshard = false}}, {"no reshard_after_forward", {reshard = false}}, {"reshard_after_forward[ =]default", NOTHING},
  {"device_map%s*=%s*auto", {spread_layers = true}}, {"tensor parallel (%d+)", number "tp"}, {"tp[ =](%d+)", number "tp"}, {"pp[ =](%d+)", number "pp"}, {"cp[ =](%d+)", number "cp"},
  {"expandable[_ ]segments", {expandable = true}}, {"expandable_segments:true", {expandable = true}}, {"pytorch_cuda_alloc_conf=expandable_segments:true", {expandable = true}},
  {"no use_cache", {use_cache = false}}, {"lora[ _]dropout[ =:]*([%d.]+)", function(share) return {dropout = share} end},
  {"modules_to_save ?embed_tokens[, +&]*lm_head", {saved_modules = "head+embed"}}, {"modules_to_save ?lm_head[, +&]*embed_tokens", {saved_modules = "head+embed"}},
  {"modules_to_save ?lm_head", {saved_modules = "head"}}, {"modules_to_save ?embed_tokens", {saved_modules = "embed"}},
  {"prepare_model_for_kbit_training", {prepare_kbit = "true"}}, {"double quant%a*", {twice = true}}, {"bnb double quant%a*", {twice = true}}, {"no double quant%a*", {twice = false}},
  {"gradient checkpointing", {checkpointing = "block"}}, {"activation checkpointing", {checkpointing = "block"}}, {"no activation checkpointing", {checkpointing = "none"}},
  {"activation offloading", {activation_offload = true}}, {"max_seq_len%a*[ =:]*(%d+)", number "longest"},
  -- each key and value once for every query head, before the kernel sees them: the card's kernel of grouped heads has no say
  {"repeat_kv", {repeat_kv = true}}, {"repeated k/?v", {repeat_kv = true}}, {"keys and values repeated", {repeat_kv = true}}, {"no enable_gqa", {repeat_kv = true}},
  {"bettertransformer", {attention = "sdpa"}},   -- SRC: optimum bettertransformer/models/attention.py, llama_forward
  -- kernels of four-bit weights, as many bytes of weights. The second exllama's scratch memory, 0.8 GB of 7B in auto-gptq 0.5, is not modelled:
  -- exllamav2/ext.cpp by way of auto_gptq nn_modules/qlinear/qlinear_exllamav2.py, temp_fwd_size(2048, 8)
  {"exllama", NOTHING}, {"exllama ?v?1", NOTHING}, {"gemm", NOTHING}, {"gemv", NOTHING},
  -- what changes nothing
  -- of the trainer's evaluation between steps
  {"eval%a* batch[ =:]*(%d+)", number "eval_batch"}, {"per_device_eval_batch_size[ =:]*(%d+)", number "eval_batch"},
  {"no eval%a*", NOTHING}, {"eval off", NOTHING}, {"group[ _]by[ _]length", NOTHING}, {"lr[ =]?[%d.e-]+", NOTHING}, {"cosine", NOTHING}, {"warmup[ =]?[%d.]+", NOTHING},
  {"%d+ epochs?", NOTHING}, {"%d+ steps?", NOTHING}, {"max_steps[ =]?%d+", NOTHING}, {"step %d+", NOTHING}, {"after %d+ steps?", NOTHING}, {"seed[ =]?%d+", NOTHING}, {"wandb", NOTHING},
  {"colab", NOTHING}, {"linux", NOTHING}, {"accelerate", NOTHING}, {"single node", NOTHING}, {"one node", NOTHING}, {"nvlink", NOTHING}, {"pcie", NOTHING}, {"logging", NOTHING},
  {"warmup", NOTHING}, {"rslora", NOTHING}, {"tf32 on", NOTHING}, {"tf32", NOTHING}, {"completion[%- ]only loss", NOTHING}, {"completion[_ ]only[_ ]loss", NOTHING},
  {"assistant[_ ]only[_ ]loss", NOTHING}, {"bfd", NOTHING}, {"dataset", NOTHING}, {"peak over %d+ steps", NOTHING}, {"mean of %d+ runs", NOTHING}, {"fsdp_version[ =:]*(%d)", number "fsdp_number"}, {"bias[ =]none", NOTHING}, {"hf", NOTHING}, {"bf16", NOTHING},
}

vocabulary.other = {
  -- SRC: trl, SFTConfig.loss_type: head and loss of 256 tokens at a time up to 1.14, in tiles from 1.15 on
  {"chunked_nll", {loss = "chunked"}}, {"mlp in tiles of %d+", {unmodelled = "a feed-forward part in tiles"}},
  {"%-", NOTHING}, {"none", NOTHING}, {"loss[ _]parallel", NOTHING}, {"unfused", NOTHING}, {"flash%-attn 2", {attention = "flash_attention_2"}}, {"flash_attention_2", {attention = "flash_attention_2"}},
  {"flash%-attention 2", {attention = "flash_attention_2"}}, {"flash%-attention [34]", {attention = "flash_attention_2"}},   -- as many tensors
  {"sdpa", {attention = "sdpa"}}, {"eager attention", {attention = "math"}},
  {"reduce_bucket_size[ =:]*(%d+)", number "bucket"}, {"packed sequences", {packed = true}}, {"packed to max[_ ]?%a*", {packed = true}}, {"%?", NOTHING}, {"n/a", NOTHING}, {"fsdp %(full[_ ]shard%)", {parallel = "fsdp1"}},
  -- the flash kernel for texts one after the other, as many tensors. SRC: torch nn/attention/varlen.py, varlen_attn
  {"varlen attention", NOTHING},
  -- SRC: transformers masking_utils.py, _ignore_causal_mask_sdpa, and modeling_attn_mask_utils.py before: a mask of ones is dropped
  {"attention mask of ones", NOTHING}, {"padded", {mask = "padded"}}, {"compile of loss", {unmodelled = "compile of the loss alone"}},
  {"flex[ _%-]?attention", {flex = true}}, {"flex[ _%-]?attn", {flex = true}},
  {"step 1", {unmodelled = "the first step alone"}}, {"after 1 step", {unmodelled = "the first step alone"}}, {"first step", {unmodelled = "the first step alone"}},
  {"packing", {packed = true}}, {"packed", {packed = true}}, {"unpacked", {packed = false}},
  {"padding%-free", {padding_free = true}}, {"grad%-accum (%d+)", number "accumulation"},
  {"gradient accumulation (%d+)", number "accumulation"}, {"fsdp full shard", {parallel = "fsdp1"}},
  {"fsdp shard_grad_op", {parallel = "fsdp1", reshard = false}}, {"ddp", {parallel = "ddp"}}, {"fsdp1", {parallel = "fsdp1"}},
  {"fsdp2", {parallel = "fsdp2"}}, {"zero%-?(%d)", number "zero"}, {"deepspeed zero%-?(%d)", number "zero"},
  {"gradient checkpointing", {checkpointing = "block"}}, {"no gradient checkpointing", {checkpointing = "none"}}, {"compile", {compile = true}}, {"eager", {compile = false}},
  {"float8", {float8 = true}}, {"float8nocompile", {float8 = true, float8_scaling = "nocompile", compile = false}}, {"bf16", NOTHING},
  {"fsdp", {sharded = true}}, {"zero (%d)", number "zero"}, {"deepspeed zero (%d)", number "zero"}, {"deepspeed", NOTHING},
  {"sequence parallel", {sequence_parallel = true}}, {"ring attention", {sequence_divided = true}}, {"ulysses", {sequence_divided = true}},
  {"tensor parallel", {tensor_parallel = true}}, {"device_map", {spread_layers = true}}, {"auto", NOTHING},
  {"optimizer in bwd", {optimizer_in_backward = true}}, {"optimizer_in_bwd", {optimizer_in_backward = true}},
  {"cce", {loss = "cce"}}, {"cut cross[ -]entropy", {loss = "cce"}}, {"group_by_length", NOTHING},
  {"gradient_checkpointing", {checkpointing = "block"}}, {"torch.compile", {compile = true}}, {"fa2", {attention = "flash_attention_2"}},
  {"ac", {checkpointing = "block"}}, {"offload", {activation_offload = true}}, {"activation offload", {activation_offload = true}},
  {"expandable segments", {expandable = true}}, {"use_cache", {use_cache = true}}, {"keep logits", {keep_logits = "yes"}},
  {"keep logits to the end of the step", {keep_logits = "backward"}}, {"logits to the end of the step", {keep_logits = "backward"}},
  {"cpu offload", {offload_params = true}}, {"int8 kv cache", {cache = "int8"}}, {"liger", {kernels = "liger", fused_loss = true}},
  {"(q?lora) row used compile", function(which) return {compiled_row = which} end},
  {"longest sample (%d+)", number "longest"}, {"thunder", {compiler = "Lightning Thunder"}},
  -- data sets and stages of loading, which change nothing
  {"alpaca%-?2?k?", NOTHING}, {"alpaca%-cleaned", NOTHING}, {"dummy data", NOTHING}, {"c4", NOTHING}, {"wikitext", NOTHING},
  {"asynctp", NOTHING}, {"1f1b", {schedule = "1f1b"}}, {"interleaved 1f1b", {schedule = "interleaved"}},
  {"tatsu%-lab/alpaca", NOTHING}, {"wikitext%-?%d*", NOTHING}, {"guanaco", NOTHING}, {"openassistant[%w%-]*", NOTHING}, {"oasst%d*", NOTHING}, {"dolly[%w%-]*", NOTHING},
  {"ultrachat[%w_%-]*", NOTHING}, {"slimorca[%w%-]*", NOTHING}, {"openhermes[%w%-.]*", NOTHING}, {"gsm8k", NOTHING}, {"imdb", NOTHING}, {"samsum", NOTHING}, {"openwebtext", NOTHING},
  {"fineweb[%w%-]*", NOTHING}, {"slimpajama", NOTHING}, {"random tokens", NOTHING}, {"random data", NOTHING}, {"synthetic data", NOTHING}, {"synthetic", NOTHING}, {"dummy", NOTHING},
}

-- Adds to a list the words of another that it does not have.
local function join(list, more)
  for _, entry in ipairs(more) do list[#list + 1] = entry end
end

join(vocabulary.method, run)
join(vocabulary.other, run)
for _, entry in ipairs(vocabulary.optimizer) do
  local names_one = type(entry[2]) == "table" and (entry[2].optimizer or entry[2].adam)
  if names_one then join(vocabulary.method, {entry}) end
end
join(vocabulary.steps, vocabulary.method)

return vocabulary
