// Parts of more than one answer as text.

#ifndef CALC_TEXT_PARTS_H
#define CALC_TEXT_PARTS_H

#include "calc/model/handle.h"

void put_heading(struct writer *w, const char *text);  // a line
void put_default(struct writer *w, size_t field);      // its value
void put_card(struct writer *w, const char *name, const struct vram_capacity *card,
              uint64_t left);  // a line: its totals
// A line each, but for warnings about a file's line, which were said where it was read. Returns how
// many.
size_t put_notes(struct writer *w, const char *before, const struct vram_message *notes,
                 size_t count);
void put_config(struct writer *w, const struct vram_config *c);  // lines that can be pasted

#endif
