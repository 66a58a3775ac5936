// Memory of a sandbox: a limit, a count of all that was ever asked for, and small blocks from lists
// of their size.
#include <stdlib.h>
#include <string.h>

#include "gen/site/sandbox/sandbox_lib.h"

#define STEP 16  // bytes between size classes
#define SMALL_MAX (STEP * SANDBOX_CLASSES)
#define SLAB ((size_t)32 << 10)  // bytes taken from malloc at once
#define HARD_LIMIT(s) \
    (2 * (s)->limits \
             .memory_bytes)  // a table that doubles passes the limit, and the hook, before this

struct sandbox_slab {
    struct sandbox_slab *next;
};
struct sandbox_free {
    struct sandbox_free *next;
};

// The hostile build gives every block to malloc, so that its tools see each one.
static bool is_small(size_t size)
{
#ifdef BASE_HOSTILE
    (void)size;
    return false;
#else
    return size <= SMALL_MAX;
#endif
}

static bool slab_new(struct sandbox *s)
{
    struct sandbox_slab *slab = malloc(SLAB);
    if (!slab)
        return false;
    slab->next = s->slabs;
    s->slabs = slab;
    s->slab_used = STEP;  // its head, rounded so that blocks stay aligned
    return true;
}

static void *small_new(struct sandbox *s, size_t size)
{
    size_t class = (size - 1) / STEP, bytes = (class + 1) * STEP;
    struct sandbox_free *f = s->free[class];
    if (f) {
        s->free[class] = f->next;
        __builtin_prefetch(
            f->next);  // it was freed long ago: the next request need not wait for it
        return f;
    }
    if ((!s->slabs || s->slab_used + bytes > SLAB) && !slab_new(s))
        return NULL;
    void *p = (char *)s->slabs + s->slab_used;
    s->slab_used += bytes;
    return p;
}

static void block_free(struct sandbox *s, void *p, size_t size)
{
    if (!p || !is_small(size)) {
        free(p);
        return;
    }
    struct sandbox_free *f = p;
    size_t class = (size - 1) / STEP;
    f->next = s->free[class];
    s->free[class] = f;
}

// Moves a block of old bytes to one of new_size.
static void *block_resize(struct sandbox *s, void *p, size_t old, size_t new_size)
{
    bool was_small = is_small(old), small = is_small(new_size);
    if (p && !was_small && !small)
        return realloc(p, new_size);
    if (p && was_small && small && (old - 1) / STEP == (new_size - 1) / STEP)
        return p;
    void *moved = small ? small_new(s, new_size) : malloc(new_size);
    if (moved && p) {
        memcpy(moved, p, old < new_size ? old : new_size);
        block_free(s, p, old);
    }
    return moved;
}

// More than the stack of Lua ever takes (LUAI_MAXSTACK slots): while that moves nothing may read
// it.
#define LARGER_THAN_STACK ((size_t)LUAI_MAXSTACK * 32)

// Notes the line that runs. It allocates nothing; what is asked for must not be the stack itself.
static void note_refused(struct sandbox *s)
{
    lua_Debug ar;
    s->refused.currentline = 0;
    for (int level = 0; s->L && lua_getstack(s->L, level, &ar); level++) {
        lua_getinfo(s->L, "Sl", &ar);
        if (ar.currentline <= 0)
            continue;
        s->refused = ar;
        return;
    }
}

void *sandbox_alloc(void *ud, void *ptr, size_t old_size, size_t new_size)
{
    struct sandbox *s = ud;
    size_t old = ptr ? old_size : 0;
    if (new_size == 0) {
        if (ptr && old)
            block_free(s, ptr, old);
        s->used -= old;
        return NULL;
    }
    if (new_size > old) {
        if (s->used + (new_size - old) > HARD_LIMIT(s)) {
            if (!ptr || new_size > LARGER_THAN_STACK)
                note_refused(s);
            return NULL;
        }
        s->churned += new_size;
    }
    void *moved = block_resize(s, ptr, old, new_size);
    if (moved)
        s->used = s->used - old + new_size;
    return moved;
}

void sandbox_alloc_free(struct sandbox *s)
{
    while (s->slabs) {
        struct sandbox_slab *next = s->slabs->next;
        free(s->slabs);
        s->slabs = next;
    }
}
