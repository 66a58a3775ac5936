// vram_emit_gpus, vram_emit_presets, vram_emit_fields: the library's tables for people and programs.

#include "calc/answer/emit.h"
#include "calc/base/text.h"
#include "calc/model/contexts.h"
#include "calc/model/gpus.h"
#include "calc/model/presets.h"

static void pad_to(struct writer *w, size_t start, size_t width)
{
    while (w->len < start + width && !w->failed)
        writer_char(w, ' ');
}

static void cell(struct writer *w, const char *text, size_t width)
{
    size_t start = w->len;
    writer_str(w, text);
    pad_to(w, start, width);
}

static void rate(struct writer *w, uint64_t gflops, unsigned width)
{
    size_t start = w->len;
    if (gflops == 0) {
        pad_to(w, start, width - 1);
        writer_char(w, '-');
        return;
    }
    size_t digits = gflops >= 1000000 ? 6 : gflops >= 100000 ? 5 : gflops >= 10000 ? 4 : 3;
    pad_to(w, start, width > digits ? width - digits : 0);
    writer_fixed(w, gflops, 3, 1);
}

// What the estimate's context and its range rest on.
static void contexts_text(struct writer *w)
{
    struct context_row row;
    writer_str(w, "\nCUDA context, outside of the allocator, as published (MiB); the default is 300, "
                  "200 to 430\n");
    for (size_t i = 0; context_at(i, &row); i++) {
        size_t start = w->len;
        writer_f(w, "  %u", (uint64_t)row.low_mib);
        if (row.high_mib != row.low_mib)
            writer_f(w, " to %u", (uint64_t)row.high_mib);
        pad_to(w, start, 14);
        cell(w, row.card[0] ? row.card : "any card", 14);
        writer_f(w, "%s loading: %s\n                            %s\n",
                 row.eager ? "eager" : "lazy", row.what, row.source);
    }
}

static void gpus_text(struct writer *w)
{
    const struct vram_gpu *g;
    writer_str(
        w, "card                    memory MiB       GB/s  fp16 Tflop/s  bf16  fp32   SM  cc\n");
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++) {
        struct gpu_more more = gpu_more_at(i);
        cell(w, g->name, 22);
        emit_count_right(w, g->memory_bytes / EMIT_MIB, 11);
        writer_char(w, more.memory_reported ? ' ' : '*');
        emit_count_right(w, (g->bandwidth_mb_s + 500) / 1000, 10);
        rate(w, g->fp16_gflops, 14);
        rate(w, g->bf16_gflops, 8);
        rate(w, g->fp32_gflops, 8);
        writer_u64_right(w, g->sm_count, 5);
        if (g->compute_capability)
            writer_f(w, "  %u.%u\n", (uint64_t)g->compute_capability / 10,
                     (uint64_t)g->compute_capability % 10);
        else
            writer_str(w, "  -\n");
    }
    writer_str(w, "memory: as the driver reports it, or (*) the advertised size. Rates: dense, "
                  "sums in float32.\n"
                  "Sources: vramcalc gpus --format json\n");
    contexts_text(w);
}

