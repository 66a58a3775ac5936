// What files say together of number formats. Once all of a file is read.

#ifndef CALC_CONCLUDE_FORMATS_H
#define CALC_CONCLUDE_FORMATS_H

#include "calc/parse/parse.h"

// dtype: what is loaded in which format, cast for products, divided.
void conclude_dtype(struct parse *p);

// Unsloth's full_finetuning: no adapters, nothing quantized.
void conclude_whole(struct parse *p);

// What TRL does to a quantized model before it trains adapters over it.
void conclude_prepared(struct parse *p);

#endif
