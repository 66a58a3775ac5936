-- Which configuration a model's name stands for.
--
-- A name is compared without its maker, blanks, dashes and case, and without what says how it was trained or packed: Instruct,
-- chat, GPTQ. What the library has as a preset is named so; the others are written out, each with the file that they are from; a
-- name that is in neither list is asked of the library, which knows names of the Hub.
local models = {}

local HUB = "https://huggingface.co/"

local presets = {
  ["tinyllama-1.1b"] = {"tinyllama1.1b", "tinyllama"},
  ["llama-2-7b"] = {"llama27b", "vicuna7b", "vicuna7bv1.5", "stablebeluga7b", "llamaguard7b", "noushermesllama27b", "yarnllama27b64k", "yarnllama27b128k"}, ["llama-2-13b"] = {"llama213b", "vicuna13b", "vicuna13bv1.5", "stablebeluga13b", "wizardlm13bv1.2"}, ["llama-2-70b"] = {"llama270b", "stablebeluga2"},
  ["llama-3-8b"] = {"llama38b"}, ["llama-3.1-8b"] = {"llama3.18b", "llamaguard38b", "llama3.1nemotronnano8bv1"},
  ["llama-3.1-70b"] = {"llama3.170b", "llama3.370b", "llama370b"},
  ["llama-3.1-405b"] = {"llama3.1405b"}, ["yi-6b"] = {"yi6b"}, ["yi-34b"] = {"yi34b", "yi34b200k"},
  ["llama-3.2-1b"] = {"llama3.21b"}, ["llama-3.2-3b"] = {"llama3.23b"},
  ["smollm2-135m"] = {"smollm2135m"}, ["smollm2-360m"] = {"smollm2360m"}, ["smollm2-1.7b"] = {"smollm21.7b"},
  ["mistral-7b"] = {"mistral7b", "zephyr7balpha", "zephyr7bbeta", "zephyr7bsftfull", "zephyrsft", "zephyr7bsft", "neuralchat7bv31", "neuralchat7bv3", "notus7bv1"}, ["mistral-7b-v0.3"] = {"mistral7bv0.3"}, ["mixtral-8x22b"] = {"mixtral8x22b"}, ["mixtral-8x7b"] = {"mixtral8x7b"},
  ["qwen2-0.5b"] = {"qwen20.5b"}, ["qwen2-1.5b"] = {"qwen21.5b"}, ["qwen2-7b"] = {"qwen27b"},
  ["qwen2.5-0.5b"] = {"qwen2.50.5b"}, ["qwen2.5-1.5b"] = {"qwen2.51.5b"}, ["qwen2.5-3b"] = {"qwen2.53b"},
  ["qwen2.5-7b"] = {"qwen2.57b"}, ["qwen2.5-14b"] = {"qwen2.514b"}, ["qwen2.5-32b"] = {"qwen2.532b"},
  ["qwen2.5-72b"] = {"qwen2.572b", "qwen272b"},
  ["qwen3-0.6b"] = {"qwen30.6b"}, ["qwen3-1.7b"] = {"qwen31.7b"}, ["qwen3-4b"] = {"qwen34b", "planoorchestrator4b"}, ["qwen3-8b"] = {"qwen38b"},
  ["qwen3-14b"] = {"qwen314b"}, ["qwen3-32b"] = {"qwen332b"}, ["qwen3-30b-a3b"] = {"qwen330ba3b"}, ["qwen3-235b-a22b"] = {"qwen3235ba22b"},
  ["phi-1.5"] = {"phi1.5", "phi15", "phi1"}, ["phi-2"] = {"phi2"},
  ["falcon-7b"] = {"falcon7b"}, ["falcon-40b"] = {"falcon40b"},
  ["stablelm-base-alpha-3b"] = {"stablelmbasealpha3b", "stablelmalpha3b", "stablelmtunedalpha3b"},
  ["gemma-2b"] = {"gemma2b", "gemma12b", "gemma1.12b"}, ["gemma-7b"] = {"gemma7b", "gemma17b", "gemma1.17b", "zephyr7bgemma"},
  ["gemma-2-2b"] = {"gemma22b"}, ["gemma-2-9b"] = {"gemma29b"}, ["gemma-2-27b"] = {"gemma227b"}, ["gemma-3-1b"] = {"gemma31b"},
  ["pythia-70m"] = {"pythia70m"}, ["pythia-160m"] = {"pythia160m"}, ["pythia-410m"] = {"pythia410m"}, ["pythia-1b"] = {"pythia1b"},
  ["pythia-1.4b"] = {"pythia1.4b"}, ["pythia-2.8b"] = {"pythia2.8b"}, ["pythia-6.9b"] = {"pythia6.9b"},
  ["pythia-12b"] = {"pythia12b"}, ["gpt-neox-20b"] = {"gptneox20b"}, ["smollm3-3b"] = {"smollm3"}, ["codellama-7b"] = {"codellama27b"}, ["codellama-13b"] = {"codellama213b"},
  ["deepseek-v3"] = {"deepseekv3671b"}, ["deepseek-v2-lite"] = {"deepseekv2lite", "deepseekv216b"},
  ["bert-base-uncased"] = {"bertbase"}, ["bert-large-uncased"] = {"bertlarge"},
  ["hf-gpt2"] = {"gpt2", "gpt2small", "gpt2124m"}, ["hf-gpt2-medium"] = {"gpt2medium", "gpt2345m", "gpt2355m", "dialogptmedium"}, ["hf-gpt2-large"] = {"gpt2large", "gpt2774m"},
  ["hf-gpt2-xl"] = {"gpt2xl", "gpt21.5b", "gpt2xl1.5b"},
}

