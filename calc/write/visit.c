// Owns the walk over the members of a struct.

#include "calc/write/visit_objects.h"

struct visit {
    const struct vram_visitor *to;
    void *ctx;
};

static void visit_members(const struct visit *v, const struct object *o, const char *base,
                          const char *outer);

static uint64_t number_at(const void *p, unsigned width)
{
    switch (width) {
    case 1: return *(const uint8_t *)p;
    case 4: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

static const void *pointer_at(const char *p)
{
    return *(const void *const *)(const void *)p;
}

static void visit_one(const struct visit *v, const char *key, const struct object *o,
                      const char *base, const char *outer)
{
    if (!base) {
        v->to->text(v->ctx, key, NULL);
        return;
    }
    v->to->open(v->ctx, key, o->kind);
    visit_members(v, o, base, outer);
    v->to->close(v->ctx, o->kind);
}

static void visit_list(const struct visit *v, const struct member *m, const char *base)
{
    const char *element = pointer_at(base + m->at);
    size_t count = *(const size_t *)(const void *)(base + m->count_at);
    v->to->open(v->ctx, m->name, NULL);
    for (size_t i = 0; i < count; i++)
        visit_one(v, NULL, m->by.object, element + i * m->size, base);
    v->to->close(v->ctx, NULL);
}

static void visit_shape(const struct visit *v, const struct member *m, const char *base)
{
    const uint64_t *dims = (const void *)(base + m->at);
    v->to->open(v->ctx, m->name, NULL);
    for (unsigned i = 0; i < m->width && dims[i]; i++)
        v->to->number(v->ctx, NULL, dims[i], VRAM_UNIT_NONE);
    v->to->close(v->ctx, NULL);
}

// ---- members of one struct alone -------------------------------------------------------------

static void visit_args(const struct visit *v, const char *name, const struct vram_message *m)
{
    v->to->open(v->ctx, name, "vram.args");
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i].text)
            v->to->text(v->ctx, m->args[i].name, m->args[i].text);
        else
            v->to->number(v->ctx, m->args[i].name, m->args[i].number, VRAM_UNIT_NONE);
    v->to->close(v->ctx, "vram.args");
}

static void visit_breakdown(const struct visit *v, const char *name, const struct vram_result *r)
{
    v->to->open(v->ctx, name, "vram.breakdown");
    for (uint32_t c = 0; c < r->category_count; c++)
        v->to->number(v->ctx, vram_category_name(c), r->by_category[c], VRAM_UNIT_BYTES);
    v->to->close(v->ctx, "vram.breakdown");
}

static void visit_plan(const struct visit *v, const char *name, const struct vram_advice *a)
{
    v->to->open(v->ctx, name, NULL);
    for (size_t i = 0; i < a->change_count; i++)
        if (a->changes[i].in_plan)
            v->to->text(v->ctx, NULL, a->changes[i].what);
    v->to->close(v->ctx, NULL);
}

static void visit_capacity_of(const struct visit *v, const struct vram_gpu *card)
{
    struct vram_capacity totals;
    if (vram_gpu_capacity(card, NULL, &totals))
        visit_members(v, &visit_capacity, (const char *)&totals, NULL);
}

// ---- any member ------------------------------------------------------------------------------

static void visit_number(const struct visit *v, const struct member *m, const char *p)
{
    uint64_t n = number_at(p, m->width);
    switch (m->kind) {
    case MEMBER_NUMBER: v->to->number(v->ctx, m->name, n, m->unit); break;
    case MEMBER_LAYER:
        if ((int64_t)n < 0) {
            v->to->text(v->ctx, m->name, NULL);
            break;
        }
        // fall through
    case MEMBER_DIFFERENCE: v->to->difference(v->ctx, m->name, (int64_t)n); break;
    case MEMBER_TENTHS: v->to->fixed(v->ctx, m->name, n, 1); break;
    case MEMBER_WORD: v->to->text(v->ctx, m->name, m->by.word((uint32_t)n)); break;
    default: v->to->truth(v->ctx, m->name, m->by.truth ? m->by.truth((uint32_t)n) : n != 0);
    }
}

static void visit_sentence(const struct visit *v, const char *name, const struct vram_message *m)
{
#ifndef __wasm__  // where no sentence has English
    char text[VRAM_SENTENCE];
    if (v->to->door != VRAM_DOOR_COMMAND) {
        vram_say(m, v->to->door, text);
        v->to->text(v->ctx, name, text);
        return;
    }
#endif
    v->to->text(v->ctx, name, m->text);
}

static void visit_member(const struct visit *v, const struct member *m, const char *base)
{
    const char *p = base + m->at;
    switch (m->kind) {
    case MEMBER_SCHEMA: v->to->text(v->ctx, m->name, VRAM_SCHEMA); break;
    case MEMBER_TEXT: v->to->text(v->ctx, m->name, pointer_at(p)); break;
    case MEMBER_MEMBERS: visit_members(v, m->by.object, p, base); break;
    case MEMBER_OBJECT: visit_one(v, m->name, m->by.object, p, base); break;
    case MEMBER_POINTER: visit_one(v, m->name, m->by.object, pointer_at(p), base); break;
    case MEMBER_LIST: visit_list(v, m, base); break;
    case MEMBER_CODE:
        v->to->text(v->ctx, m->name, vram_code_name(*(const enum vram_code *)(const void *)p));
        break;
    case MEMBER_SHAPE: visit_shape(v, m, base); break;
    case MEMBER_ARGS: visit_args(v, m->name, (const void *)base); break;
    case MEMBER_SENTENCE: visit_sentence(v, m->name, (const void *)base); break;
    case MEMBER_BREAKDOWN: visit_breakdown(v, m->name, (const void *)base); break;
    case MEMBER_PLAN: visit_plan(v, m->name, (const void *)base); break;
    case MEMBER_CAPACITY: visit_capacity_of(v, (const void *)base); break;
    case MEMBER_CONFIG: v->to->config(v->ctx, m->name); break;
    default: visit_number(v, m, p);
    }
}

// Where a member has no value: an object within says so itself, members without one are left out.
static void visit_members(const struct visit *v, const struct object *o, const char *base,
                          const char *outer)
{
    bool has_value = true;
    for (const struct member *m = o->members; m < o->members + o->count; m++)
        if (m->kind <= MEMBER_WHEN_OUTER) {
            const char *p = (m->kind == MEMBER_WHEN_OUTER ? outer : base) + m->at;
            has_value = (number_at(p, m->width) != 0) == (m->kind != MEMBER_UNLESS);
        } else {
            if (has_value)
                visit_member(v, m, base);
            else if (m->name)
                v->to->text(v->ctx, m->name, NULL);
            has_value = true;
        }
}

void visit_object(const struct object *kind, const void *object, const char *key,
                  const struct vram_visitor *visitor, void *ctx)
{
    const struct visit v = {visitor, ctx};
    visit_one(&v, key, kind, object, NULL);
}

void vram_visit(enum vram_object kind, const void *object, const struct vram_visitor *visitor,
                void *ctx)
{
    static const struct object *const objects[VRAM_OBJECT_COUNT] = {
#define X(id, name) [VRAM_OBJECT_##id] = &visit_##name,
        VRAM_OBJECTS(X)
#undef X
    };
    visit_object(objects[kind], object, NULL, visitor, ctx);
}
