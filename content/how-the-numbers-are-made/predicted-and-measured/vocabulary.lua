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
  {"float8", {float8 = true}}, {"fp8", {quantized = "fp8"}}, {"rowwise", {float8_scaling = "rowwise"}},
  {"tensorwise", {float8_scaling = "tensorwise"}}, {"all%-gather", {float8_gather = true}},
  {"float8nocompile", {float8 = true, compile = false}}, {"compile", {compile = true}}, {"eager", {compile = false}},
  {"gptq%-int4", {quantized = "gptq"}}, {"gptq%-4bit", {quantized = "gptq"}}, {"gptq int4", {quantized = "gptq"}},
  {"gptq%-int8", {quantized = "gptq_int8"}}, {"gptq%-8bit", {quantized = "gptq_int8"}}, {"gptq int8", {quantized = "gptq_int8"}},
  {"awq", {quantized = "awq"}}, {"awq%-int4", {quantized = "awq"}}, {"awq int4", {quantized = "awq"}},
  {"bnb%-?int8", {quantized = "int8"}}, {"llm%.int8", {quantized = "int8"}}, {"bnb%-?nf4", {quantized = "nf4"}},
  {"nf4", {quantized = "nf4"}}, {"bnb%-?int4", {quantized = "nf4"}}, {"bnb 4%-bit", {quantized = "nf4"}}, {"bnb 8%-bit", {quantized = "int8"}},
}

