// The last answers of a handle: what the pointers that its public functions hand out point to.

#ifndef CALC_ANSWERS_H
#define CALC_ANSWERS_H

#include "calc/answer/advice_list.h"
#include "calc/model/handle.h"

#ifdef VRAM_SMALL
enum { COMPARE_FORMULAS = 4, ANSWERS_NOTED = 0 };
#else
enum { COMPARE_FORMULAS = 4, ANSWERS_NOTED = VRAM_ANSWER_COUNT };
#endif

struct answers {
    struct vram_mem mem;
    bool has_fit, has_max_batch, has_comparison, has_oom, has_solution, has_cards, has_serving,
        has_snapshot;
    struct vram_fit fit;
    struct vram_max_batch max_batch;
    struct message refusal;  // of max_batch
    struct vram_solution solution;
    struct vram_serving serving;
    struct message solve_limit, solve_refusal, cards_refusal, serve_refusal;
    struct vram_cards cards;
    struct mem_arena cards_arena;
    struct vram_comparison comparison;
    struct vram_formula formulas[COMPARE_FORMULAS];
    struct vram_oom oom;
    struct mem_arena oom_arena;
    struct message_list oom_hints;
    struct vram_snapshot snapshot;
    struct mem_arena snapshot_arena;
    struct advice_list *advice;  // NULL before the first
    struct message_list notes[ANSWERS_NOTED];
};

// Made at the first call; NULL: out of memory (recorded as an error).
struct answers *answers_of(struct vram *v);

// What an answer says beside its figures: the notes of the configuration as it is, those of its run
// too where there was one. Returns VRAM_OK or no memory (recorded). The small module's answers have
// none.
#ifdef VRAM_SMALL
#define answers_note(a, answer, v, out) VRAM_OK
#else
#define answers_note(a, answer, v, out) \
    answers_notes(a, answer, v, &(out)->notes, &(out)->note_count)
int answers_notes(struct answers *a, uint32_t answer, struct vram *v,
                  const struct vram_message **notes, size_t *count);
#endif

// What there is of them; NULL if there is nothing.
const struct answers *answers_made(const struct vram *v);

#endif
