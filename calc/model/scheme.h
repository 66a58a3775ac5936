// Data parallel schemes as the configuration names them: what each GPU keeps whole and what in
// parts.

#ifndef CALC_SCHEME_H
#define CALC_SCHEME_H

#include "calc/model/model.h"

bool scheme_many(const struct vram_config *c);
bool scheme_is_deepspeed(const struct vram_config *c);       // ZeRO
uint64_t scheme_bucket(const struct vram_config *c);         // numbers that ZeRO sends at once
bool scheme_in_buckets(const struct vram_config *c);         // gradients are views of DDP's buckets
bool scheme_divides_state(const struct vram_config *c);      // ZeRO-1 and above
bool scheme_divides_gradients(const struct vram_config *c);  // ZeRO-2 and above
bool scheme_offloads_gradients(const struct vram_config *c);  // to the host, as they come
bool scheme_divides_weights(const struct vram_config *c);     // ZeRO-3, FSDP

// FSDP1's NO_SHARD: all is done as for units that are divided, among one.
bool scheme_keeps_all(const struct vram_config *c);
uint64_t scheme_parts(const struct vram_config *c);  // of what is divided

#endif
