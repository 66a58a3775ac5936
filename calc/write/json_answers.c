// Owns the answers as JSON: the members that vram_visit names, configurations.

#include "calc/answer/answers.h"
#include "calc/replay/run.h"
#include "calc/write/json_parts.h"
#include "calc/write/visit_objects.h"
#include "calc/write/write_json.h"

static void put(struct vram *v, const struct object *kind, const void *object,
                const struct vram_config *config)
{
    struct json_visit to = {json_of(&v->text), config};
    visit_object(kind, object, NULL, &json_visitor, &to);
    json_end(&to.j);
}

void json_report(struct vram *v)
{
    put(v, &visit_result, &v->result, &v->config);
}

void json_advice(struct vram *v)
{
    const struct advice_list *list = answers_made(v)->advice;
    put(v, &visit_advice, &list->out, &list->plan);
}

void json_segments(struct vram *v)
{
    put(v, &visit_segments, segments_made(v), NULL);
}

#define ANSWER(name) \
    void json_##name(struct vram *v) \
    { \
        put(v, &visit_##name, &answers_made(v)->name, NULL); \
    }
ANSWER(fit)
ANSWER(max_batch)
ANSWER(solution)
ANSWER(cards)
ANSWER(serving)
ANSWER(oom)
ANSWER(comparison)
ANSWER(snapshot)

void json_config(struct vram *v)
{
    struct json j = json_of(&v->text);
    json_fields(&j, NULL, &v->config);
    json_end(&j);
}

void json_error(struct vram *v)
{
    put(v, &visit_error, &v->err.out, NULL);
}

void json_gpus(struct vram *v)
{
    const struct vram_gpu *g;
    struct json_visit to = {json_of(&v->text), NULL};
    json_open(&to.j, NULL, '[');
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++)
        visit_object(&visit_gpu, g, NULL, &json_visitor, &to);
    json_close(&to.j, ']');
    json_end(&to.j);
}
