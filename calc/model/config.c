// Owns the fields of a configuration: their table made from fields.def, defaults, reading and
// writing one value.

#include "calc/model/config.h"

#include "calc/base/text.h"

enum config_type { CONFIG_COUNT, CONFIG_BOOL, CONFIG_FRACTION, CONFIG_ENUM };

#define CONFIG_WORD_COUNT "count"
#define CONFIG_WORD_BOOL "bool"
#define CONFIG_WORD_FRACTION "fraction"
#define CONFIG_WORD_ENUM "enum"

#define CONFIG_NAME(prefix, id, name, aliases, help) name,
#define CONFIG_ALIASES(prefix, id, name, aliases, help) aliases,
#ifdef __wasm__
#define CONFIG_PROSE(text) ""  // the page has its own words
#else
#define CONFIG_PROSE(text) text
#endif
#define CONFIG_HELP(prefix, id, name, aliases, help) CONFIG_PROSE(help),
#define CONFIG_TABLE(ident) \
    static const char *const config_names_##ident[] = {VALUES_##ident(CONFIG_NAME) NULL}; \
    static const char *const config_aliases_##ident[] = {VALUES_##ident(CONFIG_ALIASES) NULL}; \
    static const char *const config_help_##ident[] = {VALUES_##ident(CONFIG_HELP) NULL};
CONFIG_TABLE(family)
CONFIG_TABLE(task)
CONFIG_TABLE(mode)
CONFIG_TABLE(dtype)
CONFIG_TABLE(attention)
CONFIG_TABLE(optimizer)
CONFIG_TABLE(checkpointing)
CONFIG_TABLE(compile)
CONFIG_TABLE(cross_entropy)
CONFIG_TABLE(keep_logits)
CONFIG_TABLE(quantization)
CONFIG_TABLE(lora_targets)
CONFIG_TABLE(parallel)
CONFIG_TABLE(kv_dtype)

#define CONFIG_ROW_COUNT(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_BOOL(ident, low, high) 0, 1, NULL, NULL
#define CONFIG_ROW_FRACTION(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_ENUM(ident, low, high) \
    0, ident##_COUNT - 1, config_names_##ident, config_help_##ident
#define CONFIG_ALIAS_COUNT(ident) NULL
#define CONFIG_ALIAS_BOOL(ident) NULL
#define CONFIG_ALIAS_FRACTION(ident) NULL
#define CONFIG_ALIAS_ENUM(ident) config_aliases_##ident

