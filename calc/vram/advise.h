// libvram: what to change so that a run takes less.

#ifndef VRAM_ADVISE_H
#define VRAM_ADVISE_H

#include "handle.h"
#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a change does to the training.
#define VRAM_EFFECTS(X) \
    X(SAME, "same", "the same training up to rounding") \
    X(CLOSE, "close", "the same model and data, another arithmetic") \
    X(DIFFERENT, "different", "another model, or other data in a step")

enum vram_effect {
#define X(id, name, text) VRAM_EFFECT_##id,
    VRAM_EFFECTS(X)
#undef X
        VRAM_EFFECT_COUNT
};
VRAM_API const char *vram_effect_name(uint32_t effect);

struct vram_change {
    const char *id;                      // "micro_batch": a row of the library's table of changes
    const char *what;                    // "batch_size=8 gradient_accumulation_steps=4"
    uint32_t effect;                     // enum vram_effect
    const struct vram_message *result;   // what it does to the result
    const struct vram_message *how;      // the code to edit, or NULL where it is a setting
    const struct vram_message *refusal;  // why it cannot be done, or NULL
    const struct vram_message *cost_basis;  // what the cost rests on, or NULL
    bool cost_predicted;
    int64_t cost_permille;  // of a step's time, per token; negative: faster
    uint64_t process_bytes, saved_bytes;
    bool fits, fits_surely;  // surely: with the whole error bound
    bool in_plan;
    const char *
        line;  // what to write in the framework: "gradient_checkpointing=True"; NULL: nothing there
    bool by_tensors;  // these alone are more than the card has: not replayed, the allocator adds
                      // the part that it does now
};

struct vram_advice {
    uint64_t process_bytes;  // as it is configured
    uint64_t gpu_bytes;      // 0: no card is chosen
    const char *gpu_name;
    bool fits;
    const struct vram_change *changes;  // by effect; in each what is enough alone comes first
    size_t change_count;
    // The smallest set of the changes, taken in order, that fits; what it comes to.
    bool plan_found, plan_tight;  // tight: not with the whole error bound
    uint64_t plan_process_bytes;
    int64_t plan_cost_permille;
    struct vram_capacity capacity;     // of the card; gpu_bytes is what of it is left
    const char *framework;             // whose lines are given
    const struct vram_message *notes;  // as in vram_max_batch
    size_t note_count;
};

// Changes that the configuration's framework has and that take less. Every number is that of a
// whole estimate, but for changes marked by_tensors. With a card that is too small there is a plan.
VRAM_API int vram_advise(vram *v, const struct vram_advice **out);

#define VRAM_PLAN SIZE_MAX

// Sets in `to` the configuration of v with a change of its last advice, or with all of its plan.
VRAM_API int vram_take_advice(vram *v, size_t change, vram *to);

#ifdef __cplusplus
}
#endif

#endif
