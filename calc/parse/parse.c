// Owns what the parsers of configuration texts share.

#include "calc/parse/parse.h"

#include "calc/base/text.h"

enum { PARSE_UNREADABLE_MAX = 10 };  // errors of syntax: more say that this is another kind of file

bool parse_line(struct parse *p, struct span *line)
{
    if (p->pos >= p->len || p->ended)
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
    uintptr_t begin = (uintptr_t)(p->text + p->line_start), at = (uintptr_t)byte;
    if (at < begin || at > (uintptr_t)(p->text + p->len))
        return pos;  // a name of ours, which stands in no text
    for (const char *c = p->text + p->line_start; c < byte; c++)
        pos.col += ((unsigned char)*c & 0xc0) != 0x80;
    return pos;
}

void parse_rewind(struct parse *p)
{
    p->pos = p->line_start = p->pair = 0;
    p->line = 0;
}

static bool entry_of_pair(struct parse *p, struct entry *out)
{
    if (p->pair >= p->pair_count || p->ended)
        return false;
    const struct vram_pair *pair = &p->pairs[p->pair++];
    *out = (struct entry){span_of(pair->key), span_of(pair->value),
                          {p->file, pair->key_line, pair->key_col},
                          {p->file, pair->value_line, pair->value_col}};
    return true;
}

static bool entry_of_line(struct parse *p, struct span line, struct entry *out)
{
    size_t eq = span_find(line, "=");
    out->key = span_trim((struct span){line.at, eq});
    out->value = span_trim(span_skip(line, eq + 1));
    size_t n = out->value.len;
    if (n > 1 && out->value.at[0] == '"' && out->value.at[n - 1] == '"')
        out->value = (struct span){out->value.at + 1, n - 2};
    out->key_pos = parse_at(p, out->key.at);
    out->value_pos = parse_at(p, out->value.at);
    return eq < line.len && out->key.len > 0;
}

bool parse_entry(struct parse *p, struct entry *out)
{
    struct span line;
    if (p->pairs)
        return entry_of_pair(p, out);
    while (parse_line(p, &line))
        if (entry_of_line(p, span_trim(line), out))
            return true;
    return false;
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

int parse_set_entry(struct parse *p, const struct entry *e)
{
    struct span key = e->key, value = e->value;
    bool known = config_field(key.at, key.len) >= 0 || span_is(key, "preset") || span_is(key, "gpu");
    if (!known && parse_is_training_key(key))
        return VRAM_OK;
    return handle_set(p->v, known ? e->value_pos : e->key_pos, key.at, key.len, value.at, value.len);
}

int parse_set(struct parse *p, struct span key, struct span value)
{
    struct entry e = {key, value, parse_at(p, key.at), parse_at(p, value.at)};
    return parse_set_entry(p, &e);
}

// ---- errors ----------------------------------------------------------------------------------

int parse_report(struct parse *p)
{
    struct message *e = &p->v->err;
    enum vram_code code = e->out.code;
    if (code == VRAM_OK || code == VRAM_ENOMEM)
        return code;
    if (p->each)
        p->each(p->ctx, &e->out);
    if (!err_is_set(&p->first))
        message_copy(&p->first, &e->out);
    p->unreadable += code == VRAM_EPARSE;
    p->ended |= p->unreadable >= PARSE_UNREADABLE_MAX;
    message_clear(e);
    return VRAM_OK;
}

// Text has no NUL and no control characters but tabs and line ends; the first other byte is named.
static int check_bytes(struct parse *p)
{
    if (p->len > PARSE_TEXT_MAX)
        return err_set(&p->v->err, MESSAGE_text_too_long, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                       ARGS(arg_u64("bytes", p->len), arg_u64("most", PARSE_TEXT_MAX)));
    for (size_t i = 0; i < p->len; i++) {
        unsigned char c = (unsigned char)p->text[i];
        if ((c < 32 && c != '\t' && c != '\n' && c != '\r' && c != 27) || c == 127)
            return err_set(&p->v->err, MESSAGE_not_text, err_pos_of(p->file, p->text, i), NO_FIELD,
                           ARGS(arg_u64("byte", c)));
    }
    return VRAM_OK;
}

static int (*const PARSERS[])(struct parse *) = {
    [VRAM_KIND_FLAT] = parse_flat,
    [VRAM_KIND_NANOGPT] = parse_nanogpt,
    [VRAM_KIND_HF] = parse_hf,
    [VRAM_KIND_LOG] = parse_log,
};

// Reads with a parser. What it reported on the way is an error of the whole, too: nothing of the text is kept.
static int run_parser(struct parse *p, enum vram_kind kind)
{
    struct vram *v = p->v;
    struct vram_config before = v->config;
    message_clear(&v->err);
    message_clear(&p->first);
    message_list_free(&v->notes);
    v->has_result = false;
    handle_begin_text(v, p->file);
    int rc = check_bytes(p);
    if (rc == VRAM_OK)
        rc = PARSERS[kind](p);
    if (rc == VRAM_OK && v->notes.failed)
        rc = handle_no_memory(v);
    if (rc != VRAM_OK)
        parse_report(p);
    if (!err_is_set(&v->err) && !err_is_set(&p->first))
        return VRAM_OK;
    if (!err_is_set(&v->err))
        message_copy(&v->err, &p->first.out);
    v->config = before;
    return v->err.out.code;
}

static int bad_kind(struct vram *v, enum vram_kind kind)
{
    message_clear(&v->err);
    return err_set(&v->err, MESSAGE_no_such_kind, NO_POS, NO_FIELD, ARGS(arg_u64("kind", (uint64_t)kind)));
}

int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len, const char *file, vram_message_fn *each,
               void *ctx)
{
    struct parse p = {.v = v, .text = text ? text : "", .len = text ? len : 0, .file = file, .each = each, .ctx = ctx};
    return (unsigned)kind < VRAM_KIND_COUNT ? run_parser(&p, kind) : bad_kind(v, kind);
}

int vram_parse_pairs(vram *v, enum vram_kind kind, const struct vram_pair *pairs, size_t count, const char *file,
                     vram_message_fn *each, void *ctx)
{
    struct parse p = {.v = v, .text = "", .file = file, .pairs = pairs, .pair_count = count, .each = each, .ctx = ctx};
    return kind == VRAM_KIND_FLAT || kind == VRAM_KIND_HF ? run_parser(&p, kind) : bad_kind(v, kind);
}
