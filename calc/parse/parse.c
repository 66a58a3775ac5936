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
    *out = (struct entry){span_of(pair->key),
                          span_of(pair->value),
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

// nanoGPT's train.py, sample.py and Hugging Face's TrainingArguments, as far as memory does not
// care.
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

size_t parse_name_len(struct span s)
{
    size_t n = 0;
    for (; n < s.len; n++) {
        char c = s.at[n];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(n > 0 && c >= '0' && c <= '9'))
            break;
    }
    return n;
}

bool parse_is_name(struct span s)
{
    return s.len > 0 && parse_name_len(s) == s.len;
}

int parse_set_entry(struct parse *p, const struct entry *e)
{
    struct span key = e->key, value = e->value;
    bool known =
        config_field(key.at, key.len) >= 0 || span_is(key, "preset") || span_is(key, "gpu");
    if (!known && parse_is_training_key(key))
        return VRAM_OK;
    return handle_set(p->v, known ? e->value_pos : e->key_pos, key.at, key.len, value.at,
                      value.len);
}

int parse_set(struct parse *p, struct span key, struct span value)
{
    struct entry e = {key, value, parse_at(p, key.at), parse_at(p, value.at)};
    return parse_set_entry(p, &e);
}

bool parse_is_given(const struct parse *p)
{
    bool given = p->v->facts.trainer || p->v->facts.read;
#ifdef __wasm__  // where fields are the form's, which stands for a file
    for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
        given = given || p->v->places[i].line;
#endif
    return given;
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

void parse_warn(struct parse *p, message_id id, struct err_pos pos, struct args args)
{
    struct message m;
    message_clear(&m);
    message_set(&m, id, NO_FIELD, args);
    message_place(&m, pos.file, pos.line, pos.col);
    message_list_copy(&p->v->notes, &m.out);
    if (p->each)
        p->each(p->ctx, &m.out);
}

bool parse_is_slip(struct span a, struct span b)
{
    size_t longer = a.len > b.len ? a.len : b.len, head = 0, tail = 0;
    while (head < a.len && head < b.len && a.at[head] == b.at[head])
        head++;
    while (tail < a.len - head && tail < b.len - head &&
           a.at[a.len - 1 - tail] == b.at[b.len - 1 - tail])
        tail++;
    return head + tail + 2 >= longer;
}
