// Owns the fields of a configuration: their table made from fields.def, defaults, reading and
// writing one value.

#include "calc/model/config.h"

#include "calc/base/span.h"
#include "calc/base/text.h"
#include "calc/model/set.h"

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
#ifndef VRAM_SMALL
CONFIG_TABLE(trainer)
CONFIG_TABLE(attention_mask)
#endif
CONFIG_TABLE(framework)
CONFIG_TABLE(mode)
CONFIG_TABLE(dtype)
CONFIG_TABLE(attention)
CONFIG_TABLE(kernels)
CONFIG_TABLE(optimizer)
CONFIG_TABLE(checkpointing)
CONFIG_TABLE(use_reentrant)
CONFIG_TABLE(compile)
CONFIG_TABLE(cross_entropy)
CONFIG_TABLE(keep_logits)
CONFIG_TABLE(quantization)
CONFIG_TABLE(prepare_kbit)
CONFIG_TABLE(adapter)
CONFIG_TABLE(adapter_dtype)
CONFIG_TABLE(lora_targets)
CONFIG_TABLE(modules_to_save)
CONFIG_TABLE(lora_kernels)
CONFIG_TABLE(parallel)
CONFIG_TABLE(reshard_after_forward)
#ifndef VRAM_SMALL
CONFIG_TABLE(auto_wrap_policy)
CONFIG_TABLE(backward_prefetch)
#endif
CONFIG_TABLE(fsdp_rank)
CONFIG_TABLE(offload_activations)
CONFIG_TABLE(float8)
CONFIG_TABLE(pipeline_stage)
CONFIG_TABLE(pipeline_schedule)
CONFIG_TABLE(kv_dtype)
CONFIG_TABLE(system)

#define CONFIG_ROW_COUNT(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_BOOL(ident, low, high) 0, 1, NULL, NULL
#define CONFIG_ROW_LIST(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_VERSION(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_FRACTION(ident, low, high) low, high, NULL, NULL
#define CONFIG_ROW_ENUM(ident, low, high) \
    0, ident##_COUNT - 1, config_names_##ident, config_help_##ident
#define CONFIG_ROW_SET(ident, low, high) \
    low, CONFIG_BIT(ident##_COUNT) - 1, config_names_##ident, config_help_##ident
#define CONFIG_ALIAS_COUNT(ident) NULL
#define CONFIG_ALIAS_BOOL(ident) NULL
#define CONFIG_ALIAS_LIST(ident) NULL
#define CONFIG_ALIAS_VERSION(ident) NULL
#define CONFIG_ALIAS_FRACTION(ident) NULL
#define CONFIG_ALIAS_ENUM(ident) config_aliases_##ident
#define CONFIG_ALIAS_SET(ident) config_aliases_##ident

static const struct vram_field config_fields[] = {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    {#ident,           aliases,          group,   CONFIG_PROSE(help), \
     VRAM_TYPE_##type, VRAM_UNIT_##unit, initial, CONFIG_ROW_##type(ident, min, max)},
#include "calc/model/fields.def"
};

// What the public row does not say: aliases of the values.
static const char *const *const config_aliases[] = {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    CONFIG_ALIAS_##type(ident),
#include "calc/model/fields.def"
};

enum { CONFIG_FIELDS = CONFIG_FIELD_COUNT };
_Static_assert(offsetof(struct vram_config, lengths) == CONFIG_FIELDS * sizeof(uint64_t),
               "the fields are an array of numbers, in the order of fields.def");

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
    return ((const uint64_t *)c)[field];
}

void config_put(struct vram_config *c, size_t field, uint64_t value)
{
    ((uint64_t *)c)[field] = value;
}

bool config_same(const struct vram_config *a, const struct vram_config *b)
{
    for (size_t i = 0; i < CONFIG_FIELDS; i++)
        if (config_get(a, i) != config_get(b, i))
            return false;
    for (uint64_t i = 0; i < a->seq_lens; i++)
        if (a->lengths[i] != b->lengths[i])
            return false;
    return true;
}

void config_defaults(struct vram_config *c)
{
    for (size_t i = 0; i < CONFIG_FIELDS; i++)
        config_put(c, i, config_fields[i].initial);
    c->gpu = -1;
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
            text_has_word(config_aliases[field][i], s, len)) {
            *out = i;
            return true;
        }
    }
    return false;
}

