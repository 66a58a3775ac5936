// What follows from a config.json as a whole.

#ifndef CALC_HF_CONCLUDE_H
#define CALC_HF_CONCLUDE_H

#include "calc/parse/parse.h"

// Models that hold a language model inside (Gemma 3) put its keys under text_config.
static inline struct span hf_inner(struct span key)
{
    return span_starts(key, "text_config.") ? span_skip(key, 12) : key;
}

// The error that says so of a key's value; its number.
int hf_not_modelled(struct parse *p, const struct entry *e);

int hf_conclude(struct parse *p);

#endif
