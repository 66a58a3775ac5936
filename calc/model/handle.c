// Owns the handle: life, fields, where they were set, errors.

#include "calc/model/handle.h"

#include "calc/base/text.h"
#include "calc/model/gpus.h"
#include "calc/model/model_make.h"
#include "calc/model/presets.h"

// ---- life ------------------------------------------------------------------------------------

vram *vram_new(const vram_mem *mem)
{
    vram *v = mem->alloc(mem->ctx, sizeof *v);
    if (!v)
        return NULL;
    mem_zero(v, sizeof *v);
    v->mem = *mem;
    writer_init(&v->text, &v->mem);
    message_list_init(&v->notes, &v->mem);
    vram_clear(v);
    return v;
}

void vram_free(vram *v)
{
    if (!v)
        return;
    for (unsigned i = 0; i < HANDLE_PARTS; i++)
        if (v->parts[i].ptr)
            v->parts[i].free(v->parts[i].ptr);
    writer_free(&v->text);
    message_list_free(&v->notes);
    struct vram_mem mem = v->mem;
    mem.free(mem.ctx, v, sizeof *v);
}

void vram_clear(vram *v)
{
    config_defaults(&v->config);
    v->facts = (struct facts){0};
    message_clear(&v->err);
    message_list_free(&v->notes);
    v->has_result = false;
    mem_zero(v->places, sizeof v->places);
    v->last = (struct handle_place){0, 0};
#ifndef VRAM_SMALL
    struct handle_part *settings = &v->parts[HANDLE_SETTINGS];
    if (settings->ptr)
        settings->free(settings->ptr);
    settings->ptr = NULL;
    v->copy_settings = NULL;
#endif
}

void vram_copy(vram *to, const vram *from)
{
    to->config = from->config;
    to->facts = from->facts;
    to->has_result = false;
#ifndef VRAM_SMALL
    if (from->copy_settings)
        from->copy_settings(to, from);
#endif
}

const struct vram_message *vram_error(const vram *v)
{
    return &v->err.out;
}

const struct vram_message *vram_note_at(const vram *v, size_t index)
{
    return index < v->notes.count ? &v->notes.at[index] : NULL;
}

const char *vram_text(const vram *v, size_t *len)
{
    if (len)
        *len = v->text.len;
    return writer_text(&v->text);
}

int handle_no_memory(struct vram *v)
{
    return err_set(&v->err, MESSAGE_out_of_memory, NO_POS, NO_FIELD, NO_ARGS);
}

#ifndef VRAM_SMALL
int handle_failed(struct vram *v, int code)
{
    return code == VRAM_ENOMEM
               ? handle_no_memory(v)
               : err_set(&v->err, MESSAGE_played_wrongly, NO_POS, NO_FIELD, NO_ARGS);
}
#endif

// ---- places ----------------------------------------------------------------------------------

static struct handle_place place_of_key(const struct vram *v, const char *key)
{
    int field = config_field(key, text_len(key));
    return field < 0 ? (struct handle_place){0, 0} : v->places[field];
}

int handle_locate(struct vram *v)
{
    struct handle_place at = v->last;
    for (size_t i = 0; v->err.about[i]; i++) {
        struct handle_place own = place_of_key(v, v->err.about[i]);
        if (!own.line)
            continue;
        v->err.out.field = v->err.about[i];
        at = own;
        break;
    }
    if (v->err.out.line == 0 && at.line && at.line != HANDLE_BY_CALL)
        message_place(&v->err, v->place_file[0] ? v->place_file : NULL, at.line, at.col);
    return v->err.out.code;
}

void handle_begin_text(struct vram *v, const char *file)
{
    size_t n = 0;
    for (int i = 0; i < CONFIG_FIELD_COUNT; i++)
        if (v->places[i].line)
            v->places[i].line = HANDLE_BY_CALL;
    for (; file && file[n] && n + 1 < MESSAGE_FILE; n++)
        v->place_file[n] = file[n];
    v->place_file[n] = 0;
}

static void note_place(struct vram *v, int field, struct err_pos pos)
{
    struct handle_place at = {pos.line ? pos.line : HANDLE_BY_CALL, pos.col};
    v->last = at;
    if (field >= 0)
        v->places[field] = at;
}

// ---- fields ----------------------------------------------------------------------------------

// "A100" is more than one card: says which was taken.
static void note_others(struct vram *v, const char *name, size_t len, int index)
{
    struct writer others;
    writer_init(&others, &v->mem);
    gpu_write_others(&others, name, len, index);
    if (others.len)
        message_list_add(&v->notes, MESSAGE_other_gpus, ABOUT("gpu"),
                         ARGS(arg_text("gpu", vram_gpu_at((size_t)index)->name),
                              arg_part("name", name, len),
                              arg_text("others", writer_text(&others))));
    writer_free(&others);
}

