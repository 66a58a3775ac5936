// A training log: nanoGPT's parameter counts, what it says about optimizer and compiler, the
// settings it echoes. From the counts alone follow layers, width, biases, and the sum of vocabulary
// and positions.

#include "calc/parse/parse.h"

#include "calc/base/text.h"
#include "calc/model/model_make.h"

struct log {
    struct parse *p;
    uint64_t decayed_tensors, decayed, nodecay_tensors, nodecay;  // 0: not seen
    uint64_t shown;     // "29.94M" in units of 10^4; 0: not seen
    uint64_t tokens;    // per iteration; 0: not seen
    bool echoed_any;    // some field
    bool echoed_model;  // the log itself names n_layer or n_embd
    bool has_vocab, has_block, has_head, has_bias, has_batch;
};

// Digits with commas at the start of *s; false if there are none or they are absurd.
static bool take_count(struct span *s, uint64_t *out)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; i < s->len && ((s->at[i] >= '0' && s->at[i] <= '9') || (s->at[i] == ',' && i > 0)); i++)
        if (s->at[i] != ',') {
            n = n * 10 + (uint64_t)(s->at[i] - '0');
            if (n > ((uint64_t)1 << 53))
                return false;
        }
    // "26, with": the comma belongs to the sentence
    if (i > 0 && s->at[i - 1] == ',')
        i--;
    *s = span_skip(*s, i);
    *out = n;
    return i > 0;
}

static int bad(struct log *l, message_id id, const char *at)
{
    return err_set(&l->p->v->err, id, parse_at(l->p, at), NO_FIELD, NO_ARGS);
}

static void note(struct log *l, message_id id, struct args args)
{
    message_list_add(&l->p->v->notes, id, NO_FIELD, args);
}

// "26, with 30,130,176 parameters"
static int take_tensors(struct log *l, struct span s, uint64_t *tensors, uint64_t *params)
{
    s = span_trim(s);
    const char *at = s.at;
    if (!take_count(&s, tensors) || !span_starts(s, ", with "))
        return bad(l, MESSAGE_log_counts, at);
    s = span_skip(s, 7);
    if (!take_count(&s, params) || !span_starts(s, " param"))
        return bad(l, MESSAGE_log_params, s.at);
    return VRAM_OK;
}

static int on_decayed(struct log *l, struct span s)
{
    return take_tensors(l, s, &l->decayed_tensors, &l->decayed);
}

static int on_nodecay(struct log *l, struct span s)
{
    return take_tensors(l, s, &l->nodecay_tensors, &l->nodecay);
}

// "29.94M"
static int on_params(struct log *l, struct span s)
{
    uint64_t n = 0;
    bool overflow;
    s = span_trim(s);
    size_t end = span_find(s, "M");
    if (end == s.len || !text_to_millionths(s.at, end, &n, &overflow) || n > (uint64_t)1 << 53)
        return bad(l, MESSAGE_log_millions, s.at);
    l->shown = (n + 5000) / 10000;
    return VRAM_OK;
}

static int on_tokens(struct log *l, struct span s)
{
    s = span_trim(s);
    take_count(&s, &l->tokens);
    return VRAM_OK;
}

static int on_fused(struct log *l, struct span s)
{
    bool fused = span_starts(span_trim(s), "True");
    l->p->v->config.optimizer = fused ? OPTIMIZER_ADAMW_FUSED : OPTIMIZER_ADAMW_FOREACH;
    return VRAM_OK;
}

static int on_compile(struct log *l, struct span s)
{
    (void)s;
    if (l->p->v->config.compile == COMPILE_NONE && l->p->v->config.mode != MODE_REFERENCE)
        l->p->v->config.compile = COMPILE_TORCH25;
    return VRAM_OK;
}

static int on_slow_attention(struct log *l, struct span s)
{
    (void)s;
    l->p->v->config.attention = ATTENTION_MATH;
    return VRAM_OK;
}

static int on_vocab(struct log *l, struct span s)
{
    uint64_t n = 0;
    s = span_trim(s);
    const char *at = s.at;
    l->has_vocab = take_count(&s, &n);
    return l->has_vocab
               ? parse_set(l->p, span_of("vocab_size"), (struct span){at, (size_t)(s.at - at)})
               : VRAM_OK;
}

