// What the parsers of configuration texts share, and vram_parse, which picks one.

#include "calc/parse/parse.h"

#include "calc/base/text.h"

struct span span_of(const char *s)
{
    return (struct span){s, text_len(s)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct span span_trim(struct span s)
{
    while (s.len > 0 && is_blank(s.at[0])) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool span_is(struct span s, const char *word)
{
    return text_equal(s.at, s.len, word);
}

bool span_starts(struct span s, const char *prefix)
{
    size_t n = text_len(prefix);
    return s.len >= n && text_equal(s.at, n, prefix);
}

struct span span_skip(struct span s, size_t n)
{
    n = n > s.len ? s.len : n;
    return (struct span){s.at + n, s.len - n};
}

size_t span_find(struct span s, const char *needle)
{
    size_t n = text_len(needle);
    for (size_t i = 0; i + n <= s.len; i++)
        if (text_equal(s.at + i, n, needle))
            return i;
    return s.len;
}

bool parse_line(struct parse *p, struct span *line)
{
    if (p->pos >= p->len)
        return false;
    p->line++;
    p->line_start = p->pos;
    size_t end = p->pos;
    while (end < p->len && p->text[end] != '\n')
        end++;
    *line = (struct span){p->text + p->pos, end - p->pos};
    p->pos = end < p->len ? end + 1 : end;
    return true;
}

struct err_pos parse_at(const struct parse *p, const char *byte)
{
    struct err_pos pos = {p->file, p->line, 1};
    for (const char *c = p->text + p->line_start; c < byte; c++)
        pos.col += ((unsigned char)*c & 0xc0) != 0x80;
    return pos;
}

// nanoGPT's train.py, sample.py and Hugging Face's TrainingArguments, as far as memory does not care.
static const char TRAINING_KEYS[] = "out_dir init_from dataset device backend seed data_dir "
                                    "learning_rate max_iters weight_decay beta1 beta2 "
                                    "decay_lr min_lr always_save_checkpoint num_samples "
                                    "temperature start max_steps num_train_epochs "
                                    "lr_scheduler_type adam_beta1 adam_beta2 adam_epsilon "
                                    "report_to run_name output_dir save_steps save_total_limit "
                                    "push_to_hub remove_unused_columns dataloader_num_workers";

static const char *const TRAINING_PREFIXES[] = {"wandb_", "eval_",   "log_",  "logging_",
                                                "lr_",    "warmup_", "save_", "hub_",
                                                "data_",  "adam_",   "muon_", "dataloader_"};

bool parse_is_training_key(struct span key)
{
    if (text_has_word(TRAINING_KEYS, key.at, key.len))
        return true;
    for (size_t i = 0; i < sizeof TRAINING_PREFIXES / sizeof *TRAINING_PREFIXES; i++)
        if (span_starts(key, TRAINING_PREFIXES[i]))
            return true;
    return false;
}

bool parse_is_name(struct span s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return s.len > 0;
}

int parse_set_value(struct parse *p, struct span key, struct span value, const char *place)
{
    bool known =
        config_field(key.at, key.len) >= 0 || span_is(key, "preset") || span_is(key, "gpu");
    if (!known && parse_is_training_key(key))
        return VRAM_OK;
    return vram_set_at(p->v, parse_at(p, known ? place : key.at), key.at, key.len, value.at,
                       value.len);
}

int parse_set(struct parse *p, struct span key, struct span value)
{
    return parse_set_value(p, key, value, value.at);
}

void parse_note(struct parse *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    writer_fv(&p->v->notes, format, args);
    va_end(args);
    writer_char(&p->v->notes, '\n');
}

// Text has no NUL and no control characters but tabs and line ends; the first other byte is named.
static int check_bytes(struct parse *p)
{
    if (p->len > PARSE_TEXT_MAX)
        return err_set(&p->v->err, VRAM_EPARSE, (struct err_pos){p->file, 1, 1},
                       "the text has %u bytes, more than the %u that are read", (uint64_t)p->len,
                       (uint64_t)PARSE_TEXT_MAX);
    for (size_t i = 0; i < p->len; i++) {
        unsigned char c = (unsigned char)p->text[i];
        if ((c < 32 && c != '\t' && c != '\n' && c != '\r' && c != 27) || c == 127)
            return err_set(&p->v->err, VRAM_EPARSE, err_pos_of(p->file, p->text, i),
                           "byte %u is not text: is this the right file?", (uint64_t)c);
    }
    return VRAM_OK;
}

// Lines are of one text: what an earlier one set counts as said before.
static void parse_begin_places(vram *v, const char *file)
{
    size_t n = 0;
    for (int i = 0; i < CONFIG_FIELD_COUNT; i++)
        if (v->places[i].line)
            v->places[i].line = HANDLE_BY_CALL;
    for (; file && file[n] && n + 1 < ERR_FILE_MAX; n++)
        v->place_file[n] = file[n];
    v->place_file[n] = 0;
}

int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len, const char *file)
{
    static int (*const parsers[])(struct parse *) = {
        [VRAM_KIND_FLAT] = parse_flat,
        [VRAM_KIND_NANOGPT] = parse_nanogpt,
        [VRAM_KIND_HF] = parse_hf,
        [VRAM_KIND_LOG] = parse_log,
    };
    struct parse p = {.v = v, .text = text ? text : "", .len = text ? len : 0, .file = file};
    struct vram_config before = v->config;
    err_clear(&v->err);
    writer_reset(&v->notes);
    if ((unsigned)kind >= VRAM_KIND_COUNT)
        return err_set(&v->err, VRAM_EARG, (struct err_pos){0}, "vram_parse knows no kind %u",
                       (uint64_t)kind);
    v->has_result = false;
    parse_begin_places(v, file);
    int rc = check_bytes(&p);
    if (rc == VRAM_OK)
        rc = parsers[kind](&p);
    if (rc == VRAM_OK)
        rc = writer_status(&v->notes);
    if (rc != VRAM_OK)
        v->config = before;
    return rc;
}