static int set_gpu(struct vram *v, struct err_pos pos, const char *value, size_t len)
{
    message_list_drop(&v->notes, "gpu");
    int rc = gpu_choose(&v->config, &v->err, pos, value, len);
    if (rc == VRAM_OK && v->config.gpu >= 0)
        note_others(v, value, len, v->config.gpu);
    return rc;
}

static void trim(const char **s, size_t *len)
{
    while (*len > 0 && ((*s)[0] == ' ' || (*s)[0] == '\t')) {
        (*s)++;
        (*len)--;
    }
    while (*len > 0 && ((*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t'))
        (*len)--;
}

static int set_preset(struct vram *v, struct err_pos pos, const char *value, size_t len)
{
    int rc = preset_apply(&v->config, &v->err, pos, value, len);
    note_place(v, -1, pos);
    if (rc != VRAM_OK)
        return rc;
    mem_zero(v->places, sizeof v->places);
    message_list_free(&v->notes);
    v->facts = (struct facts){.model = true};
    return rc;
}

int handle_set(struct vram *v, struct err_pos pos, const char *key, size_t key_len,
               const char *value, size_t value_len)
{
    v->has_result = false;
    trim(&key, &key_len);
    trim(&value, &value_len);
    if (text_equal_nocase(key, key_len, "gpu"))
        return set_gpu(v, pos, value, value_len);
    if (text_equal_nocase(key, key_len, "preset"))
        return set_preset(v, pos, value, value_len);
    int field = config_field(key, key_len);
    if (field >= 0)  // what was said of its value is no longer so
        message_list_drop(&v->notes, vram_field_at((size_t)field)->key);
    note_place(v, field, pos);
    return config_set(&v->config, &v->err, pos, key, key_len, value, value_len);
}

int handle_imply(struct vram *v, const char *fields)
{
    struct vram_config before = v->config;
    int rc = preset_fields(&v->config, &v->err, fields);
    for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
        if (config_get(&before, i) != config_get(&v->config, i))
            v->places[i] = (struct handle_place){0, 0};
    return rc;
}

int vram_set_n(vram *v, const char *key, size_t key_len, const char *value, size_t value_len)
{
    message_clear(&v->err);
    return handle_set(v, NO_POS, key, key_len, value, value_len);
}

int vram_set(vram *v, const char *key, const char *value)
{
    return vram_set_n(v, key, text_len(key), value, text_len(value));
}

// The field of a key, or -1 with the error of an unknown key recorded.
static int field_of(struct vram *v, const char *key)
{
    message_clear(&v->err);
    int field = config_field(key, text_len(key));
    if (field < 0)
        config_unknown(&v->err, NO_POS, key, text_len(key));
    return field;
}

int vram_set_u64(vram *v, const char *key, uint64_t value)
{
    int field = field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    const struct vram_field *f = vram_field_at((size_t)field);
    if (value < f->min || value > f->max)
        return err_set(
            &v->err, MESSAGE_out_of_range, NO_POS, ABOUT(f->key),
            ARGS(arg_u64("value", value), arg_u64("min", f->min), arg_u64("max", f->max)));
    v->has_result = false;
    message_list_drop(&v->notes, f->key);
    note_place(v, field, NO_POS);
    if (f->type == VRAM_TYPE_LIST) {
        v->config.lengths[0] = (uint32_t)value;
        value = value > 0;
    }
    config_put(&v->config, (size_t)field, value);
    return VRAM_OK;
}

int vram_get_u64(vram *v, const char *key, uint64_t *value)
{
    int field = field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    *value = config_get(&v->config, (size_t)field);
    if (*value && field == FIELD_seq_lens)
        *value = config_longest(&v->config);
    return VRAM_OK;
}

// Copies text of len bytes into out as vram_get promises.
static int hand_out(const char *text, size_t len, char *out, size_t cap)
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
        const char *name = gpu ? gpu->name : "none";
        return hand_out(name, text_len(name), out, cap);
    }
    int field = field_of(v, key);
    if (field < 0)
        return VRAM_EKEY;
    struct writer w;
    writer_init(&w, &v->mem);
    config_write(&w, &v->config, (size_t)field);
    int len = writer_status(&w) ? handle_no_memory(v) : hand_out(writer_text(&w), w.len, out, cap);
    writer_free(&w);
    return len;
}

int vram_check(struct vram *v)
{
    struct model m;
    message_clear(&v->err);
    return model_make(&m, &v->config, &v->err) == VRAM_OK ? VRAM_OK : handle_locate(v);
}
