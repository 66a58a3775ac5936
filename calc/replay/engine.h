// The estimate: reels made from the model's graph, played into the allocator in the order of a run,
// measured.

#ifndef CALC_ENGINE_H
#define CALC_ENGINE_H

#include "calc/replay/allocator.h"
#include "calc/model/handle.h"
#include "calc/model/kinds.h"
#include "calc/replay/player.h"
#include "calc/replay/reel.h"
#include "calc/replay/state.h"
#include "calc/replay/stretch.h"

// The passes that a run is made of.
enum engine_reel {
    ENGINE_EVAL,
    ENGINE_BETWEEN,      // an evaluation between steps, with a batch of its own
    ENGINE_NEXT,         // first micro-step of an iteration: gradients were set to None
    ENGINE_AGAIN,        // later micro-step: gradients are there
    ENGINE_PROMPT,       // generation: the prompt
    ENGINE_FIRST_TOKEN,  // the step that finds the prompt's keys and values
    ENGINE_TOKEN,        // a later step
    ENGINE_REELS
};

enum {
    ENGINE_EVALS = 3,
    ENGINE_SETS = MODEL_IS_WHOLE ? 8 : 6,
    ENGINE_MOST_ITERATIONS = 10,
    ENGINE_LINES = 160,
    ENGINE_NAMES = ROLE_COUNT << 6
};

// An evaluation between steps: what a batch adds to the live bytes, its logits where they are kept,
// and those of all GPUs.
struct engine_between {
    uint64_t rise, logits, gathered;
};

// The reels of a kind of model. Those of the last kinds are kept: a search goes to and fro between
// them.
struct engine_set {
    struct reel reels[ENGINE_REELS];
    struct vram_config key;  // of the reels: dimensions left out
    uint64_t used;           // the engine's count when it was last; 0: nothing is recorded
};

struct engine {
    const struct vram_mem *mem;
    struct model model;
    struct dims dims;
    uint64_t elements[SHAPE_COUNT];
    struct reel_sizes sizes;
    struct state state;
    struct engine_between between;
    uint64_t batch_size;  // of a step, while the model is that of an evaluation
    struct graph graph;
    struct engine_set sets[ENGINE_SETS], *set;
    struct reel *reels;  // of the set
    uint64_t uses;       // of sets so far
    bool has_run;        // all of this is as vram_run left it
    uint64_t stage;      // of the pipeline, set before engine_prepare
    uint64_t room;       // of the card for the allocator in the last run; 0: without an end
    bool grows;          // the last run is a generation, length by length of its cache
    uint64_t needed;     // reserved, without what of it a full card gets back
    uint64_t needed_retries;
    struct allocator allocator;
    struct player player;  // of the last run
    struct player_late late[PLAYER_LATE];
    uint32_t fed[ENGINE_MOST_ITERATIONS];  // to a pipeline by the last run, by iteration
    struct handle_part resume;             // resume.h
    uint32_t *slots;
    size_t slots_cap;
    uint64_t *held;  // of a player of a run whose batches differ
    size_t held_cap;
    // what the result points to
    struct vram_line lines[ENGINE_LINES], saved_lines[ENGINE_LINES];
    struct vram_phase phases[PLAYER_PHASES];
    char phase_names[PLAYER_PHASES][TRACE_PHASE_TEXT];
    struct mem_arena names;
    const char *saved_cache[NODE_COUNT][GRAPH_SAVED];
    uint64_t by_category[VRAM_CAT_COUNT];
    struct vram_tensor parameters[2 * LAYOUT_ENDS + LAYOUT_BLOCK_NUMBERS];
    struct message_list notes;
    const char **name_cache;  // by name id
    uint64_t *name_bytes;     // live at the peak, by name id
    uint32_t *name_count;
    uint8_t *name_op, *name_category;
    char peak_phase[TRACE_PHASE_TEXT];
#ifndef VRAM_SMALL
    char kinds[3][KIND_TEXT];  // of the run, of the measurements of allocator and process
#endif
    struct vram_segments segments;  // the last answer of vram_segments, in an arena of its own
    struct mem_arena segments_arena;
    char segments_phase[TRACE_PHASE_TEXT];
    bool has_segments;
    struct stretch_scratch stretching;  // stretch.h
};

// The engine of a handle, made at the first call; NULL: out of memory (recorded as an error).
struct engine *engine_of(struct vram *v);

// Model, sizes, reels and state for the handle's configuration; play: also what playing needs and
// live_peak does not. Errors are recorded in v->err.
int engine_prepare(struct vram *v, struct engine *e, bool play);

// Model and state alone, without reels, of the only stage. Errors: those of engine_prepare, not
// recorded.
int engine_prepare_state(struct vram *v, struct engine *e);

// Where a run's batches differ in length: sizes of everything for the step of a number, the batch
// after it included; and for the longest, as engine_prepare leaves them. Errors: VRAM_ENOMEM,
// VRAM_EOVERFLOW.
int engine_take_batch(struct engine *e, uint64_t step);
int engine_take_longest(struct engine *e);

// Sizes of everything with a number of tokens generated. Errors: as above.
int engine_take_generated(struct engine *e, uint64_t tokens);

// Sizes of everything for a batch of the evaluation between steps, or for a step's again. Errors:
// as above.
int engine_take_evaluation(struct engine *e, bool begins);

// Stretches of all reels of the model. Errors: VRAM_ENOMEM.
int engine_stretch(struct engine *e);

uint32_t engine_micro_steps(const struct model *m);  // that are run: at most two kinds exist

// Of a pipeline's stage: one micro-batch more than it holds, which finds the gradients of the
// first, as each after it does.
static inline uint32_t engine_fed(const struct model *m)
{
    return (uint32_t)(m->in_flight + (m->c.gradient_accumulation_steps > m->in_flight));
}

bool engine_evaluates(const struct model *m);

static inline bool engine_evaluates_between(const struct model *m)
{
    return MODEL_IS_WHOLE && m->c.mode == MODE_PROCESS && m->c.eval_batch_size > 0;
}

// A tensor's name as one text; NULL: out of memory.
const char *engine_name(struct engine *e, uint16_t name);
const char *engine_saved_name(struct engine *e, uint8_t kind, uint8_t which);  // "MmBackward0.self"

#endif
