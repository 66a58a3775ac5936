// Owns the answers of searches as text, CSV and Markdown: a solved field, the cards that fit,
// what a server has room for.

#include "calc/answer/answers.h"
#include "calc/write/number.h"
#include "calc/write/table.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_table.h"
#include "calc/write/write_text.h"

void text_solution(struct vram *v)
{
    const struct vram_solution *s = &answers_made(v)->solution;
    struct writer *w = &v->text;
    if (s->refusal) {
        writer_f(w, "%s\n", s->refusal->text);
        return;
    }
    writer_f(w, "%s = %u\n# the %s that fits, by %s over %u configurations: ", s->field, s->value,
             vram_goal_name(s->goal), vram_method_name(s->method), (uint64_t)s->tried);
    put_mib_round(w, s->process_bytes);
    writer_str(w, " of ");
    put_mib_round(w, s->gpu_bytes);
    writer_f(w, " MiB for it on the %s", s->gpu_name);
    if (s->safe_found && s->safe_value == s->value)
        writer_str(w, ", with the whole error bound\n");
    else if (s->safe_found)
        writer_f(w, "; with the whole error bound %s = %u fits\n", s->field, s->safe_value);
    else
        writer_f(w, "; no %s fits with the whole error bound\n", s->field);
    if (s->limit)
        writer_f(w, "# %s\n", s->limit->text);
    writer_str(w, "# ");
    put_card(w, s->gpu_name, &s->capacity, s->gpu_bytes);
    put_notes(w, "# ", s->notes, s->note_count);
}

void text_cards(struct vram *v)
{
    const struct vram_cards *c = &answers_made(v)->cards;
    struct writer *w = &v->text;
    if (c->refusal) {
        writer_f(w, "%s\n", c->refusal->text);
        return;
    }
    put_heading(w, "cards                         MiB of all   for each     needed     margin");
    for (size_t i = 0; i < c->card_count; i++) {
        const struct vram_card *row = &c->cards[i];
        writer_f(w, "%u x ", row->count);
        put_cell(w, row->gpu_name, 24);
        put_count_right(w, row->total_bytes / NUMBER_MIB, 12);
        put_count_right(w, row->gpu_bytes / NUMBER_MIB, 11);
        put_count_right(w, (row->process_bytes + NUMBER_MIB / 2) / NUMBER_MIB, 11);
        put_count_right(w, row->margin_bytes / NUMBER_MIB, 11);
        writer_f(w, "%s%s%s\n", row->surely ? "" : " ~",
                 row->change ? row->surely ? "   " : " " : "", row->change ? row->change : "");
    }
    writer_str(w,
               "MiB of all: nvidia-smi's totals. ~: the margin is smaller than the error bound.\n");
    if (c->note && c->cards[c->card_count - 1].count > 1)
        writer_f(w, "%s\n", c->note->text);
    put_notes(w, "", c->notes, c->note_count);
}

static void cards(struct vram *v, bool md)
{
    static const char *const csv[] = {"gpu",         "change",    "surely",        "count",
                                      "total_bytes", "gpu_bytes", "process_bytes", "margin_bytes"};
    static const char *const mib[] = {"card",        "change",   "surely", "count",
                                      "of all, MiB", "for each", "needed", "margin"};
    const struct vram_cards *c = &answers_made(v)->cards;
    struct table t = table_of(&v->text, md);
    table_head(&t, md ? mib : csv, 8, 3);
    for (size_t i = 0; i < c->card_count; i++) {
        const struct vram_card *row = &c->cards[i];
        table_str(&t, row->gpu_name);
        table_str(&t, row->change ? row->change : "");
        table_str(&t, row->surely ? "yes" : "no");
        table_u64(&t, row->count);
        table_mib(&t, row->total_bytes);
        table_mib(&t, row->gpu_bytes);
        table_mib(&t, row->process_bytes);
        table_mib(&t, row->margin_bytes);
        table_end(&t);
    }
}

void csv_cards(struct vram *v)
{
    cards(v, false);
}

void md_cards(struct vram *v)
{
    cards(v, true);
}

static void line(struct writer *w, const char *name, uint64_t bytes)
{
    writer_str(w, "  ");
    put_cell(w, name, 34);
    put_mib_right(w, bytes, 12);
}

void text_serving(struct vram *v)
{
    const struct vram_serving *s = &answers_made(v)->serving;
    struct writer *w = &v->text;
    if (s->refusal)
        writer_f(w, "%s\n\n", s->refusal->text);
    else
        writer_f(w, "%u sequences of %u tokens at once; the longest context is %u tokens\n\n",
                 s->sequences, s->length, s->longest);
    writer_f(w, "%s on the %s, MiB\n", s->server, s->gpu_name);
    line(w, "weights", s->weights_bytes);
    writer_str(w, "   ");
    writer_ratio(w, 8 * s->weights_bytes * v->config.tensor_parallel, s->params ? s->params : 1, 2);
    writer_str(w, " bits a parameter\n");
    line(w, s->batched_tokens ? "peak of the profile run" : "compute buffer", s->work_bytes);
    if (s->batched_tokens)
        writer_f(w, "   %u tokens, %u sequences a step", s->batched_tokens, s->most_sequences);
    writer_char(w, '\n');
    line(w, "CUDA context", s->context_bytes);
    writer_char(w, '\n');
    line(w, "left for the cache", s->pool_bytes);
    writer_f(w, "   %u blocks of %u tokens, %u tokens, %u bytes each\n", s->blocks, s->block_tokens,
             s->tokens, s->token_bytes);
    put_card(w, s->gpu_name, &s->capacity, s->gpu_bytes);
    writer_f(w, "%s\n", s->note->text);
}
