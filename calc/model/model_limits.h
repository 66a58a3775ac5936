// What a run of one kind cannot be combined with: the check of a table of such rows, and the rows
// that know no family.

#ifndef CALC_MODEL_LIMITS_H
#define CALC_MODEL_LIMITS_H

#include "calc/model/model.h"

// A value of the configuration under its field's name.
#define VALUE(c, ident) arg_u64(#ident, (c)->ident)

struct model_limit {
    bool here;
    message_id message;
    const char *about[2];
};

// The first row that is here is the error.
int model_check_limits(const struct model_limit *limits, size_t count, struct message *e);

int model_check_compile(const struct vram_config *c, struct message *e);
int model_check_optimizer(const struct vram_config *c, struct message *e);
int model_check_lengths(const struct vram_config *c, struct message *e);
int model_check_context(const struct vram_config *c, struct message *e);
int model_check_offload(const struct vram_config *c, struct message *e);
int model_check_counted(const struct model *m, struct message *e);  // behind model_count
// Experts that GPUs share, and with moving averages all that the small module does not have.
int model_check_divided_experts(const struct vram_config *c, struct message *e);
int model_check_whole(const struct vram_config *c, struct message *e);

#endif
