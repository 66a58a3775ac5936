// Names of tensors: a place in the model or the step, and a part of it.

#ifndef CALC_NAMES_H
#define CALC_NAMES_H

#include <stdint.h>

enum role {
#define ROLE(id, label) ROLE_##id,
#include "calc/model/roles.def"
    ROLE_COUNT
};
enum part {
#define PART(id, suffix) PART_##id,
#include "calc/model/parts.def"
    PART_COUNT
};

// Name of a tensor: place and part.
#define NAME(role, part) ((uint16_t)(ROLE_##role << 6 | PART_##part))
static inline uint16_t name_of(uint8_t role, uint8_t part)
{
    return (uint16_t)(role << 6 | part);
}

#endif