// What a log line says, by the words in it.
static const struct saying {
    const char *words;
    int (*read)(struct log *l, struct span rest);
} SAYINGS[] = {
    {"number of parameters:", on_params},
    {"num decayed parameter tensors:", on_decayed},
    {"num non-decayed parameter tensors:", on_nodecay},
    {"tokens per iteration will be:", on_tokens},
    {"using fused AdamW:", on_fused},
    {"compiling the model", on_compile},
    {"WARNING: using slow attention", on_slow_attention},
    {"found vocab_size =", on_vocab},
    {"defaulting to vocab_size of GPT-2 to", on_vocab},
};

// Only a field's own name counts here: a log may well say `loss = 2.1`.
static bool is_field_name(struct span key)
{
    int field = config_field(key.at, key.len);
    return field >= 0 && span_is(key, vram_field_at((size_t)field)->key);
}

static void remember(struct log *l, struct span key)
{
    l->echoed_any = true;
    l->echoed_model |= span_is(key, "n_layer") || span_is(key, "n_embd");
    l->has_vocab |= span_is(key, "vocab_size");
    l->has_block |= span_is(key, "block_size");
    l->has_head |= span_is(key, "n_head");
    l->has_bias |= span_is(key, "bias");
    l->has_batch |= span_is(key, "batch_size");
}

static int read_echo(struct log *l, struct span line)
{
    if (span_starts(line, "Overriding: "))
        line = span_skip(line, 12);
    size_t eq = span_find(line, "=");
    struct span key = span_trim((struct span){line.at, eq});
    if (eq == line.len || !parse_is_name(key) || !is_field_name(key))
        return VRAM_OK;
    remember(l, key);
    return parse_assignment(l->p, key, span_skip(line, eq + 1));
}

static int read_line(struct log *l, struct span line)
{
    line = span_trim(line);
    for (size_t i = 0; i < sizeof SAYINGS / sizeof *SAYINGS; i++) {
        size_t at = span_find(line, SAYINGS[i].words);
        if (at < line.len)
            return SAYINGS[i].read(l, span_skip(line, at + text_len(SAYINGS[i].words)));
    }
    return read_echo(l, line);
}

// Layers, width and biases out of the tensors that do not decay: with biases 8L + 2 of them and
// 13LC + 2C numbers, without 2L + 1 and (2L + 1)C. SRC: nanoGPT model.py, configure_optimizers
static bool infer_width(struct log *l, uint64_t *layers, uint64_t *width)
{
    uint64_t t = l->nodecay_tensors, n = l->nodecay;
    bool bias = t % 2 == 0;
    if (l->decayed_tensors < 6 || (l->decayed_tensors - 2) % 4)
        return false;
    *layers = (l->decayed_tensors - 2) / 4;
    if (t != (bias ? 8 * *layers + 2 : 2 * *layers + 1))
        return false;
    uint64_t per_width = bias ? 13 * *layers + 2 : 2 * *layers + 1;
    *width = n / per_width;
    if (n % per_width || *width == 0 || *width > 1048576)
        return false;
    l->p->v->config.bias = bias;
    return true;
}

// The rows of both embeddings together are (decayed - 12LC^2) / C. The count that is shown leaves
// the positions out, so it tells the two apart to within 5000 / C rows; a vocabulary in common use
// settles it.
static bool infer_rows(struct log *l, uint64_t layers, uint64_t width)
{
    static const uint64_t vocabs[] = {50304, 50257, 65, 256, 32000, 32768, 100277, 128256, 151936};
    struct vram_config *c = &l->p->v->config;
    uint64_t blocks = 12 * layers * width;  // times width
    if (blocks > l->decayed / width || (l->decayed - blocks * width) % width)
        return false;
    uint64_t rows = l->decayed / width - blocks, total = l->decayed + l->nodecay;
    if (rows < 2)
        return false;
    if (l->has_vocab || l->has_block) {
        uint64_t known = l->has_vocab ? c->vocab_size : c->block_size;
        if (known >= rows)
            return false;
        *(l->has_vocab ? &c->block_size : &c->vocab_size) = rows - known;
        return true;
    }
    for (size_t i = 0; i < sizeof vocabs / sizeof *vocabs; i++) {
        uint64_t block = rows > vocabs[i] ? rows - vocabs[i] : 0;
        bool power = block >= 8 && (block & (block - 1)) == 0;
        bool shown = l->shown == 0 || (total - block * width + 5000) / 10000 == l->shown;
        if (power && shown) {
            c->vocab_size = vocabs[i];
            c->block_size = block;
            return true;
        }
    }
    return false;
}

