// The model's parameters tensor by tensor, as text and as JSON: a row a name, the layers' tensors together.

#include "calc/answer/emit.h"

#include "calc/model/layout.h"
#include "calc/model/model_make.h"
#include "calc/replay/engine.h"

typedef void row_fn(void *ctx, const char *name, const struct layout_param *p, uint64_t count);

static bool each(struct vram *v, const struct layout_param *p, size_t n, uint64_t count,
                 row_fn *fn, void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = engine_name(v->engine, (uint16_t)(p[i].role << 6 | p[i].part));
        if (!name)
            return false;
        fn(ctx, name, &p[i], count);
    }
    return true;
}

// In the order of registration; false: out of memory. The handle has a result, so its model is a possible one.
static bool each_tensor(struct vram *v, row_fn *fn, void *ctx)
{
    struct model m;
    struct layout l;
    if (model_make(&m, &v->config, &v->err) != VRAM_OK)
        return false;
    layout_make(&l, &m);
    return each(v, l.before, l.before_count, 1, fn, ctx) &&
           each(v, l.block, l.block_count, m.c.n_layer, fn, ctx) &&
           each(v, l.after, l.after_count, 1, fn, ctx);
}

static uint64_t elements(const struct layout_param *p, uint64_t count)
{
    return count * p->rows * (p->cols ? p->cols : 1);
}

static void json_row(void *ctx, const char *name, const struct layout_param *p, uint64_t count)
{
    struct json *j = ctx;
    json_open(j, NULL, '{');
    json_str(j, "name", name);
    json_u64(j, "count", count);
    json_open(j, "shape", '[');
    json_u64(j, NULL, p->rows);
    if (p->cols)
        json_u64(j, NULL, p->cols);
    json_close(j, ']');
    json_u64(j, "elements", elements(p, count));
    json_bool(j, "decayed", p->matrix);
    json_bool(j, "trained", p->trained);
    json_close(j, '}');
}

void emit_params_json(struct json *j, struct vram *v)
{
    json_open(j, "parameters", '[');
    j->w->failed |= !each_tensor(v, json_row, j);
    json_close(j, ']');
}

static void text_row(void *ctx, const char *name, const struct layout_param *p, uint64_t count)
{
    struct writer *w = ctx;
    emit_count_right(w, elements(p, count), 18);
    writer_f(w, "  %s, %u", name, p->rows);
    if (p->cols)
        writer_f(w, " x %u", p->cols);
    if (count > 1)
        writer_f(w, " (%u of them)", count);
    writer_str(w, p->trained ? "\n" : ", frozen\n");
}

void emit_params_text(struct writer *w, struct vram *v)
{
    const struct vram_result *r = &v->result;
    writer_str(w, "Parameters\n");
    emit_count_right(w, r->params, 18);
    writer_f(w, "  in all, %u tensors", r->tensors);
    if (r->reported_params != r->params) {
        writer_str(w, "; nanoGPT's log reports ");
        emit_count(w, r->reported_params);
        writer_str(w, ", without positions");
    }
    writer_char(w, '\n');
    emit_count_right(w, r->decayed_params, 18);
    writer_f(w, "  with weight decay, %u tensors; ", r->decayed_tensors);
    emit_count(w, r->nodecay_params);
    writer_f(w, " without, %u tensors\n", r->nodecay_tensors);
    w->failed |= !each_tensor(v, text_row, w);
    writer_char(w, '\n');
}
