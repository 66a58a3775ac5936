// Products of dimensions: from a configuration to a tensor's shape, and from a size to likely
// shapes.

#include "calc/answer/oom_shape.h"

#include "calc/base/size.h"
#include "calc/base/text.h"
#include "calc/model/presets.h"
#include "calc/replay/allocator.h"

uint64_t oom_asked(enum oom_source source, uint64_t bytes)
{
    struct allocator_config defaults = {0};
    if (source == OOM_ASYNC || source == OOM_DIRECTML || source == OOM_MPS)
        return bytes;
    return allocator_segment_bytes(allocator_round(&defaults, bytes));
}

// The dimensions that shapes are made of.
enum dim {
    NO_DIM,
    DIM_B,
    DIM_T,
    DIM_V,
    DIM_C,
    DIM_3C,
    DIM_F,
    DIM_2F,
    DIM_H,
    DIM_HD,
    DIM_KD,
    DIM_ROWS,
    DIM_COUNT
};

static const char *const DIM_NAMES[DIM_COUNT] = {"",
                                                 "batch",
                                                 "sequence",
                                                 "vocabulary",
                                                 "width",
                                                 "3 x width",
                                                 "feed-forward",
                                                 "2 x feed-forward",
                                                 "heads",
                                                 "heads x head width",
                                                 "kv heads x head width",
                                                 "positions"};

// In the order in which they explain a size: the large ones first.
static const unsigned char SHAPES[][VRAM_SHAPE_DIMS] = {
    {DIM_B, DIM_T, DIM_V},  {DIM_B, DIM_H, DIM_T, DIM_T},
    {DIM_B, DIM_T, DIM_F},  {DIM_B, DIM_T, DIM_3C},
    {DIM_B, DIM_T, DIM_C},  {DIM_B, DIM_T, DIM_2F},
    {DIM_B, DIM_T, DIM_HD}, {DIM_B, DIM_T, DIM_KD},
    {DIM_V, DIM_C},         {DIM_F, DIM_C},
    {DIM_2F, DIM_C},        {DIM_3C, DIM_C},
    {DIM_HD, DIM_C},        {DIM_KD, DIM_C},
    {DIM_C, DIM_C},         {DIM_ROWS, DIM_C},
    {DIM_B, DIM_H, DIM_T},  {DIM_B, DIM_T},
};

enum { SHAPE_ROWS = sizeof SHAPES / sizeof *SHAPES };

static const unsigned ELEMENTS[] = {4, 2, 1, 8};

static void fill_dims(const struct vram_config *c, uint64_t dims[DIM_COUNT])
{
    uint64_t head = c->head_dim ? c->head_dim : c->n_head ? c->n_embd / c->n_head : 0;
    uint64_t inner = c->n_inner ? c->n_inner : 4 * c->n_embd;
    dims[NO_DIM] = 1;
    dims[DIM_B] = c->batch_size;
    dims[DIM_T] = config_longest(c);
    dims[DIM_V] = c->vocab_size;
    dims[DIM_C] = c->n_embd;
    dims[DIM_3C] = 3 * c->n_embd;
    dims[DIM_F] = inner;
    dims[DIM_2F] = 2 * inner;
    dims[DIM_H] = c->n_head;
    dims[DIM_HD] = c->n_head * head;
    dims[DIM_KD] = (c->n_kv_head ? c->n_kv_head : c->n_head) * head;
    dims[DIM_ROWS] = c->block_size;
}

static uint64_t product(const struct vram_shape *s)
{
    uint64_t bytes = s->element_bytes;
    for (unsigned i = 0; i < s->dims; i++)
        bytes = size_mul(bytes, s->dim[i]);
    return bytes;
}

static void make(struct vram_shape *out, const unsigned char row[VRAM_SHAPE_DIMS],
                 const uint64_t dims[DIM_COUNT], unsigned element)
{
    *out = (struct vram_shape){.element_bytes = element};
    for (unsigned i = 0; i < VRAM_SHAPE_DIMS && row[i]; i++) {
        out->dim[i] = dims[row[i]];
        out->name[i] = DIM_NAMES[row[i]];
        out->dims++;
    }
    out->bytes = product(out);
}

