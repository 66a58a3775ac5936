// Owns the search for the tensor that did not fit: every allocation of the run that has the
// message's size.

#include "calc/answer/oom_search.h"

#include "calc/answer/oom_shape.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"

enum { MIB = 1048576 };

struct walk {
    const struct oom_message *m;
    struct oom_search *s;
    uint64_t budget;  // bytes that the card has for tensors, 0 if that is not known
    uint64_t over;    // how many allocations went beyond it so far
};

static uint64_t gap(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

uint64_t oom_idle(const struct oom_message *m)
{
    if (m->unallocated.present)
        return m->unallocated.bytes;
    return m->reserved.present && m->allocated.present && m->reserved.bytes > m->allocated.bytes
               ? m->reserved.bytes - m->allocated.bytes
               : 0;
}

static uint64_t reserved(const struct oom_message *m)
{
    return m->reserved.present ? m->reserved.bytes : m->allocated.bytes + oom_idle(m);
}

uint64_t oom_others(const struct oom_message *m)
{
    bool own = m->in_use.present || m->reserved.present || m->allocated.present;
    if (!m->total.present || !m->free.present || !own)
        return 0;
    uint64_t mine =
        m->in_use.present ? m->in_use.bytes : reserved(m) + (uint64_t)context_most_mib() * MIB;
    uint64_t used = m->total.bytes > m->free.bytes ? m->total.bytes - m->free.bytes : 0;
    return used > mine ? used - mine : 0;
}

// What the card, of the message or of the configuration, has for tensors; 0 if that is not known.
static uint64_t budget(const struct vram *v, const struct oom_message *m)
{
    uint64_t total = m->total.present ? m->total.bytes : capacity_left(&v->config);
    if (m->allowed.present)
        return m->allowed.bytes;
    uint64_t taken = oom_others(m) + (uint64_t)CONTEXT_MIB * MIB;
    return total > taken ? total - taken : 0;
}

// Without a figure to compare with, a run dies at the first request that does not fit; where the
// card is not known either, the fullest moment is the likeliest.
static uint64_t distance(struct walk *w, const struct vram_event *e, uint64_t live)
{
    if (w->m->allocated.present)
        return gap(live, w->m->allocated.bytes);
    if (w->budget && e->live > w->budget)
        return w->over++;
    return ((uint64_t)1 << 60) - live;
}

static void remember(struct oom_suspect *s, const struct vram_event *e, uint64_t live, uint64_t far)
{
    *s = (struct oom_suspect){
        .out = {e->name, e->op, NULL, e->category, e->block, e->bytes, live, {{0}, {0}, 0, 0, 0}},
        .distance = far};
    for (size_t i = 0; i + 1 < OOM_PHASE && e->phase[i]; i++)
        s->phase[i] = e->phase[i];
}

// The place of an event among the suspects: that of the same tensor, a new one, or the last;
// OOM_SUSPECTS if all that are there are likelier.
static size_t place_for(const struct oom_search *s, const struct vram_event *e, uint64_t far)
{
    size_t at = 0;
    while (at < s->count && !(s->found[at].out.name == e->name && s->found[at].out.op == e->op))
        at++;
    if (at == OOM_SUSPECTS)
        at--;
    return at < s->count && s->found[at].distance <= far ? OOM_SUSPECTS : at;
}

// Of several allocations of the same tensor the one whose moment agrees best with the message is
// kept.
static int on_event(void *ctx, const struct vram_event *e)
{
    struct walk *w = ctx;
    struct oom_search *s = w->s;
    uint64_t asked = oom_asked(w->m->source, e->bytes);
    if (e->is_free || asked < w->m->tried.low || asked > w->m->tried.high)
        return 0;
    uint64_t live = e->live - e->bytes, far = distance(w, e, live);
    size_t at = place_for(s, e, far);
    if (at == OOM_SUSPECTS)
        return 0;
    s->count += at == s->count;
    remember(&s->found[at], e, live, far);
    for (; at > 0 && s->found[at].distance < s->found[at - 1].distance; at--) {
        struct oom_suspect swap = s->found[at];
        s->found[at] = s->found[at - 1];
        s->found[at - 1] = swap;
    }
    return 0;
}

void oom_set_mode(struct vram *v, uint64_t mode)
{
    v->has_result = v->has_result && v->config.compile == mode;
    v->config.compile = mode;
}

// The suspects with torch.compile in one mode. A mode that is not modelled here has none.
static int search_mode(struct vram *v, struct walk *w, uint64_t mode)
{
    uint64_t as_it_is = v->config.compile;
    struct oom_search *s = w->s;
    s->count = 0;
    w->over = 0;
    s->compile = mode;
    oom_set_mode(v, mode);
    int rc = vram_trace(v, on_event, w);
    if (rc == VRAM_EUNSUPPORTED && mode != s->asked) {
        message_clear(&v->err);
        rc = VRAM_OK;
    }
    if (rc != VRAM_OK || s->count == 0)
        oom_set_mode(v, as_it_is);
    return rc;
}

int oom_search(struct vram *v, const struct oom_message *m, struct oom_search *s)
{
    static const uint64_t modes[] = {COMPILE_TORCH24, COMPILE_TORCH25, COMPILE_NONE};
    *s = (struct oom_search){.asked = v->config.compile, .compile = v->config.compile};
    struct oom_search best = *s, other = *s;
    struct walk w = {m, s, budget(v, m), 0};
    int rc = search_mode(v, &w, s->asked);
    w.s = &other;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && rc == VRAM_OK && s->count == 0; i++) {
        if (modes[i] == s->asked)
            continue;
        rc = search_mode(v, &w, modes[i]);
        if (other.count && (!best.count || other.found[0].distance < best.found[0].distance))
            best = other;
        oom_set_mode(v, s->asked);
    }
    if (rc == VRAM_OK && s->count == 0 && best.count) {
        *s = best;
        oom_set_mode(v, best.compile);
    }
    return rc;
}