vocabulary.method = {
  -- what is trained
  {"full", {trained = "all"}}, {"pre%-?train", {trained = "all"}}, {"pre%-?training", {trained = "all"}}, {"full[ %-]?fine%-?tun%a+", {trained = "all"}},
  {"fft", {trained = "all"}}, {"lora", {trained = "lora"}},
  {"qlora", {trained = "lora", quantized_adapters = true}}, {"q%-lora", {trained = "lora", quantized_adapters = true}},
  {"dora", {trained = "lora", dora = true}}, {"qdora", {trained = "lora", dora = true, quantized_adapters = true}},
  {"ia3", {trained = "ia3"}},
  {"rslora", NOTHING},   -- another factor, the same tensors
  -- other beginnings of the same two matrices. SRC: peft tuners/lora/layer.py, reset_lora_parameters and what it calls
  {"pissa", NOTHING}, {"olora", NOTHING}, {"loftq", NOTHING}, {"eva", NOTHING}, {"corda", NOTHING}, {"orthogonal", NOTHING},
  {"lora_?alpha[ =]?%d+", NOTHING}, {"alpha[ =]?%d+", NOTHING}, {"a=?%d+", NOTHING},
  -- what is learned from
  {"sft", NOTHING}, {"dpo", {trainer = "dpo"}},
  {"lora%-?fa", {trained = "lora", half_trained = "lora_fa"}}, {"mica", {trained = "lora", half_trained = "mica"}},
  -- ranks and what gets adapters
  {"r=?(%d+)", number "rank"}, {"rank[ =]?(%d+)", number "rank"}, {"lora_r[ =]?(%d+)", number "rank"},
  {"([%d,]+) trainable", number "trainable"},
  {"q_proj", target "q"}, {"k_proj", target "k"}, {"v_proj", target "v"}, {"o_proj", target "o"}, {"gate_proj", target "gate"},
  {"up_proj", target "up"}, {"down_proj", target "down"}, {"lm_head", target "head"}, {"embed_tokens", target "embed"},
  {"c_attn", target "c_attn"}, {"query_key_value", fused}, {"qkv_proj", fused}, {"wqkv", fused},
  {"out_proj", target "o"}, {"dense", target "o"}, {"dense_h_to_4h", target "up"}, {"dense_4h_to_h", target "down"}, {"c_proj", target "c_proj"}, {"w1", target "w1"}, {"w2", target "w2"},
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
  {"gptq int8", {quantized = "gptq_int8"}}, {"awq", {quantized = "awq"}},
  {"4%-?bit", {quantized = "nf4"}}, {"int4", {quantized = "nf4"}}, {"8%-?bit", {quantized = "int8"}},
  {"bnb%-?nf4", {quantized = "nf4"}}, {"bnb%-?int8", {quantized = "int8"}},
  -- kernels and preparation, in the brackets of fms-acceleration
  {"foak%-fast%-kernels", {kernels = "foak"}}, {"foak%-fast%-kernels%-liger", {kernels = "foak", fused_loss = true}},
  {"baseline%-peft%-bnb", {prepared = "peft"}},
  {"accelerated%-peft%-bnb", {prepared = "own"}}, {"accelerated%-peft%-bnb%-foak", {prepared = "own", kernels = "foak"}},
  {"accelerated%-peft%-bnb%-foak%-liger", {prepared = "own", kernels = "foak", fused_loss = true}},
  {"accelerated%-peft%-autogptq", {prepared = "own"}}, {"accelerated%-peft%-autogptq%-foak", {prepared = "own", kernels = "foak"}},
  {"accelerated%-peft%-autogptq%-foak%-liger", {prepared = "own", kernels = "foak", fused_loss = true}},
  {"liger", {kernels = "liger", fused_loss = true}}, {"unsloth", {kernels = "foak"}},
  {"fused lora kernels", {lora_kernels = "qkv+o+mlp"}},
  -- over several GPUs
  {"ddp", {parallel = "ddp"}}, {"fsdp", {parallel = "fsdp"}}, {"fsdp1", {parallel = "fsdp1"}}, {"deepspeed", NOTHING},
  {"fsdp(%d+)", number "fsdp_number"}, {"zero[ -]?(%d)", number "zero"}, {"deepspeed zero[ -]?(%d)", number "zero"},
  {"sequence parallel", {sequence_parallel = true}}, {"ring attention", {sequence_divided = true}}, {"ulysses", {sequence_divided = true}},
  {"sequence parallel (%d+)", number "cp"}, {"sp=?(%d+)", number "cp"}, {"padding%-free", {padding_free = true}},
  {"dp=?(%d+)", number "dp"}, {"tp=?(%d+)", number "tp"}, {"pp=?(%d+)", number "pp"}, {"cp=?(%d+)", number "cp"},
  {"ep=?(%d+)", number "ep"}, {"1f1b", {schedule = "1f1b"}}, {"interleaved 1f1b", {schedule = "interleaved"}},
  {"interleaved", {schedule = "interleaved"}}, {"gpipe", {schedule = "gpipe"}}, {"afab", {schedule = "gpipe"}},
  {"asynctp", NOTHING}, {"1d", NOTHING}, {"2d", NOTHING}, {"3d", NOTHING}, {"4d", NOTHING},
  {"cpu offload", {offload_params = true}}, {"tensor parallel", {tensor_parallel = true}},
  {"sequential layers", {spread_layers = true}},
  -- optimizers and compilers that a method names
  {"optimizer in bwd", {optimizer_in_backward = true}}, {"optimizer_in_bwd", {optimizer_in_backward = true}},
  {"paged 8%-bit", {optimizer = "adamw_8bit_paged"}}, {"paged adamw", {optimizer = "adamw_paged"}},
  {"compile", {compile = true}}, {"eager", {compile = false}},
  -- one change after the other
  {"baseline", {ladder = "baseline"}}, {"baseline unpacked", {ladder = "baseline"}}, {"packed", {ladder = "packed"}},
  {"packed dataset", {ladder = "packed"}}, {"activation checkpointing", {ladder = "checkpointing"}},
  {"chunked cross entropy", {ladder = "chunked"}}, {"chunked ce", {ladder = "chunked"}},
  {"activation offloading", {ladder = "offloading"}}, {"fuse optimizer step into backward", {ladder = "in_backward"}},
  {"optimizer step in backward", {ladder = "in_backward"}}, {"8%-bit adamw", {ladder = "adamw_8bit"}},
  -- generation
  {"generate", NOTHING}, {"generate (%d+) after input", number "new_tokens"}, {"generate (%d+)", number "new_tokens"},
  -- words that change nothing
  {"finetun%a+", NOTHING}, {"fine%-tun%a+", NOTHING}, {"training", NOTHING}, {"with", NOTHING}, {"on", NOTHING},
  {"%d+ gpus?", NOTHING}, {"multiple gpus", NOTHING}, {"none", NOTHING}, {"no", NOTHING}, {"single device", NOTHING},
  {"distributed", NOTHING}, {"bf16", NOTHING}, {"llama%-3%.2%-3b", NOTHING}, {"default", NOTHING}, {"lr_[%d.e-]+", NOTHING},
  {"lr[%d.e-]+", NOTHING},
}