bool oom_shape_find(const struct vram_config *c, uint64_t bytes, struct vram_shape *out)
{
    uint64_t dims[DIM_COUNT];
    fill_dims(c, dims);
    for (unsigned i = 0; i < SHAPE_ROWS; i++)
        for (unsigned e = 0; e < sizeof ELEMENTS / sizeof *ELEMENTS; e++) {
            make(out, SHAPES[i], dims, ELEMENTS[e]);
            if (out->bytes == bytes)
                return true;
        }
    return false;
}

// Vocabularies in common use, padded ones included: GPT-2 (nanoGPT, Hugging Face), Llama 3, Llama
// 2, Qwen, Mistral, Gemma, o200k, cl100k, BERT, Pythia, SmolLM; then those of a power of two, Yi,
// Pythia 6.9B, Phi-3, Falcon, Phi-2, OLMo 2, Granite, GPT-BigCode, GLM-4, gpt-oss, DeepSeek-V3,
// Moonlight, Seed-OSS, Gemma 3 with images, Code Llama, Phi-4 mini, OPT, BLOOM, DeepSeek-V2, ERNIE
// 4.5, Hunyuan, Arcee, Helium, Llama 4, GPT-J, Qwen3.5, Solar Open, IQuest-Coder,
// InternLM 3, Jais 2, RoBERTa, XLM-RoBERTa, DistilBERT, CodeQwen, DeepSeek Coder, OLMo 3,
// Granite 3.3; Breeze, Hermes 2 Pro Mistral, PaliGemma, XuanYuan.
static const uint64_t VOCABS[] = {
    50304,  50257,  128256, 32000,  151936, 152064, 32768,  256000, 262144, 49152,
    100277, 200019, 30522,  50432,  65536,  131072, 64000,  50688,  32064,  65024,
    51200,  100352, 49155,  49280,  151552, 201088, 129280, 163840, 155136, 262208,
    32016,  200064, 50272,  250880, 102400, 103424, 120818, 128004, 48000,  202048,
#ifndef VRAM_SMALL
    262400, 128167, 50400,  248320, 196608, 154880, 76800,  128512, 150272, 50265,
    250002, 119547, 92416,  32256,  100278, 28996,  49159,  32002,  156940, 55296,
    96640,  128264, 128288, 128258, 61952,  32032,  257216, 39438,
#endif
};
static const uint64_t LENGTHS[] = {1024, 2048, 512, 4096, 256, 8192, 128, 16384, 32768};
static const uint64_t WIDTHS[] = {768, 1024, 2048, 4096, 1280, 1600, 512, 384, 3072, 5120, 8192};
static const uint64_t HEADS[] = {12, 16, 32, 20, 25, 8, 40, 64};

enum {
    VOCAB_COUNT = sizeof VOCABS / sizeof *VOCABS,
    LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS,
    WIDTH_COUNT = sizeof WIDTHS / sizeof *WIDTHS,
    HEAD_COUNT = sizeof HEADS / sizeof *HEADS
};

struct guesses {
    enum oom_source source;
    uint64_t low, high;
    unsigned left;  // to skip
    struct vram_shape *out;
};

// A batch such that `rest` bytes for each sequence ask for a size in the range.
static bool batch_for(const struct guesses *g, uint64_t rest, uint64_t *batch)
{
    uint64_t b = rest ? g->high / rest : 0;
    for (unsigned back = 0; b > 0 && back < 2; back++, b--) {
        uint64_t asked = oom_asked(g->source, b * rest);
        if (b <= 1024 && asked >= g->low && asked <= g->high) {
            *batch = b;
            return true;
        }
    }
    return false;
}

static bool is_round(uint64_t batch)
{
    return (batch & (batch - 1)) == 0 || (batch % 4 == 0 && batch <= 128) || batch < 8;
}

// Is this shape, with the batch that fits, the wanted guess?
static bool take(struct guesses *g, struct vram_shape s, unsigned at, bool round)
{
    uint64_t rest = s.element_bytes, batch;
    for (unsigned i = 0; i < s.dims; i++)
        if (i != at)
            rest = size_mul(rest, s.dim[i]);
    if (!size_ok(rest) || !batch_for(g, rest, &batch) || is_round(batch) != round ||
        (!round && batch > 64))
        return false;
    s.dim[at] = batch;
    s.bytes = product(&s);
    if (g->left-- > 0)
        return false;
    *g->out = s;
    return true;
}

