// The formats of training frameworks against the installed classes (tests/calc/truth/defaults):
// every key is known, and a key that is written with its default changes nothing.

#include "tests/unit/calc_fixture.h"

// A class's table of defaults, and how the reader is asked about it.
struct table {
    const char *file;
    enum vram_kind kind;
    const char *prefix;   // of its keys
    const char *version;  // to set
    const char *beside;   // "key=value ..." of the same file
};

static const struct table tables[] = {
    {"transformers-5.23.0-TrainingArguments", VRAM_KIND_TRAINER, "", "transformers=5.23", ""},
    {"transformers-4.48.1-TrainingArguments", VRAM_KIND_TRAINER, "", "transformers=4.48", ""},
    {"trl-1.16.0-SFTConfig", VRAM_KIND_SFT, "", "framework_version=1.16", ""},
    {"trl-0.13.0-SFTConfig", VRAM_KIND_SFT, "", "framework_version=0.13 transformers=4.48", ""},
    {"trl-1.16.0-DPOConfig", VRAM_KIND_DPO, "", "framework_version=1.16", ""},
    {"trl-0.13.0-DPOConfig", VRAM_KIND_DPO, "", "framework_version=0.13 transformers=4.48", ""},
    {"trl-1.16.0-RewardConfig", VRAM_KIND_REWARD, "", "framework_version=1.16", ""},
    {"trl-1.16.0-ModelConfig", VRAM_KIND_SFT, "", "framework_version=1.16", "use_peft=true"},
    {"peft-0.21.2-LoraConfig", VRAM_KIND_ADAPTER, "", "", "peft_type=LORA"},
    {"peft-0.13.2-LoraConfig", VRAM_KIND_ADAPTER, "", "", "peft_type=LORA"},
    {"axolotl-0.19.0-AxolotlInputConfig", VRAM_KIND_AXOLOTL, "", "", ""},
    {"llamafactory-0.9.5-DataArguments", VRAM_KIND_LLAMAFACTORY, "", "", ""},
    {"llamafactory-0.9.5-ModelArguments", VRAM_KIND_LLAMAFACTORY, "", "", ""},
    {"llamafactory-0.9.5-FinetuningArguments", VRAM_KIND_LLAMAFACTORY, "", "", ""},
    {"litgpt-0.5.13-lora.setup", VRAM_KIND_LITGPT, "", "", "lora_r=8"},
    {"litgpt-0.5.13-full.setup", VRAM_KIND_LITGPT, "", "", ""},
    {"torchtitan-0.2.2-JobConfig", VRAM_KIND_TORCHTITAN, "", "", "model.flavor=debugmodel"},
    {"deepspeed-0.19.8-DeepSpeedZeroConfig", VRAM_KIND_DEEPSPEED, "zero_optimization.", "", ""},
    {"deepspeed-0.19.8-DeepSpeedBF16Config", VRAM_KIND_DEEPSPEED, "bf16.", "", ""},
    {"deepspeed-0.19.8-DeepSpeedFP16Config", VRAM_KIND_DEEPSPEED, "fp16.", "", ""},
};

enum { PAIRS_MAX = 16 };

struct said {
    size_t unknown;
    char text[400];
};

static void note_unknown(void *ctx, const struct vram_message *m)
{
    struct said *said = ctx;
    if (strncmp(m->id, "key_unknown", 11) == 0)
        said->unknown++;
    if (m->code != VRAM_OK || strncmp(m->id, "key_unknown", 11) == 0)
        snprintf(said->text, sizeof said->text, "%s", m->text);
}

static size_t split(char *words, struct vram_pair *pairs)
{
    size_t n = 0;
    for (char *word; (word = strsep(&words, " "));) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        pairs[n++] = (struct vram_pair){.key = word, .value = value};
    }
    return n;
}

