// The same configuration by other people's formulas, beside the step that is run here.

#include "calc/answer/emit.h"
#include "calc/answer/fit.h"
#include "calc/base/size.h"
#include "calc/model/model_make.h"

enum { GIB_HUNDREDTH = 100 };

// What the formulas are made of.
struct sizes {
    uint64_t P, decayed, B, T, C, L, H, K, D, F, V;
    bool low;   // mixed precision
    bool gated; // three matrices in the feed-forward part
    bool rms;   // norms without bias
    bool tied;
};

static struct sizes sizes_of(const struct model *m)
{
    const struct vram_config *c = &m->c;
    bool plain = c->family == FAMILY_GPT2 || c->family == FAMILY_GPT_NEOX;
    struct sizes s = {m->params,
                      m->decayed_params,
                      c->batch_size,
                      c->seq_len ? c->seq_len : c->block_size,
                      c->n_embd,
                      c->n_layer,
                      c->n_head,
                      c->n_kv_head ? c->n_kv_head : c->n_head,
                      c->head_dim ? c->head_dim : c->n_embd / c->n_head,
                      c->n_inner ? c->n_inner : 4 * c->n_embd,
                      c->vocab_size,
                      c->dtype != DTYPE_FLOAT32,
                      !plain,
                      !plain,
                      c->tie_embeddings != 0};
    return s;
}

// The documents' rule: two bytes a parameter, two for its gradient, eight for Adam, and 160 times
// batch x sequence x width x layers in two bytes, a factor fitted to one total of nvidia-smi.
static uint64_t rule_x160(const struct sizes *s)
{
    uint64_t state = size_add(size_mul(4, s->P), size_mul(8, s->decayed));
    return size_add(state, size_mul(320, size_mul3(size_mul(s->B, s->T), s->C, s->L)));
}

// SRC: EleutherAI/cookbook, calc/calc_transformer_mem.py at 827ee3b, with --misc-mem-gib 0. Two embeddings,
// 2 (or 4) + 4 + 12 bytes a parameter, 34 bytes a token and channel and 5 a score of attention; printed to 0.01 GiB.
static uint64_t rule_eleuther(const struct sizes *s)
{
    uint64_t matrix = size_mul(s->C, s->C), tokens = size_mul(s->B, s->T);
    uint64_t attention = size_mul3(2, s->L, matrix);
    uint64_t params = size_mul3(2, s->V, s->C);
    params = size_add(params, size_mul(s->C, s->T));
    params = size_add(params, size_add(size_mul3(8, s->C, s->L), 2 * s->C));
    params =
        size_add(params, size_ok(attention) ? size_mul(attention, s->H + s->K) / s->H : SIZE_BAD);
    params = size_add(params, size_mul(s->gated ? 3 : 2, size_mul3(s->L, s->C, s->F)));
    uint64_t bytes = size_mul(params, s->low ? 18 : 20);
    uint64_t channel = size_add(size_mul(34, s->C), size_mul3(5, s->H, s->T));
    bytes = size_add(bytes, size_mul3(tokens, s->L, channel));
    if (!size_ok(bytes))
        return SIZE_BAD;
    const uint64_t gib = (uint64_t)1 << 30;
    uint64_t whole = bytes / gib, hundredths = (bytes % gib * GIB_HUNDREDTH + gib / 2) / gib;
    return whole * gib + hundredths * gib / GIB_HUNDREDTH;
}

// SRC: huggingface/accelerate at 16cb6eb8, estimate_training_usage: the largest of what loading, backward and the
// optimizer's step hold, for a batch of one without activations: 8 bytes a parameter in half precision, else 16.
static uint64_t rule_accelerate(const struct sizes *s)
{
    return size_mul(s->low ? 8 : 16, s->P);
}

// SRC: NVIDIA/Megatron-LM at d98e8a64, theoretical_memory_usage.py with sequence parallelism: 18 bytes a parameter,
// 18 + 4 F / C bytes a token, channel and layer, 4 a logit once. No position table.
static uint64_t rule_megatron(const struct sizes *s)
{
    uint64_t norm = s->rms ? 1 : 2, tokens = size_mul(s->B, s->T);
    uint64_t layer = size_add(size_mul3(s->C, s->F, s->gated ? 3 : 2), 2 * s->C * norm);
    layer = size_add(layer, size_mul3(2 * s->C, s->D, s->H + s->K));
    uint64_t params = size_add(size_mul(layer, s->L), norm * s->C);
    params = size_add(params, size_mul3(s->tied ? 1 : 2, s->V, s->C));
    uint64_t token = size_mul(s->L, size_add(18 * s->C, 4 * s->F));
    token = size_add(token, 8 + s->C);
    token = size_add(token, size_mul(4, s->C + s->V));
    return size_add(size_mul(18, params), size_mul(tokens, token));
}

