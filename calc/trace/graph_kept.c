// Owns what a pass keeps beyond the functions that made it: to its loss, or to the next pass's.

#include "calc/trace/graph.h"

void graph_keep(struct graph *g, uint32_t storage, int32_t unit, uint8_t sub)
{
    void *p = g->kept;
    if (storage == TAPE_NONE || !graph_ok(g) ||
        !graph_grow(g, &p, &g->kept_cap, g->kept_count + 1, sizeof *g->kept))
        return;
    g->kept = p;
    g->kept[g->kept_count++] = (struct kept_alive){storage, unit, sub};
    tape_ref(g->t, storage);
}

void graph_let_go(struct graph *g)
{
    for (size_t i = 0; i < g->kept_count && graph_ok(g); i++) {
        g->t->unit = g->kept[i].unit;
        g->t->sub = g->kept[i].sub;
        tape_unref(g->t, g->kept[i].storage);
    }
    g->kept_count = 0;
    graph_leave(g);
}

void graph_keep_wide(struct graph *g, shape_id shape)
{
    size_t count = g->kept_count;
    for (size_t i = 0; i < count && graph_ok(g); i++) {
        const struct kept_alive k = g->kept[i];
        const struct storage *s = &g->t->storages[k.storage];
        if (s->dtype == DT_F32)
            continue;
        g->t->unit = k.unit;
        g->t->sub = k.sub;
        uint32_t wide =
            graph_scratch(g, OP_TO_COPY, (uint8_t)(s->name >> 6), PART_UPCAST, DT_F32, shape);
        graph_keep(g, wide, k.unit, k.sub);
        tape_unref(g->t, wide);
    }
    graph_leave(g);
}

// Another layer has taken the same input: parallel branches have one, too.
static bool graph_outlives(const struct graph *g, uint32_t storage)
{
    for (size_t i = g->outliving_count; i-- > 0 && g->outliving[i].unit == g->t->unit;)
        if (g->outliving[i].storage == storage)
            return true;
    return false;
}

void graph_outlive(struct graph *g, bool global, uint16_t weight, uint32_t storage)
{
    void *p = g->outliving;
    if (storage == TAPE_NONE || !graph_ok(g) || graph_outlives(g, storage) ||
        !graph_grow(g, &p, &g->outliving_cap, g->outliving_count + 1, sizeof *g->outliving))
        return;
    g->outliving = p;
    uint16_t slot =
        (uint16_t)(global ? SLOT_GRADIENT + weight : g->t->sub * LAYOUT_BLOCK_NUMBERS + weight);
    g->outliving[g->outliving_count++] = (struct outliving){
        storage, global ? TAPE_GLOBAL : g->t->unit, global ? 0 : g->t->sub, slot};
    tape_ref(g->t, storage);
}

void graph_outlived_go(struct graph *g)
{
    for (size_t i = 0; i < g->outliving_count && graph_ok(g); i++) {
        const struct outliving *o = &g->outliving[i];
        struct storage s = g->t->storages[o->storage];
        g->t->unit = o->unit;
        g->t->sub = o->sub;
        tape_earlier_goes(g->t, s.name, s.category, s.dtype, s.shape, o->slot);
        tape_move(g->t, o->storage, o->unit, o->slot);
    }
    g->outliving_count = 0;
    graph_leave(g);
}

void graph_outlived_since(struct graph *g, size_t count)
{
    while (graph_ok(g) && g->outliving_count > count)
        tape_unref(g->t, g->outliving[--g->outliving_count].storage);
}

void graph_saved_go(struct graph *g)
{
    if (!graph_ok(g))
        return;
    struct node *n = &g->nodes[g->running];
    for (unsigned k = 0; k < n->saved_count; k++) {
        tape_unref(g->t, n->saved[k]);
        n->saved[k] = TAPE_NONE;
    }
}

void graph_taken(struct graph *g, uint32_t storage)
{
    if (graph_ok(g) && storage != TAPE_NONE && graph_is_nanotron(g) &&
        g->m->c.tensor_parallel > 1 && g->m->c.sequence_parallel)
        g->t->storages[storage].taken = true;
}
