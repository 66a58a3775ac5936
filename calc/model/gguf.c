// Owns the bytes of tensors in llama.cpp's types.

#include "calc/model/gguf.h"

#include "calc/base/size.h"
#include "calc/model/names.h"

enum gguf_block {
#define GGUF_BLOCK(id, numbers, bytes) GGUF_##id,
#include "calc/model/gguf.def"
    GGUF_BLOCKS
};

static const struct {
    uint64_t numbers, bytes;
} BLOCKS[GGUF_BLOCKS] = {
#define GGUF_BLOCK(id, numbers, bytes) {numbers, bytes},
#include "calc/model/gguf.def"
};

static const struct {
    uint64_t quantization;
    enum gguf_block base;
} TYPES[] = {
#define GGUF_TYPE(id, base) {QUANTIZATION_##id, GGUF_##base},
#include "calc/model/gguf.def"
};

// Of a block's numbers, the one for rows that are no multiple of them.
static const struct {
    enum gguf_block from, to;
} NARROW[] = {
#define GGUF_NARROW(id, other) {GGUF_##id, GGUF_##other},
#include "calc/model/gguf.def"
};

enum tensors { V, O, DOWN, OTHER };
enum layers { ALL, MORE, FIRST_2, FIRST_4, EIGHTH, SIXTEENTH, GROUPED };

static const struct rule {
    uint64_t quantization;
    enum tensors tensors;
    enum layers layers;
    enum gguf_block type;
} RULES[] = {
#define GGUF_RULE(id, tensors, layers, type) {QUANTIZATION_##id, tensors, layers, GGUF_##type},
#include "calc/model/gguf.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

bool gguf_is(uint64_t quantization)
{
    for (size_t i = 0; i < COUNT(TYPES); i++)
        if (TYPES[i].quantization == quantization)
            return true;
    return false;
}

static enum tensors tensors_of(uint16_t number)
{
    return number == P_V || number == P_QKV               ? V
           : number == P_O                                ? O
           : number == P_DOWN || number == P_EXPERTS_DOWN ? DOWN
                                                          : OTHER;
}

static bool is_grouped(const struct model *m)
{
    return m->c.n_head / m->c.n_kv_head >= 4;
}

static bool holds(enum layers layers, const struct model *m, uint64_t layer)
{
    uint64_t n = m->c.n_layer;
    switch (layers) {
    case ALL: return true;
    case MORE: return layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2;
    case FIRST_2: return layer < 2;
    case FIRST_4: return layer < 4;
    case EIGHTH: return layer < n / 8;
    case SIXTEENTH: return layer < n / 16;
    case GROUPED: return is_grouped(m);
    }
    return false;
}

static enum gguf_block by_rules(const struct model *m, uint64_t quantization, enum gguf_block base,
                                uint16_t number, uint64_t layer)
{
    enum tensors tensors = tensors_of(number);
    for (size_t i = 0; i < COUNT(RULES); i++)
        if (RULES[i].quantization == quantization && RULES[i].tensors == tensors &&
            holds(RULES[i].layers, m, layer))
            return RULES[i].type;
    return base;
}

// SRC: llama.cpp src/llama-quant.cpp: 70B has eighty layers and grouped keys; eight experts keep
// keys and values in Q8_0.
static enum gguf_block of_layer(const struct model *m, uint64_t quantization, enum gguf_block base,
                                uint16_t number, uint64_t layer)
{
    bool v = tensors_of(number) == V, eight = m->c.n_expert == 8;
    enum gguf_block type = by_rules(m, quantization, base, number, layer);
    if (v && m->c.n_layer == 80 && m->c.n_kv_head < m->c.n_head &&
        (type == GGUF_Q3_K || type == GGUF_Q4_K))
        type = GGUF_Q5_K;
    if (eight && (v || number == P_K))
        return GGUF_Q8_0;
    bool few_bits = base == GGUF_Q2_K || base == GGUF_Q3_K || base == GGUF_Q4_K ||
                    base == GGUF_IQ4_NL || base == GGUF_IQ4_XS;
    if (eight && number == P_O && few_bits && quantization != QUANTIZATION_Q3_K_L)
        return GGUF_Q5_K;
    return type;
}

// The output layer, and a token embedding that is one, too.
static enum gguf_block of_output(enum gguf_block base, uint64_t cols)
{
    return base == GGUF_Q8_0 || cols % BLOCKS[base].numbers ? GGUF_Q8_0 : GGUF_Q6_K;
}

static enum gguf_block of_parameter(const struct model *m, uint64_t quantization,
                                    enum gguf_block base, const struct layout_param *p, bool block,
                                    uint64_t layer)
{
    if (!p->cols || (block && p->number == P_ROUTER) || (!block && p->number == P_WPE))
        return GGUF_F32;
    if (block)
        return of_layer(m, quantization, base, p->number, layer);
    bool output = p->number == P_HEAD || (p->number == P_WTE && m->c.tie_embeddings);
    return output ? of_output(base, p->cols) : base;
}

uint64_t gguf_bytes(const struct model *m, uint64_t quantization, const struct layout_param *p,
                    bool block, uint64_t layer)
{
    enum gguf_block base = GGUF_F16, type;
    for (size_t i = 0; i < COUNT(TYPES); i++)
        if (TYPES[i].quantization == quantization)
            base = TYPES[i].base;
    type = of_parameter(m, quantization, base, p, block, layer);
    for (size_t i = 0; i < COUNT(NARROW) && p->cols; i++)
        if (NARROW[i].from == type && p->cols % BLOCKS[type].numbers) {
            type = NARROW[i].to;
            break;
        }
    if (p->cols && p->cols % BLOCKS[type].numbers)
        type = GGUF_F16;
    uint64_t numbers = size_mul(p->rows, p->cols ? p->cols : 1);
    return size_mul(numbers / BLOCKS[type].numbers, BLOCKS[type].bytes);
}
