"""The families with their real widths; the depth is the case's."""

# SRC: each model's config.json on the Hub; the comment names it.
WIDTHS = {
    # openai-community/gpt2
    "gpt2": dict(model_type="gpt2", vocab_size=50257, n_positions=1024, n_embd=768, n_head=12),
    # meta-llama/Llama-3.1-8B
    "llama": dict(model_type="llama", vocab_size=128256, hidden_size=4096, intermediate_size=14336,
                  num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=131072,
                  rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=False),
    # meta-llama/Llama-3.2-1B
    "llama1b": dict(model_type="llama", vocab_size=128256, hidden_size=2048, intermediate_size=8192,
                    num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=131072,
                    rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True),
    # Qwen/Qwen2.5-0.5B
    "qwen2": dict(model_type="qwen2", vocab_size=151936, hidden_size=896, intermediate_size=4864,
                  num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768,
                  tie_word_embeddings=True),
    # Qwen/Qwen3-0.6B
    "qwen3": dict(model_type="qwen3", vocab_size=151936, hidden_size=1024, intermediate_size=3072,
                  num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
                  tie_word_embeddings=True),
    # Qwen/Qwen3-4B
    "qwen3_4b": dict(model_type="qwen3", vocab_size=151936, hidden_size=2560, intermediate_size=9728,
                     num_attention_heads=32, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
                     tie_word_embeddings=True),
    # Qwen/Qwen3-8B
    "qwen3_8b": dict(model_type="qwen3", vocab_size=151936, hidden_size=4096, intermediate_size=12288,
                     num_attention_heads=32, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
                     tie_word_embeddings=False),
    # mistralai/Mistral-7B-v0.1
    "mistral": dict(model_type="mistral", vocab_size=32000, hidden_size=4096, intermediate_size=14336,
                    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=32768,
                    sliding_window=4096, tie_word_embeddings=False),
    # google/gemma-2b
    "gemma": dict(model_type="gemma", vocab_size=256000, hidden_size=2048, intermediate_size=16384,
                  num_attention_heads=8, num_key_value_heads=1, head_dim=256, max_position_embeddings=8192,
                  tie_word_embeddings=True),
    # google/gemma-2-2b
    "gemma2": dict(model_type="gemma2", vocab_size=256000, hidden_size=2304, intermediate_size=9216,
                   num_attention_heads=8, num_key_value_heads=4, head_dim=256, max_position_embeddings=8192,
                   sliding_window=4096, tie_word_embeddings=True),
    # google/gemma-3-1b-pt
    "gemma3": dict(model_type="gemma3_text", vocab_size=262144, hidden_size=1152, intermediate_size=6912,
                   num_attention_heads=4, num_key_value_heads=1, head_dim=256, max_position_embeddings=32768,
                   sliding_window=512, tie_word_embeddings=True),
    # microsoft/Phi-3-mini-4k-instruct
    "phi3": dict(model_type="phi3", vocab_size=32064, hidden_size=3072, intermediate_size=8192,
                 num_attention_heads=32, num_key_value_heads=32, max_position_embeddings=4096,
                 pad_token_id=32000, tie_word_embeddings=False),
    # allenai/OLMo-2-0425-1B
    "olmo2": dict(model_type="olmo2", vocab_size=100352, hidden_size=2048, intermediate_size=8192,
                  num_attention_heads=16, num_key_value_heads=16, max_position_embeddings=4096,
                  tie_word_embeddings=False),
    # ibm-granite/granite-3.1-2b-base
    "granite": dict(model_type="granite", vocab_size=49152, hidden_size=2048, intermediate_size=8192,
                    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=131072,
                    embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22,
                    attention_multiplier=0.015625, tie_word_embeddings=True),
    # LGAI-EXAONE/EXAONE-4.0-1.2B, whose layers all see everything
    "exaone4": dict(model_type="exaone4", vocab_size=102400, hidden_size=2048, intermediate_size=4096,
                    num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=65536,
                    sliding_window=None, tie_word_embeddings=True),
    # the same with the windows of EXAONE-4.0-32B, longer and shorter than a case's sequence
    "exaone32": dict(model_type="exaone4", vocab_size=102400, hidden_size=2048, intermediate_size=4096,
                     num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=65536,
                     sliding_window=4096, sliding_window_pattern=4, tie_word_embeddings=True),
    "exaone32w": dict(model_type="exaone4", vocab_size=102400, hidden_size=2048, intermediate_size=4096,
                      num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=65536,
                      sliding_window=512, sliding_window_pattern=4, tie_word_embeddings=True),
    # mistralai/Ministral-3-8B-Base-2512
    "ministral3": dict(model_type="ministral3", vocab_size=131072, hidden_size=4096, intermediate_size=14336,
                       num_attention_heads=32, num_key_value_heads=8, head_dim=128, max_position_embeddings=262144,
                       tie_word_embeddings=False),
    # THUDM/GLM-4-9B-0414
    "glm4": dict(model_type="glm4", vocab_size=151552, hidden_size=4096, intermediate_size=13696,
                 num_attention_heads=32, num_key_value_heads=2, head_dim=128, max_position_embeddings=32768,
                 partial_rotary_factor=0.5, attention_bias=True, pad_token_id=151329, tie_word_embeddings=False),
    # HuggingFaceTB/SmolLM3-3B
    "smollm3": dict(model_type="smollm3", vocab_size=128256, hidden_size=2048, intermediate_size=11008,
                    num_attention_heads=16, num_key_value_heads=4, max_position_embeddings=65536,
                    tie_word_embeddings=True),
    # bigcode/gpt_bigcode-santacoder
    "gpt_bigcode": dict(model_type="gpt_bigcode", vocab_size=49280, n_positions=2048, n_embd=2048, n_head=16,
                        n_inner=8192, multi_query=True, tie_word_embeddings=True),
    # tiiuae/falcon-7b
    "falcon": dict(model_type="falcon", vocab_size=65024, hidden_size=4544, num_attention_heads=71,
                   multi_query=True, parallel_attn=True, bias=False, new_decoder_architecture=False, alibi=False),
    # tiiuae/falcon-11B
    "falcon11": dict(model_type="falcon", vocab_size=65024, hidden_size=4096, num_attention_heads=32, num_kv_heads=8,
                     ffn_hidden_size=16384, parallel_attn=True, bias=False, new_decoder_architecture=True,
                     num_ln_in_parallel_attn=1, alibi=False),
    # tiiuae/falcon-40b
    "falcon40": dict(model_type="falcon", vocab_size=65024, hidden_size=8192, num_attention_heads=128, num_kv_heads=8,
                     parallel_attn=True, bias=False, new_decoder_architecture=True, alibi=False),
    # bigcode/starcoder2-3b
    "starcoder2": dict(model_type="starcoder2", vocab_size=49152, hidden_size=3072, intermediate_size=12288,
                       num_attention_heads=24, num_key_value_heads=2, max_position_embeddings=16384,
                       sliding_window=4096, use_bias=True, tie_word_embeddings=True),
    # mistralai/Mixtral-8x7B-v0.1
    "mixtral": dict(model_type="mixtral", vocab_size=32000, hidden_size=4096, intermediate_size=14336,
                    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=32768,
                    num_local_experts=8, num_experts_per_tok=2, tie_word_embeddings=False),
    # Qwen/Qwen3-30B-A3B
    "qwen3_moe": dict(model_type="qwen3_moe", vocab_size=151936, hidden_size=2048, intermediate_size=6144,
                      moe_intermediate_size=768, num_attention_heads=32, num_key_value_heads=4, head_dim=128,
                      num_experts=128, num_experts_per_tok=8, norm_topk_prob=True, max_position_embeddings=40960,
                      tie_word_embeddings=False),
    # JetBrains/Mellum2-12B-A2.5B-Base by MellumConfig's defaults, with 16 experts for 64
    "mellum": dict(model_type="mellum", vocab_size=98304, hidden_size=2304, intermediate_size=7168, num_attention_heads=32,
                   num_key_value_heads=4, head_dim=128, moe_intermediate_size=896, num_local_experts=16, num_experts_per_tok=8,
                   sliding_window=512, max_position_embeddings=131072, tie_word_embeddings=False),
    # the same with windows shorter than a sequence in three layers of four
    "mellum_windows": dict(model_type="mellum", vocab_size=98304, hidden_size=2304, intermediate_size=7168, num_attention_heads=32,
                           num_key_value_heads=4, head_dim=128, moe_intermediate_size=896, num_local_experts=16,
                           num_experts_per_tok=8, sliding_window=512, max_position_embeddings=131072, tie_word_embeddings=False,
                           layer_types=["sliding_attention"] * 3 + ["full_attention"]),
    # openai/gpt-oss-20b
    "gpt_oss": dict(model_type="gpt_oss", vocab_size=201088, hidden_size=2880, intermediate_size=2880,
                    num_attention_heads=64, num_key_value_heads=8, head_dim=64, num_local_experts=32,
                    num_experts_per_tok=4, sliding_window=128, max_position_embeddings=131072,
                    tie_word_embeddings=False),
    # deepseek-ai/DeepSeek-V3, with 16 experts for 256 and no dense layers
    "deepseek_v3": dict(model_type="deepseek_v3", vocab_size=129280, hidden_size=7168, intermediate_size=18432,
                        moe_intermediate_size=2048, num_attention_heads=128, num_key_value_heads=128,
                        n_routed_experts=16, num_experts_per_tok=8, n_shared_experts=1, n_group=4, topk_group=2,
                        q_lora_rank=1536, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128,
                        v_head_dim=128, first_k_dense_replace=0, max_position_embeddings=163840,
                        tie_word_embeddings=False),
    # moonshotai/Moonlight-16B-A3B
    "moonlight": dict(model_type="deepseek_v3", vocab_size=163840, hidden_size=2048, intermediate_size=11264,
                      moe_intermediate_size=1408, num_attention_heads=16, num_key_value_heads=16,
                      n_routed_experts=64, num_experts_per_tok=6, n_shared_experts=2, n_group=1, topk_group=1,
                      q_lora_rank=None, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128,
                      v_head_dim=128, first_k_dense_replace=1, max_position_embeddings=8192,
                      tie_word_embeddings=False),
    # google-bert/bert-base-uncased
    "bert": dict(model_type="bert", vocab_size=30522, hidden_size=768, intermediate_size=3072,
                 num_attention_heads=12, max_position_embeddings=512),
    # EleutherAI/pythia-1b
    "gpt_neox": dict(model_type="gpt_neox", vocab_size=50304, hidden_size=2048, intermediate_size=8192,
                     num_attention_heads=8, max_position_embeddings=2048, rotary_pct=0.25,
                     tie_word_embeddings=False),
    # microsoft/phi-1_5
    "phi": dict(model_type="phi", vocab_size=51200, hidden_size=2048, intermediate_size=8192, num_attention_heads=32,
                max_position_embeddings=2048, partial_rotary_factor=0.5, tie_word_embeddings=False),
    # stabilityai/stablelm-2-1_6b
    "stablelm": dict(model_type="stablelm", vocab_size=100352, hidden_size=2048, intermediate_size=5632,
                     num_attention_heads=32, num_key_value_heads=32, max_position_embeddings=4096, use_qkv_bias=True,
                     partial_rotary_factor=0.25, tie_word_embeddings=False),
    # ByteDance-Seed/Seed-OSS-36B-Instruct
    "seed_oss": dict(model_type="seed_oss", vocab_size=155136, hidden_size=5120, intermediate_size=27648,
                     num_attention_heads=80, num_key_value_heads=8, head_dim=128, max_position_embeddings=524288,
                     attention_bias=True, attention_out_bias=False, attention_dropout=0.1, residual_dropout=0.1,
                     tie_word_embeddings=False),
    # Qwen/Qwen1.5-MoE-A2.7B
    "qwen2_moe": dict(model_type="qwen2_moe", vocab_size=151936, hidden_size=2048, intermediate_size=5632,
                      moe_intermediate_size=1408, shared_expert_intermediate_size=5632, num_attention_heads=16,
                      num_key_value_heads=16, num_experts=60, num_experts_per_tok=4, norm_topk_prob=False,
                      max_position_embeddings=8192, tie_word_embeddings=False),
    # allenai/OLMoE-1B-7B-0924
    "olmoe": dict(model_type="olmoe", vocab_size=50304, hidden_size=2048, intermediate_size=1024,
                  num_attention_heads=16, num_key_value_heads=16, num_experts=64, num_experts_per_tok=8,
                  norm_topk_prob=False, max_position_embeddings=4096, tie_word_embeddings=False),
    # zai-org/GLM-4.5-Air, with 32 experts for 128
    "glm4_moe": dict(model_type="glm4_moe", vocab_size=151552, hidden_size=4096, intermediate_size=10944,
                     moe_intermediate_size=1408, num_attention_heads=96, num_key_value_heads=8, head_dim=128,
                     n_routed_experts=32, num_experts_per_tok=8, n_shared_experts=1, n_group=1, topk_group=1,
                     first_k_dense_replace=1, attention_bias=True, use_qk_norm=False, partial_rotary_factor=0.5,
                     max_position_embeddings=131072, tie_word_embeddings=False),
    # zai-org/GLM-4.5, with 32 experts for 160 and one dense layer for 3
    "glm45": dict(model_type="glm4_moe", vocab_size=151552, hidden_size=5120, intermediate_size=12288,
                  moe_intermediate_size=1536, num_attention_heads=96, num_key_value_heads=8, head_dim=128,
                  n_routed_experts=32, num_experts_per_tok=8, n_shared_experts=1, n_group=1, topk_group=1,
                  first_k_dense_replace=1, attention_bias=True, use_qk_norm=True, partial_rotary_factor=0.5,
                  max_position_embeddings=131072, tie_word_embeddings=False),
    # facebook/opt-1.3b
    "opt": dict(model_type="opt", vocab_size=50272, hidden_size=2048, ffn_dim=8192, num_attention_heads=32,
                max_position_embeddings=2048, word_embed_proj_dim=2048, dropout=0.1, tie_word_embeddings=True),
    # bigscience/bloom-1b7
    "bloom": dict(model_type="bloom", vocab_size=250880, hidden_size=2048, n_head=16, tie_word_embeddings=True),
    # CohereForAI/aya-23-8B
    "cohere": dict(model_type="cohere", vocab_size=256000, hidden_size=4096, intermediate_size=14336,
                   num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, logit_scale=0.0625,
                   use_qk_norm=False, tie_word_embeddings=True),
    # CohereForAI/c4ai-command-r7b-12-2024
    "cohere2": dict(model_type="cohere2", vocab_size=256000, hidden_size=4096, intermediate_size=14336,
                    num_attention_heads=32, num_key_value_heads=8, head_dim=128, max_position_embeddings=132096,
                    logit_scale=0.25, sliding_window=4096, sliding_window_pattern=4, tie_word_embeddings=True),
    # meta-llama/Llama-3.2-1B with the biases that a config.json may ask for
    "llama_bias": dict(model_type="llama", vocab_size=128256, hidden_size=2048, intermediate_size=8192,
                       num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=131072,
                       attention_bias=True, tie_word_embeddings=True),
    # deepseek-ai/DeepSeek-V2-Lite
    "deepseek_v2": dict(model_type="deepseek_v2", vocab_size=102400, hidden_size=2048, intermediate_size=10944,
                        moe_intermediate_size=1408, num_attention_heads=16, num_key_value_heads=16,
                        n_routed_experts=64, num_experts_per_tok=6, n_shared_experts=2, n_group=1, topk_group=1,
                        topk_method="greedy", q_lora_rank=None, kv_lora_rank=512, qk_rope_head_dim=64,
                        qk_nope_head_dim=128, v_head_dim=128, first_k_dense_replace=1,
                        max_position_embeddings=163840, tie_word_embeddings=False),
    # deepseek-ai/DeepSeek-V2, with 16 experts for 160, in 4 groups for 8
    "deepseek_v2_groups": dict(model_type="deepseek_v2", vocab_size=102400, hidden_size=5120, intermediate_size=12288,
                               moe_intermediate_size=1536, num_attention_heads=128, num_key_value_heads=128,
                               n_routed_experts=16, num_experts_per_tok=6, n_shared_experts=2, n_group=4, topk_group=3,
                               topk_method="group_limited_greedy", routed_scaling_factor=16.0, q_lora_rank=1536,
                               kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128,
                               first_k_dense_replace=1, max_position_embeddings=163840, tie_word_embeddings=False),
    # tencent/Hunyuan-1.8B-Instruct
    "hunyuan_v1_dense": dict(model_type="hunyuan_v1_dense", vocab_size=120818, hidden_size=2048, intermediate_size=6144,
                             num_attention_heads=16, num_key_value_heads=4, head_dim=128,
                             max_position_embeddings=262144, tie_word_embeddings=True),
    # baidu/ERNIE-4.5-0.3B-PT
    "ernie4_5": dict(model_type="ernie4_5", vocab_size=103424, hidden_size=1024, intermediate_size=3072,
                     num_attention_heads=16, num_key_value_heads=2, head_dim=128, max_position_embeddings=131072,
                     use_bias=False, tie_word_embeddings=True),
    # kyutai/helium-1-preview-2b
    "helium": dict(model_type="helium", vocab_size=48000, hidden_size=2560, intermediate_size=7040,
                   num_attention_heads=20, num_key_value_heads=20, head_dim=128, max_position_embeddings=4096,
                   tie_word_embeddings=False),
    # arcee-ai/AFM-4.5B
    "arcee": dict(model_type="arcee", vocab_size=128004, hidden_size=2560, intermediate_size=18432,
                  num_attention_heads=20, num_key_value_heads=4, head_dim=128, max_position_embeddings=65536,
                  tie_word_embeddings=False),
    # ibm-granite/granite-3.1-1b-a400m-base
    "granitemoe": dict(model_type="granitemoe", vocab_size=49155, hidden_size=1024, intermediate_size=512,
                       num_attention_heads=16, num_key_value_heads=8, num_local_experts=32, num_experts_per_tok=8,
                       max_position_embeddings=131072, embedding_multiplier=12.0, logits_scaling=6.0,
                       residual_multiplier=0.22, attention_multiplier=0.015625, tie_word_embeddings=True),
    # meta-llama/Llama-4-Scout-17B-16E, its language model, with 4 experts for 16 and 32,000 words
    "llama4": dict(model_type="llama4_text", vocab_size=32000, hidden_size=5120, intermediate_size=8192,
                   intermediate_size_mlp=16384, num_attention_heads=40, num_key_value_heads=8, head_dim=128,
                   num_local_experts=4, num_experts_per_tok=1, interleave_moe_layer_step=1, use_qk_norm=True,
                   attention_chunk_size=8192, max_position_embeddings=10485760, tie_word_embeddings=False),
    # facebook/opt-350m
    "opt_late": dict(model_type="opt", vocab_size=50272, hidden_size=1024, ffn_dim=4096, num_attention_heads=16,
                     max_position_embeddings=2048, word_embed_proj_dim=512, do_layer_norm_before=False, dropout=0.1,
                     tie_word_embeddings=True),
    # CohereForAI/c4ai-command-r-plus, with the widths of Aya 23 8B
    "cohere_norm": dict(model_type="cohere", vocab_size=256000, hidden_size=4096, intermediate_size=14336,
                        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, logit_scale=0.0625,
                        use_qk_norm=True, tie_word_embeddings=True),
    # meta-llama/Llama-4-Maverick-17B-128E, its language model, with 4 experts for 128 and 32,000 words
    "llama4_every": dict(model_type="llama4_text", vocab_size=32000, hidden_size=5120, intermediate_size=8192,
                         intermediate_size_mlp=16384, num_attention_heads=40, num_key_value_heads=8, head_dim=128,
                         num_local_experts=4, num_experts_per_tok=1, interleave_moe_layer_step=2, use_qk_norm=False,
                         attention_chunk_size=8192, max_position_embeddings=1048576, tie_word_embeddings=False),
    # swiss-ai/Apertus-8B-2509
    "apertus": dict(model_type="apertus", vocab_size=131072, hidden_size=4096, intermediate_size=21504,
                    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=65536, hidden_act="xielu",
                    tie_word_embeddings=False),
    # EleutherAI/gpt-neo-1.3B
    "gpt_neo": dict(model_type="gpt_neo", vocab_size=50257, hidden_size=2048, num_heads=16, max_position_embeddings=2048,
                    window_size=256, tie_word_embeddings=True),
    # EleutherAI/gpt-j-6b
    "gptj": dict(model_type="gptj", vocab_size=50400, n_embd=4096, n_head=16, n_positions=2048, rotary_dim=64,
                 tie_word_embeddings=False),
    # Salesforce/codegen-2B-mono
    "codegen": dict(model_type="codegen", vocab_size=51200, n_embd=2560, n_head=32, n_positions=2048, n_ctx=2048,
                    rotary_dim=64, tie_word_embeddings=False),
    # mosaicml/mpt-7b
    "mpt": dict(model_type="mpt", vocab_size=50432, d_model=4096, n_heads=32, max_seq_len=2048, tie_word_embeddings=True),
    # microsoft/Phi-3.5-MoE-instruct
    "phimoe": dict(model_type="phimoe", vocab_size=32064, hidden_size=4096, intermediate_size=6400,
                   num_attention_heads=32, num_key_value_heads=8, num_local_experts=16, num_experts_per_tok=2,
                   attention_bias=True, lm_head_bias=True, max_position_embeddings=131072, input_jitter_noise=0.01,
                   router_jitter_noise=0.01, tie_word_embeddings=False),
    # Qwen/Qwen3.5-9B, its language model, with 32,000 words
    "qwen3_5": dict(model_type="qwen3_5_text", vocab_size=32000, hidden_size=4096, intermediate_size=12288,
                    num_attention_heads=16, num_key_value_heads=4, head_dim=256, linear_key_head_dim=128,
                    linear_value_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=32,
                    linear_conv_kernel_dim=4, max_position_embeddings=262144, tie_word_embeddings=False),
    # Qwen/Qwen3.5-0.8B, its language model, with 32,000 words: as many heads of keys as of values
    "qwen3_5_even": dict(model_type="qwen3_5_text", vocab_size=32000, hidden_size=1024, intermediate_size=3584,
                         num_attention_heads=8, num_key_value_heads=2, head_dim=256, linear_key_head_dim=128,
                         linear_value_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=16,
                         linear_conv_kernel_dim=4, max_position_embeddings=262144, tie_word_embeddings=True),
    # Qwen/Qwen3.5-35B-A3B, its language model, with 32 experts for 256 and 32,000 words
    "qwen3_5_moe": dict(model_type="qwen3_5_moe_text", vocab_size=32000, hidden_size=2048, moe_intermediate_size=512,
                        shared_expert_intermediate_size=512, num_experts=32, num_experts_per_tok=8,
                        num_attention_heads=16, num_key_value_heads=2, head_dim=256, linear_key_head_dim=128,
                        linear_value_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=32,
                        linear_conv_kernel_dim=4, max_position_embeddings=262144, tie_word_embeddings=False),
    # Qwen/Qwen3-Next-80B-A3B-Instruct, with 32 experts for 512 and 32,000 words
    "qwen3_next": dict(model_type="qwen3_next", vocab_size=32000, hidden_size=2048, intermediate_size=5120,
                       moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts=32,
                       num_experts_per_tok=10, num_attention_heads=16, num_key_value_heads=2, head_dim=256,
                       linear_key_head_dim=128, linear_value_head_dim=128, linear_num_key_heads=16,
                       linear_num_value_heads=32, linear_conv_kernel_dim=4, max_position_embeddings=262144,
                       tie_word_embeddings=False),
    # THUDM/glm-4-9b-chat-hf
    "glm": dict(model_type="glm", vocab_size=151552, hidden_size=4096, intermediate_size=13696, num_attention_heads=32,
                num_key_value_heads=2, head_dim=128, attention_bias=True, max_position_embeddings=131072,
                pad_token_id=151329, tie_word_embeddings=False),
    # rednote-hilab/dots.llm1.inst, with 32 experts for 128
    "dots1": dict(model_type="dots1", vocab_size=152064, hidden_size=4096, intermediate_size=10944,
                  moe_intermediate_size=1408, num_attention_heads=32, num_key_value_heads=32, n_routed_experts=32,
                  num_experts_per_tok=6, n_shared_experts=2, n_group=1, topk_group=1, first_k_dense_replace=1,
                  norm_topk_prob=True, routed_scaling_factor=2.5, sliding_window=None, max_position_embeddings=32768,
                  tie_word_embeddings=False),
    # zai-org/GLM-4.7-Flash, with 16 experts for 64
    "glm4_moe_lite": dict(model_type="glm4_moe_lite", vocab_size=154880, hidden_size=2048, intermediate_size=10240,
                          moe_intermediate_size=1536, num_attention_heads=20, num_key_value_heads=20, n_routed_experts=16,
                          num_experts_per_tok=4, n_shared_experts=1, n_group=1, topk_group=1, norm_topk_prob=True,
                          routed_scaling_factor=1.8, q_lora_rank=768, kv_lora_rank=512, qk_rope_head_dim=64,
                          qk_nope_head_dim=192, v_head_dim=256, max_position_embeddings=202752, tie_word_embeddings=False),
    # upstage/Solar-Open-100B, with 16 experts for 128 and 32,000 words
    "solar_open": dict(model_type="solar_open", vocab_size=32000, hidden_size=4096, moe_intermediate_size=1280,
                       num_attention_heads=64, num_key_value_heads=8, head_dim=128, n_routed_experts=16,
                       num_experts_per_tok=8, n_shared_experts=1, n_group=1, topk_group=1, norm_topk_prob=True,
                       max_position_embeddings=131072, tie_word_embeddings=False),
    # google/gemma-3-4b-it, of whose rotary and window the 4b's own file says what the class does not
    "gemma3_4b": dict(model_type="gemma3", vocab_size=262208, hidden_size=2560, intermediate_size=10240,
                      num_attention_heads=8, num_key_value_heads=4, head_dim=256, max_position_embeddings=131072,
                      sliding_window=1024,
                      vision=dict(model_type="siglip_vision_model", hidden_size=1152, intermediate_size=4304,
                                  num_hidden_layers=27, num_attention_heads=16, patch_size=14, image_size=896,
                                  vision_use_head=False)),
    # Qwen/Qwen2.5-VL-3B-Instruct
    "qwen2_5_vl": dict(model_type="qwen2_5_vl", vocab_size=151936, hidden_size=2048, intermediate_size=11008,
                       num_attention_heads=16, num_key_value_heads=2, max_position_embeddings=128000,
                       rope_parameters=dict(rope_type="default", mrope_section=[16, 24, 24], rope_theta=1000000.0),
                       tie_word_embeddings=True,
                       vision=dict(depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, out_hidden_size=2048,
                                   patch_size=14, spatial_merge_size=2, temporal_patch_size=2)),
    # Qwen/Qwen3-VL-4B-Instruct
    "qwen3_vl": dict(model_type="qwen3_vl", vocab_size=151936, hidden_size=2560, intermediate_size=9728,
                     num_attention_heads=32, num_key_value_heads=8, head_dim=128, max_position_embeddings=262144,
                     rope_parameters=dict(rope_type="default", mrope_section=[24, 20, 20], mrope_interleaved=True,
                                          rope_theta=5000000.0),
                     tie_word_embeddings=True,
                     vision=dict(depth=24, hidden_size=1024, intermediate_size=4096, num_heads=16, out_hidden_size=2560,
                                 patch_size=16, spatial_merge_size=2, temporal_patch_size=2,
                                 num_position_embeddings=2304, deepstack_visual_indexes=[5, 11, 17])),
    # IQuestLab/IQuest-Coder-V1-40B-Instruct
    "iquestcoder": dict(model_type="iquestcoder", vocab_size=76800, tie_word_embeddings=False),
    # internlm/internlm3-8b-instruct
    "internlm3": dict(model_type="internlm3", vocab_size=128512, tie_word_embeddings=False),
    # tencent/Youtu-LLM-2B
    "youtu": dict(model_type="youtu", vocab_size=128256, tie_word_embeddings=True),
    # MiniMaxAI/MiniMax-M2, with 32 experts for 256
    "minimax_m2": dict(model_type="minimax_m2", vocab_size=200064, num_local_experts=32, rotary_dim=64,
                       tie_word_embeddings=False),
    # allenai/FlexOlmo-7x7B-1T
    "flex_olmo": dict(model_type="flex_olmo", vocab_size=100352, tie_word_embeddings=False),
    # inceptionai/Jais-2-8B-Chat
    "jais2": dict(model_type="jais2", vocab_size=150272, tie_word_embeddings=False),
    # ibm-granite/granite-4.0-micro
    "granite4": dict(model_type="granitemoehybrid", vocab_size=100352, hidden_size=2560, intermediate_size=8192,
                     shared_intermediate_size=8192, num_attention_heads=40, num_key_value_heads=8,
                     num_local_experts=0, num_experts_per_tok=0, max_position_embeddings=131072,
                     position_embedding_type="rope", embedding_multiplier=12, logits_scaling=10,
                     residual_multiplier=0.22, attention_multiplier=0.015625, tie_word_embeddings=True),
    # FacebookAI/roberta-base
    "roberta": dict(model_type="roberta", vocab_size=50265, hidden_size=768, intermediate_size=3072,
                    num_attention_heads=12, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1),
    # distilbert/distilbert-base-uncased
    "distilbert": dict(model_type="distilbert", vocab_size=30522),
    # LGAI-EXAONE/K-EXAONE-236B-A23B, with 32 experts for 128
    "exaone_moe": dict(model_type="exaone_moe", vocab_size=153600, hidden_size=6144, intermediate_size=18432,
                       moe_intermediate_size=2048, num_attention_heads=64, num_key_value_heads=8, head_dim=128,
                       num_experts=32, num_experts_per_tok=8, num_shared_experts=1, sliding_window=128,
                       tie_word_embeddings=False),
    # allenai/OLMo-1B-hf
    "olmo": dict(model_type="olmo", vocab_size=50304, hidden_size=2048, intermediate_size=8192, num_attention_heads=16,
                 tie_word_embeddings=True),
    # nvidia/Minitron-4B-Base
    "nemotron": dict(model_type="nemotron", vocab_size=256000, hidden_size=3072, intermediate_size=9216,
                     num_attention_heads=24, num_key_value_heads=8, head_dim=128, tie_word_embeddings=False),
    # facebook/cwm, a window shorter than a sequence
    "cwm": dict(model_type="cwm", vocab_size=128256, sliding_window=512, tie_word_embeddings=False),
    # mistralai/Ministral-8B-Instruct-2410 in the class of its own, windows and none in turn, a window shorter than a sequence
    "ministral": dict(model_type="ministral", vocab_size=131072, hidden_size=4096, intermediate_size=12288,
                      num_attention_heads=32, num_key_value_heads=8, head_dim=128, sliding_window=512,
                      tie_word_embeddings=False),
    # google/gemma-4-31B
    "gemma4": dict(model_type="gemma4_text", vocab_size=262144, hidden_size=5376, intermediate_size=21504,
                   num_attention_heads=32, num_key_value_heads=16, head_dim=256, global_head_dim=512,
                   num_global_key_value_heads=4, attention_k_eq_v=True, hidden_size_per_layer_input=0,
                   sliding_window=1024, final_logit_softcapping=30.0, max_position_embeddings=262144,
                   tie_word_embeddings=True),
    # google/gemma-4-E4B, its language model: embeddings for each layer, keys and values of two layers for those behind
    "gemma4_e4b": dict(model_type="gemma4_text", vocab_size=262144, hidden_size=2560, intermediate_size=10240,
                       num_attention_heads=8, num_key_value_heads=2, head_dim=256, global_head_dim=512,
                       hidden_size_per_layer_input=256, vocab_size_per_layer_input=262144, num_kv_shared_layers=6,
                       sliding_window=512, final_logit_softcapping=30.0, max_position_embeddings=131072,
                       tie_word_embeddings=True),
    # google/gemma-4-26B-A4B, its language model, with 32 experts for 128
    "gemma4_moe": dict(model_type="gemma4_text", vocab_size=262144, hidden_size=2816, intermediate_size=2112,
                       moe_intermediate_size=704, num_experts=32, top_k_experts=8, enable_moe_block=True,
                       num_attention_heads=16, num_key_value_heads=8, head_dim=256, global_head_dim=512,
                       num_global_key_value_heads=2, attention_k_eq_v=True, hidden_size_per_layer_input=0,
                       sliding_window=1024, final_logit_softcapping=30.0, max_position_embeddings=262144,
                       tie_word_embeddings=True),
    # baidu/ERNIE-4.5-21B-A3B-PT, with 16 experts for 64
    "ernie4_5_moe": dict(model_type="ernie4_5_moe", vocab_size=103424, hidden_size=2560, intermediate_size=12288,
                         moe_intermediate_size=1536, num_attention_heads=20, num_key_value_heads=4, moe_num_experts=16,
                         moe_k=6, moe_num_shared_experts=2, moe_layer_start_index=1, moe_layer_interval=1,
                         max_position_embeddings=131072, use_bias=False, tie_word_embeddings=True),
    # tencent/Hunyuan-A13B-Instruct, with 8 experts for 64 and 32,000 words
    "hunyuan_v1_moe": dict(model_type="hunyuan_v1_moe", vocab_size=32000, hidden_size=4096, intermediate_size=3072,
                           num_attention_heads=32, num_key_value_heads=8, head_dim=128, num_experts=8, moe_topk=8,
                           max_position_embeddings=32768, tie_word_embeddings=True),
}
WIDTHS |= {
    # google/gemma-3n-E2B, its language model: 4 of 10 layers with few activations, 5 without keys of their own
    "gemma3n": dict(model_type="gemma3n_text", vocab_size=262400, hidden_size=2048, intermediate_size=8192,
                    num_attention_heads=8, num_key_value_heads=2, head_dim=256, hidden_size_per_layer_input=256,
                    vocab_size_per_layer_input=262144, num_kv_shared_layers=5, sliding_window=512, laurel_rank=64,
                    altup_num_inputs=4, activation_sparsity_pattern=[0.95] * 4 + [0.0] * 6, max_position_embeddings=32768,
                    tie_word_embeddings=True),
    # google/gemma-4-E2B, its language model: layers without keys of their own are twice as wide
    "gemma4_e2b": dict(WIDTHS["gemma4_e4b"], hidden_size=1536, intermediate_size=6144, num_key_value_heads=1,
                       num_kv_shared_layers=5, use_double_wide_mlp=True,
                       layer_types=(["sliding_attention"] * 4 + ["full_attention"]) * 2),
    "gemma4w": dict(WIDTHS["gemma4"], sliding_window=256),  # gemma4, a window shorter than a sequence
    # gemma4, keys and values apart, other widths
    "gemma4v": dict(WIDTHS["gemma4"], hidden_size=2560, intermediate_size=10240, num_attention_heads=8, num_key_value_heads=4,
                    attention_k_eq_v=False),
    "olmo_clip": dict(WIDTHS["olmo"], clip_qkv=8.0),  # olmo, q, k and v clipped, as in allenai/OLMo-7B-0424-hf
    "cohere2w": dict(WIDTHS["cohere2"], sliding_window=512),  # cohere2, a window shorter than a sequence
    "ernie4_5_bias": dict(WIDTHS["ernie4_5"], use_bias=True),  # ernie4_5, biases that a config.json may ask for
    "llama4_chunks": dict(WIDTHS["llama4"], attention_chunk_size=512),  # llama4, chunks shorter than a sequence
}