// Names for several modules. PEFT finds a module by the end of its name, so that c_proj is that of
// attention and that of the feed-forward part. SRC: peft src/peft/tuners/tuners_utils.py,
// check_target_module_exists; src/peft/utils/constants.py (all-linear: every linear layer but the
// output).
#define CONFIG_QKV (CONFIG_BIT(TARGET_Q) | CONFIG_BIT(TARGET_K) | CONFIG_BIT(TARGET_V))
static const struct set_group config_targets[] = {
    {"all", CONFIG_SET_ALL_LINEAR},
    {"all-linear", CONFIG_SET_ALL_LINEAR},
    {"attention qkvo", CONFIG_QKV | CONFIG_BIT(TARGET_O)},
    {"qkv c_attn query_key_value qkv_proj wqkv", CONFIG_QKV},
    {"qv", CONFIG_BIT(TARGET_Q) | CONFIG_BIT(TARGET_V)},
    {"mlp", CONFIG_BIT(TARGET_GATE) | CONFIG_BIT(TARGET_UP) | CONFIG_BIT(TARGET_DOWN)},
    {"gate_up_proj", CONFIG_BIT(TARGET_GATE) | CONFIG_BIT(TARGET_UP)},
    {"c_proj", CONFIG_BIT(TARGET_O) | CONFIG_BIT(TARGET_DOWN)},
    {NULL, 0},
};

static struct set config_set_of(size_t field)
{
    const struct set_group *groups = field == FIELD_lora_targets ? config_targets : NULL;
    return (struct set){config_fields[field].values, config_aliases[field], groups};
}

static bool config_read_set(size_t field, const char *s, size_t len, uint64_t *out)
{
    struct set set = config_set_of(field);
    return set_read(&set, s, len, out);
}

// MAJOR.MINOR and whatever a release adds: 2.4, 2.4.1, 2.5.0+cu124.
static bool config_read_version(const char *s, size_t len, uint64_t *out)
{
    uint64_t part[2] = {0, 0};
    size_t at = len && (*s == 'v' || *s == 'V');
    for (unsigned i = 0; i < 2; i++) {
        size_t begin = at;
        for (; at < len && s[at] >= '0' && s[at] <= '9' && at < begin + 4 - i; at++)
            part[i] = 10 * part[i] + (uint64_t)(s[at] - '0');
        bool ends = i == 0 ? at < len && s[at] == '.'
                           : at == len || s[at] == '.' || s[at] == '+' || s[at] == 'a';
        if (at == begin || !ends)
            return false;
        at++;
    }
    *out = 1000 * part[0] + part[1];
    return true;
}

static bool config_read(size_t field, const char *s, size_t len, uint64_t *out, bool *overflow)
{
    *overflow = false;
    switch (config_fields[field].type) {
    case VRAM_TYPE_COUNT:
        return text_to_u64(s, len, out, overflow) ||
               (!*overflow && config_fields[field].unit == VRAM_UNIT_MIB &&
                text_to_mib(s, len, out));
    case VRAM_TYPE_FRACTION: return text_to_millionths(s, len, out, overflow);
    case VRAM_TYPE_BOOL: return config_read_bool(s, len, out);
    case VRAM_TYPE_SET: return config_read_set(field, s, len, out);
    case VRAM_TYPE_VERSION: return config_read_version(s, len, out);
    default: return config_read_enum(field, s, len, out);
    }
}

