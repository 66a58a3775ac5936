// Owns how a change is set and written down.

#include "calc/answer/advise_edit.h"

void advise_say(struct change *k, enum config_field_id field, uint64_t n)
{
    config_put(k->c, field, n);
    config_append(k->what, k->c, field);
}
