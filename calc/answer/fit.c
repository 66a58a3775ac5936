// Does it fit, and with how many sequences: vram_fit and vram_max_batch.

#include "calc/answer/answers.h"
#include "calc/answer/probe.h"
#include "calc/answer/solve.h"
#include "calc/model/capacities.h"
#include "calc/model/gpus.h"

int vram_fit(vram *v, const struct vram_fit **out)
{
    int rc = solve_need_card(v);
    if (rc == VRAM_OK && !v->has_result)
        rc = vram_run(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    if (!a)
        return v->err.out.code;
    const struct vram_result *r = &v->result;
    a->fit = (struct vram_fit){r->verdict,  r->alloc_retries, r->needed, r->gpu_bytes,
                               r->gpu_name, r->capacity,      NULL,      0};
    rc = answers_note(a, VRAM_ANSWER_FIT, v, &a->fit);
    a->has_fit = rc == VRAM_OK;
    *out = &a->fit;
    return rc;
}

int vram_max_batch(vram *v, const struct vram_max_batch **out)
{
    struct solve_found found = {0};
    int rc = solve_need_card(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    struct vram *probe = a ? probe_new(v) : NULL;
    if (!probe)
        return v->err.out.code;
    struct vram_max_batch *m = &a->max_batch;
    a->has_max_batch = false;
    rc = solve_search(probe, solve_row_of(FIELD_batch_size), &found, &a->refusal);
    if (rc != VRAM_OK)
        probe_error(v, probe);
    vram_free(probe);
    if (rc != VRAM_OK)
        return rc;
    *m = (struct vram_max_batch){.batch_size = found.value,
                                 .safe_batch_size = found.safe_value,
                                 .process_bytes = found.process_bytes,
                                 .gpu_bytes = capacity_left(&v->config),
                                 .gpu_name = gpu_name(&v->config),
                                 .sequences =
                                     v->config.batch_size * v->config.gradient_accumulation_steps};
    capacity_of(&v->config, &m->capacity);
    if (m->batch_size) {
        m->gradient_accumulation_steps = (m->sequences + m->batch_size - 1) / m->batch_size;
    } else {
        message_set(&a->refusal, MESSAGE_nothing_fits, ABOUT("batch_size"),
                    ARGS(arg_text("gpu", m->gpu_name)));
        m->refusal = &a->refusal.out;
    }
    rc = answers_note(a, VRAM_ANSWER_MAX_BATCH, v, m);
    a->has_max_batch = rc == VRAM_OK;
    *out = m;
    return rc;
}
