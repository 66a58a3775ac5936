// Owns the timeline of a step as JSON: moments with the bytes of each category.

#include "calc/write/json.h"
#include "calc/write/timeline_points.h"
#include "calc/write/write_json.h"

static void moment(struct json *j, const struct timeline_moment *m)
{
    json_open(j, NULL, '[');
    json_u64(j, NULL, m->event);
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        json_u64(j, NULL, m->by[c]);
    json_close(j, ']');
}

// The two moments of each column in their order; a column with one event has one.
static void points(struct json *j, const struct timeline *t)
{
    json_open(j, "points", '[');
    for (size_t i = 0; i < TIMELINE_COLUMNS; i++) {
        const struct timeline_moment *a = &t->low[i], *b = &t->high[i];
        if (i > 0 && b->event <= t->high[i - 1].event && a->event <= t->low[i - 1].event)
            continue;  // no event is in it
        bool low_first = a->event < b->event;
        moment(j, low_first ? a : b);
        if (a->event != b->event)
            moment(j, low_first ? b : a);
    }
    json_close(j, ']');
}

static void phases(struct json *j, const struct timeline *t)
{
    json_open(j, "phases", '[');
    for (size_t i = 0; i < t->phases; i++) {
        json_open(j, NULL, '{');
        json_str(j, "name", t->phase[i].name);
        json_u64(j, "begin", t->phase[i].begin);
        json_u64(j, "end", t->phase[i].end);
        json_close(j, '}');
    }
    json_close(j, ']');
}

int json_timeline(struct vram *v)
{
    struct timeline *t;
    int rc = timeline_record(v, &t);
    if (rc == VRAM_OK) {
        struct json j = json_of(&v->text);
        json_open(&j, NULL, '{');
        json_str(&j, "schema", VRAM_SCHEMA);
        json_u64(&j, "events", t->events);
        json_u64(&j, "peak_bytes", t->peak);
        json_u64(&j, "peak_event", t->peak_event);
        json_open(&j, "categories", '[');
        for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
            json_str(&j, NULL, vram_category_name(c));
        json_close(&j, ']');
        phases(&j, t);
        points(&j, t);
        json_close(&j, '}');
        json_end(&j);
    }
    timeline_free(v, t);
    return rc;
}
