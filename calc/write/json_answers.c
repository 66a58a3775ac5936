// Owns the shorter answers as JSON: fit, largest batch, advice, out-of-memory message, comparison, configuration, error.

#include "calc/answer/answers.h"
#include "calc/write/json_parts.h"
#include "calc/write/write_json.h"

static struct json begin(struct vram *v)
{
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    return j;
}

static void end(struct json *j)
{
    json_close(j, '}');
    json_end(j);
}

void json_fit(struct vram *v)
{
    const struct vram_fit *f = &answers_made(v)->fit;
    struct json j = begin(v);
    json_bool(&j, "fits", vram_verdict_fits(f->verdict));
    json_bool(&j, "within_error_bound", f->verdict == VRAM_VERDICT_TIGHT || f->verdict == VRAM_VERDICT_NEARLY);
    json_u64(&j, "process_bytes", f->process.bytes);
    json_u64(&j, "process_low_bytes", f->process.low);
    json_u64(&j, "process_high_bytes", f->process.high);
    json_str(&j, "gpu", f->gpu_name);
    json_u64(&j, "gpu_bytes", f->gpu_bytes);
    json_capacity(&j, &f->capacity);
    end(&j);
}

void json_max_batch(struct vram *v)
{
    const struct vram_max_batch *m = &answers_made(v)->max_batch;
    struct json j = begin(v);
    json_u64(&j, "max_batch_size", m->batch_size);
    json_u64(&j, "safe_batch_size", m->safe_batch_size);
    json_u64(&j, "gradient_accumulation_steps", m->gradient_accumulation_steps);
    json_u64(&j, "process_bytes", m->process_bytes);
    json_str(&j, "gpu", m->gpu_name);
    json_u64(&j, "gpu_bytes", m->gpu_bytes);
    json_capacity(&j, &m->capacity);
    json_message(&j, "refusal", m->refusal);
    end(&j);
}

static void change(struct json *j, const struct vram_change *c)
{
    json_open(j, NULL, '{');
    json_str(j, "id", c->id);
    json_str(j, "change", c->what);
    json_str(j, "effect", vram_effect_name(c->effect));
    json_message(j, "result", c->result);
    json_message(j, "how", c->how);
    json_message(j, "refused", c->refusal);
    json_u64(j, "process_bytes", c->process_bytes);
    json_u64(j, "saved_bytes", c->saved_bytes);
    if (c->cost_predicted)
        json_i64(j, "slowdown_permille", c->cost_permille);
    else
        json_null(j, "slowdown_permille");
    json_message(j, "slowdown_basis", c->cost_basis);
    json_bool(j, "fits", c->fits);
    json_str(j, "line", c->line);
    json_bool(j, "by_tensors", c->by_tensors);
    json_close(j, '}');
}

static void plan(struct json *j, const struct advice_list *list)
{
    const struct vram_advice *a = &list->out;
    if (!a->plan_found) {
        json_null(j, "plan");
        return;
    }
    json_open(j, "plan", '{');
    json_u64(j, "process_bytes", a->plan_process_bytes);
    json_i64(j, "slowdown_permille", a->plan_cost_permille);
    json_open(j, "changes", '[');
    for (size_t i = 0; i < a->change_count; i++)
        if (a->changes[i].in_plan)
            json_str(j, NULL, a->changes[i].what);
    json_close(j, ']');
    json_fields(j, "config", &list->plan);
    json_close(j, '}');
}

void json_advice(struct vram *v)
{
    const struct advice_list *list = answers_made(v)->advice;
    const struct vram_advice *a = &list->out;
    struct json j = begin(v);
    json_u64(&j, "process_bytes", a->process_bytes);
    if (a->gpu_bytes) {
        json_u64(&j, "gpu_bytes", a->gpu_bytes);
        json_capacity(&j, &a->capacity);
        json_bool(&j, "fits", a->fits);
    } else {
        json_null(&j, "gpu_bytes");
        json_null(&j, "fits");
    }
    json_str(&j, "framework", a->framework);
    json_open(&j, "changes", '[');
    for (size_t i = 0; i < a->change_count; i++)
        change(&j, &a->changes[i]);
    json_close(&j, ']');
    plan(&j, list);
    end(&j);
}

