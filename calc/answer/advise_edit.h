// The changes of advise.def: what each gets, and how it writes down what it sets.

#ifndef CALC_ADVISE_EDIT_H
#define CALC_ADVISE_EDIT_H

#include "calc/base/text.h"
#include "calc/model/config.h"

enum advice_applied { ADVICE_NOT_HERE, ADVICE_APPLIED, ADVICE_REFUSED };

struct change {
    struct vram_config *c;
    struct text_line *what;  // "key=value key=value"
    struct message *refusal;
};

// Sets a field and writes it down.
void advise_say(struct change *k, enum config_field_id field, uint64_t n);

// Cuts the lengths of a run whose batches differ.
void advise_cap(struct change *k, uint64_t most);

#define CHANGE(id, task, effect, edit, result, cost, basis) \
    enum advice_applied change_##id(struct change *k);
#include "calc/answer/advise.def"
#undef CHANGE

#endif
