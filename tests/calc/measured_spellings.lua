-- Tests cells of other rows and other spellings in a row. Prints "ok" or "not ok" lines.
local rules = require "measured_row"

local says, refuses = rules.says, rules.refuses

for cell, length in pairs{["8k"] = 8192, ["1.5k"] = 1536, ["2^13"] = 8192, ["16,384"] = 16384, ["len 2048"] = 2048, ["8k context"] = 8192, ["1 M"] = 1 << 20} do
  says("sequences of '" .. cell .. "'", {seq = cell}, "seq_len=" .. length)
end
for cell, batch in pairs{["bs=4"] = 4, ["mbs 2"] = 2, ["1 (micro)"] = 1, ["micro-batch size 8"] = 8, ["2 per GPU"] = 2, ["2^3"] = 8} do
  says("a batch of '" .. cell .. "'", {batch = cell}, "batch_size=" .. batch)
end
for cell, cards in pairs{["8xH100"] = 8, ["8 x A100"] = 8, ["2x8"] = 16, ["2 nodes x 8"] = 16, ["n=4"] = 4, ["16 (2 nodes)"] = 16} do
  says("cards: '" .. cell .. "'", {n_gpu = cell, other = "FSDP full shard", method = "full FSDP"}, "parallel=fsdp1 n_gpu=" .. cards)
  says("cards of a source's own: '" .. cell .. "'", {n_gpu = cell, group = "fms-acceleration/a100_80gb", other = "FSDP full shard"}, "n_gpu=" .. cards)
end
refuses("no cards", {n_gpu = "0"}, "unknown n_gpu '0'")
refuses("no batch", {batch = "0", group = "litgpt/resource-tables"}, "the batch is not said: batch '0'")
says("the length of a source's row is its own", {group = "fms-acceleration/a100_80gb", model = "bigcode/gpt_bigcode-santacoder", seq = "512"}, "seq_len=512")
says("generation says that it is compiled", {task = "inference", method = "generate 32 after input", other = "torch.compile"}, "compile=true")
says("a file's layers are not those of the row", {group = "litgpt/config_hub", method = "lora r32 q,v", model = "tiny-llama"}, "lora_targets=q+v lora_rank=32")
says("sequences a step are of all cards", {group = "litgpt/config_hub", n_gpu = "4", batch = "4"}, "gradient_accumulation_steps=4")
says("a run takes as many cards as its file names", {group = "litgpt/config_hub", n_gpu = "4", method = "lora", batch = "2", checkpointing = "FSDP block"},
  "gradient_accumulation_steps=4", "parallel n_gpu")
says("its file may name two of four", {group = "litgpt/config_hub", n_gpu = "4", model = "stablelm-base-alpha-3b", batch = "1"},
  "parallel=fsdp1 n_gpu=2 checkpointing=block gradient_accumulation_steps=4")
local titan = {group = "torchtitan/pr 1", framework = "torch 2.5.0.dev20240605, torchtitan", method = "FSDP2", other = "reshard_after_forward never", n_gpu = "8"}
says("torchtitan of June 2024", titan, "keep_logits=yes reshard_after_forward=false", "expandable_segments")
titan.framework = "torch 2024-11-05, torchtitan"
says("torchtitan of November 2024", titan, "expandable_segments=true", "keep_logits")
says("attention of 2023", {framework = "transformers 4.35.2"}, "attention=math")
says("attention since", {framework = "transformers 4.36.0"}, "transformers=4.36", "attention")
says("files without groups", {model = "TheBloke/LLaMa-65B-GPTQ", precision = "GPTQ-4bit", task = "inference"}, "quantization_group=0")
says("FSDP said twice", {method = "full FSDP", other = "FSDP full shard", n_gpu = "2"}, "parallel=fsdp1 n_gpu=2")
for model, wanted in pairs{["starcoderbase-7b"] = "n_layer=42", ["dolly-v2-12b"] = "preset=pythia-12b vocab_size=50280", distilgpt2 = "n_layer=6", ["qwen3:8b"] = "preset=qwen3-8b"} do
  says(model, {model = model}, wanted)
end

os.exit(rules.good())
