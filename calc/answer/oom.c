// vram_explain_oom: which tensor an out-of-memory message is about, when in the step, and what to change.

#include "calc/answer/oom.h"

#include "calc/answer/advise.h"
#include "calc/answer/emit.h"
#include "calc/answer/oom_shape.h"
#include "calc/base/text.h"
#include "calc/model/contexts.h"
#include "calc/model/gpus.h"

enum { SUSPECTS = 6, GUESSES = 6, PHASE_MAX = 32 };

// A kind of allocation whose segment has the message's size.
struct suspect {
    const char *name, *op;
    char phase[PHASE_MAX];
    uint32_t category;
    int64_t block;
    uint64_t bytes, live; // live: before this allocation
    uint64_t distance;    // of live from what the message calls allocated
};

struct search {
    const struct oom_message *m;
    struct suspect found[SUSPECTS];
    size_t count;
    uint64_t budget;     // bytes that the card has for tensors, 0 if that is not known
    uint64_t over;       // how many allocations went beyond it so far
    uint64_t asked;      // torch.compile as the configuration has it
    uint64_t compile;    // and as it was tried
};

static uint64_t gap(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void remember(struct suspect *s, const struct vram_event *e, uint64_t live,
                     uint64_t distance)
{
    *s = (struct suspect){e->name, e->op, {0}, e->category, e->block, e->bytes, live, distance};
    for (size_t i = 0; i + 1 < PHASE_MAX && e->phase[i]; i++)
        s->phase[i] = e->phase[i];
}

// Of several allocations of the same tensor the one whose moment agrees best with the message is kept.
static int on_event(void *ctx, const struct vram_event *e)
{
    struct search *s = ctx;
    uint64_t segment = oom_segment(e->bytes);
    if (e->is_free || segment < s->m->tried.low || segment > s->m->tried.high)
        return 0;
    uint64_t live = e->live - e->bytes, distance = ((uint64_t)1 << 60) - live;
    // Without a figure to compare with, a run dies at the first request that does not fit; where the card is not known
    // either, the fullest moment is the likeliest.
    if (s->m->allocated.present)
        distance = gap(live, s->m->allocated.bytes);
    else if (s->budget && e->live > s->budget)
        distance = s->over++;
    size_t at = 0;
    while (at < s->count && !(s->found[at].name == e->name && s->found[at].op == e->op))
        at++;
    if (at < s->count && s->found[at].distance <= distance)
        return 0;
    if (at == s->count && s->count == SUSPECTS) {
        at = SUSPECTS - 1;
        if (s->found[at].distance <= distance)
            return 0;
    }
    s->count += at == s->count;
    remember(&s->found[at], e, live, distance);
    for (; at > 0 && s->found[at].distance < s->found[at - 1].distance; at--) {
        struct suspect swap = s->found[at];
        s->found[at] = s->found[at - 1];
        s->found[at - 1] = swap;
    }
    return 0;
}

// ---- what the message says ---------------------------------------------------------------------

static void put_size(struct writer *w, const char *words, const struct oom_size *s)
{
    if (!s->present)
        return;
    emit_mib_right(w, s->bytes, 12);
    writer_f(w, "  %s\n", words);
}

static void put_message(struct writer *w, const struct oom_message *m)
{
    writer_str(w, "The message, in MiB\n");
    put_size(w, "asked for, and not there", &m->tried);
    put_size(w, "on the card in all", &m->total);
    put_size(w, "free", &m->free);
    put_size(w, "in use by this process, its CUDA context included", &m->in_use);
    put_size(w, "in tensors of this process (allocated)", &m->allocated);
    put_size(w, "taken from the driver for tensors (reserved)", &m->reserved);
    put_size(w, "reserved but not in tensors", &m->unallocated);
    writer_char(w, '\n');
}

// Bytes that the allocator holds without a tensor in them.
static uint64_t idle(const struct oom_message *m)
{
    if (m->unallocated.present)
        return m->unallocated.bytes;
    return m->reserved.present && m->allocated.present && m->reserved.bytes > m->allocated.bytes
               ? m->reserved.bytes - m->allocated.bytes
               : 0;
}

static uint64_t reserved(const struct oom_message *m)
{
    return m->reserved.present ? m->reserved.bytes : m->allocated.bytes + idle(m);
}

// Memory of the card that neither this process' tensors nor its context explain.
static uint64_t others(const struct oom_message *m)
{
    bool own = m->in_use.present || m->reserved.present || m->allocated.present;
    if (!m->total.present || !m->free.present || !own)
        return 0;
    // a context with eager loading, as old versions have it, takes up to 1343 MiB (contexts.def)
    uint64_t mine = m->in_use.present ? m->in_use.bytes : reserved(m) + (uint64_t)1343 * EMIT_MIB;
    uint64_t used = m->total.bytes > m->free.bytes ? m->total.bytes - m->free.bytes : 0;
    return used > mine ? used - mine : 0;
}

// ---- text --------------------------------------------------------------------------------------

static void put_suspect(struct writer *w, const struct vram *v, const struct suspect *s)
{
    struct oom_shape shape;
    char words[48];
    emit_size(w, s->bytes);
    if (oom_shape_find(&v->config, s->bytes, &shape)) {
        writer_str(w, " = ");
        oom_shape_write(w, &shape);
    }
    writer_f(w, ": %s, allocated by %s", s->name, s->op);
    if (s->block >= 0)
        writer_f(w, " in block %d", s->block);
    writer_f(w, ", %s", emit_phase_words(s->phase, words));
    writer_str(w, "\n      by then ");
    emit_mib_round(w, s->live);
    writer_str(w, " MiB are alive");
    if (oom_shape_find(&v->config, s->bytes, &shape)) {
        writer_str(w, "; ");
        oom_shape_words(w, &shape);
    }
    writer_char(w, '\n');
}

static void put_guess(struct writer *w, const struct oom_shape *s)
{
    writer_str(w, "  ");
    emit_size(w, oom_shape_bytes(s));
    writer_str(w, " = ");
    oom_shape_write(w, s);
    writer_str(w, ": ");
    oom_shape_words(w, s);
    if (s->dims == 3 && s->name[2][0] == 'v')
        writer_str(w, s->element == 4 ? ": logits of cross_entropy in float32"
                                      : ": logits in half precision");
    writer_char(w, '\n');
}

static size_t put_guesses(struct writer *w, const struct oom_message *m, bool with_config)
{
    struct oom_shape shape;
    size_t n = 0;
    for (unsigned i = 0; n < GUESSES && oom_shape_guess(m->tried.low, m->tried.high, i, &shape);
         i++, n++) {
        if (n == 0)
            writer_str(w, "Shapes that ask for this size\n");
        put_guess(w, &shape);
    }
    if (n && with_config)
        writer_char(w, '\n');
    else if (n)
        writer_str(w, "Give the configuration and the tensor is named: vramcalc explain-oom "
                      "error.txt config.py\n\n");
    return n;
}

static void put_general(struct writer *w, const struct oom_message *m)
{
    if (others(m) > (uint64_t)512 * EMIT_MIB) {
        writer_str(w, "- about ");
        emit_mib_round(w, others(m));
        writer_str(w, " MiB of the card belong to other processes: nvidia-smi lists them\n");
    }
    if (idle(m) >= m->tried.bytes && idle(m) > 0) {
        writer_str(w, "- the allocator holds ");
        emit_mib_round(w, idle(m));
        writer_str(w, " MiB that no tensor uses, more than was asked for, but not in one piece:\n"
                      "  PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True may help (nothing else changes)\n");
    }
}

static const char *compile_name(uint64_t mode)
{
    return vram_field_find("compile")->values[mode];
}

// The message has no size: the driver's or a library's.
static void put_driver(struct writer *w)
{
    writer_str(w, "This message has no size: it is not PyTorch's allocator that found no room but the CUDA driver or a\n"
                  "library (cuBLAS, cuDNN) that wanted memory of its own, for a context or a workspace.\n\n"
                  "What to look at first\n"
                  "- does another process hold the card? nvidia-smi lists them; a run that died may still be there\n"
                  "- PyTorch may have taken all but the last few hundred MiB: leave room with a smaller batch_size, or set\n"
                  "  torch.cuda.set_per_process_memory_fraction(0.9)\n"
                  "- at the very start, with little in use: too many processes share the card, each needs a context of\n"
                  "  200 to 430 MiB (vramcalc estimate shows yours)\n");
}

static void put_changes(struct writer *w, struct vram *v, const struct oom_message *m)
{
    struct advice_list *list = mem_alloc(&v->mem, sizeof *list);
    size_t shown = 0;
    writer_str(w, "What to change first\n");
    put_general(w, m);
    if (!list) {
        w->failed = true;
        return;
    }
    int rc = advise_make(v, list);
    w->failed |= rc == VRAM_ENOMEM;
    err_clear(&v->err);
    if (rc == VRAM_OK)
        for (size_t i = 0; i < list->count && shown < 5; i++) {
            const struct advice *a = &list->row[i];
            bool fits = m->total.present && a->process <= m->total.bytes;
            if (a->refused || a->saved < m->tried.bytes / 4 || a->effect != ADVICE_SAME)
                continue;
            writer_f(w, "- %s: ", a->what);
            emit_mib_round(w, a->saved);
            writer_f(w, " MiB less (%s)%s\n", a->effect_text, fits ? ", and it fits" : "");
            shown++;
        }
    writer_str(w, "All of it, with costs: vramcalc advise\n");
    mem_free(&v->mem, list, sizeof *list);
}

static void put_text(struct writer *w, struct vram *v, const struct search *s, bool with_config)
{
    put_message(w, s->m);
    if (with_config && s->count && s->compile != s->asked)
        writer_f(w, "With compile=%s, as configured, no tensor has that size; with compile=%s one has. Compiled by "
                    "another PyTorch?\n\n",
                 compile_name(s->asked), compile_name(s->compile));
    if (with_config && s->count) {
        writer_str(w, s->count > 1 ? "The tensor, the likeliest first\n" : "The tensor\n");
        for (size_t i = 0; i < s->count; i++) {
            writer_f(w, "  %u. ", (uint64_t)i + 1);
            put_suspect(w, v, &s->found[i]);
        }
        writer_char(w, '\n');
        put_changes(w, v, s->m);
        return;
    }
    if (with_config)
        writer_str(w, "No tensor of this configuration has that size: is it the one that ran?\n\n");
    if (!put_guesses(w, s->m, with_config))
        writer_str(w, "No common shape has that size.\n\n");
    if (with_config) {
        put_changes(w, v, s->m);
        return;
    }
    writer_str(w, "What to change first\n");
    put_general(w, s->m);
    writer_str(w, "- half the batch_size and twice the gradient_accumulation_steps: the same "
                  "training, half the activations and logits\n"
                  "- a chunked cross-entropy (Liger) or torch.compile, where the logits are the "
                  "largest tensors\n"
                  "- activation checkpointing, where the activations are\n");
}

// ---- JSON --------------------------------------------------------------------------------------

static void json_shape(struct json *j, const struct oom_shape *s)
{
    json_open(j, "shape", '[');
    for (unsigned i = 0; i < s->dims; i++)
        json_u64(j, NULL, s->dim[i]);
    json_close(j, ']');
    json_u64(j, "element_bytes", s->element);
}

static void json_size(struct json *j, const char *key, const struct oom_size *s)
{
    if (s->present)
        json_u64(j, key, s->bytes);
    else
        json_null(j, key);
}

static void put_json(struct writer *w, const struct vram *v, const struct search *s)
{
    struct json j = json_of(w);
    struct oom_shape shape;
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_size(&j, "tried_bytes", &s->m->tried);
    json_size(&j, "total_bytes", &s->m->total);
    json_size(&j, "free_bytes", &s->m->free);
    json_size(&j, "allocated_bytes", &s->m->allocated);
    json_size(&j, "reserved_bytes", &s->m->reserved);
    json_size(&j, "unallocated_bytes", &s->m->unallocated);
    json_str(&j, "compile", s->count ? compile_name(s->compile) : NULL);
    json_open(&j, "tensors", '[');
    for (size_t i = 0; i < s->count; i++) {
        const struct suspect *t = &s->found[i];
        json_open(&j, NULL, '{');
        json_str(&j, "name", t->name);
        json_str(&j, "op", t->op);
        json_str(&j, "phase", t->phase);
        json_str(&j, "category", vram_category_name(t->category));
        json_u64(&j, "bytes", t->bytes);
        json_u64(&j, "live_bytes", t->live);
        if (oom_shape_find(&v->config, t->bytes, &shape))
            json_shape(&j, &shape);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "shapes", '[');
    for (unsigned i = 0; s->count == 0 && !s->m->driver && i < GUESSES &&
                         oom_shape_guess(s->m->tried.low, s->m->tried.high, i, &shape);
         i++) {
        json_open(&j, NULL, '{');
        json_u64(&j, "bytes", oom_shape_bytes(&shape));
        json_shape(&j, &shape);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

// What the card, of the message or of the configuration, has for tensors; 0 if that is not known.
static uint64_t budget(const struct vram *v, const struct oom_message *m)
{
    uint64_t total = m->total.present ? m->total.bytes : gpu_bytes(&v->config);
    uint64_t taken = others(m) + (uint64_t)CONTEXT_MIB * EMIT_MIB;
    return total > taken ? total - taken : 0;
}

// The suspects with torch.compile in one mode. A mode that is not modelled here has none.
static int search_mode(struct vram *v, struct search *s, uint64_t mode)
{
    uint64_t as_it_is = v->config.compile;
    s->count = 0;
    s->over = 0;
    s->compile = v->config.compile = mode;
    int rc = vram_trace(v, on_event, s);
    if (rc == VRAM_EUNSUPPORTED && mode != s->asked) {
        err_clear(&v->err);
        rc = VRAM_OK;
    }
    if (rc != VRAM_OK || s->count == 0)
        v->config.compile = as_it_is;
    return rc;
}

// As configured; if nothing has that size, as other versions of torch.compile, or none, would have run it. The mode
// that agrees best is left in v->config, for the advice.
static int search_all(struct vram *v, struct search *s)
{
    static const uint64_t modes[] = {COMPILE_TORCH24, COMPILE_TORCH25, COMPILE_NONE};
    struct search best = *s;
    int rc = search_mode(v, s, s->asked);
    for (size_t i = 0; i < sizeof modes / sizeof *modes && rc == VRAM_OK && s->count == 0; i++) {
        struct search other = *s;
        if (modes[i] == s->asked)
            continue;
        rc = search_mode(v, &other, modes[i]);
        if (other.count && (!best.count || other.found[0].distance < best.found[0].distance))
            best = other;
        v->config.compile = s->asked;
    }
    if (rc == VRAM_OK && s->count == 0 && best.count) {
        *s = best;
        v->config.compile = best.compile;
    }
    return rc;
}

int vram_explain_oom(vram *v, const char *text, size_t len, bool with_config,
                     enum vram_format format)
{
    struct oom_message m;
    struct search s = {.m = &m, .asked = v->config.compile, .compile = v->config.compile};
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    int rc = oom_parse(&m, &v->err, text, len);
    s.budget = rc == VRAM_OK ? budget(v, &m) : 0;
    if (rc == VRAM_OK && with_config && !m.driver)
        rc = search_all(v, &s);
    if (rc != VRAM_OK)
        return rc;
    if (format == VRAM_FORMAT_JSON)
        put_json(&v->text, v, &s);
    else if (m.driver)
        put_driver(&v->text);
    else
        put_text(&v->text, v, &s, with_config);
    v->config.compile = s.asked;
    return emit_done(v);
}
