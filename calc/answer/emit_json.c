// JSON: the report, errors and the configuration (schema vramcalc/1).

#include "calc/answer/emit.h"
#include "calc/answer/remarks.h"

#include "calc/base/text.h"

struct json json_of(struct writer *w)
{
    return (struct json){w, 0, true};
}

static void key_of(struct json *j, const char *key)
{
    if (j->depth > 0) {
        writer_str(j->w, j->empty ? "\n" : ",\n");
        for (unsigned i = 0; i < j->depth; i++)
            writer_str(j->w, "  ");
    }
    j->empty = false;
    if (key) {
        writer_json(j->w, key, text_len(key));
        writer_str(j->w, ": ");
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    key_of(j, key);
    writer_char(j->w, bracket);
    j->depth++;
    j->empty = true;
}

void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (!j->empty) {
        writer_char(j->w, '\n');
        for (unsigned i = 0; i < j->depth; i++)
            writer_str(j->w, "  ");
    }
    writer_char(j->w, bracket);
    j->empty = false;
}

void json_u64(struct json *j, const char *key, uint64_t n)
{
    key_of(j, key);
    writer_u64(j->w, n);
}

void json_i64(struct json *j, const char *key, int64_t n)
{
    key_of(j, key);
    writer_i64(j->w, n);
}

void json_fixed(struct json *j, const char *key, uint64_t n, unsigned decimals)
{
    key_of(j, key);
    while (decimals > 0 && n % 10 == 0) {
        n /= 10;
        decimals--;
    }
    writer_fixed(j->w, n, decimals, decimals);
}

void json_str(struct json *j, const char *key, const char *text)
{
    key_of(j, key);
    if (text)
        writer_json(j->w, text, text_len(text));
    else
        writer_str(j->w, "null");
}

void json_bool(struct json *j, const char *key, bool b)
{
    key_of(j, key);
    writer_str(j->w, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_str(j, key, NULL);
}

void json_end(struct json *j)
{
    writer_char(j->w, '\n');
}

void emit_config_json(struct json *j, const struct vram *v)
{
    const struct vram_field *f;
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        uint64_t n = config_get(&v->config, i);
        if (f->values)
            json_str(j, f->key, f->values[n]);
        else if (f->type[0] == 'b')
            json_bool(j, f->key, n != 0);
        else
            json_fixed(j, f->key, n, f->type[0] == 'f' ? 6 : 0);
    }
    const struct vram_gpu *gpu = v->config.gpu < 0 ? NULL : vram_gpu_at((size_t)v->config.gpu);
    json_str(j, "gpu", gpu ? gpu->name : NULL);
}

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
    json_str(j, "why", f->why ? f->why : "");
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
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
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
    json_u64(j, "memory_bytes", r->gpu_bytes);
    json_close(j, '}');
    json_bool(j, "fits", emit_fit_of(r) != EMIT_TOO_BIG);
}

static void notes(struct json *j, const char *text)
{
    json_open(j, "notes", '[');
    while (*text) {
        size_t n = 0;
        while (text[n] && text[n] != '\n')
            n++;
        key_of(j, NULL);
        writer_json(j->w, text, n);
        text += n + (text[n] == '\n');
    }
    json_close(j, ']');
}

void emit_report_json(struct writer *w, struct vram *v)
{
    const struct vram_result *r = &v->result;
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    counts(&j, r);
    figures(&j, r);
    card(&j, r);
    bounds(&j, r);
    peak(&j, r);
    emit_params_json(&j, v);
    json_open(&j, "config", '{');
    emit_config_json(&j, v);
    json_close(&j, '}');
    struct writer remarks;
    writer_init(&remarks, &v->mem);
    remarks_write(&remarks, v);
    w->failed |= writer_status(&remarks) != VRAM_OK;
    notes(&j, writer_text(&remarks));
    writer_free(&remarks);
    json_close(&j, '}');
    json_end(&j);
}
