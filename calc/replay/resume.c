// Owns copies of the allocator and of the blocks' places, as they are before a run's first step.

#include "calc/replay/resume.h"

enum { RESUME_STARTS = 1 + RESUME_OTHERS };

struct resume_start {
    struct vram_config config;   // its optimizer left out
    uint64_t used;               // the count of uses when it was last; 0: nothing is there
    struct allocator allocator;  // a copy
    uint32_t *slots;
    size_t slot_count, slots_cap;
    uint32_t workspaces;
    uint64_t turns;
};

struct resume {
    const struct vram_mem *mem;
    struct resume_start starts[RESUME_STARTS];
    unsigned others;
    uint64_t uses;
};

static void resume_free(void *ptr)
{
    struct resume *r = ptr;
    for (unsigned i = 0; i < RESUME_STARTS; i++) {
        struct resume_start *s = &r->starts[i];
        allocator_done(&s->allocator);
        mem_free(r->mem, s->slots, s->slots_cap * sizeof *s->slots);
    }
    mem_free(r->mem, r, sizeof *r);
}

static struct resume *resume_new(const struct vram_mem *mem)
{
    struct resume *r = mem_alloc(mem, sizeof *r);
    if (!r)
        return NULL;
    mem_zero(r, sizeof *r);
    r->mem = mem;
    return r;
}

int resume_open(struct engine *e, unsigned others)
{
    struct resume *r = e->resume.ptr ? e->resume.ptr : resume_new(e->mem);
    if (!r)
        return VRAM_ENOMEM;
    e->resume = (struct handle_part){r, resume_free};
    r->others = others;
    return VRAM_OK;
}

// Runs whose walk to the first step is in the allocator and in the slots alone.
static bool resume_serves(const struct engine *e, const struct player *p)
{
    const struct vram_config *c = &e->model.c;
    return e->resume.ptr && p->lean && p->allocator && !p->lags && !p->held &&
           c->task == TASK_TRAIN && !c->eval_only && c->pipeline_parallel == 1;
}

static struct vram_config resume_key(const struct engine *e)
{
    struct vram_config key = e->model.c;
    key.optimizer = 0;
    return key;
}

// What has not come to the end of its device is the same on each that has as much.
static bool resume_has_room(const struct allocator *start, uint64_t device_bytes)
{
    const struct allocator_stats *s = &start->stats;
    return start->config.device_bytes == device_bytes ||
           (!s->retries && !s->ooms && (!device_bytes || s->reserved.peak <= device_bytes));
}

static struct resume_start *resume_find(const struct engine *e, const struct player *p)
{
    struct resume *r = e->resume.ptr;
    struct vram_config key = resume_key(e);
    for (unsigned i = 0; i < RESUME_STARTS; i++) {
        struct resume_start *s = &r->starts[i];
        if (s->used && s->config.gpu == key.gpu && config_same(&s->config, &key) &&
            resume_has_room(&s->allocator, p->allocator->config.device_bytes) &&
            s->slot_count == player_slots(p))
            return s;
    }
    return NULL;
}

int resume_take(struct engine *e, struct player *p, bool *taken)
{
    struct resume_start *s = resume_serves(e, p) ? resume_find(e, p) : NULL;
    *taken = false;
    if (!s)
        return VRAM_OK;
    uint64_t device_bytes = p->allocator->config.device_bytes;
    int rc = allocator_copy(p->allocator, &s->allocator);
    p->allocator->config.device_bytes = device_bytes;
    if (rc != VRAM_OK)
        return rc;
    *taken = true;
    mem_copy(p->slots, s->slots, s->slot_count * sizeof *s->slots);
    p->workspaces = s->workspaces;
    p->turns = s->turns;
    p->over = p->most && s->allocator.stats.reserved.peak > p->most;
    s->used = ++((struct resume *)e->resume.ptr)->uses;
    return VRAM_OK;
}

// NULL: the first one stays, and there are to be no others.
static struct resume_start *resume_oldest(struct resume *r)
{
    struct resume_start *oldest = r->others ? &r->starts[1] : NULL;
    if (!r->starts[0].used)
        return &r->starts[0];
    for (unsigned i = 2; i <= r->others; i++)
        oldest = r->starts[i].used < oldest->used ? &r->starts[i] : oldest;
    return oldest;
}

static int resume_fill(struct resume_start *s, const struct player *p)
{
    void *slots = s->slots;
    size_t count = player_slots(p);
    int rc = mem_grow(s->allocator.mem, &slots, &s->slots_cap, count, sizeof *s->slots);
    s->slots = slots;
    if (rc == VRAM_OK)
        rc = allocator_copy(&s->allocator, p->allocator);
    if (rc != VRAM_OK)
        return rc;
    s->slot_count = count;
    mem_copy(s->slots, p->slots, count * sizeof *s->slots);
    s->workspaces = p->workspaces;
    s->turns = p->turns;
    return VRAM_OK;
}

int resume_note(struct engine *e, const struct player *p)
{
    struct resume *r = e->resume.ptr;
    struct resume_start *s = resume_serves(e, p) ? resume_oldest(r) : NULL;
    if (!s)
        return VRAM_OK;
    s->used = 0;
    s->allocator.mem = e->mem;
    int rc = resume_fill(s, p);
    if (rc != VRAM_OK)
        return rc;
    s->config = resume_key(e);
    s->used = ++r->uses;
    return VRAM_OK;
}
