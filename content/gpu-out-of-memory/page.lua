-- Figures of the out-of-memory case: GPT-2 124M on a card with 12 GB.

local replay = "the step's operations run on PyTorch's own dispatcher, autocast and autograd, every allocation recorded: nanoGPT, "
local config = "block_size=1024 n_layer=12 n_head=12 n_embd=768 vocab_size=50304 bias=False dtype=float16, fused AdamW, at least two micro-steps, "
local closed = "closed form of the peak, equal to the recorded step on every config where both exist: nanoGPT, "
local compiled = "model of torch.compile (PyTorch 2.5 or newer), not measured by us: "
local user = "https://lzwjava.github.io/gpu-memory-fix-en"

local B, T, C, L, V = 16, 1024, 768, 12, 50304
local tokens = B * T
local params = V * C + T * C + 12 * L * C * C + (2 * L + 1) * C
local logits = tokens * V

-- A peak measured in PyTorch, or "not measured yet".
local function framework(engine, batch, changes)
  local want = {engine = engine, batch_size = batch, block_size = 1024, n_layer = 12, n_embd = 768, dtype = "float16",
    checkpointing = "none", loop = "train", value = "max_memory_allocated_bytes"}
  for key, value in pairs(changes or {}) do want[key] = value end
  return measured("framework_step", want)
end

return {
  card = given(12282 * 2^20, "B"),
  context_low = reported(287047680, "B", "https://github.com/pytorch/pytorch/pull/86509"),
  context_high = reported(426 * 2^20, "B", "https://github.com/unslothai/unsloth-zoo/pull/1053"),
  params = computed(params, "", "V*C + T*C + 12*L*C*C + (2*L + 1)*C from the config"),
  weights = computed(4 * params, "B", replay .. config .. "batch_size=16"),
  gradients = computed(4 * params, "B", replay .. config .. "batch_size=16"),
  moments = computed(8 * params, "B", replay .. config .. "batch_size=16"),
  state = computed(16 * params, "B", replay .. config .. "batch_size=16"),
  casts = computed(247136256, "B", replay .. config .. "batch_size=16"),
  blocks = computed(5524299980, "B", replay .. config .. "batch_size=16"),
  loss = computed(12 * logits, "B", replay .. config .. "batch_size=16"),
  tokens = computed(tokens, "", "batch_size * block_size"),
  claimed_activations_low = claimed(9e9, "B", "rule of thumb, activations of one micro-batch: " .. user),
  claimed_activations_high = claimed(11e9, "B", "rule of thumb, activations of one micro-batch: " .. user),
  activations = computed(5524299980 + 12 * logits, "B", "blocks and loss together: " .. config .. "batch_size=16"),

  eager_16 = computed(17651847676, "B", replay .. config .. "batch_size=16"),
  eager_8 = computed(9944486396, "B", replay .. config .. "batch_size=8"),
  eager_4 = computed(6090805756, "B", replay .. config .. "batch_size=4"),
  eager_2 = computed(4163965436, "B", closed .. config .. "batch_size=2"),
  eager_l9 = computed(15907467652, "B", closed .. config .. "batch_size=16 n_layer=9"),
  eager_c512 = computed(14726152700, "B", closed .. config .. "batch_size=16 n_embd=512 n_head=8"),
  eager_checkpointing = computed(12637557052, "B", replay .. config .. "batch_size=16, each block checkpointed"),
  reserved_16 = computed(19612565504, "B", "the recorded step replayed through the caching allocator's rules: " .. config .. "batch_size=16"),
  compiled_16 = computed(12148 * 2^20, "B", compiled .. config .. "batch_size=16"),
  compiled_8 = computed(7174 * 2^20, "B", compiled .. config .. "batch_size=8"),
  compiled_8_reserved = computed(7368 * 2^20, "B", compiled .. config .. "batch_size=8"),
  measured_16 = framework("torch-compile", 16),
  measured_8 = framework("torch-compile", 8),
  measured_8_eager = framework("torch-eager", 8),
  throughput_8 = measured("framework_step", {engine = "torch-compile", batch_size = 8, block_size = 1024, n_layer = 12,
    n_embd = 768, dtype = "float16", checkpointing = "none", loop = "train", value = "tokens_per_s"}),

  half_logits = computed(2 * logits, "B", "batch_size * block_size * vocab_size * 2 bytes"),
  full_logits = computed(4 * logits, "B", "batch_size * block_size * vocab_size * 4 bytes"),
  message_size = reported(786 * 2^20, "B", "https://github.com/karpathy/nanoGPT/issues/61"),
  message_tensor = computed(8 * 1024 * 50304 * 2, "B", "8 * 1024 * 50304 * 2 bytes: the fp16 logits of batch 8, length 1024"),
}