static bool infer(struct log *l)
{
    struct vram_config *c = &l->p->v->config, before = *c;
    uint64_t layers, width;
    bool found = infer_width(l, &layers, &width) && layers <= 10000 && infer_rows(l, layers, width);
    // a length that does not divide the tokens of an iteration is none
    if (!found || (l->tokens && l->tokens % c->block_size)) {
        *c = before;
        return false;
    }
    c->family = FAMILY_GPT2;
    c->n_layer = layers;
    c->n_embd = width;
    if (!l->has_head && width % c->n_head)
        c->n_head = width % 64 ? 1 : width / 64;
    if (!l->has_head && before.n_embd != width && width % 64 == 0)
        c->n_head = width / 64;
    note(l, l->has_head ? MESSAGE_log_inferred : MESSAGE_log_inferred_heads,
         ARGS(arg_u64("n_layer", c->n_layer), arg_u64("n_embd", c->n_embd),
              arg_u64("n_head", c->n_head), arg_u64("block_size", c->block_size),
              arg_u64("vocab_size", c->vocab_size), arg_text("bias", c->bias ? "true" : "false")));
    return true;
}

static bool agrees(const struct log *l, const struct model *m)
{
    return (l->decayed == 0 ||
            (l->decayed == m->decayed_params && l->decayed_tensors == m->decayed_tensors)) &&
           (l->nodecay == 0 ||
            (l->nodecay == m->nodecay_params && l->nodecay_tensors == m->nodecay_tensors)) &&
           (l->shown == 0 || l->shown == (m->reported_params + 5000) / 10000);
}

static void note_difference(struct log *l, const struct model *m)
{
    bool decay = l->decayed != m->decayed_params || l->decayed_tensors != m->decayed_tensors;
    bool nodecay = l->nodecay != m->nodecay_params || l->nodecay_tensors != m->nodecay_tensors;
    if (l->decayed && decay)
        note(l, MESSAGE_log_differs_decay,
             ARGS(arg_u64("log_params", l->decayed), arg_u64("log_tensors", l->decayed_tensors),
                  arg_u64("params", m->decayed_params), arg_u64("tensors", m->decayed_tensors)));
    else if (l->decayed && l->nodecay && nodecay)
        note(l, MESSAGE_log_differs_nodecay,
             ARGS(arg_u64("log_params", l->nodecay), arg_u64("log_tensors", l->nodecay_tensors),
                  arg_u64("params", m->nodecay_params), arg_u64("tensors", m->nodecay_tensors)));
    else
        note(l, MESSAGE_log_differs_params,
             ARGS(arg_u64("log_params", l->shown * 10000), arg_u64("params", m->reported_params)));
}

static void check_tokens(struct log *l, const struct vram_config *c)
{
    uint64_t seq = c->seq_len ? c->seq_len : c->block_size;
    uint64_t step = seq * c->batch_size;
    if (l->tokens && step && l->has_batch && l->tokens % step)
        note(l, MESSAGE_log_differs_tokens,
             ARGS(arg_u64("tokens", l->tokens), arg_u64("step", step)));
    else if (l->tokens && step && !l->has_batch)
        note(l, MESSAGE_log_without_batch,
             ARGS(arg_u64("batch_size", c->batch_size), arg_u64("tokens", l->tokens)));
}

// Compares the counts with the configuration; where the log did not spell the model out, takes it
// from the counts.
static int check(struct log *l)
{
    struct vram *v = l->p->v;
    struct model m;
    struct message e;
    message_clear(&e);
    bool made = model_make(&m, &v->config, &e) == VRAM_OK;
    if (!(made && agrees(l, &m)) && !l->echoed_model && l->decayed && l->nodecay && infer(l)) {
        message_clear(&e);
        made = model_make(&m, &v->config, &e) == VRAM_OK;
    }
    if (made && !agrees(l, &m))
        note_difference(l, &m);
    check_tokens(l, &v->config);
    if (!l->decayed && !l->shown && !l->tokens && !l->echoed_any)
        return err_set(&v->err, MESSAGE_log_without_model, (struct err_pos){l->p->file, 1, 1},
                       NO_FIELD, NO_ARGS);
    return VRAM_OK;
}

int parse_log(struct parse *p)
{
    struct log l = {.p = p};
    struct span line;
    int rc = VRAM_OK;
    while (rc == VRAM_OK && parse_line(p, &line))
        if (read_line(&l, line) != VRAM_OK)
            rc = parse_report(p);
    return rc == VRAM_OK && !err_is_set(&p->first) ? check(&l) : rc;
}