-- {names, fields, file}
local written_out = {
  {{"codellama34b"}, "family=llama n_layer=48 n_head=64 n_kv_head=8 n_embd=8192 n_inner=22016 vocab_size=32000 block_size=16384 tie_embeddings=0",
    HUB .. "codellama/CodeLlama-34b-hf"},
  {{"openllama3b", "openllama3bv2"}, "family=llama n_layer=26 n_head=32 n_embd=3200 n_inner=8640 vocab_size=32000 block_size=2048 tie_embeddings=0",
    HUB .. "openlm-research/open_llama_3b"},
  {{"openllama7b", "llama7b", "llama17b", "vicuna7bv1.3", "guanaco7b"}, "family=llama n_layer=32 n_head=32 n_embd=4096 n_inner=11008 vocab_size=32000 block_size=2048 tie_embeddings=0",
    HUB .. "openlm-research/open_llama_7b"},
  -- The first Qwen has its own code on the hub; its layers have Qwen2's shapes: biases on q, k, v, no grouped heads, SwiGLU of
  -- half the width that its file names.
  {{"qwen1.8b"}, "family=qwen2 n_layer=24 n_head=16 n_embd=2048 n_inner=5504 vocab_size=151936 block_size=8192 tie_embeddings=0",
    HUB .. "Qwen/Qwen-1_8B"},
  {{"qwen7b"}, "family=qwen2 n_layer=32 n_head=32 n_embd=4096 n_inner=11008 vocab_size=151936 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen-7B"},
  {{"qwen14b"}, "family=qwen2 n_layer=40 n_head=40 n_embd=5120 n_inner=13696 vocab_size=152064 block_size=8192 tie_embeddings=0",
    HUB .. "Qwen/Qwen-14B"},
  {{"qwen72b"}, "family=qwen2 n_layer=80 n_head=64 n_embd=8192 n_inner=24576 vocab_size=152064 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen-72B"},
  {{"qwen1.50.5b"}, "family=qwen2 n_layer=24 n_head=16 n_embd=1024 n_inner=2816 vocab_size=151936 block_size=32768 tie_embeddings=1",
    HUB .. "Qwen/Qwen1.5-0.5B"},
  {{"qwen1.51.8b"}, "family=qwen2 n_layer=24 n_head=16 n_embd=2048 n_inner=5504 vocab_size=151936 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-1.8B"},
  {{"qwen1.54b"}, "family=qwen2 n_layer=40 n_head=20 n_embd=2560 n_inner=6912 vocab_size=151936 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-4B"},
  {{"qwen1.57b"}, "family=qwen2 n_layer=32 n_head=32 n_embd=4096 n_inner=11008 vocab_size=151936 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-7B"},
  {{"qwen1.514b"}, "family=qwen2 n_layer=40 n_head=40 n_embd=5120 n_inner=13696 vocab_size=152064 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-14B"},
  {{"deepseekcoder33b"}, "family=llama n_layer=62 n_head=56 n_kv_head=8 n_embd=7168 n_inner=19200 vocab_size=32256 block_size=16384 tie_embeddings=0",
    HUB .. "deepseek-ai/deepseek-coder-33b-base"},
  {{"stablelmbasealpha7b", "stablelmalpha7b", "stablelmtunedalpha7b"}, "family=gpt_neox n_layer=16 n_head=48 n_embd=6144 n_inner=24576 vocab_size=50432 block_size=4096 tie_embeddings=0",
    HUB .. "stabilityai/stablelm-base-alpha-7b"},
  {{"gptbigcodesantacoder", "santacoder"}, "family=gpt_bigcode n_layer=24 n_head=16 n_kv_head=1 n_embd=2048 n_inner=8192 vocab_size=49280 block_size=2048 tie_embeddings=1 bias=1 dropout=0.1",
    HUB .. "bigcode/gpt_bigcode-santacoder"},
  {{"octocoder", "starcoder", "starcoderbase", "starcoder15b", "starcoder15.5b"}, "family=gpt_bigcode n_layer=40 n_head=48 n_kv_head=1 n_embd=6144 n_inner=24576 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "bigcode/octocoder"},
  {{"starcoder23b"}, "family=starcoder2 n_layer=30 n_head=24 n_kv_head=2 n_embd=3072 n_inner=12288 vocab_size=49152 block_size=16384 tie_embeddings=1 bias=1",
    HUB .. "bigcode/starcoder2-3b"},
  {{"phi3mini4k", "phi3mini128k", "phi3mini", "phi3"}, "family=phi3 n_layer=32 n_head=32 n_embd=3072 n_inner=8192 vocab_size=32064 block_size=4096 tie_embeddings=0",
    HUB .. "microsoft/Phi-3-mini-4k-instruct"},
  {{"powerlm3b"}, "family=granite n_layer=40 n_head=36 n_embd=2304 n_inner=9216 vocab_size=49152 block_size=4096 tie_embeddings=1",
    HUB .. "ibm/PowerLM-3b"},
  {{"granite3.02b", "granite3.12b", "granite3.22b"}, "family=granite n_layer=40 n_head=32 n_kv_head=8 n_embd=2048 n_inner=8192 vocab_size=49155 block_size=4096 tie_embeddings=1",
    HUB .. "ibm-granite/granite-3.0-2b-base"},
  {{"granite3.08b", "granite3.18b", "granite3.28b"}, "family=granite n_layer=40 n_head=32 n_kv_head=8 n_embd=4096 n_inner=12800 vocab_size=49155 block_size=4096 tie_embeddings=1",
    HUB .. "ibm-granite/granite-3.0-8b-base"},
  {{"olmo21b", "olmo204251b"}, "family=olmo2 n_layer=16 n_head=16 n_embd=2048 n_inner=8192 vocab_size=100352 block_size=4096 tie_embeddings=0",
    HUB .. "allenai/OLMo-2-0425-1B"},
  {{"olmo27b", "olmo211247b"}, "family=olmo2 n_layer=32 n_head=32 n_embd=4096 n_inner=11008 vocab_size=100352 block_size=4096 tie_embeddings=0",
    HUB .. "allenai/OLMo-2-1124-7B"},
  {{"starcoder27b"}, "family=starcoder2 n_layer=32 n_head=36 n_kv_head=4 n_embd=4608 n_inner=18432 vocab_size=49152 block_size=16384 tie_embeddings=1 bias=1",
    HUB .. "bigcode/starcoder2-7b"},
  {{"starcoder215b"}, "family=starcoder2 n_layer=40 n_head=48 n_kv_head=4 n_embd=6144 n_inner=24576 vocab_size=49152 block_size=16384 tie_embeddings=0 bias=1",
    HUB .. "bigcode/starcoder2-15b"},
  {{"starcoderbase1b"}, "family=gpt_bigcode n_layer=24 n_head=16 n_kv_head=1 n_embd=2048 n_inner=8192 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "bigcode/starcoderbase-1b"},
  {{"solar10.7b"}, "family=llama n_layer=48 n_head=32 n_kv_head=8 n_embd=4096 n_inner=14336 vocab_size=32000 block_size=4096 tie_embeddings=0",
    HUB .. "upstage/SOLAR-10.7B-v1.0"},
  {{"deepseekr1distillqwen1.5b"}, "family=qwen2 n_layer=28 n_head=12 n_kv_head=2 n_embd=1536 n_inner=8960 vocab_size=151936 block_size=131072 tie_embeddings=0",
    HUB .. "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"},
  {{"openhermes2mistral7b", "openhermes2.5mistral7b"}, "family=mistral n_layer=32 n_head=32 n_kv_head=8 n_embd=4096 n_inner=14336 vocab_size=32002 block_size=32768 tie_embeddings=0",
    HUB .. "teknium/OpenHermes-2.5-Mistral-7B"},
  {{"qwen1.532b"}, "family=qwen2 n_layer=64 n_head=40 n_kv_head=8 n_embd=5120 n_inner=27392 vocab_size=152064 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-32B"},
  {{"qwen1.572b"}, "family=qwen2 n_layer=80 n_head=64 n_embd=8192 n_inner=24576 vocab_size=152064 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-72B"},
  {{"qwen1.5110b"}, "family=qwen2 n_layer=80 n_head=64 n_kv_head=8 n_embd=8192 n_inner=49152 vocab_size=152064 block_size=32768 tie_embeddings=0",
    HUB .. "Qwen/Qwen1.5-110B"},
  {{"qwen257ba14b"}, "family=qwen2_moe n_layer=28 n_head=28 n_kv_head=4 n_embd=3584 n_inner=18944 vocab_size=151936 block_size=32768 tie_embeddings=0 n_expert=64 n_expert_active=8 expert_inner=2560 n_shared_experts=8",
    HUB .. "Qwen/Qwen2-57B-A14B-Instruct"},
  {{"llama30b", "llama33b", "guanaco33b", "vicuna33b", "vicuna33bv1.3"}, "family=llama n_layer=60 n_head=52 n_embd=6656 n_inner=17920 vocab_size=32000 block_size=2048 tie_embeddings=0",
    HUB .. "huggyllama/llama-30b"},
  {{"llama13b", "llama113b", "vicuna13bv1.3", "guanaco13b"}, "family=llama n_layer=40 n_head=40 n_embd=5120 n_inner=13824 vocab_size=32000 block_size=2048 tie_embeddings=0",
    HUB .. "huggyllama/llama-13b"},
  {{"llama65b", "guanaco65b"}, "family=llama n_layer=80 n_head=64 n_embd=8192 n_inner=22016 vocab_size=32000 block_size=2048 tie_embeddings=0",
    HUB .. "huggyllama/llama-65b"},
  {{"deepseekllm7b", "deepseekmath7b"}, "family=llama n_layer=30 n_head=32 n_embd=4096 n_inner=11008 vocab_size=102400 block_size=4096 tie_embeddings=0",
    HUB .. "deepseek-ai/deepseek-llm-7b-base"},
  {{"deepseekcoder1.3b"}, "family=llama n_layer=24 n_head=16 n_embd=2048 n_inner=5504 vocab_size=32256 block_size=16384 tie_embeddings=0",
    HUB .. "deepseek-ai/deepseek-coder-1.3b-base"},
  {{"deepseekcoder6.7b"}, "family=llama n_layer=32 n_head=32 n_embd=4096 n_inner=11008 vocab_size=32256 block_size=16384 tie_embeddings=0",
    HUB .. "deepseek-ai/deepseek-coder-6.7b-base"},
  {{"mistralsmall24b2501", "mistralsmall24b", "magistralsmall2506", "devstralsmall2505", "devstralsmall2507"}, "family=mistral n_layer=40 n_head=32 n_kv_head=8 head_dim=128 n_embd=5120 n_inner=32768 vocab_size=131072 block_size=32768 tie_embeddings=0",
    HUB .. "mistralai/Mistral-Small-24B-Base-2501"},
  {{"codestral22bv0.1", "codestral22b", "mistralsmall2409", "mistralsmall22b"}, "family=mistral n_layer=56 n_head=48 n_kv_head=8 n_embd=6144 n_inner=16384 vocab_size=32768 block_size=32768 tie_embeddings=0",
    HUB .. "mistralai/Codestral-22B-v0.1"},
  {{"yi9b", "yi1.59b", "yicoder9b"}, "family=llama n_layer=48 n_head=32 n_kv_head=4 n_embd=4096 n_inner=11008 vocab_size=64000 block_size=4096 tie_embeddings=0",
    HUB .. "01-ai/Yi-9B"},
  {{"phi3medium4k", "phi3medium128k", "phi3medium"}, "family=phi3 n_layer=40 n_head=40 n_kv_head=10 n_embd=5120 n_inner=17920 vocab_size=32064 block_size=4096 tie_embeddings=0",
    HUB .. "microsoft/Phi-3-medium-4k-instruct"},
  {{"gemma3270m"}, "family=gemma3 n_layer=18 n_head=4 n_kv_head=1 n_embd=640 n_inner=2048 vocab_size=262144 block_size=32768 head_dim=256 sliding_window=512 sliding_window_pattern=6",
    HUB .. "google/gemma-3-270m"},
  {{"starcoderbase3b"}, "family=gpt_bigcode n_layer=36 n_head=22 n_kv_head=1 n_embd=2816 n_inner=11264 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "bigcode/starcoderbase-3b"},
  {{"starcoderbase7b"}, "family=gpt_bigcode n_layer=42 n_head=32 n_kv_head=1 n_embd=4096 n_inner=16384 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "bigcode/starcoderbase-7b"},
  {{"granite3bcode", "granite3bcodebase128k", "granite3bcodebase2k"}, "family=llama n_layer=32 n_head=32 n_embd=2560 n_inner=10240 vocab_size=49152 block_size=2048 tie_embeddings=1 bias=1",
    HUB .. "ibm-granite/granite-3b-code-base-2k"},
  {{"granite8bcode", "granite8bcodebase4k", "granite8bcodebase128k"}, "family=llama n_layer=36 n_head=32 n_kv_head=8 n_embd=4096 n_inner=14336 vocab_size=49152 block_size=4096 tie_embeddings=1 bias=1",
    HUB .. "ibm-granite/granite-8b-code-base-4k"},
  {{"granite20bcode"}, "family=gpt_bigcode n_layer=52 n_head=48 n_kv_head=1 n_embd=6144 n_inner=24576 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "ibm-granite/granite-20b-code-base-8k"},
  {{"granite34bcode"}, "family=gpt_bigcode n_layer=88 n_head=48 n_kv_head=1 n_embd=6144 n_inner=24576 vocab_size=49152 block_size=8192 tie_embeddings=1 bias=1",
    HUB .. "ibm-granite/granite-34b-code-base-8k"},
  {{"dollyv23b"}, "preset=pythia-2.8b vocab_size=50280", HUB .. "databricks/dolly-v2-3b"},
  {{"dollyv27b"}, "preset=pythia-6.9b vocab_size=50280", HUB .. "databricks/dolly-v2-7b"},
  {{"dollyv212b"}, "preset=pythia-12b vocab_size=50280", HUB .. "databricks/dolly-v2-12b"},
  {{"distilgpt2"}, "preset=hf-gpt2 n_layer=6", HUB .. "distilbert/distilgpt2"},
  {{"bertbasecased"}, "preset=bert-base-uncased vocab_size=28996", HUB .. "google-bert/bert-base-cased"},
  {{"bertlargecased"}, "preset=bert-large-uncased vocab_size=28996", HUB .. "google-bert/bert-large-cased"},
  {{"bertbasemultilingualcased"}, "preset=bert-base-uncased vocab_size=119547", HUB .. "google-bert/bert-base-multilingual-cased"},
  {{"distilrobertabase", "distilroberta"}, "preset=roberta-base n_layer=6", HUB .. "distilbert/distilroberta-base"},
  {{"deepseekllm67b"}, "family=llama n_layer=95 n_head=64 n_kv_head=8 n_embd=8192 n_inner=22016 vocab_size=102400 block_size=4096 tie_embeddings=0",
    HUB .. "deepseek-ai/deepseek-llm-67b-base"},
  {{"mistrallarge2407", "mistrallarge2411", "mistrallarge123b"}, "family=mistral n_layer=88 n_head=96 n_kv_head=8 head_dim=128 n_embd=12288 n_inner=28672 vocab_size=32768 block_size=131072 tie_embeddings=0",
    HUB .. "mistralai/Mistral-Large-Instruct-2407"},
  {{"ministral8b2410", "ministral8b"}, "family=mistral n_layer=36 n_head=32 n_kv_head=8 head_dim=128 n_embd=4096 n_inner=12288 vocab_size=131072 block_size=32768 tie_embeddings=0",
    HUB .. "mistralai/Ministral-8B-Instruct-2410"},
  {{"openchat3.5", "openchat3.50106", "dolphin2.1mistral7b", "starlinglm7balpha", "noushermes2mistral7bdpo"}, "family=mistral n_layer=32 n_head=32 n_kv_head=8 n_embd=4096 n_inner=14336 vocab_size=32002 block_size=8192 tie_embeddings=0",
    HUB .. "openchat/openchat_3.5"},
  {{"codeqwen1.57b"}, "family=qwen2 n_layer=32 n_head=32 n_kv_head=4 n_embd=4096 n_inner=13440 vocab_size=92416 block_size=65536 tie_embeddings=0",
    HUB .. "Qwen/CodeQwen1.5-7B"},
  {{"olmo232b", "olmo2032532b"}, "family=olmo2 n_layer=64 n_head=40 n_kv_head=8 n_embd=5120 n_inner=27648 vocab_size=100352 block_size=4096 tie_embeddings=0",
    HUB .. "allenai/OLMo-2-0325-32B"},
  {{"granite3.01ba400m", "granite3.11ba400m"}, "family=granitemoe n_layer=24 n_head=16 n_kv_head=8 n_embd=1024 n_inner=512 vocab_size=49155 block_size=4096 n_expert=32 n_expert_active=8",
    HUB .. "ibm-granite/granite-3.0-1b-a400m-base"},
  {{"powermoe3b"}, "family=granitemoe n_layer=32 n_head=24 n_kv_head=8 n_embd=1536 n_inner=512 vocab_size=49152 block_size=4096 n_expert=40 n_expert_active=8",
    HUB .. "ibm/PowerMoE-3b"},
  {{"granite3.03ba800m", "granite3.13ba800m"}, "family=granitemoe n_layer=32 n_head=24 n_kv_head=8 n_embd=1536 n_inner=512 vocab_size=49155 block_size=4096 n_expert=40 n_expert_active=8",
    HUB .. "ibm-granite/granite-3.0-3b-a800m-base"},
}

-- Instruct's own file has fewer positions.
local qwen2_instructs = {["qwen20.5binstruct"] = "qwen2-0.5b", ["qwen21.5binstruct"] = "qwen2-1.5b", ["qwen27binstruct"] = "qwen2-7b",
  ["qwen272binstruct"] = "qwen2.5-72b"}

-- What a name says beyond the shape, at its end: all are tried until none is left.
local endings = {"hf", "unsloth", "gptq", "gptqint4", "gptqint8", "int4", "int8", "awq", "awqgemm", "awqgemv", "fp8", "fp16", "bf16", "base", "it", "pt", "class", "v0.1", "v0.2", "v1.0",
  "intermediatestep1431k3t", "bnb4bit", "bnb8bit", "4bit", "8bit", "4bits", "8bits"}
local beginnings = {"meta", "unsloth", "test"}
local anywhere = {"instruct", "chat"}

local by_name = {}
for preset, names in pairs(presets) do
  for _, name in ipairs(names) do by_name[name] = "preset=" .. preset end
end
for name, preset in pairs(qwen2_instructs) do by_name[name] = ("preset=%s block_size=32768"):format(preset) end
for _, entry in ipairs(written_out) do
  for _, name in ipairs(entry[1]) do by_name[name] = entry[2] end
end

-- The longest ending first: "4bit" ends with "it".
table.sort(endings, function(a, b) return #a > #b end)

local function shorter(name)
  for _, part in ipairs(endings) do
    if #name > #part and name:sub(-#part) == part then return name:sub(1, -#part - 1) end
  end
  for _, part in ipairs(beginnings) do
    if #name > #part and name:sub(1, #part) == part then return name:sub(#part + 1) end
  end
end

-- "Llama-shaped 8B (V 131072, MHA, n_layer=32 n_embd=4096 ...)": the fields are there themselves.
local function shaped(name)
  local family, inside = name:lower():match("^(%a[%w_]*)%-shaped[^(]*%((.*)%)$")
  if not family then return nil end
  local words, heads = {"family=" .. family}, inside:match("n_head=(%d+)")
  local groups = inside:match("gqa (%d+)")
  for part in inside:gmatch("[%w_]+=[%w.]+") do words[#words + 1] = part end
  local vocabulary = inside:match("%f[%w]v (%d+)")
  if vocabulary then words[#words + 1] = "vocab_size=" .. vocabulary end
  if groups then words[#words + 1] = "n_kv_head=" .. groups end
  if not heads or not vocabulary or not (groups or inside:find("mha", 1, true)) then return nil end
  return table.concat(words, " ")
end

-- As one of the Hub's names, which the library resolves; in small letters, as rules compare them.
local function of_library(cell)
  local name = cell:lower():gsub("^.*/", ""):gsub("^meta%-", ""):gsub("[()]", ""):gsub("%s+", "-")
  if not name:find("^[%w._-]+$") then return nil end
  return pcall(vram.config, "preset=" .. name) and "preset=" .. name or nil
end

-- The fields of a model as words, or nil and a sentence.
function models.find(cell)
  local fields = shaped(cell)
  if fields then return fields end
  local name = cell:lower():gsub("^.*/", ""):gsub("[%s_:()%-]+", "")
  if by_name[name] then return by_name[name] end
  for _, part in ipairs(anywhere) do name = name:gsub(part, "") end
  while name do
    if by_name[name] then return by_name[name] end
    name = shorter(name)
  end
  fields = of_library(cell)
  if fields then return fields end
  return nil, ("unknown model '%s'"):format(cell)
end

-- Every configuration that a name can stand for, for a test: {name, fields, address}.
function models.each()
  local list = {}
  for _, entry in ipairs(written_out) do
    list[#list + 1] = {name = entry[1][1], fields = entry[2], address = entry[3] .. "/blob/main/config.json"}
  end
  return list
end

return models
