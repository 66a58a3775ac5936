// Owns vram_write: which writer makes an answer in which format.

#include "calc/answer/advise.h"
#include "calc/write/timeline.h"
#include "calc/write/trace_events.h"
#include "calc/write/trace_snapshot.h"
#include "calc/write/write_json.h"
#include "calc/write/write_table.h"
#include "calc/write/write_text.h"

typedef void write_fn(struct vram *v);

// The JSON of answers is vram_write_json's.
static write_fn *const WRITERS[VRAM_ANSWER_COUNT][VRAM_FORMAT_COUNT] = {
    [VRAM_ANSWER_REPORT] = {text_report, json_report, csv_report, md_report},
    [VRAM_ANSWER_FIT] = {text_fit, json_fit, csv_fit, md_fit},
    [VRAM_ANSWER_MAX_BATCH] = {text_max_batch, json_max_batch},
    [VRAM_ANSWER_SOLUTION] = {text_solution, json_solution},
    [VRAM_ANSWER_CARDS] = {text_cards, json_cards, csv_cards, md_cards},
    [VRAM_ANSWER_SERVING] = {text_serving, json_serving},
    [VRAM_ANSWER_ADVICE] = {text_advice, json_advice, csv_advice, md_advice},
    [VRAM_ANSWER_OOM] = {text_oom, json_oom},
    [VRAM_ANSWER_COMPARISON] = {text_comparison, json_comparison, csv_comparison, md_comparison},
    [VRAM_ANSWER_SNAPSHOT] = {text_snapshot, json_snapshot},
    [VRAM_ANSWER_CONFIG] = {text_config, json_config},
    [VRAM_ANSWER_ERROR] = {text_error, json_error},
    [VRAM_ANSWER_GPUS] = {text_gpus, json_gpus, csv_gpus, md_gpus},
    [VRAM_ANSWER_PRESETS] = {text_presets, json_presets, csv_presets, md_presets},
    [VRAM_ANSWER_FIELDS] = {text_fields, json_schema, NULL, md_fields},
    [VRAM_ANSWER_SEGMENTS] = {text_segments, json_segments, csv_segments},
};

typedef int run_fn(struct vram *v);

// Answers that are written while the step runs.
static run_fn *const RUNNERS[VRAM_ANSWER_COUNT][VRAM_FORMAT_COUNT] = {
    [VRAM_ANSWER_TRACE] = {[VRAM_FORMAT_CSV] = trace_csv,
                           [VRAM_FORMAT_JSON] = trace_json,
                           [VRAM_FORMAT_VIZ] = trace_pickle,
                           [VRAM_FORMAT_PERFETTO] = trace_perfetto},
    [VRAM_ANSWER_TIMELINE] = {[VRAM_FORMAT_JSON] = json_timeline, [VRAM_FORMAT_SVG] = timeline_svg},
};

bool vram_can_write(enum vram_answer answer, enum vram_format format)
{
    return (unsigned)answer < VRAM_ANSWER_COUNT && (unsigned)format < VRAM_FORMAT_COUNT &&
           (WRITERS[answer][format] || RUNNERS[answer][format]);
}

// The report for people of a run that does not surely fit says what to change.
static int prepare(struct vram *v, enum vram_answer answer, enum vram_format format)
{
    const struct vram_advice *advice;
    bool wanted = answer == VRAM_ANSWER_REPORT && format == VRAM_FORMAT_TEXT && v->has_result &&
                  v->result.verdict >= VRAM_VERDICT_TIGHT && !advise_is_current(v);
    if (!wanted)
        return VRAM_OK;
    int rc = vram_advise(v, &advice);
    return rc == VRAM_ENOMEM ? rc : VRAM_OK;
}

int vram_write(vram *v, enum vram_answer answer, enum vram_format format, unsigned flags)
{
    if (!vram_can_write(answer, format))
        return write_refuse(v, answer, format);
    int rc = prepare(v, answer, format);
    if (rc == VRAM_OK)
        rc = write_begin(v, answer);
    if (rc != VRAM_OK)
        return rc;
    v->text.color = format == VRAM_FORMAT_TEXT && (flags & VRAM_WRITE_COLOR);
    if (WRITERS[answer][format])
        WRITERS[answer][format](v);
    else
        rc = RUNNERS[answer][format](v);
    return rc == VRAM_OK ? write_end(v) : rc;
}
