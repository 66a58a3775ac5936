// What two files say of the same thing.

#ifndef CALC_AGREEMENT_H
#define CALC_AGREEMENT_H

#include "calc/parse/parse.h"

// DeepSpeed's file behind a trainer's: each value that differs is an error, as the run itself ends
// with one.
int check_agreement(struct parse *p);

#endif
