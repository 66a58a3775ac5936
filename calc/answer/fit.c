// Does it fit, and with how many sequences: vram_fit and vram_max_batch.

#include "calc/answer/fit.h"

#include "calc/answer/emit.h"
#include "calc/model/gpus.h"
#include "calc/replay/run.h"

struct vram *fit_probe(struct vram *v)
{
    struct vram *probe = vram_new(&v->mem);
    if (!probe) {
        err_set(&v->err, VRAM_ENOMEM, (struct err_pos){0}, "no memory for a second configuration");
        return NULL;
    }
    vram_copy(probe, v);
    return probe;
}

int fit_error(struct vram *v, const struct vram *probe)
{
    const struct vram_message *m = vram_error(probe);
    err_set(&v->err, m->code, (struct err_pos){NULL, m->line, m->col}, "%s", m->text);
    return vram_locate(v);
}

int fit_try(struct vram *probe, uint64_t enough, struct fit_answer *answer)
{
    struct vram_figure process;
    int rc = run_process(probe, enough, &process);
    if (rc != VRAM_OK)
        return rc;
    enum emit_fit fit = emit_fit_in(&process, gpu_bytes(&probe->config));
    *answer = (struct fit_answer){process.bytes, fit == EMIT_FITS || fit == EMIT_TIGHT,
                                  fit == EMIT_FITS};
    return VRAM_OK;
}

// A batch so large that its sizes overflow does not fit either; any other error is one.
static int try_batch(struct vram *probe, uint64_t batch, bool surely, bool *fits)
{
    struct fit_answer answer = {0};
    probe->config.batch_size = batch;
    probe->has_result = false;
    int rc = fit_try(probe, 0, &answer);
    *fits = surely ? answer.surely : answer.fits;
    if (rc == VRAM_EOVERFLOW) {
        err_clear(&probe->err);
        return VRAM_OK;
    }
    return rc;
}

// Doubles until it does not fit, then halves the gap. More sequences never take less memory by more than the
// allocator's slack, so the answer may be a little off the true edge, and what it says has been tried.
int fit_largest(struct vram *probe, uint64_t limit, bool surely, uint64_t *batch)
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
    if (gpu_bytes(&v->config))
        return VRAM_OK;
    return err_set(&v->err, VRAM_EGPU, (struct err_pos){0},
                   "no card is chosen: give --gpu NAME (`vramcalc gpus` lists them)");
}

static void fit_json(struct writer *w, const struct vram_result *r, bool fits)
{
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_bool(&j, "fits", fits);
    json_bool(&j, "within_error_bound", emit_fit_of(r) == EMIT_TIGHT || emit_nearly_fits(r));
    json_u64(&j, "process_bytes", r->process.bytes);
    json_u64(&j, "process_low_bytes", r->process.low);
    json_u64(&j, "process_high_bytes", r->process.high);
    json_str(&j, "gpu", r->gpu_name);
    json_u64(&j, "gpu_bytes", r->gpu_bytes);
    json_close(&j, '}');
    json_end(&j);
}

static void fit_text(struct writer *w, const struct vram_result *r, bool fits)
{
    writer_str(w, fits ? "fits: " : emit_nearly_fits(r) ? "probably does not fit: " : "does not fit: ");
    emit_mib_round(w, r->process.bytes);
    writer_str(w, " MiB needed (");
    emit_mib_round(w, r->process.low);
    writer_str(w, " to ");
    emit_mib_round(w, r->process.high);
    writer_str(w, "), ");
    emit_mib_round(w, r->gpu_bytes);
    writer_f(w, " MiB on the %s%s\n", r->gpu_name,
             emit_fit_of(r) == EMIT_TIGHT || emit_nearly_fits(r)
                 ? "; the margin is smaller than the error bound"
                 : "");
}

static void fit_table(struct writer *w, const struct vram_result *r, bool fits, bool md)
{
    static const char *const names[] = {"gpu", "fits", "process", "low", "high", "card"};
    struct table t = table_of(w, md);
    table_head(&t, names, 6, 2);
    table_str(&t, r->gpu_name);
    table_str(&t, fits ? "yes" : "no");
    table_mib(&t, r->process.bytes);
    table_mib(&t, r->process.low);
    table_mib(&t, r->process.high);
    table_mib(&t, r->gpu_bytes);
    table_end(&t);
}

