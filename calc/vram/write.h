// libvram: answers as text.

#ifndef VRAM_WRITE_H
#define VRAM_WRITE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VRAM_FORMATS(X) \
    X(TEXT, "text") \
    X(JSON, "json") \
    X(CSV, "csv") \
    X(MD, "md") \
    X(SVG, "svg") \
    X(VIZ, "viz") /* a pickle that pytorch.org/memory_viz opens */ \
    X(PERFETTO, "perfetto")

enum vram_format {
#define X(id, name) VRAM_FORMAT_##id,
    VRAM_FORMATS(X)
#undef X
        VRAM_FORMAT_COUNT
};

// What can be written. The first ten are the last answers of the functions above.
#define VRAM_ANSWERS(X) \
    X(REPORT, "report") \
    X(FIT, "fit") \
    X(MAX_BATCH, "max-batch") \
    X(SOLUTION, "solve") \
    X(CARDS, "cards") \
    X(SERVING, "serve") \
    X(ADVICE, "advice") \
    X(OOM, "explain-oom") \
    X(COMPARISON, "compare") \
    X(SNAPSHOT, "snapshot") \
    X(TRACE, "trace")       /* runs the step */ \
    X(TIMELINE, "timeline") /* runs the step */ \
    X(CONFIG, "config") \
    X(ERROR, "error") \
    X(GPUS, "gpus") \
    X(PRESETS, "presets") \
    X(FIELDS, "fields") \
    X(SEGMENTS, "segments") /* the last answer, as the first nine */

enum vram_answer {
#define X(id, name) VRAM_ANSWER_##id,
    VRAM_ANSWERS(X)
#undef X
        VRAM_ANSWER_COUNT
};

VRAM_API bool vram_can_write(enum vram_answer answer, enum vram_format format);

enum { VRAM_WRITE_COLOR = 1 };  // text: with the escape codes of a terminal

// Writes an answer; vram_text has it until the next call of these three.
// Errors: VRAM_ENOTRUN before the answer was asked for; VRAM_EARG where vram_can_write is false.
VRAM_API int vram_write(vram *v, enum vram_answer answer, enum vram_format format, unsigned flags);

// vram_write as JSON of the report, what a server has room for, the timeline, the configuration, an
// error, and the tables of cards, presets and fields; it needs none of the other writers.
VRAM_API int vram_write_json(vram *v, enum vram_answer answer);

// vram_sweep with its rows as text, json, csv or md.
VRAM_API int vram_write_sweep(vram *v, const char *ranges, enum vram_format format);

VRAM_API const char *vram_text(const vram *v, size_t *len);  // NUL-terminated; "" before the first

#ifdef __cplusplus
}
#endif

#endif
