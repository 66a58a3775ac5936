// What the writers of reports share. Every emit_* appends to a writer; errors are sticky in it.

#ifndef CALC_EMIT_H
#define CALC_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/model/handle.h"

enum { EMIT_MIB = 1048576 };

// The page's build writes JSON and SVG only: the other writers would be a third of its bytes.
#ifdef __wasm__
#define EMIT_JSON_ONLY true
#else
#define EMIT_JSON_ONLY false
#endif

// True, with the error recorded, if this build does not write the format.
bool emit_refuses(struct vram *v, enum vram_format format);

// Empties the handle's text and error; false as emit_refuses.
static inline bool emit_begin(struct vram *v, enum vram_format format)
{
    err_clear(&v->err);
    writer_reset(&v->text);
    return !(EMIT_JSON_ONLY && emit_refuses(v, format));
}

// What is left to choose after emit_begin: in the page's build known to the compiler, which drops the other writers.
static inline enum vram_format emit_format(enum vram_format format)
{
    return EMIT_JSON_ONLY ? VRAM_FORMAT_JSON : format;
}

// ---- numbers for people
void emit_count(struct writer *w, uint64_t n); // 124,373,760
void emit_count_right(struct writer *w, uint64_t n, unsigned width);
void emit_mib(struct writer *w, uint64_t bytes); // 16,834.2 (MiB, one place)
void emit_mib_right(struct writer *w, uint64_t bytes, unsigned width);
void emit_mib_round(struct writer *w, uint64_t bytes); // 16,834
void emit_size(struct writer *w, uint64_t bytes);      // 786.00 MiB, as PyTorch writes sizes
void emit_bar(struct writer *w, uint64_t part, uint64_t whole,
              unsigned width); // blocks, padded to width
void emit_percent_right(struct writer *w, uint64_t part, uint64_t whole, unsigned width);

// ---- JSON: objects and arrays with their commas
struct json {
    struct writer *w;
    unsigned depth;
    bool empty; // nothing in the innermost object or array yet
};
struct json json_of(struct writer *w);
void json_open(struct json *j, const char *key,
               char bracket); // '{' or '['; key NULL inside of arrays
void json_close(struct json *j, char bracket);
void json_u64(struct json *j, const char *key, uint64_t n);
void json_i64(struct json *j, const char *key, int64_t n);
void json_fixed(struct json *j, const char *key, uint64_t n,
                unsigned decimals);                               // without zeros at the end
void json_str(struct json *j, const char *key, const char *text); // NULL becomes null
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
void json_end(struct json *j); // the line end after the outermost bracket

// ---- parts of more than one report
void emit_config_json(struct json *j, const struct vram *v); // every field, as an object's content
void emit_params_json(struct json *j, struct vram *v);       // "parameters": a row a tensor's name
void emit_params_text(struct writer *w, struct vram *v);
// "-> it fits" and so on. The process's figure against the card; high: with the upper end of the context.
enum emit_fit { EMIT_NO_GPU, EMIT_FITS, EMIT_TIGHT, EMIT_TOO_BIG };
// It does not fit by the figure, but it would with the lower end of the range.
bool emit_nearly_fits(const struct vram_result *r);
enum emit_fit emit_fit_in(const struct vram_figure *process, uint64_t gpu_bytes);
enum emit_fit emit_fit_of(const struct vram_result *r);
const char *emit_phase_words(
    const char *phase, char out[48]); // "bwd:it1.m1" -> "backward of micro-step 2, steady state"

void emit_config_text(struct writer *w, const struct vram_config *c); // lines that can be pasted
int emit_done(struct vram *v); // the handle's text is finished: VRAM_OK, or VRAM_ENOMEM recorded

// The first lines of a CSV or Markdown table, and cells with what must stand between them.
struct table {
    struct writer *w;
    bool md;
    unsigned cell; // in this row
};
struct table table_of(struct writer *w, bool md);
void table_head(struct table *t, const char *const *names, size_t count,
                unsigned text_columns); // others are right-aligned
void table_str(struct table *t, const char *text);
void table_u64(struct table *t, uint64_t n);     // with commas in Markdown
void table_mib(struct table *t, uint64_t bytes); // MiB in Markdown, bytes in CSV
void table_end(struct table *t);                 // of a row

// ---- reports
void emit_report_json(struct writer *w, struct vram *v);
void emit_report_text(struct writer *w, struct vram *v);
void emit_report_csv(struct writer *w, const struct vram *v);
void emit_report_md(struct writer *w, const struct vram *v);

#endif