static const struct rule {
    const char *id, *name, *why;
    uint64_t (*bytes)(const struct sizes *s);
} RULES[] = {
    {"x160", "rule of thumb, x160",
     "fitted to one card's total; scales with layers x width, while the logits scale with the "
     "vocabulary",
     rule_x160},
    {"eleutherai", "EleutherAI cookbook",
     "counts the attention scores that flash never stores, and no logits", rule_eleuther},
    {"accelerate", "accelerate estimate-memory",
     "parameters, gradients and optimizer of a batch of one, no activations", rule_accelerate},
    {"megatron", "Megatron-LM report",
     "the right terms, with the logits once in four bytes; eager PyTorch holds them as twelve",
     rule_megatron},
};

enum { RULE_COUNT = sizeof RULES / sizeof *RULES };

// (theirs - ours) / ours in tenths of a percent, rounded away from zero at the half.
static int64_t difference(uint64_t theirs, uint64_t ours)
{
    bool more = theirs >= ours;
    uint64_t gap = more ? theirs - ours : ours - theirs;
    uint64_t n = ours ? (gap * 1000 + ours / 2) / ours : 0; // gap is below 2^53
    return more ? (int64_t)n : -(int64_t)n;
}

static void put_percent(struct writer *w, uint64_t theirs, uint64_t ours)
{
    uint64_t gap = theirs >= ours ? theirs - ours : ours - theirs;
    uint64_t whole = ours ? (gap * 100 + ours / 2) / ours : 0; // gap is below 2^53
    size_t digits = whole > 999 ? 4 : whole > 99 ? 3 : whole > 9 ? 2 : 1;
    for (size_t i = digits; i < 5; i++)
        writer_char(w, ' ');
    writer_f(w, "%c%u %%", theirs < ours ? '-' : '+', whole);
}

static void put_text(struct writer *w, const struct sizes *s, uint64_t ours)
{
    writer_str(w, "formula                              MiB    against   because\n"
                  "the step, run (tensors alive)");
    emit_mib_right(w, ours, 11);
    writer_char(w, '\n');
    for (size_t i = 0; i < RULE_COUNT; i++) {
        uint64_t bytes = RULES[i].bytes(s);
        size_t start = w->len;
        writer_str(w, RULES[i].name);
        while (w->len < start + 29 && !w->failed)
            writer_char(w, ' ');
        if (size_ok(bytes)) {
            emit_mib_right(w, bytes, 11);
            put_percent(w, bytes, ours);
        } else {
            writer_str(w, "  too large         ");
        }
        writer_f(w, "   %s\n", RULES[i].why);
    }
}

static void put_table(struct writer *w, const struct sizes *s, uint64_t ours, bool md)
{
    static const char *const csv[] = {"formula", "bytes", "difference_percent"};
    static const char *const mib[] = {"formula", "MiB", "difference, %"};
    char cell[24];
    struct table t = table_of(w, md);
    table_head(&t, md ? mib : csv, 3, 1);
    table_str(&t, "vramcalc");
    table_mib(&t, ours);
    table_str(&t, "0");
    table_end(&t);
    for (size_t i = 0; i < RULE_COUNT; i++) {
        uint64_t bytes = RULES[i].bytes(s);
        int64_t d = size_ok(bytes) ? difference(bytes, ours) : 0;
        uint64_t n = (uint64_t)(d < 0 ? -d : d);
        char *at = cell + sizeof cell - 1;
        *at = 0;
        *--at = (char)('0' + n % 10);
        *--at = '.';
        n /= 10;
        do {
            *--at = (char)('0' + n % 10);
            n /= 10;
        } while (n);
        if (d < 0)
            *--at = '-';
        table_str(&t, md ? RULES[i].name : RULES[i].id);
        table_mib(&t, size_ok(bytes) ? bytes : 0);
        table_str(&t, at);
        table_end(&t);
    }
}

static void put_json(struct writer *w, const struct sizes *s, uint64_t ours)
{
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_u64(&j, "peak_live_bytes", ours);
    json_open(&j, "formulas", '[');
    for (size_t i = 0; i < RULE_COUNT; i++) {
        uint64_t bytes = RULES[i].bytes(s);
        json_open(&j, NULL, '{');
        json_str(&j, "id", RULES[i].id);
        json_str(&j, "name", RULES[i].name);
        if (size_ok(bytes)) {
            json_u64(&j, "bytes", bytes);
            json_i64(&j, "difference_permille", difference(bytes, ours));
        } else {
            json_null(&j, "bytes");
            json_null(&j, "difference_permille");
        }
        json_str(&j, "because", RULES[i].why);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

int vram_compare(vram *v, enum vram_format format)
{
    struct model m;
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    int rc = vram_check(v) == VRAM_OK ? model_make(&m, &v->config, &v->err) : v->err.message.code;
    if (rc == VRAM_OK && !v->has_result)
        rc = vram_run(v);
    if (rc != VRAM_OK)
        return rc;
    struct sizes s = sizes_of(&m);
    uint64_t ours = v->result.peak_live.bytes;
    if (format == VRAM_FORMAT_JSON)
        put_json(&v->text, &s, ours);
    else if (format == VRAM_FORMAT_TEXT)
        put_text(&v->text, &s, ours);
    else
        put_table(&v->text, &s, ours, format == VRAM_FORMAT_MD);
    return emit_done(v);
}
