// Changes to a configuration that take less memory: what each saves, costs, and does to the result.

#ifndef CALC_ADVISE_H
#define CALC_ADVISE_H

#include "calc/model/handle.h"

enum advice_effect {
    ADVICE_SAME,     // the same training, up to rounding
    ADVICE_CLOSE,    // the same model and data, another arithmetic
    ADVICE_DIFFERENT // another model, or other data in a step
};

enum { ADVICE_MAX = 32, ADVICE_WHAT = 96, ADVICE_WHY = 160 };

struct advice {
    char what[ADVICE_WHAT];    // "batch_size=8 gradient_accumulation_steps=4"
    const char *effect_text;   // one clause
    const char *how;           // the code to edit, or NULL where it is a setting
    char cost_why[ADVICE_WHY]; // what the cost rests on
    enum advice_effect effect;
    bool predicted;              // the cost is; else cost_why says why not
    int64_t cost_permille;     // of a step's time; negative: faster
    struct vram_config config; // with the change
    uint64_t process, saved;   // bytes
    bool fits, surely;         // surely: with the whole error bound
    bool refused;                // it cannot be done: the numbers are 0, and
    char refusal[ADVICE_WHY];    // this is why
};

struct advice_list {
    struct advice row[ADVICE_MAX];
    size_t row_number[ADVICE_MAX]; // of advise.def
    size_t count;
    uint64_t process;   // of the configuration as it is
    uint64_t gpu_bytes; // 0: no card chosen
    bool fits;
    // Smallest set of the rows' changes, taken in order, that fits: the configuration, and the rows in it.
    bool found;
    bool tight, tight_only;  // it fits, but not with the whole error bound
    struct vram_config best;
    uint64_t best_process;
    int64_t best_cost_permille;
    bool used[ADVICE_MAX];
};

enum advice_task { ADVICE_TRAIN, ADVICE_INFERENCE, ADVICE_BOTH };

// A row of advise.def. NULL past the end.
struct advice_change {
    enum advice_effect effect;
    enum advice_task task;
    const char *how, *result, *basis;
};
const struct advice_change *advice_change_at(size_t number);

// Edits *config by a row. The words go into *a where a is not NULL.
enum advice_applied { ADVICE_NOT_HERE, ADVICE_APPLIED, ADVICE_REFUSED };
enum advice_applied advice_apply(size_t number, struct vram_config *config, struct advice *a);

// A writer into a fixed array; what does not fit is cut. *mem must live as long as the writer.
struct writer advice_writer(struct vram_mem *mem, char *text, size_t cap);

// Fills *list, which the caller allocates (some 20 kB). Needs a configuration that vram_check passes.
int advise_make(struct vram *v, struct advice_list *list);

#endif
