// Answers asked for and written in one call, and the notes as one text.

#ifndef TESTS_UNIT_CALC_ANSWERS_H
#define TESTS_UNIT_CALC_ANSWERS_H

#include <stdio.h>
#include <string.h>

#include "calc/vram.h"

static inline int written(vram *v, int code, enum vram_answer answer, enum vram_format format)
{
    return code ? code : vram_write(v, answer, format, 0);
}

static inline int write_report(vram *v, enum vram_format format)
{
    return vram_write(v, VRAM_ANSWER_REPORT, format, 0);
}

static inline int write_fit(vram *v, bool *fits, enum vram_format format)
{
    const struct vram_fit *fit;
    int code = vram_fit(v, &fit);
    if (code == VRAM_OK)
        *fits = vram_verdict_fits(fit->verdict);
    return written(v, code, VRAM_ANSWER_FIT, format);
}

static inline int write_max_batch(vram *v, uint64_t *batch, enum vram_format format)
{
    const struct vram_max_batch *found;
    int code = vram_max_batch(v, &found);
    if (code == VRAM_OK)
        *batch = found->batch_size;
    return written(v, code, VRAM_ANSWER_MAX_BATCH, format);
}

static inline int write_solution(vram *v, const char *field, enum vram_format format)
{
    const struct vram_solution *solution;
    return written(v, vram_solve(v, field, &solution), VRAM_ANSWER_SOLUTION, format);
}

static inline int write_cards(vram *v, enum vram_format format)
{
    const struct vram_cards *cards;
    return written(v, vram_cards(v, &cards), VRAM_ANSWER_CARDS, format);
}

static inline int write_advice(vram *v, enum vram_format format)
{
    const struct vram_advice *advice;
    return written(v, vram_advise(v, &advice), VRAM_ANSWER_ADVICE, format);
}

static inline int write_comparison(vram *v, enum vram_format format)
{
    const struct vram_comparison *comparison;
    return written(v, vram_compare(v, &comparison), VRAM_ANSWER_COMPARISON, format);
}

static inline int write_oom(vram *v, const char *text, size_t len, bool with_config,
                            enum vram_format format)
{
    const struct vram_oom *oom;
    return written(v, vram_explain_oom(v, text, len, with_config, &oom), VRAM_ANSWER_OOM, format);
}

static inline int parse_text(vram *v, enum vram_kind kind, const char *text, size_t len,
                             const char *file)
{
    return vram_parse(v, kind, text, len, file, NULL, NULL);
}

// A note a line.
static inline const char *notes_of(const vram *v)
{
    static char text[4096];
    const struct vram_message *m;
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; (m = vram_note_at(v, i)) != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\n", m->text);
    return text;
}

#endif