vocabulary.checkpointing = {
  -- SRC: unsloth_zoo gradient_checkpointing.py: the inputs are in the host's memory
  {"unsloth", {checkpointing = "block", activation_offload = "inputs"}},
  {"none", {checkpointing = "none"}}, {"no", {checkpointing = "none"}}, {"off", {checkpointing = "none"}}, {"%-", NOTHING},
  {"block", {checkpointing = "block"}}, {"full", {checkpointing = "block"}}, {"yes", {checkpointing = "block"}},
  {"hf gradient_checkpointing", {checkpointing = "block"}}, {"gradient_checkpointing", {checkpointing = "block"}},
  {"fsdp block", {checkpointing = "block"}}, {"reentrant", {reentrant = true}}, {"non%-reentrant", {reentrant = false}},
  {"not reentrant", {reentrant = false}}, {"use_reentrant=true", {reentrant = true}}, {"use_reentrant=false", {reentrant = false}},
  {"selective", {checkpointing = "selective"}}, {"op", NOTHING}, {"per%-op", NOTHING},
  {"every (%d+)%a%a layer", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"every (%d+) layers?", function(n) return {checkpointing = "every", every = math.tointeger(tonumber(n))} end},
  {"see method", NOTHING}, {"%?", {checkpointing_unsaid = true}}, {"unknown", {checkpointing_unsaid = true}},
}

vocabulary.optimizer = {
  {"%-", NOTHING}, {"%?", NOTHING}, {"see method", NOTHING},
  {"adamw", {adam = true}}, {"adam", {adam = true}}, {"torch adamw", {optimizer = "adamw_torch"}},
  {"adamw_torch", {optimizer = "adamw_torch"}}, {"adamw_hf", {optimizer = "adamw_hf"}}, {"pytorch adamw", {optimizer = "adamw_torch"}},
  {"torch adamw %(foreach%)", {optimizer = "adamw_foreach"}}, {"adamw %(foreach%)", {optimizer = "adamw_foreach"}},
  {"adam %(foreach%)", {optimizer = "adamw_foreach"}}, {"adamw foreach", {optimizer = "adamw_foreach"}},
  {"adamw fused", {optimizer = "adamw_fused"}}, {"adamw_torch_fused", {optimizer = "adamw_fused"}},
  {"fused adamw", {optimizer = "adamw_fused"}}, {"fusedadam", {optimizer = "adamw_fused"}}, {"adamw%(fused%)", {optimizer = "adamw_fused"}}, {"pytorch fused", {optimizer = "adamw_fused"}},
  {"adamw ?8%-?bit", {optimizer = "adamw_8bit"}}, {"adam ?8%-?bit", {optimizer = "adamw_8bit"}}, {"8%-bit adamw", {optimizer = "adamw_8bit"}},
  {"adamw_8bit", {optimizer = "adamw_8bit"}}, {"adamw_bnb_8bit", {optimizer = "adamw_8bit"}}, {"bnb 8%-bit", {optimizer = "adamw_8bit"}},
  {"paged_adamw_8bit", {optimizer = "adamw_8bit_paged"}}, {"pagedadamw8bit", {optimizer = "adamw_8bit_paged"}},
  {"paged 8%-bit", {optimizer = "adamw_8bit_paged"}}, {"paged_adamw_32bit", {optimizer = "adamw_paged"}},
  {"paged_adamw", {optimizer = "adamw_paged"}}, {"pagedadamw", {optimizer = "adamw_paged"}}, {"paged adamw", {optimizer = "adamw_paged"}},
  {"adamw_torch_8bit", {optimizer = "adamw_torchao_8bit"}}, {"adamw_torch_4bit", {optimizer = "adamw_torchao_4bit"}},
  {"ao 8%-bit", {optimizer = "adamw_torchao_8bit"}}, {"ao 4%-bit", {optimizer = "adamw_torchao_4bit"}},
  {"sgd", {optimizer = "sgd"}}, {"sgd momentum", {optimizer = "sgd_momentum"}}, {"adafactor", {optimizer = "adafactor"}},
  {"lion", {optimizer = "lion"}}, {"lion_32bit", {optimizer = "lion"}}, {"lion[ _]?8%-?bit", {optimizer = "lion_8bit"}}, {"muon", {optimizer = "muon"}},
  {"paged[ _]lion", {optimizer = "lion_paged"}}, {"paged[ _]lion[ _]32bit", {optimizer = "lion_paged"}}, {"paged[ _]lion[ _]?8%-?bit", {optimizer = "lion_8bit_paged"}},
  {"ademamix", {optimizer = "ademamix"}}, {"ademamix[ _]?8%-?bit", {optimizer = "ademamix_8bit"}}, {"rmsprop", {optimizer = "rmsprop"}}, {"adagrad", {optimizer = "adagrad"}},
  {"offloaded to the cpu", {offload_optimizer = true}},
  {"lora%-fa", {optimizer = "adamw_hf", half_trained = "lora_fa"}},   -- SRC: peft optimizers/lorafa.py, "based on adamw-hf"
}

