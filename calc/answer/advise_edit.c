// Owns how a change is set and written down.

#include "calc/answer/advise_edit.h"

void advise_say(struct change *k, enum config_field_id field, uint64_t n)
{
    config_put(k->c, field, n);
    config_append(k->what, k->c, field);
}

void advise_cap(struct change *k, uint64_t most)
{
    for (uint64_t i = 0; i < k->c->seq_lens; i++)
        if (k->c->lengths[i] > most)
            k->c->lengths[i] = (uint32_t)most;
    config_append(k->what, k->c, FIELD_seq_lens);
}
