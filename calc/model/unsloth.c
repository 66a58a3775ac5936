// Owns what Unsloth's versions do: which loss, in how many parts, and what stays on the card.
// SRC: unsloth models/llama.py (CausalLM_fast_forward, LlamaRotaryEmbedding), kernels/utils.py
// (fast_dequantize); unsloth_zoo fused_losses/cross_entropy_loss.py, fused_losses/fused_linear.py,
// gradient_checkpointing.py; 2024.8 to 2026.10.

#include "calc/model/unsloth.h"

#include "calc/base/size.h"
#include "calc/model/capacities.h"

#ifndef VRAM_SMALL

// Versions as config_own_version has them: 2025.12 is 25012.
enum {
    CUT_FROM = 24011,      // Cut Cross-Entropy, where it is not yet a loss of its own
    SHORT_FROM = 25002,    // 1,024 tokens and fewer take whole logits
    CHUNKED_FROM = 25008,  // unsloth_fused_ce_loss
    SHORT_BEFORE = 25010,  // ... whatever the number of tokens
    CAPPED_FROM = 26009,   // 16 bytes a logit, 4 GiB at most
    ROWS_FROM = 26010,     // fused_linear_ce: a number of rows
    SHORT_TOKENS = 1024,
    OFFLOADED_FROM = 1 << 20  // MINIMUM_SIZE: numbers from which a block's input goes to the host
};

static uint64_t unsloth_version(const struct vram_config *c)
{
    uint64_t own = config_own_version(c);
    return own ? own : UINT64_MAX;
}

static uint64_t unsloth_loss(const struct vram_config *c)
{
    uint64_t own = unsloth_version(c);
    bool few = config_longest(c) * c->batch_size <= SHORT_TOKENS && own >= SHORT_FROM &&
               own < SHORT_BEFORE;
    if (own < CUT_FROM || few)
        return CROSS_ENTROPY_INPLACE;
    return own < CHUNKED_FROM ? CROSS_ENTROPY_CCE : CROSS_ENTROPY_CHUNKED;
}

// SRC: unsloth models/llama.py, get_peft_model; models/_utils.py, _redirect_embedding_targets;
// 2024.8 to 2026.10.
void unsloth_saves(struct vram_config *c)
{
    uint64_t head = CONFIG_BIT(TARGET_HEAD), embed = CONFIG_BIT(TARGET_EMBED);
    if (!c->lora_rank)
        return;
    if (c->lora_targets & head)
        c->modules_to_save |= CONFIG_BIT(SAVE_HEAD);
    if (c->lora_targets & embed)
        c->modules_to_save |= CONFIG_BIT(SAVE_EMBED);
    c->lora_targets &= ~(head | embed);
}

void unsloth_resolve(struct vram_config *c)
{
    enum { SMART_FROM = 25003 };
    unsloth_saves(c);
    if (c->cross_entropy == CROSS_ENTROPY_AUTO)
        c->cross_entropy = unsloth_loss(c);
    c->use_reentrant = REENTRANT_YES;
    if (c->family == FAMILY_PHI3)
        c->family =
            FAMILY_LLAMA;  // its loader has no other class for it, its files are in that form
    if (unsloth_version(c) >= SMART_FROM &&
        size_mul3(c->batch_size, config_longest(c), c->n_embd) <= OFFLOADED_FROM)
        c->offload_activations = OFFLOAD_NONE;
}

// SRC: unsloth models/rl.py, prediction_step (UNSLOTH_RETURN_LOGITS), 2025.10 to 2026.10.
bool unsloth_evaluates_whole(const struct vram_config *c, bool kept)
{
    enum { WHOLE_FROM = 25010, WHOLE_BEFORE = 26010 };
    uint64_t own = unsloth_version(c);
    return kept || (own >= WHOLE_FROM && own < WHOLE_BEFORE);
}

bool unsloth_has_buffer(const struct model *m)
{
    return unsloth_patches(&m->c) && m->c.quantization && model_has_trait(m, TRAIT_UNSLOTH_BUFFER);
}

// What the card has beside the weights, as mem_get_info says at the first loss: half of a byte for
// most of them. 0 without a card.
static uint64_t unsloth_free(const struct model *m)
{
    uint64_t left = capacity_left(&m->c), ends = size_mul(m->c.vocab_size, m->c.n_embd);
    uint64_t blocks = m->params > 2 * ends ? m->params - 2 * ends : 0;
    uint64_t weights = size_add(m->c.quantization ? blocks / 2 : 2 * blocks, 2 * 2 * ends);
    return left > weights ? left - weights : left ? 1 : 0;
}

