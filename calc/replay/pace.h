// How far a card runs behind the program: where what collectives have used comes back late.

#ifndef CALC_PACE_H
#define CALC_PACE_H

#include "calc/model/model.h"

// Whether it runs behind; in a pipeline it does between two messages (schedule_message).
bool pace_lags(const struct vram_config *c);

#ifndef VRAM_SMALL
// By how many launches: PLAYER_QUEUE or PLAYER_NEXT.
uint64_t pace_queue(const struct model *m);

// Whether a layer takes the card longer than the program.
bool pace_is_the_cards(const struct model *m);
#endif

#endif