// Lengths with + or commas between them, in brackets or not. False: one is no length, or they are
// too many.
static bool config_read_list(struct vram_config *c, size_t field, const char *s, size_t len)
{
    const struct vram_field *f = &config_fields[field];
    uint64_t n, count = 0;
    bool overflow;
    if (len > 1 && s[0] == '[' && s[len - 1] == ']') {
        s++;
        len -= 2;
    }
    for (size_t at = 0, end; at <= len && !text_has_word("none null", s, len); at = end + 1) {
        for (end = at; end < len && s[end] != '+' && s[end] != ',';)
            end++;
        struct span one = span_trim((struct span){s + at, end - at});
        if (count == CONFIG_LENGTHS || !text_to_u64(one.at, one.len, &n, &overflow) || n < 1 ||
            n > f->max)
            return false;
        c->lengths[count++] = (uint32_t)n;
    }
    c->seq_lens = count;
    return true;
}

static int config_bad_enum(struct message *e, struct err_pos pos, size_t field, struct arg value)
{
    const struct vram_field *f = &config_fields[field];
    struct text_line list = {{0}, 0};
    uint64_t off;
    for (size_t i = 0; f->values[i]; i++) {
        text_append(&list, i ? ", " : "");
        text_append(&list, f->values[i]);
    }
    if (f->type == VRAM_TYPE_SET)
        return err_set(e, MESSAGE_bad_set, pos, ABOUT(f->key),
                       ARGS(value, arg_text("values", list.text)));
    bool switched = config_read_enum(field, "false", 5, &off);
    return err_set(e, switched ? MESSAGE_bad_switch : MESSAGE_bad_enum, pos, ABOUT(f->key),
                   ARGS(value, arg_text("values", list.text)));
}

const char *config_version(uint64_t n, char text[24])
{
    char *at = text + 23;
    *at = 0;
    at = text_digits(at, n % 1000);
    *--at = '.';
    return text_digits(at, n / 1000);
}

// SRC: pytorch c10/core/AllocatorConfig.cpp; 2.9 was the first release that looks at
// PYTORCH_ALLOC_CONF, those before it know the other name alone.
const char *config_alloc_conf(const struct vram_config *c)
{
    return c->torch >= 2009 ? "PYTORCH_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
}

// A limit as a reader writes it: fractions are stored in millionths.
static struct arg config_limit(const char *name, const struct vram_field *f, uint64_t n,
                               char digits[24])
{
    if (f->type == VRAM_TYPE_VERSION)
        return arg_text(name, config_version(n, digits));
    if (f->type != VRAM_TYPE_FRACTION || n % 1000000 == 0)
        return arg_u64(name, f->type == VRAM_TYPE_FRACTION ? n / 1000000 : n);
    size_t at = 23;
    digits[at] = 0;
    for (unsigned places = 0; places < 6; places++, n /= 10)
        digits[--at] = (char)('0' + n % 10);
    digits[--at] = '.';
    return arg_text(name, text_digits(digits + at, n));
}

static int config_bad_range(struct message *e, struct err_pos pos, size_t field, struct arg value)
{
    const struct vram_field *f = &config_fields[field];
    char low[24], high[24];
    return err_set(
        e, MESSAGE_out_of_range, pos, ABOUT(f->key),
        ARGS(value, config_limit("min", f, f->min, low), config_limit("max", f, f->max, high)));
}

static int config_bad_value(struct message *e, struct err_pos pos, size_t field, struct arg value)
{
    const struct vram_field *f = &config_fields[field];
    if (f->values)
        return config_bad_enum(e, pos, field, value);
    if (f->type == VRAM_TYPE_VERSION)
        return err_set(e, MESSAGE_bad_version, pos, ABOUT(f->key), ARGS(value));
    if (f->type != VRAM_TYPE_COUNT)
        return err_set(e, f->type == VRAM_TYPE_BOOL ? MESSAGE_bad_bool : MESSAGE_bad_fraction, pos,
                       ABOUT(f->key), ARGS(value));
    return err_set(e, f->unit == VRAM_UNIT_MIB ? MESSAGE_bad_mib : MESSAGE_bad_count, pos,
                   ABOUT(f->key), ARGS(value, arg_u64("min", f->min), arg_u64("max", f->max)));
}

