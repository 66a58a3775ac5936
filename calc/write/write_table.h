// The writers of CSV and Markdown. Each appends an answer that has been made to v->text.

#ifndef CALC_WRITE_TABLE_H
#define CALC_WRITE_TABLE_H

#include "calc/model/handle.h"

void csv_report(struct vram *v);
void csv_fit(struct vram *v);
void csv_cards(struct vram *v);
void csv_advice(struct vram *v);
void csv_comparison(struct vram *v);
void csv_gpus(struct vram *v);
void csv_presets(struct vram *v);
void csv_segments(struct vram *v);

void md_report(struct vram *v);
void md_fit(struct vram *v);
void md_cards(struct vram *v);
void md_advice(struct vram *v);
void md_comparison(struct vram *v);
void md_gpus(struct vram *v);
void md_presets(struct vram *v);
void md_fields(struct vram *v);

#endif
