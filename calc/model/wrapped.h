// Which parameters of experts get adapters: PEFT wraps a tensor that holds a matrix of all experts,
// where linear layers are none. In the small module none get any.

#ifndef CALC_WRAPPED_H
#define CALC_WRAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/base/err.h"
#include "calc/model/config.h"

#ifndef VRAM_SMALL
// Whether PEFT takes names of experts' layers in target_modules as their parameters.
bool wrapped_by_names(const struct vram_config *c);

// Ranks of the adapters on both tensors of experts and on the router's weight; 0: none.
uint64_t wrapped_up_rank(const struct vram_config *c);
uint64_t wrapped_down_rank(const struct vram_config *c);
uint64_t wrapped_router_rank(const struct vram_config *c);

// Whether names of experts' layers are w1, w2 and w3.
bool wrapped_names_are_w(const struct vram_config *c);

// Whether adapters on experts' parameters are modelled in such a run.
bool wrapped_modelled(const struct vram_config *c);

// What PEFT refuses. Errors: VRAM_EMODEL.
int wrapped_check(const struct vram_config *c, struct message *e);
#endif

#endif
