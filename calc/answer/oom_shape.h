// Which product of a model's dimensions a number of bytes is.

#ifndef CALC_OOM_SHAPE_H
#define CALC_OOM_SHAPE_H

#include "calc/model/model.h"
#include "calc/base/writer.h"

enum { SHAPE_DIMS = 4 };

struct oom_shape {
    uint64_t dim[SHAPE_DIMS];
    const char *name[SHAPE_DIMS];
    unsigned dims;
    unsigned element;  // bytes
};

// Finds the shape of exactly so many bytes among those that the configuration's tensors have; false if there is none.
bool oom_shape_find(const struct vram_config *c, uint64_t bytes, struct oom_shape *out);

// "32 x 1024 x 50304 x 4"
void oom_shape_write(struct writer *w, const struct oom_shape *s);
// "batch x sequence x vocabulary, float32"
void oom_shape_words(struct writer *w, const struct oom_shape *s);

// Without a configuration: a guess of a logits or activation tensor that asks for a segment of low..high bytes. index
// counts guesses from 0, likely ones first; false past the last.
bool oom_shape_guess(uint64_t low, uint64_t high, unsigned index, struct oom_shape *out);

uint64_t oom_shape_bytes(const struct oom_shape *s);

#endif
