-- Figures of the RTX 4070 case. Bytes are integers; every figure says where it comes from.

-- Sources, each written once.
local replay = "the step's operations run on PyTorch's own dispatcher, autocast and autograd, every allocation recorded: nanoGPT, "
local config = "batch_size=16 block_size=512 n_layer=6 n_head=6 n_embd=384 vocab_size=50304 bias=False dtype=float16, fused AdamW, at least two micro-steps"
local user = "https://lzwjava.github.io/rtx-4070-vram-usage-en"
local compiled = "model of torch.compile (PyTorch 2.5 or newer), agrees with the one reported figure, not measured by us: "

local function step(changes) return replay .. config .. (changes and ", " .. changes or "") end

-- The shape of the run, for sizes that are products of it.
local B, T, C, L, H, V = 16, 512, 384, 6, 6, 50304
local tokens = B * T
local params = V * C + T * C + 12 * L * C * C + (2 * L + 1) * C
local logits = tokens * V

return {
  -- what the user saw
  process = reported(4464 * 2^20, "B", user),
  card_used = reported(6582 * 2^20, "B", user),
  card_shown = given(12282 * 2^20, "B"),
  card_nominal = given(12288 * 2^20, "B"),
  kept_back = computed(6 * 2^20, "B", "12288 MiB of chips less the 12282 MiB that the driver offers"),
  others = computed((6582 - 4464) * 2^20, "B", "card total less the process, both reported: " .. user),

  -- parameters and what belongs to each
  params = computed(params, "", "V*C + T*C + 12*L*C*C + (2*L + 1)*C from the config"),
  params_logged = computed(params - T * C, "", "parameters less the position table, as nanoGPT's log counts them"),
  decayed = computed(params - (2 * L + 1) * C, "", "tensors of two or more dimensions"),
  weights = computed(4 * params, "B", step()),
  gradients = computed(4 * params, "B", step()),
  moments = computed(8 * params, "B", step()),
  state = computed(16 * params, "B", step()),
  casts = computed(59867136, "B", step()),
  claimed_state = claimed(300e6, "B", "rule of thumb, 10 bytes a parameter: " .. user),
  claimed_weights = claimed(59.88e6, "B", "rule of thumb, 2 bytes a parameter: " .. user),

  -- activations
  block_activations = computed(700518508, "B", step()),
  per_layer = computed(36 * tokens * C, "B", "36 bytes for each token and channel of a layer: " .. step()),
  logit_count = computed(logits, "", "batch_size * block_size * vocab_size"),
  logits_half = computed(2 * logits, "B", step()),
  logprobs_half = computed(2 * logits, "B", step()),
  logprobs_full = computed(4 * logits, "B", step()),
  loss_gradient = computed(4 * logits, "B", step()),
  loss_total = computed(12 * logits, "B", step()),
  attention_matrix = claimed(B * H * T * T * 2, "B", "batch_size * n_head * block_size^2 * 2 bytes a layer: " .. user),
  attention_math = computed(7100418220 - 6187763980, "B", step("attention without SDPA, difference of the peaks")),
  claimed_activations = claimed(tokens * C * L * 160 * 2, "B", "rule of thumb, 160 values for each token, channel and layer: " .. user),
  claimed_24 = claimed(tokens * C * L * 24 * 2, "B", "rule of thumb, 24 values for each token, channel and layer: " .. user),

  -- peaks
  peak = computed(6187763980, "B", step()),
  allocated = computed(6204205568, "B", step("replayed through the caching allocator's rules")),
  reserved = computed(7547650048, "B", step("replayed through the caching allocator's rules")),
  compiled_peak = computed(3566 * 2^20, "B", compiled .. config),
  compiled_reserved = computed(4264 * 2^20, "B", compiled .. config),
  compiled_context = computed(200 * 2^20, "B", "4464 MiB reported less 4264 MiB computed; inferred, not measured"),
  eager_measured = measured("framework_step", {engine = "torch-eager", batch_size = 16, block_size = 512, n_embd = 384,
    n_layer = 6, vocab_size = 50304, dtype = "float16", gradient_accumulation_steps = 4, checkpointing = "none",
    loop = "train", value = "max_memory_allocated_bytes"}),
  compiled_measured = measured("framework_step", {engine = "torch-compile", batch_size = 16, block_size = 512,
    n_embd = 384, n_layer = 6, vocab_size = 50304, dtype = "float16", gradient_accumulation_steps = 4,
    checkpointing = "none", loop = "train", value = "max_memory_allocated_bytes"}),
  context_lazy = reported(287047680, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_high = reported(426 * 2^20, "B", "https://github.com/unslothai/unsloth-zoo/pull/1053"),

  -- ways below 4 GB, eager
  peak_b8 = computed(3364899084, "B", step("batch_size=8")),
  peak_t256 = computed(3363324172, "B", step("block_size=256")),
  peak_b8_t256 = computed(1951891724, "B", step("batch_size=8 block_size=256")),
  peak_checkpointing = computed(5560584364, "B", step("each block checkpointed")),
  peak_v256 = computed(943540488, "B", step("vocab_size=256")),
  peak_fp32 = computed(8310966532, "B", step("dtype=float32")),
  peak_bf16 = computed(6187763980, "B", step("dtype=bfloat16")),
  limit = given(4 * 10^9, "B"),

  -- the same peak by four rules, on seven configs (MiB): ours, x160, EleutherAI, accelerate, Megatron
  truth_1 = computed(6187763980, "B", step()),
  truth_2 = computed(17651847676, "B", replay .. "GPT-2 124M, batch 16, length 1024, float16"),
  truth_3 = computed(6090805756, "B", replay .. "GPT-2 124M, batch 4, length 1024, float16"),
  truth_4 = computed(7731073524, "B", replay .. "GPT-2 124M, batch 4, length 1024, float32"),
  truth_5 = computed(1694418952, "B", replay .. "shakespeare_char: batch 64, length 256, vocabulary 65, bfloat16, dropout 0.2"),
  truth_6 = computed(11931 * 2^20, "B", replay .. "GPT-2 medium, batch 4, length 1024, bfloat16; to the MiB"),
  truth_7 = computed(943540488, "B", step("vocab_size=256")),
  thumb_1 = claimed(6105 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_2 = claimed(47503 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_3 = claimed(12943 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_4 = claimed(12943 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_5 = claimed(11643 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_6 = claimed(34778 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  thumb_7 = claimed(5885 * 2^20, "B", "2P + 2P + 8*decayed + B*T*C*L*160*2: " .. user),
  eleuther_1 = claimed(2181 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_2 = claimed(19210 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_3 = claimed(6902 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_4 = claimed(7219 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_5 = claimed(2130 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_6 = claimed(17920 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  eleuther_7 = claimed(1526 * 2^20, "B", "EleutherAI cookbook, calc_transformer_mem.py"),
  accelerate_1 = claimed(230 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_2 = claimed(949 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_3 = claimed(949 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_4 = claimed(1898 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_5 = claimed(82 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_6 = claimed(2705 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  accelerate_7 = claimed(83 * 2^20, "B", "Hugging Face accelerate estimate-memory, by its formula"),
  megatron_1 = claimed(2713 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_2 = claimed(10222 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_3 = claimed(4147 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_4 = claimed(4147 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_5 = claimed(1441 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_6 = claimed(10140 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
  megatron_7 = claimed(819 * 2^20, "B", "Megatron-LM theoretical_memory_usage.py"),
}
