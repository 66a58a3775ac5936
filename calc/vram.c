// Owns the handle: life, fields, errors. The estimate itself is in replay/, the texts in answer/.

#include "calc/vram.h"

#include "calc/replay/engine.h"
#include "calc/model/gpus.h"
#include "calc/model/handle.h"
#include "calc/model/presets.h"
#include "calc/base/text.h"

const char *vram_version(void)
{
    return "1.0.0";
}

const char *vram_code_name(int code)
{
    switch (code) {
#define X(id, number, name, text) \
    case number: \
        return name;
        VRAM_CODES(X)
#undef X
    default:
        return "unknown";
    }
}

const char *vram_category_name(uint32_t category)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        VRAM_CATEGORIES(X)
#undef X
    };
    return category < VRAM_CAT_COUNT ? names[category] : "unknown";
}

const char *vram_basis_name(uint32_t basis)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        VRAM_BASES(X)
#undef X
    };
    return basis < VRAM_BASIS_COUNT ? names[basis] : "unknown";
}

vram *vram_new(const vram_mem *mem)
{
    vram *v = mem->alloc(mem->ctx, sizeof *v);
    if (!v)
        return NULL;
    mem_zero(v, sizeof *v);
    v->mem = *mem;
    writer_init(&v->text, &v->mem);
    writer_init(&v->notes, &v->mem);
    vram_clear(v);
    return v;
}

void vram_free(vram *v)
{
    if (!v)
        return;
    engine_free(v);
    writer_free(&v->text);
    writer_free(&v->notes);
    struct vram_mem mem = v->mem;
    mem.free(mem.ctx, v, sizeof *v);
}

void vram_clear(vram *v)
{
    config_defaults(&v->config);
    err_clear(&v->err);
    writer_reset(&v->notes);
    v->has_result = false;
    mem_zero(v->places, sizeof v->places);
    v->last = (struct handle_place){0, 0};
}

void vram_copy(vram *to, const vram *from)
{
    to->config = from->config;
    to->has_result = false;
}

const struct vram_message *vram_error(const vram *v)
{
    return &v->err.message;
}

const char *vram_text(const vram *v, size_t *len)
{
    if (len)
        *len = v->text.len;
    return writer_text(&v->text);
}

const char *vram_notes(const vram *v)
{
    return writer_text(&v->notes);
}

// A note "seq_len = 2048 ..." tells what was guessed; once the field is set, it is no longer true.
static void vram_drop_note(vram *v, const char *key)
{
    const char *text = writer_text(&v->notes);
    size_t n = text_len(key), line = 0, end;
    for (; line < v->notes.len; line = end) {
        for (end = line; end < v->notes.len && text[end] != '\n';)
            end++;
        end += end < v->notes.len;
        if (end - line <= n || !text_equal(text + line, n, key) || text[line + n] != ' ')
            continue;
        for (size_t i = end; i <= v->notes.len; i++)
            v->notes.text[line + i - end] = text[i];
        v->notes.len -= end - line;
        end = line;
    }
}

// "A100" is more than one card: says which was taken.
static void vram_note_others(vram *v, const char *name, size_t len, int index)
{
    struct writer others;
    writer_init(&others, &v->mem);
    gpu_write_others(&others, name, len, index);
    if (others.len)
        writer_f(&v->notes, "gpu = %s is what %.*s is taken for; there are also %s\n",
                 vram_gpu_at((size_t)index)->name, len > 40 ? 40 : (int)len, name, writer_text(&others));
    writer_free(&others);
}

static int vram_set_gpu(vram *v, struct err_pos pos, const char *value, size_t len)
{
    int index = gpu_index(value, len), shown = len > 60 ? 60 : (int)len;
    uint64_t mib = 0;
    if (index < 0)
        text_to_mib(value, len, &mib);
    vram_drop_note(v, "gpu");
    if (mib || text_has_word("none", value, len))
        v->config.gpu_memory = mib;
    if (mib) {
        v->config.gpu = -1;
        return VRAM_OK;
    }
    if (index < 0 && !text_has_word("none", value, len)) {
        const char *near = gpu_nearest(value, len);
        return near ? err_set(&v->err, VRAM_EGPU, pos, "no GPU is called '%.*s': did you mean '%s'?",
                              shown, value, near)
                    : err_set(&v->err, VRAM_EGPU, pos,
                              "no GPU is called '%.*s': `vramcalc gpus` lists them", shown, value);
    }
    v->config.gpu = index;
    if (index >= 0)
        vram_note_others(v, value, len, index);
    return VRAM_OK;
}

