// Owns the trying of configurations.

#include "calc/answer/probe.h"

#include "calc/model/capacities.h"
#include "calc/replay/report.h"
#include "calc/replay/run.h"

struct vram *probe_new(struct vram *v)
{
    struct vram *probe = vram_new(&v->mem);
    if (!probe) {
        handle_no_memory(v);
        return NULL;
    }
    vram_copy(probe, v);
    return probe;
}

int probe_error(struct vram *v, const struct vram *probe)
{
    if (err_is_set(&v->err))
        return v->err.out.code;
    message_copy(&v->err, &probe->err.out);
    for (size_t i = 0; i <= MESSAGE_ABOUT; i++)
        v->err.about[i] = probe->err.about[i];
    return handle_locate(v);
}

int probe_try(struct vram *probe, uint64_t enough, struct probe_answer *answer)
{
    struct vram_figure process;
    uint64_t retries;
    int rc = run_process(probe, enough, &process, &retries);
    if (rc != VRAM_OK)
        return rc;
    uint32_t verdict = report_verdict(&process, capacity_left(&probe->config), retries);
    *answer = (struct probe_answer){process.bytes, vram_verdict_fits(verdict),
                                    verdict == VRAM_VERDICT_FITS};
    return VRAM_OK;
}