int vram_fit(vram *v, bool *fits, enum vram_format format)
{
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    int rc = need_gpu(v);
    if (rc == VRAM_OK && !v->has_result)
        rc = vram_run(v);
    if (rc != VRAM_OK)
        return rc;
    const struct vram_result *r = &v->result;
    *fits = emit_fit_of(r) != EMIT_TOO_BIG;
    if (format == VRAM_FORMAT_JSON)
        fit_json(&v->text, r, *fits);
    else if (format == VRAM_FORMAT_TEXT)
        fit_text(&v->text, r, *fits);
    else
        fit_table(&v->text, r, *fits, format == VRAM_FORMAT_MD);
    return emit_done(v);
}

// What max-batch found: the largest batch that fits, and the one that does so with the whole error bound.
struct largest {
    uint64_t batch, safe, accumulation, process;
};

static void batch_json(struct writer *w, const struct vram *v, const struct largest *l)
{
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_u64(&j, "max_batch_size", l->batch);
    json_u64(&j, "safe_batch_size", l->safe);
    json_u64(&j, "gradient_accumulation_steps", l->accumulation);
    json_u64(&j, "process_bytes", l->process);
    json_str(&j, "gpu", gpu_name(&v->config));
    json_u64(&j, "gpu_bytes", gpu_bytes(&v->config));
    json_close(&j, '}');
    json_end(&j);
}

static void batch_text(struct writer *w, const struct vram *v, const struct largest *l)
{
    writer_f(w, "batch_size = %u\n", l->batch);
    if (v->config.task == TASK_TRAIN)
        writer_f(w,
                 "gradient_accumulation_steps = %u   # keeps %u sequences a step, or the next "
                 "number above\n",
                 l->accumulation, v->config.batch_size * v->config.gradient_accumulation_steps);
    writer_str(w, "# ");
    emit_mib_round(w, l->process);
    writer_str(w, " of ");
    emit_mib_round(w, gpu_bytes(&v->config));
    writer_f(w, " MiB on the %s", gpu_name(&v->config));
    if (l->safe == l->batch)
        writer_str(w, ", with the whole error bound\n");
    else if (l->safe)
        writer_f(w, "; with the whole error bound batch_size = %u fits\n", l->safe);
    else
        writer_str(w, "; no batch_size fits with the whole error bound\n");
}

int vram_max_batch(vram *v, uint64_t *batch, enum vram_format format)
{
    struct fit_answer answer = {0};
    struct largest found = {0};
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    int rc = need_gpu(v);
    struct vram *probe = rc == VRAM_OK ? fit_probe(v) : NULL;
    if (!probe)
        return rc ? rc : VRAM_ENOMEM;
    rc = fit_largest(probe, vram_field_find("batch_size")->max, false, batch);
    if (rc == VRAM_OK && *batch > 0) {
        probe->config.batch_size = *batch;
        rc = fit_try(probe, 0, &answer);
    }
    found = (struct largest){.batch = *batch, .process = answer.process};
    if (rc == VRAM_OK && *batch > 0)
        rc = fit_largest(probe, *batch, true, &found.safe);
    if (rc != VRAM_OK)
        fit_error(v, probe);
    vram_free(probe);
    if (rc != VRAM_OK)
        return rc;
    if (*batch == 0)
        return err_set(
            &v->err, VRAM_ENOFIT, (struct err_pos){0},
            "not even batch_size = 1 fits in the %s: `vramcalc advise` says what to change",
            gpu_name(&v->config));
    found.accumulation =
        (v->config.batch_size * v->config.gradient_accumulation_steps + *batch - 1) / *batch;
    if (format == VRAM_FORMAT_JSON)
        batch_json(&v->text, v, &found);
    else
        batch_text(&v->text, v, &found);
    return emit_done(v);
}