static void gpus_json(struct writer *w)
{
    const struct vram_gpu *g;
    struct json j = json_of(w);
    json_open(&j, NULL, '[');
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++) {
        struct gpu_more more = gpu_more_at(i);
        json_open(&j, NULL, '{');
        json_str(&j, "name", g->name);
        json_u64(&j, "memory_bytes", g->memory_bytes);
        json_str(&j, "memory_basis", more.memory_reported ? "reported" : "nominal");
        json_u64(&j, "bandwidth_mb_s", g->bandwidth_mb_s);
        json_u64(&j, "fp16_gflops", g->fp16_gflops);
        json_u64(&j, "bf16_gflops", g->bf16_gflops);
        json_u64(&j, "fp32_gflops", g->fp32_gflops);
        json_u64(&j, "sm_count", g->sm_count);
        json_u64(&j, "compute_capability", g->compute_capability);
        if (g->source) {
            json_str(&j, "architecture", more.architecture);
            json_str(&j, "source", g->source);
            json_str(&j, "source_note", more.source_note);
            json_str(&j, "memory_source", more.memory_source);
            json_str(&j, "memory_note", more.memory_note);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void gpus_table(struct writer *w, bool md)
{
    static const char *const names[] = {"card",
                                        "memory basis",
                                        "source",
                                        "memory",
                                        "bandwidth MB/s",
                                        "fp16 Gflop/s",
                                        "bf16 Gflop/s",
                                        "fp32 Gflop/s",
                                        "multiprocessors",
                                        "compute capability x10"};
    const struct vram_gpu *g;
    struct table t = table_of(w, md);
    table_head(&t, names, 10, 3);
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++) {
        table_str(&t, g->name);
        table_str(&t, gpu_more_at(i).memory_reported ? "reported" : "nominal");
        table_str(&t, g->source ? g->source : "");
        table_mib(&t, g->memory_bytes);
        table_u64(&t, g->bandwidth_mb_s);
        table_u64(&t, g->fp16_gflops);
        table_u64(&t, g->bf16_gflops);
        table_u64(&t, g->fp32_gflops);
        table_u64(&t, g->sm_count);
        table_u64(&t, g->compute_capability);
        table_end(&t);
    }
}

int vram_emit_gpus(vram *v, enum vram_format format)
{
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    if (format == VRAM_FORMAT_JSON)
        gpus_json(&v->text);
    else if (format == VRAM_FORMAT_TEXT)
        gpus_text(&v->text);
    else
        gpus_table(&v->text, format == VRAM_FORMAT_MD);
    return emit_done(v);
}

// ---- presets -----------------------------------------------------------------------------------

static void presets_json(struct writer *w)
{
    const struct preset *p;
    struct json j = json_of(w);
    json_open(&j, NULL, '[');
    for (size_t i = 0; (p = preset_at(i)) != NULL; i++) {
        json_open(&j, NULL, '{');
        json_str(&j, "name", p->name);
        json_str(&j, "what", p->what);
        json_str(&j, "fields", p->fields);
        json_str(&j, "run", p->run);
        if (p->source[0])
            json_str(&j, "source", p->source);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

int vram_emit_presets(vram *v, enum vram_format format)
{
    static const char *const names[] = {"preset", "what", "fields", "source"};
    const struct preset *p;
    struct writer *w = &v->text;
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    struct table t = table_of(w, format == VRAM_FORMAT_MD);
    if (format == VRAM_FORMAT_JSON)
        presets_json(w);
    else if (format != VRAM_FORMAT_TEXT)
        table_head(&t, names, 4, 4);
    for (size_t i = 0; format != VRAM_FORMAT_JSON && (p = preset_at(i)) != NULL; i++) {
        if (format == VRAM_FORMAT_TEXT) {
            cell(w, p->name, 18);
            writer_f(w, "%s\n", p->what);
            continue;
        }
        table_str(&t, p->name);
        table_str(&t, p->what);
        table_str(&t, p->fields);
        table_str(&t, p->source);
        table_end(&t);
    }
    return emit_done(v);
}

// ---- fields ------------------------------------------------------------------------------------

static void put_number(struct writer *w, const struct vram_field *f, uint64_t n)
{
    if (f->type[0] == 'f') {
        unsigned places = 6;
        for (; places > 0 && n % 10 == 0; places--)
            n /= 10;
        writer_fixed(w, n, places, places);
    } else {
        writer_u64(w, n);
    }
}

static void put_default(struct writer *w, const struct vram_field *f)
{
    if (f->values)
        writer_str(w, f->values[f->initial]);
    else if (f->type[0] == 'b')
        writer_str(w, f->initial ? "true" : "false");
    else
        put_number(w, f, f->initial);
}

static void fields_text(struct writer *w)
{
    const struct vram_field *f;
    const char *group = "";
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        if (!text_equal(f->group, text_len(f->group), group))
            writer_f(w, "%s%s\n", i ? "\n" : "", f->group);
        group = f->group;
        size_t start = w->len;
        writer_f(w, "  %s = ", f->key);
        put_default(w, f);
        if (f->unit[0])
            writer_f(w, " %s", f->unit);
        pad_to(w, start, 42);
        writer_f(w, " %s\n", f->help);
        for (size_t k = 0; f->values && f->values[k]; k++) {
            writer_str(w, "      ");
            cell(w, f->values[k], 16);
            writer_f(w, "%s\n", f->value_help[k]);
        }
    }
}

static void field_schema(struct json *j, const struct vram_field *f)
{
    json_open(j, f->key, '{');
    json_str(j, "description", f->help);
    if (f->values) {
        json_open(j, "enum", '[');
        for (size_t k = 0; f->values[k]; k++)
            json_str(j, NULL, f->values[k]);
        json_close(j, ']');
        json_str(j, "default", f->values[f->initial]);
    } else if (f->type[0] == 'b') {
        json_str(j, "type", "boolean");
        json_bool(j, "default", f->initial != 0);
    } else {
        unsigned decimals = f->type[0] == 'f' ? 6 : 0;
        json_str(j, "type", decimals ? "number" : "integer");
        json_fixed(j, "minimum", f->min, decimals);
        json_fixed(j, "maximum", f->max, decimals);
        json_fixed(j, "default", f->initial, decimals);
    }
    json_close(j, '}');
}

static void fields_schema(struct writer *w)
{
    const struct vram_field *f;
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_str(&j, "title", "A training configuration of vramcalc");
    json_str(&j, "type", "object");
    json_open(&j, "properties", '{');
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++)
        field_schema(&j, f);
    json_open(&j, "gpu", '{');
    json_str(&j, "description", "card, by name");
    json_open(&j, "type", '[');
    json_str(&j, NULL, "string");
    json_str(&j, NULL, "null");
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, '}');
    json_bool(&j, "additionalProperties", false);
    json_close(&j, '}');
    json_end(&j);
}

static void fields_md(struct writer *w)
{
    const struct vram_field *f;
    writer_str(w, "| field | default | what it is |\n| --- | --- | --- |\n");
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        writer_f(w, "| `%s` | `", f->key);
        put_default(w, f);
        writer_f(w, "` | %s", f->help);
        for (size_t k = 0; f->values && f->values[k]; k++)
            writer_f(w, "%s`%s` (%s)", k ? ", " : ": ", f->values[k], f->value_help[k]);
        writer_str(w, " |\n");
    }
}

int vram_emit_fields(vram *v, enum vram_format format)
{
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    if (format == VRAM_FORMAT_JSON)
        fields_schema(&v->text);
    else if (format == VRAM_FORMAT_MD)
        fields_md(&v->text);
    else if (format == VRAM_FORMAT_TEXT)
        fields_text(&v->text);
    else
        return err_set(&v->err, VRAM_EARG, (struct err_pos){0},
                       "fields are written as text, json or md");
    return emit_done(v);
}