static bool guess_logits(struct guesses *g, bool round, unsigned element)
{
    for (unsigned v = 0; v < VOCAB_COUNT; v++)
        for (unsigned t = 0; t < LENGTH_COUNT; t++) {
            struct vram_shape s = {
                {0, LENGTHS[t], VOCABS[v]}, {"batch", "sequence", "vocabulary"}, 3, element, 0};
            unsigned left = g->left;
            if (take(g, s, 0, round))
                return true;
            if (g->left != left)
                break;  // one length a vocabulary: the others are the same number of tokens
        }
    return false;
}

static bool guess_hidden(struct guesses *g, unsigned element)
{
    for (unsigned c = 0; c < WIDTH_COUNT; c++)
        for (unsigned t = 0; t < LENGTH_COUNT; t++) {
            struct vram_shape s = {{0, LENGTHS[t], 4 * WIDTHS[c]},
                                   {"batch", "sequence", "feed-forward"},
                                   3,
                                   element,
                                   0};
            if (take(g, s, 0, true))
                return true;
        }
    return false;
}

static bool guess_scores(struct guesses *g, unsigned element)
{
    for (unsigned h = 0; h < HEAD_COUNT; h++)
        for (unsigned t = 0; t < LENGTH_COUNT; t++) {
            struct vram_shape s = {{0, HEADS[h], LENGTHS[t], LENGTHS[t]},
                                   {"batch", "heads", "sequence", "sequence"},
                                   4,
                                   element,
                                   0};
            if (take(g, s, 0, true))
                return true;
        }
    return false;
}

// What a step asks for, by sizes in common use. skipped: how many guesses come before it.
static bool guess_step(struct guesses g, size_t skipped, struct vram_shape *out)
{
    g.left = (unsigned)skipped;
    g.out = out;
    return guess_logits(&g, true, 4) || guess_logits(&g, true, 2) || guess_hidden(&g, 2) ||
           guess_scores(&g, 4) || guess_logits(&g, false, 4);
}

#ifndef VRAM_SMALL

// Guesses of a step that come before those of weights, and how many of weights there are.
enum { STEP_FIRST = 3, WEIGHTS_MOST = 2 };

struct weights {
    struct vram_shape shapes[WEIGHTS_MOST];
    unsigned count;
};

static void add_weight(struct weights *into, const struct guesses *g, struct vram_shape s)
{
    uint64_t asked = oom_asked(g->source, s.bytes);
    for (unsigned i = 0; i < into->count; i++)
        if (into->shapes[i].dim[0] == s.dim[0] && into->shapes[i].dim[1] == s.dim[1])
            return;
    if (into->count < WEIGHTS_MOST && asked >= g->low && asked <= g->high)
        into->shapes[into->count++] = s;
}

// The largest weights of the presets for which the message shows its size, first in two bytes.
static struct weights find_weights(const struct guesses *g)
{
    static const unsigned char rows[][VRAM_SHAPE_DIMS] = {{DIM_V, DIM_C}, {DIM_F, DIM_C}};
    struct weights two = {.count = 0}, four = {.count = 0};
    const struct vram_preset *p;
    for (size_t i = 0; two.count < WEIGHTS_MOST && (p = vram_preset_at(i)); i++) {
        struct vram_config c = {0};
        struct message none;
        struct vram_shape s;
        uint64_t dims[DIM_COUNT];
        preset_apply(&c, &none, NO_POS, p->name, text_len(p->name));
        fill_dims(&c, dims);
        for (unsigned w = 0; w < sizeof rows / sizeof *rows; w++) {
            make(&s, rows[w], dims, 2);
            add_weight(&two, g, s);
            make(&s, rows[w], dims, 4);
            add_weight(&four, g, s);
        }
    }
    for (unsigned i = 0; i < four.count && two.count < WEIGHTS_MOST; i++)
        two.shapes[two.count++] = four.shapes[i];
    return two;
}
#endif

size_t oom_shape_guess(enum oom_source source, uint64_t low, uint64_t high, struct vram_shape out[],
                       size_t room)
{
    struct guesses g = {.source = source, .low = low, .high = high};
    size_t n = 0, others = 0;
#ifndef VRAM_SMALL
    struct weights weights = find_weights(&g);
    while (n < room && n < STEP_FIRST && guess_step(g, n, &out[n]))
        n++;
    for (; n < room && others < weights.count; n++)
        out[n] = weights.shapes[others++];
#endif
    while (n < room && guess_step(g, n - others, &out[n]))
        n++;
    return n;
}
