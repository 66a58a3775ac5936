// The end of what a reel keeps of its stretches.
#include "calc/replay/stretch_list.h"

void stretches_free(struct stretches *s, const struct vram_mem *mem)
{
    for (unsigned i = 0; i < STRETCH_POOLS; i++) {
        struct stretch_list *l = &s->pools[i];
        mem_free(mem, l->at, l->cap * sizeof *l->at);
        mem_free(mem, l->all, l->all_cap * sizeof *l->all);
        mem_free(mem, l->rest, l->rest_cap * sizeof *l->rest);
        mem_free(mem, l->ends, l->ends_cap * sizeof *l->ends);
    }
    *s = (struct stretches){0};
}