// A card's memory in GiB, without a unit, where that counts MiB: no card has so little.
static bool config_means_gib(size_t field, uint64_t n, const char *value, size_t len)
{
#ifdef VRAM_SMALL  // it has no room for it
    (void)field, (void)n, (void)value, (void)len;
    return false;
#else
    bool card = field == FIELD_gpu_memory || field == FIELD_cuda_memory;
    return card && n > 0 && n < 512 && value[len - 1] >= '0' && value[len - 1] <= '9';
#endif
}

int config_set(struct vram_config *c, struct message *e, struct err_pos pos, const char *key,
               size_t key_len, const char *value, size_t value_len)
{
    int field = config_field(key, key_len);
    struct arg shown = arg_part("value", value, value_len);
    uint64_t n = 0;
    bool overflow = false;
    if (field < 0)
        return config_unknown(e, pos, key, key_len);
    const struct vram_field *f = &config_fields[field];
    if (f->type == VRAM_TYPE_LIST) {
        struct vram_config with = *c;
        if (!config_read_list(&with, (size_t)field, value, value_len))
            return err_set(e, MESSAGE_bad_list, pos, ABOUT(f->key),
                           ARGS(shown, arg_u64("most", CONFIG_LENGTHS), arg_u64("min", 1),
                                arg_u64("max", f->max)));
        *c = with;
        return VRAM_OK;
    }
    bool read = config_read((size_t)field, value, value_len, &n, &overflow);
    if (f->type == VRAM_TYPE_SET)
        read = read && n >= f->min;
    else if (overflow || (read && (n < f->min || n > f->max)))
        return config_bad_range(e, pos, (size_t)field, shown);
    if (!read)
        return config_bad_value(e, pos, (size_t)field, shown);
    if (config_means_gib((size_t)field, n, value, value_len))
        return err_set(e, MESSAGE_card_in_mib, pos, ABOUT(f->key), ARGS(shown));
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

void config_set_text(size_t field, uint64_t members, struct text_line *out)
{
    struct set set = config_set_of(field);
    set_text(&set, members, out);
}

static void config_write_set(struct writer *w, size_t field, uint64_t n)
{
    struct text_line line = {{0}, 0};
    config_set_text(field, n, &line);
    writer_str(w, line.text);
}

static void config_write_list(struct writer *w, const struct vram_config *c)
{
    writer_str(w, c->seq_lens ? "" : "none");
    for (uint64_t i = 0; i < c->seq_lens; i++)
        writer_f(w, "%s%u", i ? "+" : "", (uint64_t)c->lengths[i]);
}

void config_write(struct writer *w, const struct vram_config *c, size_t field)
{
    uint64_t n = config_get(c, field);
    uint32_t type = config_fields[field].type;
    if (type == VRAM_TYPE_ENUM)
        writer_str(w, config_fields[field].values[n]);
    else if (type == VRAM_TYPE_SET)
        config_write_set(w, field, n);
    else if (type == VRAM_TYPE_LIST)
        config_write_list(w, c);
    else if (type == VRAM_TYPE_BOOL)
        writer_str(w, n ? "true" : "false");
    else if (type == VRAM_TYPE_FRACTION)
        config_write_fraction(w, n);
    else if (type == VRAM_TYPE_VERSION)
        writer_str(w, config_version(n, (char[24]){0}));
    else
        writer_u64(w, n);
}

static void *config_no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

void config_append_value(struct text_line *line, const struct vram_config *c, size_t field)
{
    char value[TEXT_LINE] = "";
    struct vram_mem none = {config_no_memory, NULL, NULL};
    struct writer w = {.mem = &none, .text = value, .cap = sizeof value};
    config_write(&w, c, field);
    text_append(line, value);
}

void config_append(struct text_line *line, const struct vram_config *c, size_t field)
{
    text_append(line, line->len ? " " : "");
    text_append(line, config_fields[field].key);
    text_append(line, "=");
    config_append_value(line, c, field);
}