static void vram_trim(const char **s, size_t *len)
{
    while (*len > 0 && ((*s)[0] == ' ' || (*s)[0] == '\t')) {
        (*s)++;
        (*len)--;
    }
    while (*len > 0 && ((*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t'))
        (*len)--;
}

// A word of an error's text that is a field which was set, and where.
static struct handle_place vram_place_of(const vram *v, const char *text)
{
    for (size_t n; *text; text += n ? n : 1) {
        for (n = 0; (text[n] >= 'a' && text[n] <= 'z') || text[n] == '_';)
            n++;
        int field = n ? config_field(text, n) : -1;
        if (field >= 0 && v->places[field].line)
            return v->places[field];
    }
    return v->last;
}

int vram_locate(vram *v)
{
    struct handle_place at = vram_place_of(v, v->err.text);
    if (v->err.message.line == 0 && at.line && at.line != HANDLE_BY_CALL)
        err_locate(&v->err, (struct err_pos){v->place_file[0] ? v->place_file : NULL, at.line, at.col});
    return v->err.message.code;
}

static void vram_note_place(vram *v, int field, struct err_pos pos)
{
    struct handle_place at = {pos.line ? pos.line : HANDLE_BY_CALL, pos.col};
    if (pos.col && !pos.line)
        at = (struct handle_place){0, 0};
    else
        v->last = at;
    if (field >= 0)
        v->places[field] = at;
}

int vram_set_at(vram *v, struct err_pos pos, const char *key, size_t key_len, const char *value,
                size_t value_len)
{
    v->has_result = false;
    vram_trim(&key, &key_len);
    vram_trim(&value, &value_len);
    if (text_equal_nocase(key, key_len, "gpu"))
        return vram_set_gpu(v, pos, value, value_len);
    if (text_equal_nocase(key, key_len, "preset")) {
        vram_note_place(v, -1, pos);
        return preset_apply(v, pos, value, value_len);
    }
    int field = config_field(key, key_len);
    if (field >= 0)
        vram_drop_note(v, vram_field_at((size_t)field)->key);
    vram_note_place(v, field, pos);
    return config_set(&v->config, &v->err, pos, key, key_len, value, value_len);
}

int vram_set_n(vram *v, const char *key, size_t key_len, const char *value, size_t value_len)
{
    err_clear(&v->err);
    return vram_set_at(v, (struct err_pos){0}, key, key_len, value, value_len);
}

int vram_set(vram *v, const char *key, const char *value)
{
    return vram_set_n(v, key, text_len(key), value, text_len(value));
}

// The field of a key, or -1 with the error of an unknown key recorded.
static int vram_field_of(vram *v, const char *key)
{
    err_clear(&v->err);
    int field = config_field(key, text_len(key));
    if (field < 0)
        config_set(&v->config, &v->err, (struct err_pos){0}, key, text_len(key), "", 0);
    return field;
}

int vram_set_u64(vram *v, const char *key, uint64_t value)
{
    int field = vram_field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    const struct vram_field *f = vram_field_at((size_t)field);
    if (value < f->min || value > f->max)
        return err_set(&v->err, VRAM_ERANGE, (struct err_pos){0},
                       "%s cannot be %u: from %u to %u are allowed", f->key, value, f->min, f->max);
    v->has_result = false;
    vram_drop_note(v, f->key);
    vram_note_place(v, field, (struct err_pos){0});
    config_put(&v->config, (size_t)field, value);
    return VRAM_OK;
}

int vram_get_u64(vram *v, const char *key, uint64_t *value)
{
    int field = vram_field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    *value = config_get(&v->config, (size_t)field);
    return VRAM_OK;
}

// Copies text of len bytes into out as vram_get promises.
static int vram_hand_out(const char *text, size_t len, char *out, size_t cap)
{
    size_t n = cap == 0 ? 0 : len < cap ? len : cap - 1;
    mem_copy(out, text, n);
    if (cap > 0)
        out[n] = 0;
    return (int)len;
}

int vram_get(vram *v, const char *key, char *out, size_t cap)
{
    if (text_equal(key, text_len(key), "gpu")) {
        const struct vram_gpu *gpu = v->config.gpu < 0 ? NULL : vram_gpu_at((size_t)v->config.gpu);
        return vram_hand_out(gpu ? gpu->name : "none", text_len(gpu ? gpu->name : "none"), out,
                             cap);
    }
    int field = vram_field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    struct writer w;
    writer_init(&w, &v->mem);
    config_write(&w, &v->config, (size_t)field);
    int len = writer_status(&w) ? VRAM_ENOMEM : vram_hand_out(writer_text(&w), w.len, out, cap);
    writer_free(&w);
    return len;
}
