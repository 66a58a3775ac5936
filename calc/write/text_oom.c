// Owns the explanation of an out-of-memory message as text.

#include "calc/answer/answers.h"
#include "calc/base/text.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

enum { ADVICE_SHOWN = 5, TEXT_WIDTH = 100 };

static void put_line(struct writer *w, const char *words, const struct vram_size *s)
{
    if (!s->present)
        return;
    put_mib_right(w, s->bytes, 12);
    writer_f(w, "  %s\n", words);
}

static void put_message(struct writer *w, const struct vram_oom *o)
{
    put_heading(w, "The message, in MiB");
    put_line(w, "asked for, and not there", &o->tried);
    put_line(w, "on the card in all", &o->total);
    put_line(w, "free", &o->free);
    put_line(w, "in use by this process, its CUDA context included", &o->in_use);
    put_line(w, "in tensors of this process (allocated)", &o->allocated);
    put_line(w, "taken from the driver for tensors (reserved)", &o->reserved);
    put_line(w, "reserved but not in tensors", &o->unallocated);
    writer_char(w, '\n');
}

// "32 x 1024 x 50304 x 4"
static void put_product(struct writer *w, const struct vram_shape *s)
{
    for (unsigned i = 0; i < s->dims; i++)
        writer_f(w, "%u x ", s->dim[i]);
    writer_u64(w, s->element_bytes);
}

// "batch x sequence x vocabulary, four bytes each (float32)"
static void put_dimensions(struct writer *w, const struct vram_shape *s)
{
    for (unsigned i = 0; i < s->dims; i++)
        writer_f(w, "%s%s", i ? " x " : "", s->name[i]);
    writer_str(w, s->element_bytes == 4   ? ", four bytes each (float32)"
                  : s->element_bytes == 2 ? ", two bytes each (float16 or bfloat16)"
                  : s->element_bytes == 8 ? ", eight bytes each (int64)"
                                          : ", one byte each");
}

static void put_suspect(struct writer *w, const struct vram_suspect *t)
{
    char words[NUMBER_PHASE];
    put_size(w, t->bytes);
    if (t->shape.dims) {
        writer_str(w, " = ");
        put_product(w, &t->shape);
    }
    writer_f(w, ": %s, allocated by %s", t->name, t->op);
    if (t->block >= 0)
        writer_f(w, " in block %d", t->block);
    writer_f(w, ", %s\n      by then ", phase_words(t->phase, words));
    put_mib_round(w, t->live_bytes);
    writer_str(w, " MiB are alive");
    if (t->shape.dims) {
        writer_str(w, "; ");
        put_dimensions(w, &t->shape);
    }
    writer_char(w, '\n');
}

static void put_tensors(struct writer *w, const struct vram_oom *o)
{
    if (!text_equal(o->compile, text_len(o->compile), o->compile_as_asked))
        writer_f(w,
                 "With compile=%s, as configured, no tensor has that size; with compile=%s one "
                 "has. Compiled by "
                 "another PyTorch?\n\n",
                 o->compile_as_asked, o->compile);
    put_heading(w, o->tensor_count > 1 ? "The tensor, the likeliest first" : "The tensor");
    for (size_t i = 0; i < o->tensor_count; i++) {
        writer_f(w, "  %u. ", (uint64_t)i + 1);
        put_suspect(w, &o->tensors[i]);
    }
    writer_char(w, '\n');
}

static void put_shape(struct writer *w, const struct vram_shape *s)
{
    writer_str(w, "  ");
    put_size(w, s->bytes);
    writer_str(w, " = ");
    put_product(w, s);
    writer_str(w, ": ");
    put_dimensions(w, s);
    if (s->dims == 3 && s->name[2][0] == 'v')
        writer_str(w, s->element_bytes == 4 ? ": logits of cross_entropy in float32"
                                            : ": logits in half precision");
    else if (s->dims == 2)
        writer_str(w, ": a weight, its gradient or a part of the optimizer's state");
    writer_char(w, '\n');
}

static void put_shapes(struct writer *w, const struct vram_oom *o)
{
    if (o->has_config)
        writer_str(w, "No tensor of this configuration has that size: is it the one that ran?\n\n");
    if (o->shape_count == 0) {
        writer_str(w, "No common shape has that size.\n\n");
        return;
    }
    put_heading(w, "Shapes that ask for this size");
    for (size_t i = 0; i < o->shape_count; i++)
        put_shape(w, &o->shapes[i]);
    writer_str(w, o->has_config
                      ? "\n"
                      : "Give the configuration and the tensor is named: vramcalc explain-oom "
                        "error.txt config.py\n\n");
}

// Words broken at blanks: `first` begins the first line, the others are indented by as much.
static void put_words(struct writer *w, const char *first, const char *text)
{
    size_t indent = text_len(first), at = indent;
    writer_str(w, first);
    while (*text) {
        size_t n = 0;
        while (text[n] && text[n] != ' ')
            n++;
        bool begins = at == indent, fits = at + n + 1 <= TEXT_WIDTH;
        if (!begins && !fits) {
            writer_f(w, "\n%.*s", (int)indent, "  ");
            at = indent;
            begins = true;
        }
        if (!begins)
            writer_char(w, ' ');
        writer_bytes(w, text, n);
        at += n + !begins;
        text += n + (text[n] == ' ');
    }
    writer_char(w, '\n');
}

static void put_item(struct writer *w, const char *text)
{
    put_words(w, "- ", text);
}

static void put_paragraph(struct writer *w, const char *text)
{
    put_words(w, "", text);
}

static void put_changes(struct writer *w, const struct vram_oom *o)
{
    const struct vram_advice *a = o->advice;
    size_t shown = 0;
    put_heading(w, "What to change first");
    for (size_t i = 0; i < o->hint_count; i++)
        put_item(w, o->hints[i].text);
    if (!o->has_config)
        return;
    for (size_t i = 0; a && i < a->change_count && shown < ADVICE_SHOWN; i++) {
        const struct vram_change *c = &a->changes[i];
        bool fits = o->total.present && c->process_bytes <= o->total.bytes;
        if (c->refusal || c->saved_bytes < o->tried.bytes / 4 || c->effect != VRAM_EFFECT_SAME)
            continue;
        writer_f(w, "- %s: ", c->what);
        put_mib_round(w, c->saved_bytes);
        writer_f(w, " MiB less (%s)%s\n", c->result->text, fits ? ", and it fits" : "");
        shown++;
    }
    writer_str(w, "All of it, with costs: vramcalc advise\n");
}

// Not a tensor of PyTorch's: what it is, and the sizes that it has.
static void put_other(struct writer *w, const struct vram_oom *o)
{
    if (o->tried.present || o->free.present)
        put_message(w, o);
    put_paragraph(w, o->about->text);
    if (o->hint_count == 0)
        return;
    writer_char(w, '\n');
    put_heading(w, "What to look at first");
    for (size_t i = 0; i < o->hint_count; i++)
        put_item(w, o->hints[i].text);
}

void text_oom(struct vram *v)
{
    const struct vram_oom *o = &answers_made(v)->oom;
    struct writer *w = &v->text;
    if (o->driver) {
        put_other(w, o);
        return;
    }
    put_message(w, o);
    if (o->tensor_count)
        put_tensors(w, o);
    else
        put_shapes(w, o);
    put_changes(w, o);
}
