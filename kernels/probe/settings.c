// A run's config as key=value pairs, and the training run that it describes.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/probe/settings.h"

static int find(const struct settings *s, const char *key)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->pairs[i].key, key) == 0)
            return i;
    return -1;
}

void settings_put(struct settings *s, const char *key, const char *value)
{
    int i = find(s, key);
    if (i < 0 && s->count < MOST_SETTINGS)
        i = s->count++;
    if (i < 0)
        return;
    snprintf(s->pairs[i].key, sizeof s->pairs[i].key, "%s", key);
    snprintf(s->pairs[i].value, sizeof s->pairs[i].value, "%s", value);
}

bool settings_parse(struct settings *s, const char *text, char *error, size_t size)
{
    char pair[96];
    *s = (struct settings){0};
    while (*(text += strspn(text, " "))) {
        size_t n = strcspn(text, " ");
        snprintf(pair, sizeof pair, "%.*s", (int)n, text);
        text += n;
        char *equals = strchr(pair, '=');
        bool fits = n < sizeof pair && equals && equals != pair && equals - pair < 40 &&
                    strlen(equals + 1) < 40;
        if (!fits || s->count == MOST_SETTINGS) {
            snprintf(error, size, "%s: write key=value, at most %d of them", pair, MOST_SETTINGS);
            return false;
        }
        *equals = 0;
        settings_put(s, pair, equals + 1);
    }
    return true;
}

void settings_write(const struct settings *s, char *out, size_t size)
{
    size_t at = 0;
    *out = 0;
    for (int i = 0; i < s->count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s=%s", i ? " " : "", s->pairs[i].key,
                               s->pairs[i].value);
}

const char *settings_text(const struct settings *s, const char *key, const char *otherwise)
{
    int i = find(s, key);
    return i < 0 ? otherwise : s->pairs[i].value;
}

static bool whole(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && !errno;
}

int64_t settings_int(const struct settings *s, const char *key, int64_t otherwise)
{
    int i = find(s, key);
    int64_t v;
    return i >= 0 && whole(s->pairs[i].value, &v) ? v : otherwise;
}

void settings_to_json(const struct settings *s, struct rjson *config)
{
    for (int i = 0; i < s->count; i++) {
        const char *value = s->pairs[i].value;
        int64_t v;
        bool truth = strcmp(value, "true") == 0;
        rjson_set(config, s->pairs[i].key,
                  whole(value, &v)                       ? rjson_int(v)
                  : truth || strcmp(value, "false") == 0 ? rjson_bool(truth)
                                                         : rjson_string(value));
    }
}

// Index of the key's value in a list of names that ends with NULL; -1 when it is not in the list.
static int choice(const struct settings *s, const char *key, const char *const *names)
{
    const char *value = settings_text(s, key, names[0]);
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], value) == 0)
            return i;
    return -1;
}

const char *settings_gpt(const struct settings *s, struct gpt_config *out)
{
    static const char *const types[] = {"bfloat16", "float16", "float32", NULL};
    static const enum dtype type_of[] = {DTYPE_BF16, DTYPE_F16, DTYPE_F32};
    static const char *const modes[] = {"framework", "lean", NULL};
    static const char *const attentions[] = {"flash", "mem_efficient", "tiled",
                                             "math",  "matrix",        NULL};
    static const char *const truths[] = {"false", "true", NULL};
    static const char *const checkpoints[] = {"none", "block", NULL};
    static const char *const optimizers[] = {"adamw_fused", "adamw_foreach", NULL};
    int type = choice(s, "dtype", types), mode = choice(s, "mode", modes),
        bias = choice(s, "bias", truths);
    int attention = choice(s, "attention", attentions),
        checkpoint = choice(s, "checkpointing", checkpoints);
    int optimizer = choice(s, "optimizer", optimizers), loop = choice(s, "train_loop", truths);
    bool known = choice(s, "evaluation", truths) >= 0 && type >= 0 && mode >= 0 && bias >= 0 &&
                 attention >= 0;
    if (!known || checkpoint < 0 || optimizer < 0 || loop < 0)
        return "dtype, mode, bias, attention, checkpointing, optimizer, train_loop or evaluation "
               "with a value that is not known";
    int64_t block = settings_int(s, "block_size", 1024);
    *out = (struct gpt_config){.batch_size = settings_int(s, "batch_size", 1),
                               .block_size = block,
                               .seq_len = settings_int(s, "seq_len", block),
                               .n_layer = settings_int(s, "n_layer", 12),
                               .n_head = settings_int(s, "n_head", 12),
                               .n_embd = settings_int(s, "n_embd", 768),
                               .vocab_size = settings_int(s, "vocab_size", 50304),
                               .dtype = type_of[type],
                               .mode = (enum gpt_mode)mode,
                               .accumulation = settings_int(s, "gradient_accumulation_steps", 1),
                               .bias = bias,
                               .checkpointing = checkpoint,
                               .dropout = strtod(settings_text(s, "dropout", "0"), NULL),
                               .attention = attention >= 3 ? GPT_MATRIX : GPT_TILED,
                               .split_adamw = optimizer,
                               .train_loop = loop,
                               .lr = 6e-4,
                               .weight_decay = 0.1,
                               .seed = 1337};
    return gpt_config_error(out);
}
