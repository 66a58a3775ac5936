// The writers of text for people. Each appends an answer that has been made to v->text.

#ifndef CALC_WRITE_TEXT_H
#define CALC_WRITE_TEXT_H

#include "calc/model/handle.h"

void text_report(struct vram *v);
void text_fit(struct vram *v);
void text_max_batch(struct vram *v);
void text_solution(struct vram *v);
void text_cards(struct vram *v);
void text_serving(struct vram *v);
void text_segments(struct vram *v);
void text_advice(struct vram *v);
void text_oom(struct vram *v);
void text_comparison(struct vram *v);
void text_snapshot(struct vram *v);
void text_config(struct vram *v);
void text_error(struct vram *v);
void text_gpus(struct vram *v);
void text_presets(struct vram *v);
void text_fields(struct vram *v);

#endif