static const struct vram_field config_fields[] = {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    {#ident, \
     aliases, \
     CONFIG_WORD_##type, \
     unit, \
     group, \
     CONFIG_PROSE(help), \
     initial, \
     CONFIG_ROW_##type(ident, min, max)},
#include "calc/model/fields.def"
};

// What the public row does not say: type as a number, place in struct vram_config, aliases of enum
// values.
static const struct config_place {
    enum config_type type;
    size_t offset;
    const char *const *aliases;
} config_places[] = {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    {CONFIG_##type, offsetof(struct vram_config, ident), CONFIG_ALIAS_##type(ident)},
#include "calc/model/fields.def"
};

enum { CONFIG_FIELDS = sizeof config_fields / sizeof *config_fields };

const struct vram_field *vram_field_at(size_t index)
{
    return index < CONFIG_FIELDS ? &config_fields[index] : NULL;
}

int config_field(const char *key, size_t len)
{
    for (int i = 0; i < CONFIG_FIELDS; i++)
        if (text_equal_nocase(key, len, config_fields[i].key))
            return i;
    for (int i = 0; i < CONFIG_FIELDS; i++)
        if (text_has_word(config_fields[i].aliases, key, len))
            return i;
    return -1;
}

const struct vram_field *vram_field_find(const char *key)
{
    int i = config_field(key, text_len(key));
    return i < 0 ? NULL : &config_fields[i];
}

uint64_t config_get(const struct vram_config *c, size_t field)
{
    return *(const uint64_t *)(const void *)((const char *)c + config_places[field].offset);
}

void config_put(struct vram_config *c, size_t field, uint64_t value)
{
    *(uint64_t *)(void *)((char *)c + config_places[field].offset) = value;
}

bool config_same(const struct vram_config *a, const struct vram_config *b)
{
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    if (a->ident != b->ident) \
        return false;
#include "calc/model/fields.def"
    return true;
}

void config_defaults(struct vram_config *c)
{
    for (size_t i = 0; i < CONFIG_FIELDS; i++)
        config_put(c, i, config_fields[i].initial);
    c->gpu = -1;
}

static int config_unknown(struct err *e, struct err_pos pos, const char *key, size_t len)
{
    const char *names[CONFIG_FIELDS + 2];
    for (size_t i = 0; i < CONFIG_FIELDS; i++)
        names[i] = config_fields[i].key;
    names[CONFIG_FIELDS] = "preset";
    names[CONFIG_FIELDS + 1] = "gpu";
    const char *near = err_nearest(key, len, names, CONFIG_FIELDS + 2);
    int shown = len > 60 ? 60 : (int)len;
    if (near)
        return err_set(e, VRAM_EKEY, pos, "unknown key '%.*s': did you mean '%s'?", shown, key,
                       near);
    return err_set(e, VRAM_EKEY, pos, "unknown key '%.*s'", shown, key);
}

static bool config_read_bool(const char *s, size_t len, uint64_t *out)
{
    *out = text_has_word("true 1 yes on", s, len);
    return *out || text_has_word("false 0 no off none", s, len);
}

static bool config_read_enum(size_t field, const char *s, size_t len, uint64_t *out)
{
    const char *const *names = config_fields[field].values;
    if (len > 6 && text_equal_nocase(s, 6, "torch.")) {
        s += 6;
        len -= 6;
    }
    for (uint64_t i = 0; names[i]; i++) {
        if (text_equal_nocase(s, len, names[i]) ||
            text_has_word(config_places[field].aliases[i], s, len)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool config_read(size_t field, const char *s, size_t len, uint64_t *out, bool *overflow)
{
    *overflow = false;
    switch (config_places[field].type) {
    case CONFIG_COUNT:
        return text_to_u64(s, len, out, overflow) ||
               (!*overflow && config_fields[field].unit[0] == 'M' && text_to_mib(s, len, out));
    case CONFIG_FRACTION:
        return text_to_millionths(s, len, out, overflow);
    case CONFIG_BOOL:
        return config_read_bool(s, len, out);
    default:
        return config_read_enum(field, s, len, out);
    }
}

static int config_bad_enum(struct err *e, struct err_pos pos, const struct vram_field *f, int shown,
                           const char *value)
{
    char list[256];
    size_t n = 0;
    for (size_t i = 0; f->values[i]; i++) {
        for (const char *p = i ? ", " : ""; *p && n < sizeof list - 1;)
            list[n++] = *p++;
        for (const char *p = f->values[i]; *p && n < sizeof list - 1;)
            list[n++] = *p++;
    }
    list[n] = 0;
    uint64_t off;
    bool switched = config_read_enum((size_t)config_field(f->key, text_len(f->key)), "false", 5, &off);
    return err_set(e, VRAM_EVALUE, pos, "%s cannot be '%.*s': it is one of %s%s", f->key, shown,
                   value, list, switched ? "; True and False are understood, too" : "");
}

static int config_bad_range(struct err *e, struct err_pos pos, size_t field, int shown,
                            const char *value)
{
    const struct vram_field *f = &config_fields[field];
    if (config_places[field].type == CONFIG_FRACTION)
        return err_set(e, VRAM_ERANGE, pos, "%s cannot be %.*s: from 0 to %s%u are allowed", f->key,
                       shown, value, f->max < 1000000 ? "0." : "",
                       f->max < 1000000 ? f->max : f->max / 1000000);
    return err_set(e, VRAM_ERANGE, pos, "%s cannot be %.*s: from %u to %u are allowed", f->key,
                   shown, value, f->min, f->max);
}

int config_set(struct vram_config *c, struct err *e, struct err_pos pos, const char *key,
               size_t key_len, const char *value, size_t value_len)
{
    static const char *const wanted[] = {"a whole number", "true or false", "a number of 0 or more",
                                         ""};
    int field = config_field(key, key_len);
    int shown = value_len > 60 ? 60 : (int)value_len;
    uint64_t n = 0;
    bool overflow = false;
    if (field < 0)
        return config_unknown(e, pos, key, key_len);
    const struct vram_field *f = &config_fields[field];
    bool read = config_read((size_t)field, value, value_len, &n, &overflow);
    if (overflow || (read && (n < f->min || n > f->max)))
        return config_bad_range(e, pos, (size_t)field, shown, value);
    if (!read && f->values)
        return config_bad_enum(e, pos, f, shown, value);
    if (!read && config_places[field].type == CONFIG_COUNT)
        return err_set(e, VRAM_EVALUE, pos, "%s cannot be '%.*s': it is a whole number%s from %u to %u", f->key, shown,
                       value, f->unit[0] == 'M' ? " of MiB, or a size with MiB or GiB," : "", f->min, f->max);
    if (!read)
        return err_set(e, VRAM_EVALUE, pos, "%s cannot be '%.*s': it is %s", f->key, shown, value,
                       wanted[config_places[field].type]);
    config_put(c, (size_t)field, n);
    return VRAM_OK;
}

// Millionths without the zeros at the end: 0.1, 1, 0.
static void config_write_fraction(struct writer *w, uint64_t n)
{
    unsigned places = 6;
    while (places > 0 && n % 10 == 0) {
        n /= 10;
        places--;
    }
    writer_fixed(w, n, places, places);
}

void config_write(struct writer *w, const struct vram_config *c, size_t field)
{
    uint64_t n = config_get(c, field);
    if (config_places[field].type == CONFIG_ENUM)
        writer_str(w, config_fields[field].values[n]);
    else if (config_places[field].type == CONFIG_BOOL)
        writer_str(w, n ? "true" : "false");
    else if (config_places[field].type == CONFIG_FRACTION)
        config_write_fraction(w, n);
    else
        writer_u64(w, n);
}