// ---- out-of-memory messages ------------------------------------------------------------------

static void shape(struct json *j, const struct vram_shape *s)
{
    json_open(j, "shape", '[');
    for (unsigned i = 0; i < s->dims; i++)
        json_u64(j, NULL, s->dim[i]);
    json_close(j, ']');
    json_u64(j, "element_bytes", s->element_bytes);
}

static void size(struct json *j, const char *key, const struct vram_size *s)
{
    if (s->present)
        json_u64(j, key, s->bytes);
    else
        json_null(j, key);
}

static void tensor(struct json *j, const struct vram_suspect *t)
{
    json_open(j, NULL, '{');
    json_str(j, "name", t->name);
    json_str(j, "op", t->op);
    json_str(j, "phase", t->phase);
    json_str(j, "category", vram_category_name(t->category));
    json_u64(j, "bytes", t->bytes);
    json_u64(j, "live_bytes", t->live_bytes);
    if (t->shape.dims)
        shape(j, &t->shape);
    json_close(j, '}');
}

void json_oom(struct vram *v)
{
    const struct vram_oom *o = &answers_made(v)->oom;
    struct json j = begin(v);
    json_str(&j, "source", o->source);
    json_message(&j, "about", o->about);
    size(&j, "tried_bytes", &o->tried);
    size(&j, "total_bytes", &o->total);
    size(&j, "free_bytes", &o->free);
    size(&j, "allocated_bytes", &o->allocated);
    size(&j, "reserved_bytes", &o->reserved);
    size(&j, "unallocated_bytes", &o->unallocated);
    size(&j, "in_use_bytes", &o->in_use);
    json_str(&j, "compile", o->compile);
    json_open(&j, "tensors", '[');
    for (size_t i = 0; i < o->tensor_count; i++)
        tensor(&j, &o->tensors[i]);
    json_close(&j, ']');
    json_open(&j, "shapes", '[');
    for (size_t i = 0; i < o->shape_count; i++) {
        json_open(&j, NULL, '{');
        json_u64(&j, "bytes", o->shapes[i].bytes);
        shape(&j, &o->shapes[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_messages(&j, "hints", o->hints, o->hint_count);
    end(&j);
}

// ---- the rest --------------------------------------------------------------------------------

void json_comparison(struct vram *v)
{
    const struct vram_comparison *c = &answers_made(v)->comparison;
    struct json j = begin(v);
    json_u64(&j, "peak_live_bytes", c->peak_live_bytes);
    json_open(&j, "formulas", '[');
    for (size_t i = 0; i < c->formula_count; i++) {
        const struct vram_formula *f = &c->formulas[i];
        json_open(&j, NULL, '{');
        json_str(&j, "id", f->id);
        json_str(&j, "name", f->name);
        if (f->too_large) {
            json_null(&j, "bytes");
            json_null(&j, "difference_permille");
        } else {
            json_u64(&j, "bytes", f->bytes);
            json_i64(&j, "difference_permille", f->difference_permille);
        }
        json_message(&j, "because", f->because);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    end(&j);
}

void json_config(struct vram *v)
{
    struct json j = json_of(&v->text);
    json_fields(&j, NULL, &v->config);
    json_end(&j);
}

void json_error(struct vram *v)
{
    const struct vram_message *m = &v->err.out;
    struct json j = begin(v);
    json_open(&j, "error", '{');
    json_str(&j, "code", vram_code_name(m->code));
    json_sentence(&j, m);
    json_str(&j, "file", m->file);
    json_u64(&j, "line", m->line);
    json_u64(&j, "col", m->col);
    json_close(&j, '}');
    end(&j);
}
