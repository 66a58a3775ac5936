// Owns the life of a handle's answers.

#include "calc/answer/answers.h"

static void answers_free(void *ptr)
{
    struct answers *a = ptr;
    struct vram_mem mem = a->mem;
    mem_arena_free(&a->oom_arena);
    mem_arena_free(&a->cards_arena);
    mem_arena_free(&a->snapshot_arena);
    message_list_free(&a->oom_hints);
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
    *part = (struct handle_part){a, answers_free};
    return a;
}

const struct answers *answers_made(const struct vram *v)
{
    return v->parts[HANDLE_ANSWERS].ptr;
}
