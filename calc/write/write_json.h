// The writers of JSON, and what begins and ends every writing.

#ifndef CALC_WRITE_JSON_H
#define CALC_WRITE_JSON_H

#include "calc/model/handle.h"

// Each appends an answer that has been made to v->text; errors are sticky in it.
void json_report(struct vram *v);
void json_fit(struct vram *v);
void json_max_batch(struct vram *v);
void json_solution(struct vram *v);
void json_cards(struct vram *v);
void json_serving(struct vram *v);
void json_segments(struct vram *v);
void json_advice(struct vram *v);
void json_oom(struct vram *v);
void json_comparison(struct vram *v);
void json_snapshot(struct vram *v);
void json_config(struct vram *v);
void json_error(struct vram *v);
void json_gpus(struct vram *v);
void json_presets(struct vram *v);
void json_schema(struct vram *v);

// The step runs while it is written. Errors: those of vram_run.
int json_timeline(struct vram *v);

// Empties the text, and the error where that is not what is written. VRAM_ENOTRUN if the answer has
// not been made.
int write_begin(struct vram *v, enum vram_answer answer);
int write_end(struct vram *v);  // VRAM_OK, or VRAM_ENOMEM recorded

// An answer has no such format.
int write_refuse(struct vram *v, enum vram_answer answer, enum vram_format format);

#endif
