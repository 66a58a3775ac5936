// Owns vram_write_json, and what begins and ends every writing.

#include "calc/write/write_json.h"

#include "calc/answer/answers.h"
#include "calc/replay/run.h"

static bool is_made(const struct vram *v, enum vram_answer answer)
{
    const struct answers *a = answers_made(v);
    switch (answer) {
    case VRAM_ANSWER_REPORT: return v->has_result;
    case VRAM_ANSWER_FIT: return a && a->has_fit;
    case VRAM_ANSWER_MAX_BATCH: return a && a->has_max_batch;
    case VRAM_ANSWER_SOLUTION: return a && a->has_solution;
    case VRAM_ANSWER_CARDS: return a && a->has_cards;
    case VRAM_ANSWER_SERVING: return a && a->has_serving;
    case VRAM_ANSWER_ADVICE: return a && a->advice && a->advice->made;
    case VRAM_ANSWER_OOM: return a && a->has_oom;
    case VRAM_ANSWER_SEGMENTS: return segments_made(v) != NULL;
    case VRAM_ANSWER_COMPARISON: return a && a->has_comparison;
    case VRAM_ANSWER_SNAPSHOT: return a && a->has_snapshot;
    default: return true;
    }
}

int write_begin(struct vram *v, enum vram_answer answer)
{
    if (answer != VRAM_ANSWER_ERROR)
        message_clear(&v->err);
    writer_reset(&v->text);
    v->text.color = false;
    return is_made(v, answer) ? VRAM_OK
                              : err_set(&v->err, MESSAGE_no_answer, NO_POS, NO_FIELD, NO_ARGS);
}

int write_end(struct vram *v)
{
    return writer_status(&v->text) == VRAM_OK ? VRAM_OK : handle_no_memory(v);
}

int write_refuse(struct vram *v, enum vram_answer answer, enum vram_format format)
{
    static const char *const answers[] = {
#define X(id, name) name,
        VRAM_ANSWERS(X)
#undef X
    };
    static const char *const formats[] = {
#define X(id, name) name,
        VRAM_FORMATS(X)
#undef X
    };
    bool known = (unsigned)answer < VRAM_ANSWER_COUNT && (unsigned)format < VRAM_FORMAT_COUNT;
    message_clear(&v->err);
    return err_set(&v->err, MESSAGE_no_such_format, NO_POS, NO_FIELD,
                   ARGS(arg_text("answer", known ? answers[answer] : "that"),
                        arg_text("format", known ? formats[format] : "that")));
}

int vram_write_json(vram *v, enum vram_answer answer)
{
    static void (*const writers[VRAM_ANSWER_COUNT])(struct vram *) = {
        [VRAM_ANSWER_REPORT] = json_report,   [VRAM_ANSWER_CONFIG] = json_config,
        [VRAM_ANSWER_ERROR] = json_error,     [VRAM_ANSWER_GPUS] = json_gpus,
        [VRAM_ANSWER_PRESETS] = json_presets, [VRAM_ANSWER_FIELDS] = json_schema,
        [VRAM_ANSWER_SERVING] = json_serving,
    };
    bool runs = answer == VRAM_ANSWER_TIMELINE;
    if (!runs && ((unsigned)answer >= VRAM_ANSWER_COUNT || !writers[answer]))
        return write_refuse(v, answer, VRAM_FORMAT_JSON);
    int rc = write_begin(v, answer);
    if (rc != VRAM_OK)
        return rc;
    if (!runs)
        writers[answer](v);
    else if ((rc = json_timeline(v)) != VRAM_OK)
        return rc;
    return write_end(v);
}
