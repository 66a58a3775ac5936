// Does it fit, and with how many sequences: vram_fit and vram_max_batch.

#include "calc/answer/answers.h"
#include "calc/answer/probe.h"
#include "calc/model/capacities.h"
#include "calc/model/gpus.h"

// A batch so large that its sizes overflow does not fit either; any other error is one.
static int try_batch(struct vram *probe, uint64_t batch, bool surely, bool *fits)
{
    struct probe_answer answer = {0};
    probe->config.batch_size = batch;
    probe->has_result = false;
    int rc = probe_try(probe, 0, &answer);
    *fits = surely ? answer.surely : answer.fits;
    if (rc == VRAM_EOVERFLOW) {
        message_clear(&probe->err);
        return VRAM_OK;
    }
    return rc;
}

// The largest batch_size, up to limit, with which `probe` fits its card, surely: with the whole error bound; 0 if none.
// Doubles until it does not fit, then halves the gap. More sequences never take less memory by more than the
// allocator's slack, so the answer may be a little off the true edge, and what it says has been tried.
static int find_largest(struct vram *probe, uint64_t limit, bool surely, uint64_t *batch)
{
    uint64_t good = 0, bad = limit + 1, next = 1;
    bool fits = false;
    while (good + 1 < bad) {
        int rc = try_batch(probe, next, surely, &fits);
        if (rc != VRAM_OK)
            return rc;
        if (fits)
            good = next;
        else
            bad = next;
        if (bad > limit)
            next = good * 2 <= limit ? good * 2 : limit;
        else
            next = good + (bad - good) / 2;
        if (next == good)
            break;
    }
    *batch = good;
    return VRAM_OK;
}

static int need_gpu(struct vram *v)
{
    message_clear(&v->err);
    return capacity_left(&v->config) ? VRAM_OK : err_set(&v->err, MESSAGE_no_gpu, NO_POS, ABOUT("gpu"), NO_ARGS);
}

int vram_fit(vram *v, const struct vram_fit **out)
{
    int rc = need_gpu(v);
    if (rc == VRAM_OK && !v->has_result)
        rc = vram_run(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    if (!a)
        return v->err.out.code;
    const struct vram_result *r = &v->result;
    a->fit = (struct vram_fit){r->verdict, r->process, r->gpu_bytes, r->gpu_name, r->capacity};
    a->has_fit = true;
    *out = &a->fit;
    return VRAM_OK;
}

static int search(struct vram *probe, struct vram_max_batch *found)
{
    struct probe_answer answer = {0};
    int rc = find_largest(probe, vram_field_find("batch_size")->max, false, &found->batch_size);
    if (rc != VRAM_OK || found->batch_size == 0)
        return rc;
    probe->config.batch_size = found->batch_size;
    rc = probe_try(probe, 0, &answer);
    found->process_bytes = answer.process;
    return rc == VRAM_OK ? find_largest(probe, found->batch_size, true, &found->safe_batch_size) : rc;
}

int vram_max_batch(vram *v, const struct vram_max_batch **out)
{
    int rc = need_gpu(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    struct vram *probe = a ? probe_new(v) : NULL;
    if (!probe)
        return v->err.out.code;
    struct vram_max_batch *m = &a->max_batch;
    *m = (struct vram_max_batch){.gpu_bytes = capacity_left(&v->config),
                                 .gpu_name = gpu_name(&v->config),
                                 .sequences = v->config.batch_size * v->config.gradient_accumulation_steps};
    capacity_of(&v->config, &m->capacity);
    a->has_max_batch = false;
    rc = search(probe, m);
    if (rc != VRAM_OK)
        probe_error(v, probe);
    vram_free(probe);
    if (rc != VRAM_OK)
        return rc;
    if (m->batch_size) {
        m->gradient_accumulation_steps = (m->sequences + m->batch_size - 1) / m->batch_size;
    } else {
        message_set(&a->refusal, MESSAGE_nothing_fits, ABOUT("batch_size"), ARGS(arg_text("gpu", m->gpu_name)));
        m->refusal = &a->refusal.out;
    }
    a->has_max_batch = true;
    *out = m;
    return VRAM_OK;
}