// round(free_parts / 4) * 4 parts, at least one.
static uint64_t unsloth_parts_by_half(const struct model *m, uint64_t logits)
{
    uint64_t target = unsloth_free(m) / 2;
    uint64_t quarters = target ? (size_mul(4, logits) + 2 * target) / (4 * target) : 0;
    return quarters ? 4 * quarters : 1;
}

static uint64_t unsloth_parts_capped(const struct model *m, uint64_t rows, uint64_t logits)
{
    uint64_t target = UINT64_C(4) << 30, half = unsloth_free(m) / 2;
    uint64_t fixed = size_mul3(2, rows, m->c.n_embd), wanted = size_mul(16, logits);
    if (half && half < target)
        target = half;
    if (fixed < target)
        target -= fixed;
    return wanted <= target ? 1 : 4 * ((wanted + 4 * target - 1) / (4 * target));
}

static uint64_t unsloth_power(uint64_t most)
{
    uint64_t power = 1;
    while (power * 2 <= most)
        power *= 2;
    return power;
}

// fused_linear_rows: about as many numbers as the hidden states have, not fewer than 512 rows of a
// vocabulary of 151,936 would be, of 2 GiB.
static uint64_t unsloth_rows(const struct model *m, uint64_t rows)
{
    uint64_t vocabulary = m->c.vocab_size, wanted = size_mul(rows, m->c.n_embd) / vocabulary;
    uint64_t least = unsloth_power(UINT64_C(512) * 151936 / vocabulary);
    uint64_t most = (UINT64_C(2) << 30) / (4 * vocabulary);
    wanted = unsloth_power(wanted ? wanted : 1);
    least = least < 512 ? 512 : least > 4096 ? 4096 : least;
    wanted = wanted < least ? least : wanted > 4096 ? 4096 : wanted;
    return wanted < most ? wanted : most ? most : 1;
}

uint64_t unsloth_chunk(const struct model *m, uint64_t rows)
{
    uint64_t own = unsloth_version(&m->c), logits = size_mul(rows, m->c.vocab_size);
    uint64_t chunk = own >= ROWS_FROM ? unsloth_rows(m, rows) : 0;
    if (!chunk) {
        uint64_t parts = own >= CAPPED_FROM ? unsloth_parts_capped(m, rows, logits)
                                            : unsloth_parts_by_half(m, logits);
        chunk = (rows + parts - 1) / parts;
    }
    return chunk < rows ? chunk : rows;
}

// Blocks whose inputs are on the host read them from one buffer or two.
static uint64_t unsloth_returned(const struct model *m)
{
    if (m->c.offload_activations != OFFLOAD_INPUTS || !model_has_trait(m, TRAIT_UNSLOTH_RETURN))
        return 0;
    uint64_t buffers = model_has_trait(m, TRAIT_UNSLOTH_RETURN_TWO) ? 2 : 1;
    return size_mul3(2 * buffers, m->tokens, m->c.n_embd);
}

// Cosines and sines of 32,768 positions, or of as many thousands as the sequence has; of each layer
// where transformers' attention has them.
static uint64_t unsloth_angles(const struct model *m)
{
    enum { FIRST = 32768, STEP = 8192 };
    uint64_t known = m->c.block_size, rows = known < FIRST ? known : FIRST;
    if (m->c.seq_len > rows)
        rows = (m->c.seq_len + STEP - 1) / STEP * STEP;
    uint64_t tables = m->c.transformers < 4048 ? m->c.n_layer : 1;
    return size_mul3(4 * tables, rows, m->c.head_dim);
}

uint64_t unsloth_buffers(const struct model *m, uint64_t largest)
{
    enum { SCALED = 64 };  // numbers that share a scale
    uint64_t scales = model_has_trait(m, TRAIT_UNSLOTH_BARE_SCALES) ? 0 : 4 * (largest / SCALED);
    uint64_t expanded = unsloth_has_buffer(m) ? size_add(2 * largest, scales) : 0;
    return size_add(expanded, size_add(unsloth_returned(m), unsloth_angles(m)));
}

#endif
