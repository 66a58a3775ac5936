// The functions of vram.h that fill the handle's text: picks the writer for the format that is asked for.

#include "calc/answer/emit.h"

#include "calc/base/text.h"
#include "calc/model/gpus.h"
#include "calc/model/presets.h"

static int bad_format(vram *v, const char *what, enum vram_format format)
{
    static const char *const names[] = {
#define X(id, name) name,
        VRAM_FORMATS(X)
#undef X
    };
    return err_set(&v->err, VRAM_EARG, (struct err_pos){0}, "%s cannot be written as %s", what,
                   (unsigned)format < VRAM_FORMAT_COUNT ? names[format] : "that");
}

bool emit_refuses(vram *v, enum vram_format format)
{
    if (!EMIT_JSON_ONLY || format == VRAM_FORMAT_JSON)
        return false;
    err_set(&v->err, VRAM_EUNSUPPORTED, (struct err_pos){0}, "this build writes JSON only");
    return true;
}

static int not_run(vram *v)
{
    return err_set(&v->err, VRAM_ENOTRUN, (struct err_pos){0},
                   "there is no result yet: call vram_run first");
}

int emit_done(vram *v)
{
    int rc = writer_status(&v->text);
    return rc ? err_set(&v->err, VRAM_ENOMEM, (struct err_pos){0}, "no memory for the text")
              : VRAM_OK;
}

int vram_emit(vram *v, enum vram_format format)
{
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    if (!v->has_result)
        return not_run(v);
    switch (emit_format(format)) {
    case VRAM_FORMAT_JSON:
        emit_report_json(&v->text, v);
        break;
    case VRAM_FORMAT_TEXT:
        emit_report_text(&v->text, v);
        break;
    case VRAM_FORMAT_CSV:
        emit_report_csv(&v->text, v);
        break;
    case VRAM_FORMAT_MD:
        emit_report_md(&v->text, v);
        break;
    default:
        return bad_format(v, "a report", format);
    }
    return emit_done(v);
}

static void error_json(struct writer *w, const struct vram_message *m)
{
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_open(&j, "error", '{');
    json_str(&j, "code", vram_code_name(m->code));
    json_str(&j, "text", m->text);
    json_str(&j, "file", m->file);
    json_u64(&j, "line", m->line);
    json_u64(&j, "col", m->col);
    json_close(&j, '}');
    json_close(&j, '}');
    json_end(&j);
}

// "file:line:col: error: text"
static void error_text(struct writer *w, const struct vram_message *m)
{
    if (m->file)
        writer_f(w, "%s:", m->file);
    if (m->line)
        writer_f(w, "%u:%u:", (uint64_t)m->line, (uint64_t)m->col);
    writer_f(w, "%serror: %s\n", m->file || m->line ? " " : "", m->text);
}

int vram_emit_error(vram *v, enum vram_format format)
{
    struct vram_message m = v->err.message;
    writer_reset(&v->text);
    if (format == VRAM_FORMAT_JSON)
        error_json(&v->text, &m);
    else if (format == VRAM_FORMAT_TEXT)
        error_text(&v->text, &m);
    else
        return bad_format(v, "an error", format);
    return writer_status(&v->text);
}

// Only what differs from the defaults, and always the fields that people look for.
static bool worth_saying(size_t field, uint64_t n)
{
    static const char *const always[] = {"n_layer",
                                         "n_head",
                                         "n_embd",
                                         "vocab_size",
                                         "block_size",
                                         "batch_size",
                                         "gradient_accumulation_steps",
                                         "dtype"};
    const struct vram_field *f = vram_field_at(field);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (text_equal(f->key, text_len(f->key), always[i]))
            return true;
    return n != f->initial;
}

void emit_config_text(struct writer *w, const struct vram_config *c)
{
    const struct vram_field *f;
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        if (!worth_saying(i, config_get(c, i)))
            continue;
        writer_f(w, "%s = ", f->key);
        config_write(w, c, i);
        writer_char(w, '\n');
    }
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    if (gpu)
        writer_f(w, "gpu = %s\n", gpu->name);
}

int vram_emit_config(vram *v, enum vram_format format)
{
    err_clear(&v->err);
    writer_reset(&v->text);
    if (format == VRAM_FORMAT_TEXT) {
        emit_config_text(&v->text, &v->config);
    } else if (format == VRAM_FORMAT_JSON) {
        struct json j = json_of(&v->text);
        json_open(&j, NULL, '{');
        emit_config_json(&j, v);
        json_close(&j, '}');
        json_end(&j);
    } else {
        return bad_format(v, "a configuration", format);
    }
    return emit_done(v);
}