vocabulary.other = {
  {"%-", NOTHING}, {"unfused", NOTHING}, {"flash%-attn 2", {attention = "flash_attention_2"}}, {"flash_attention_2", {attention = "flash_attention_2"}},
  {"flash%-attention 2", {attention = "flash_attention_2"}}, {"flash%-attention [34]", {attention = "flash_attention_2"}},   -- as many tensors
  {"sdpa", {attention = "sdpa"}}, {"eager attention", {attention = "math"}},
  {"packing", {packed = true}}, {"packed", {packed = true}}, {"unpacked", {packed = false}},
  {"padding%-free", {padding_free = true}}, {"grad%-accum (%d+)", number "accumulation"},
  {"gradient accumulation (%d+)", number "accumulation"}, {"fsdp full shard", {parallel = "fsdp1"}},
  {"fsdp shard_grad_op", {parallel = "fsdp1", reshard = false}}, {"ddp", {parallel = "ddp"}}, {"fsdp1", {parallel = "fsdp1"}},
  {"fsdp2", {parallel = "fsdp2"}}, {"zero%-?(%d)", number "zero"}, {"deepspeed zero%-?(%d)", number "zero"},
  {"gradient checkpointing", {checkpointing = "block"}}, {"no gradient checkpointing", {checkpointing = "none"}}, {"compile", {compile = true}}, {"eager", {compile = false}},
  {"float8", {float8 = true}}, {"float8nocompile", {float8 = true, compile = false}}, {"bf16", NOTHING},
  {"fsdp", {parallel = "fsdp"}}, {"zero (%d)", number "zero"}, {"deepspeed zero (%d)", number "zero"}, {"deepspeed", NOTHING},
  {"sequence parallel", {sequence_parallel = true}}, {"ring attention", {sequence_divided = true}}, {"ulysses", {sequence_divided = true}},
  {"tensor parallel", {tensor_parallel = true}}, {"device_map", {spread_layers = true}}, {"auto", NOTHING},
  {"optimizer in bwd", {optimizer_in_backward = true}}, {"optimizer_in_bwd", {optimizer_in_backward = true}},
  {"cce", {loss = "cce"}}, {"cut cross[ -]entropy", {loss = "cce"}}, {"group_by_length", NOTHING}, {"grad[_ -]clip %d[%d.]*", NOTHING},
  {"gradient_checkpointing", {checkpointing = "block"}}, {"torch.compile", {compile = true}}, {"fa2", {attention = "flash_attention_2"}},
  {"ac", {checkpointing = "block"}}, {"offload", {activation_offload = true}}, {"activation offload", {activation_offload = true}},
  {"expandable segments", {expandable = true}}, {"use_cache", {use_cache = true}}, {"keep logits", {keep_logits = "yes"}},
  {"cpu offload", {offload_params = true}}, {"int8 kv cache", {cache = "int8"}}, {"liger", {kernels = "liger", fused_loss = true}},
  {"(q?lora) row used compile", function(which) return {compiled_row = which} end},
  {"longest sample (%d+)", number "longest"}, {"thunder", {compiler = "Lightning Thunder"}},
  -- data sets and stages of loading, which change nothing
  {"alpaca%-?2?k?", NOTHING}, {"alpaca%-cleaned", NOTHING}, {"dummy data", NOTHING}, {"c4", NOTHING}, {"wikitext", NOTHING},
  {"asynctp", NOTHING}, {"1f1b", {schedule = "1f1b"}}, {"interleaved 1f1b", {schedule = "interleaved"}},
}

return vocabulary
