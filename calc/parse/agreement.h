// What two files say of the same thing.

#ifndef CALC_AGREEMENT_H
#define CALC_AGREEMENT_H

#include "calc/parse/parse.h"

// DeepSpeed's file behind a trainer's: each value that differs is an error, as the run itself ends
// with one.
int check_agreement(struct parse *p);

// Whether something said before what "auto" for a target of the table stands for: the trainer's
// file, or words.
bool auto_is_said(struct parse *p, const char *target);

// Records that nothing did.
int auto_alone(struct parse *p, const char *target, const struct entry *e);

#endif
