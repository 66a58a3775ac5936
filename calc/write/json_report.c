// Owns the report as JSON (schema vramcalc/1).

#include "calc/write/json_parts.h"
#include "calc/write/write_json.h"

static void counts(struct json *j, const struct vram_result *r)
{
    json_u64(j, "params", r->params);
    json_u64(j, "reported_params", r->reported_params);
    json_u64(j, "trained_params", r->trained_params);
    json_u64(j, "decayed_params", r->decayed_params);
    json_u64(j, "decayed_tensors", r->decayed_tensors);
    json_u64(j, "nodecay_params", r->nodecay_params);
    json_u64(j, "nodecay_tensors", r->nodecay_tensors);
    json_u64(j, "tensors", r->tensors);
    json_u64(j, "param_bytes", r->param_bytes);
    json_u64(j, "grad_bytes", r->grad_bytes);
    json_u64(j, "optim_bytes", r->optim_bytes);
    json_u64(j, "buffer_bytes", r->buffer_bytes);
}

static void figures(struct json *j, const struct vram_result *r)
{
    json_u64(j, "saved_bytes", r->saved_bytes);
    json_u64(j, "peak_live_bytes", r->peak_live.bytes);
    json_u64(j, "peak_requested_bytes", r->peak_requested_bytes);
    json_u64(j, "peak_allocated_bytes", r->peak_allocated.bytes);
    json_u64(j, "peak_reserved_bytes", r->peak_reserved.bytes);
    json_u64(j, "context_bytes", r->context.bytes);
    json_u64(j, "process_bytes", r->process.bytes);
    json_u64(j, "first_step_peak_bytes", r->first_step_peak_bytes);
    json_u64(j, "steady_end_bytes", r->steady_end_bytes);
    json_u64(j, "eval_peak_bytes", r->eval_peak_bytes);
    json_u64(j, "cards_allocated_bytes", r->cards_allocated_bytes);
    json_u64(j, "segments", r->segments);
    json_u64(j, "events", r->events);
    json_u64(j, "iterations", r->iterations);
}

static void bound(struct json *j, const char *key, const struct vram_figure *f)
{
    json_open(j, key, '{');
    json_u64(j, "low", f->low);
    json_u64(j, "high", f->high);
    json_str(j, "basis", vram_basis_name(f->basis));
    json_fixed(j, "tolerance_percent", f->tolerance_permille, 1);
    json_u64(j, "measurements", f->measurements);
    json_message(j, "why", f->why);
    json_close(j, '}');
}

static void bounds(struct json *j, const struct vram_result *r)
{
    json_open(j, "bounds", '{');
    bound(j, "peak_live_bytes", &r->peak_live);
    bound(j, "peak_allocated_bytes", &r->peak_allocated);
    bound(j, "peak_reserved_bytes", &r->peak_reserved);
    bound(j, "context_bytes", &r->context);
    bound(j, "process_bytes", &r->process);
    json_close(j, '}');
}

static void lines(struct json *j, const char *key, const struct vram_line *line, size_t count)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_str(j, "name", line[i].name);
        json_str(j, "op", line[i].op);
        json_str(j, "category", vram_category_name(line[i].category));
        json_u64(j, "count", line[i].count);
        json_u64(j, "bytes", line[i].bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void peak(struct json *j, const struct vram_result *r)
{
    json_open(j, "peak_at", '{');
    json_str(j, "phase", r->peak_phase);
    json_str(j, "op", r->peak_op);
    if (r->peak_block >= 0)
        json_i64(j, "block", r->peak_block);
    else
        json_null(j, "block");
    json_close(j, '}');
    json_open(j, "breakdown", '{');
    for (uint32_t c = 0; c < r->category_count; c++)
        json_u64(j, vram_category_name(c), r->by_category[c]);
    json_close(j, '}');
    lines(j, "at_peak", r->at_peak, r->at_peak_count);
    lines(j, "saved", r->saved, r->saved_count);
    json_open(j, "phases", '[');
    for (size_t i = 0; i < r->phase_count; i++) {
        json_open(j, NULL, '{');
        json_str(j, "name", r->phases[i].name);
        json_u64(j, "peak_live_bytes", r->phases[i].peak_live_bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void card(struct json *j, const struct vram_result *r)
{
    if (!r->gpu_name) {
        json_null(j, "gpu");
        json_null(j, "fits");
        return;
    }
    json_open(j, "gpu", '{');
    json_str(j, "name", r->gpu_name);
    json_u64(j, "left_bytes", r->gpu_bytes);
    json_capacity(j, &r->capacity);
    json_close(j, '}');
    json_bool(j, "fits", vram_verdict_fits(r->verdict));
}

static void parameters(struct json *j, const struct vram_result *r)
{
    json_open(j, "parameters", '[');
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct vram_tensor *t = &r->parameters[i];
        json_open(j, NULL, '{');
        json_str(j, "name", t->name);
        json_u64(j, "count", t->count);
        json_open(j, "shape", '[');
        json_u64(j, NULL, t->rows);
        if (t->cols)
            json_u64(j, NULL, t->cols);
        json_close(j, ']');
        json_u64(j, "elements", t->elements);
        json_bool(j, "decayed", t->decayed);
        json_bool(j, "trained", t->trained);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void json_report(struct vram *v)
{
    const struct vram_result *r = &v->result;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_str(&j, "regime", vram_regime_name(r->regime));
    counts(&j, r);
    figures(&j, r);
    card(&j, r);
    bounds(&j, r);
    peak(&j, r);
    parameters(&j, r);
    json_fields(&j, "config", &v->config);
    json_messages(&j, "notes", r->notes, r->note_count);
    json_close(&j, '}');
    json_end(&j);
}
