// Owns a trace as CSV and as the Trace Event JSON of Perfetto.

#include "calc/write/trace_events.h"

#include "calc/base/text.h"
#include "calc/replay/run.h"

// ---- CSV ---------------------------------------------------------------------------------------

struct csv {
    struct writer *w;
    uint64_t index;
};

static int csv_event(void *ctx, const struct vram_event *e)
{
    struct csv *c = ctx;
    writer_f(c->w, "%u,%s,%u,%u,%u,%s,", c->index++, e->is_free ? "free" : "alloc", e->id, e->bytes,
             e->live, vram_category_name(e->category));
    writer_csv(c->w, e->name);
    writer_char(c->w, ',');
    writer_csv(c->w, e->op);
    writer_f(c->w, ",%s,", e->phase);
    if (e->block >= 0)
        writer_i64(c->w, e->block);
    writer_char(c->w, '\n');
    return c->w->failed;
}

// A callback stops a walk with 1 when the text's memory is used up; that is no error of the trace.
static int walk(struct vram *v, vram_event_fn *fn, void *ctx)
{
    int rc = vram_trace(v, fn, ctx);
    return rc == 1 ? VRAM_OK : rc;
}

int trace_csv(struct vram *v)
{
    struct csv c = {&v->text, 0};
    writer_str(c.w, "event,kind,id,bytes,live_bytes,category,tensor,op,phase,block\n");
    return walk(v, csv_event, &c);
}

// ---- Trace Event JSON --------------------------------------------------------------------------
// SRC: "Trace Event Format", the document that chrome://tracing and Perfetto's importer follow: M
// names a process or thread, X is a slice with a duration, C a counter, b and e begin and end a
// slice that may overlap others.

enum { PHASE_TEXT = 32, SHOWN_PART = 400 };

struct perfetto {
    struct writer *w;
    uint64_t time, least;  // least: bytes of a tensor that is drawn on its own
    uint64_t sum[VRAM_CAT_COUNT];
    char phase[PHASE_TEXT];
    uint64_t phase_start;
    bool any;
};

static void begin(struct perfetto *p, const char *ph, uint64_t ts)
{
    writer_f(p->w, "%s{\"ph\":\"%s\",\"pid\":1,\"ts\":%u", p->any ? ",\n" : "\n", ph, ts);
    p->any = true;
}

static void end_phase(struct perfetto *p)
{
    if (!p->phase[0])
        return;
    begin(p, "X", p->phase_start);
    writer_f(p->w, ",\"tid\":1,\"dur\":%u,\"name\":", p->time - p->phase_start);
    writer_json(p->w, p->phase, text_len(p->phase));
    writer_char(p->w, '}');
}

static void follow_phase(struct perfetto *p, const char *phase)
{
    if (text_equal(phase, text_len(phase), p->phase))
        return;
    end_phase(p);
    size_t n = 0;
    for (; n + 1 < PHASE_TEXT && phase[n]; n++)
        p->phase[n] = phase[n];
    p->phase[n] = 0;
    p->phase_start = p->time;
}

static void counters(struct perfetto *p)
{
    begin(p, "C", p->time);
    writer_str(p->w, ",\"name\":\"memory\",\"args\":{");
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        writer_f(p->w, "%s\"%s\":%u", c ? "," : "", vram_category_name(c), p->sum[c]);
    writer_str(p->w, "}}");
}

static void slice(struct perfetto *p, const struct vram_event *e)
{
    begin(p, e->is_free ? "e" : "b", p->time);
    writer_f(p->w, ",\"tid\":2,\"cat\":\"%s\",\"id\":%u,\"name\":", vram_category_name(e->category),
             e->id);
    writer_json(p->w, e->name, text_len(e->name));
    if (!e->is_free) {
        writer_f(p->w, ",\"args\":{\"bytes\":%u,\"block\":%d,\"op\":", e->bytes, e->block);
        writer_json(p->w, e->op, text_len(e->op));
        writer_char(p->w, '}');
    }
    writer_char(p->w, '}');
}

static int perfetto_event(void *ctx, const struct vram_event *e)
{
    struct perfetto *p = ctx;
    follow_phase(p, e->phase);
    if (e->is_free)
        p->sum[e->category] -= e->bytes;
    else
        p->sum[e->category] += e->bytes;
    counters(p);
    if (e->bytes >= p->least)
        slice(p, e);
    p->time++;
    return p->w->failed;
}

static void name_track(struct perfetto *p, const char *what, unsigned tid, const char *name)
{
    begin(p, "M", 0);
    writer_f(p->w, ",\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", (uint64_t)tid, what,
             name);
}

int trace_perfetto(struct vram *v)
{
    uint64_t peak = 0;
    int rc = run_once(v);
    if (rc != VRAM_OK)
        return rc;
    peak = v->result.peak_live.bytes;
    struct perfetto p = {.w = &v->text, .least = peak / SHOWN_PART + 1};
    writer_str(p.w, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"schema\":\"" VRAM_SCHEMA
                    "\",\"time\":\"one microsecond an allocation or free\"},\"traceEvents\":[");
    name_track(&p, "process_name", 0, "GPU memory");
    name_track(&p, "thread_name", 1, "phases");
    name_track(&p, "thread_name", 2, "tensors");
    rc = walk(v, perfetto_event, &p);
    end_phase(&p);
    writer_str(p.w, "\n]}\n");
    return rc;
}