# What the depth is called where it has a name of its own.
DEPTHS = {"gpt2": "n_layer", "gpt_bigcode": "n_layer", "gptj": "n_layer", "codegen": "n_layer", "mpt": "n_layers",
          "gpt_neo": "num_layers", "distilbert": "n_layers"}


def config(family, layers, **more):
    from transformers import AutoConfig

    words = dict(WIDTHS[family], **more)
    kind, tower = words.pop("model_type"), words.pop("vision", None)
    if kind == "exaone4" and not words["sliding_window"]:
        words.update(sliding_window_pattern=4, layer_types=["full_attention"] * layers)
    if kind == "gpt_neo":  # layers that see all and layers with a window take turns
        words["attention_types"] = [[["global", "local"], layers // 2]]
    if kind == "granitemoehybrid":
        words["layer_types"] = ["attention"] * layers
    words[DEPTHS.get(kind, "num_hidden_layers")] = layers
    if tower:
        return AutoConfig.for_model(kind, text_config=words, vision_config=tower,
                                    tie_word_embeddings=words.get("tie_word_embeddings", True))
    return AutoConfig.for_model(kind, **words)


def build(family, layers, dtype, attention="sdpa", device="cuda", score=False, **more):
    """The model with its weights on the device, in train mode, as from_pretrained would leave it. score: with a head of one output."""
    import torch
    from transformers import (AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMaskedLM,
                              AutoModelForSequenceClassification)

    cfg = config(family, layers, **more)
    auto = AutoModelForMaskedLM if family in ("bert", "roberta", "distilbert") else AutoModelForCausalLM
    if "vision" in WIDTHS[family]:
        auto = AutoModelForImageTextToText
    if score:
        auto, cfg.num_labels, cfg.pad_token_id = AutoModelForSequenceClassification, 1, 3
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = auto.from_config(cfg, attn_implementation=attention)
    finally:
        torch.set_default_dtype(before)
    if cfg.tie_word_embeddings and not score:
        model.tie_weights()
    return model.train()
