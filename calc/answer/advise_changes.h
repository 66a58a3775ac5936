// The table of changes, each as an edit of a configuration.

#ifndef CALC_ADVISE_CHANGES_H
#define CALC_ADVISE_CHANGES_H

#include "calc/answer/advise_edit.h"

enum advice_task { ADVICE_TRAIN, ADVICE_INFERENCE, ADVICE_BOTH };

// A row of advise.def.
struct advice_change {
    const char *id;
    enum vram_effect effect;
    enum advice_task task;
    const struct vram_message *how, *result, *basis;  // how: NULL for a setting
    bool predicted;
};
bool advice_change_at(size_t number, struct advice_change *out);  // false past the end

// Edits *config by a row. what gets the settings, refusal the reason of ADVICE_REFUSED.
enum advice_applied advice_apply(size_t number, struct vram_config *config, struct text_line *what,
                                 struct message *refusal);

#endif
