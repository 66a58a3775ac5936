// Owns the life of a handle's answers.

#include "calc/answer/answers.h"

#include "calc/model/remarks.h"

static void answers_free(void *ptr)
{
    struct answers *a = ptr;
    struct vram_mem mem = a->mem;
    mem_arena_free(&a->oom_arena);
    mem_arena_free(&a->cards_arena);
    mem_arena_free(&a->snapshot_arena);
    message_list_free(&a->oom_hints);
    for (size_t i = 0; i < ANSWERS_NOTED; i++)
        message_list_free(&a->notes[i]);
    if (a->advice)
        mem_free(&mem, a->advice, sizeof *a->advice);
    mem_free(&mem, a, sizeof *a);
}

struct answers *answers_of(struct vram *v)
{
    struct handle_part *part = &v->parts[HANDLE_ANSWERS];
    if (part->ptr)
        return part->ptr;
    struct answers *a = mem_alloc(&v->mem, sizeof *a);
    if (!a) {
        handle_no_memory(v);
        return NULL;
    }
    mem_zero(a, sizeof *a);
    a->mem = v->mem;
    a->oom_arena.mem = a->cards_arena.mem = a->snapshot_arena.mem = &a->mem;
    message_list_init(&a->oom_hints, &a->mem);
    for (size_t i = 0; i < ANSWERS_NOTED; i++)
        message_list_init(&a->notes[i], &a->mem);
    *part = (struct handle_part){a, answers_free};
    return a;
}

#ifndef VRAM_SMALL
int answers_notes(struct answers *a, uint32_t answer, struct vram *v,
                  const struct vram_message **notes, size_t *count)
{
    struct message_list *l = &a->notes[answer];
    message_list_free(l);
    if (v->has_result) {
        for (size_t i = 0; i < v->result.note_count; i++)
            message_list_copy(l, &v->result.notes[i]);
    } else {
        for (size_t i = 0; i < v->notes.count; i++)
            message_list_copy(l, &v->notes.at[i]);
        remarks_add(l, v);
    }
    *notes = l->at;
    *count = l->count;
    return l->failed ? handle_no_memory(v) : VRAM_OK;
}
#endif

const struct answers *answers_made(const struct vram *v)
{
    return v->parts[HANDLE_ANSWERS].ptr;
}