// The configuration, as text, after a file with what is beside and, if key is not NULL, the key
// too.
static int configure(vram *v, const struct table *t, const char *key, const char *value,
                     struct said *said, char *config, size_t cap)
{
    struct vram_pair pairs[PAIRS_MAX];
    char beside[200];
    snprintf(beside, sizeof beside, "%s", t->beside);
    size_t n = split(beside, pairs);
    vram_clear(v);
    set_all(v, t->version);
    set_all(v, "preset=llama-3.2-1b");
    set_all(v, t->version);
    if (key)
        pairs[n++] = (struct vram_pair){.key = key, .value = value};
    if (n == 0)
        pairs[n++] = (struct vram_pair){.key = "seed", .value = "1"};
    int code = vram_parse_pairs(v, t->kind, pairs, n, "file", note_unknown, said);
    if (code == VRAM_OK && vram_write(v, VRAM_ANSWER_CONFIG, VRAM_FORMAT_TEXT, 0) == VRAM_OK)
        snprintf(config, cap, "%s", vram_text(v, NULL));
    return code;
}

static bool strip(char *text, const char *first, const char *last)
{
    size_t n = strlen(text);
    bool has = n > 1 && strchr(first, text[0]) && strchr(last, text[n - 1]);
    if (has) {
        memmove(text, text + 1, n - 2);
        text[n - 2] = 0;
    }
    return has;
}

// A default as Python prints it, as YAML writes it; false for what is no literal.
static bool plain_value(char *text)
{
    if (strip(text, "[{", "]}") && strchr(text, ','))
        return strchr(text, '(') == NULL;
    strip(text, "'", "'");
    return strchr(text, '(') == NULL && strchr(text, '<') == NULL && strcmp(text, "-") != 0;
}

static size_t complaints;

static void complain(const struct table *t, const char *key, const char *value, const char *what)
{
    printf("%s: %s = %s: %s\n", t->file, key, value, what);
    complaints++;
}

static void check_field(vram *v, const struct table *t, const char *name, char *value,
                        const char *base)
{
    static char config[20000];
    char key[200];
    struct said said = {0, ""};
    bool literal = plain_value(value);
    snprintf(key, sizeof key, "%s%s", t->prefix, name);
    int code = configure(v, t, key, literal ? value : "null", &said, config, sizeof config);
    if (said.unknown || code != VRAM_OK)
        complain(t, key, value, said.text);
    else if (strcmp(config, base) != 0)
        complain(t, key, value, "its default changes the configuration");
}

// A key whose default what is beside has taken back already.
static bool is_beside(const struct table *t, const char *name)
{
    const char *at = strstr(t->beside, name);
    return at && (at == t->beside || at[-1] == ' ') && at[strlen(name)] == '=';
}

static void check_table(const struct table *t)
{
    static char base[20000], line[1000];
    char path[200];
    struct heap h = {0};
    struct said said = {0, ""};
    size_t rows = 0;
    vram *v = open_vram(&h);
    snprintf(path, sizeof path, "tests/calc/truth/defaults/%s.tsv", t->file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    if (configure(v, t, NULL, NULL, &said, base, sizeof base) != VRAM_OK)
        fail_msg("%s: %s", t->file, said.text);
    for (size_t n = 0; fgets(line, sizeof line, f); n++) {
        char *rest = line, *name = strsep(&rest, "\t"), *type = strsep(&rest, "\t");
        char *value = type ? strsep(&rest, "\t") : NULL;
        if (n < 2 || !value || is_beside(t, name))
            continue;
        check_field(v, t, name, value, base);
        rows++;
    }
    fclose(f);
    assert_true(rows > 0);
    close_vram(v, &h);
}

static void test_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        check_table(&tables[i]);
    assert_int_equal(complaints, 0);
}

// A format whose kind is missing is never recognized. The launcher's words are those of commands.
static void test_kinds(void **state)
{
    static const char *const formats[] = {
#define FORMAT(id, name, title, parent, newest, implied) name,
#include "calc/parse/formats.def"
    };
    static const char *const kinds[] = {
#define X(id, name, text) name,
        VRAM_KINDS(X)
#undef X
    };
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bool found = !strcmp(formats[i], "launch");
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            found = found || !strcmp(formats[i], kinds[k]);
        if (!found)
            fail_msg("VRAM_KINDS of calc/vram/config.h has no kind %s", formats[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),
                                       cmocka_unit_test(test_defaults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
