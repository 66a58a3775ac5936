// Memory over the step as SVG: live bytes stacked by category, phases below, the peak marked.
//
// Readable without colour (legend in stacking order, hairlines between the areas), with a title and
// description for screen readers, in light and dark. Colours are classes, with plain attributes for
// where no style applies.

#include "calc/write/timeline.h"

#include "calc/base/text.h"
#include "calc/write/number.h"
#include "calc/write/timeline_points.h"

enum {
    COLUMNS = TIMELINE_COLUMNS,
    WIDTH = 960,
    HEIGHT = 460,
    LEFT = 74,
    TOP = 56,
    PLOT_W = 720,
    PLOT_H = 320
};

// Light and dark colours by category, from the bottom of the stack to its top; neighbours differ in
// lightness.
static const struct tint {
    const char *light, *dark;
} TINTS[VRAM_CAT_COUNT] = {
    {"#1f4e79", "#4f8cc9"}, {"#5b8db8", "#9cc4e8"}, {"#8c6bb1", "#b79ad8"}, {"#bfa3d6", "#dcc8ee"},
    {"#2b8a5f", "#4fb98a"}, {"#d9541e", "#f28350"}, {"#f2b134", "#ffd27a"}, {"#7a5c3a", "#b8956a"},
    {"#a0a0a0", "#8a8a8a"}, {"#5a5a5a", "#c0c0c0"},
};

// A tick that makes 4 to 8 steps: 1, 2 or 5 times a power of two of MiB would surprise, so powers
// of ten.
static uint64_t tick_mib(uint64_t peak)
{
    uint64_t mib = peak / NUMBER_MIB + 1, tick = 1;
    for (;;) {
        if (mib / tick <= 6)
            return tick;
        if (mib / (tick * 2) <= 6)
            return tick * 2;
        if (mib / (tick * 5) <= 6)
            return tick * 5;
        tick *= 10;
    }
}

static uint64_t y_of(uint64_t bytes, uint64_t top)
{
    return TOP + PLOT_H - (top ? bytes / (top / PLOT_H + 1) : 0);
}

static uint64_t x_of(uint64_t event, uint64_t events)
{
    return LEFT + (events ? event * PLOT_W / events : 0);
}

static void style(struct writer *w)
{
    writer_str(w, "<style>\n"
                  ".vt-text{font:12px "
                  "system-ui,sans-serif;fill:#1a1a1a}.vt-small{font-size:11px}.vt-head{font-size:"
                  "15px;font-weight:600}\n"
                  ".vt-paper{fill:#fff}.vt-grid{stroke:#ddd;fill:none}.vt-peak{stroke:#1a1a1a;fill:"
                  "none}.vt-area{stroke:#fff;stroke-width:.6}\n");
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        writer_f(w, ".vt-%s{fill:%s}", vram_category_name(c), TINTS[c].light);
    writer_str(w, "\n@media "
                  "(prefers-color-scheme:dark){.vt-text{fill:#eee}.vt-paper{fill:#16181c}.vt-grid{"
                  "stroke:#3a3d44}.vt-peak{stroke:#eee}.vt-area{stroke:#16181c}\n");
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        writer_f(w, ".vt-%s{fill:%s}", vram_category_name(c), TINTS[c].dark);
    writer_str(w, "}\n</style>\n");
}

static void text_at(struct writer *w, uint64_t x, uint64_t y, const char *classes,
                    const char *anchor)
{
    writer_f(w,
             "<text class=\"vt-text %s\" font-family=\"system-ui,sans-serif\" font-size=\"12\" "
             "text-anchor=\"%s\" x=\"%u\" y=\"%u\">",
             classes, anchor, x, y);
}

static void grid(struct writer *w, uint64_t top)
{
    uint64_t tick = tick_mib(top);
    for (uint64_t mib = 0; mib * NUMBER_MIB <= top; mib += tick) {
        uint64_t y = y_of(mib * NUMBER_MIB, top);
        writer_f(w, "<path class=\"vt-grid\" stroke=\"#ddd\" fill=\"none\" d=\"M%u %uh%u\"/>",
                 (uint64_t)LEFT, y, (uint64_t)PLOT_W);
        text_at(w, LEFT - 8, y + 4, "vt-small", "end");
        put_count(w, mib);
        writer_str(w, "</text>\n");
    }
    text_at(w, LEFT - 8, TOP - 14, "vt-small", "end");
    writer_str(w, "MiB</text>\n");
}

// Where a category's area begins (lower edge) or ends in a column.
static uint64_t edge(const struct timeline *t, size_t i, uint32_t category, bool upper,
                     uint64_t top)
{
    uint64_t below = 0;
    for (uint32_t c = 0; c < category + (upper ? 1U : 0U); c++)
        below += t->high[i].by[c];
    return y_of(below, top);
}

// One closed path for a category: along its upper edge and back along its lower one.
static void area(struct writer *w, const struct timeline *t, uint32_t category, uint64_t top)
{
    uint64_t most = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        most = t->high[i].by[category] > most ? t->high[i].by[category] : most;
    if (most == 0)
        return;
    writer_f(w, "<path class=\"vt-area vt-%s\" fill=\"%s\" d=\"M", vram_category_name(category),
             TINTS[category].light);
    for (size_t k = 0; k < 2 * COLUMNS; k++) {
        size_t i = k < COLUMNS ? k : 2 * COLUMNS - 1 - k;
        uint64_t y = edge(t, i, category, k < COLUMNS, top);
        bool ends = i == 0 || i + 1 == COLUMNS;
        if (!ends && y == edge(t, i - 1, category, k < COLUMNS, top) &&
            y == edge(t, i + 1, category, k < COLUMNS, top))
            continue;  // inside of a level stretch
        writer_f(w, "%s%u %u", k ? "L" : "", x_of(i, COLUMNS - 1), y);
    }
    writer_str(w, "Z\"><title>");
    writer_f(w, "%s: at most ", vram_category_name(category));
    put_mib_round(w, most);
    writer_str(w, " MiB</title></path>\n");
}

// "fwd:it0.m1" in a few letters under its part of the axis, if there is room.
static void phases(struct writer *w, const struct timeline *t)
{
    char words[NUMBER_PHASE];
    for (size_t i = 0; i < t->phases; i++) {
        const struct timeline_phase *p = &t->phase[i];
        uint64_t x0 = x_of(p->begin, t->events), x1 = x_of(p->end, t->events);
        writer_f(w,
                 "<path class=\"vt-grid\" stroke=\"#ddd\" fill=\"none\" d=\"M%u "
                 "%uv10\"><title>%s</title></path>",
                 x0, (uint64_t)(TOP + PLOT_H), phase_words(p->name, words));
        // the whole name, or its kind, or nothing, as there is room
        size_t len = text_len(p->name), kind = 0;
        while (p->name[kind] && p->name[kind] != ':')
            kind++;
        if (x1 < x0 + 7 * kind)
            continue;
        text_at(w, (x0 + x1) / 2, TOP + PLOT_H + 18, "vt-small", "middle");
        writer_f(w, "%.*s</text>\n", (int)(x1 < x0 + 7 * len ? kind : len), p->name);
    }
    text_at(w, LEFT, TOP + PLOT_H + 40, "vt-small", "start");
    writer_str(w, "allocations and frees in their order (not seconds); fwd forward, bwd backward, "
                  "it iteration, m micro-step</text>\n");
}

static void mark_peak(struct writer *w, const struct timeline *t, uint64_t top)
{
    uint64_t x = x_of(t->peak_event, t->events), y = y_of(t->peak, top);
    bool left = x > LEFT + PLOT_W / 2;
    writer_f(w,
             "<path class=\"vt-peak\" stroke=\"#1a1a1a\" fill=\"none\" stroke-dasharray=\"4 3\" "
             "d=\"M%u %uV%u\"/>",
             x, y, (uint64_t)(TOP + PLOT_H));
    text_at(w, left ? x - 6 : x + 6, y > TOP + 12 ? y - 6 : y + 14, "vt-head",
            left ? "end" : "start");
    writer_str(w, "peak ");
    put_mib_round(w, t->peak);
    writer_str(w, " MiB</text>\n");
}

static void legend(struct writer *w, const struct timeline *t)
{
    uint64_t y = TOP + 6;
    const struct timeline_moment *p = &t->high[t->events ? t->peak_event * COLUMNS / t->events : 0];
    text_at(w, LEFT + PLOT_W + 18, TOP - 14, "vt-small", "start");
    writer_str(w, "at the peak, MiB</text>\n");
    for (uint32_t c = VRAM_CAT_COUNT; c-- > 0;) {
        if (!p->by[c])
            continue;
        writer_f(w,
                 "<rect class=\"vt-%s\" fill=\"%s\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\"/>",
                 vram_category_name(c), TINTS[c].light, (uint64_t)(LEFT + PLOT_W + 18), y - 2);
        text_at(w, LEFT + PLOT_W + 36, y + 8, "vt-small", "start");
        writer_f(w, "%s ", vram_category_name(c));
        put_mib_round(w, p->by[c]);
        writer_str(w, "</text>\n");
        y += 22;
    }
}

static void description(struct writer *w, const struct timeline *t)
{
    char words[NUMBER_PHASE];
    const char *phase = "";
    for (size_t i = 0; i < t->phases; i++)
        if (t->peak_event >= t->phase[i].begin && t->peak_event < t->phase[i].end)
            phase = t->phase[i].name;
    const struct timeline_moment *p = &t->high[t->events ? t->peak_event * COLUMNS / t->events : 0];
    writer_str(w, "<title id=\"vt-title\">GPU memory over the step</title>\n<desc "
                  "id=\"vt-desc\">The peak of ");
    put_mib_round(w, t->peak);
    writer_f(w, " MiB is in %s. Alive there:", phase_words(phase, words));
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++) {
        if (!p->by[c])
            continue;
        writer_f(w, " %s ", vram_category_name(c));
        put_mib_round(w, p->by[c]);
        writer_str(w, " MiB;");
    }
    writer_str(w, "</desc>\n");
}

static void draw(struct writer *w, const struct vram *v, const struct timeline *t)
{
    uint64_t top = t->peak + t->peak / 20;
    writer_f(w,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vt\" role=\"img\" "
             "aria-labelledby=\"vt-title vt-desc\" viewBox=\"0 0 %u %u\">\n",
             (uint64_t)WIDTH, (uint64_t)HEIGHT);
    description(w, t);
    style(w);
    writer_f(w, "<rect class=\"vt-paper\" fill=\"#fff\" width=\"%u\" height=\"%u\"/>\n",
             (uint64_t)WIDTH, (uint64_t)HEIGHT);
    text_at(w, LEFT, 22, "vt-head", "start");
    writer_f(w, "%s, %u layer%s, width %u, %u x %u tokens</text>\n",
             vram_field_find("family")->values[v->config.family], v->config.n_layer,
             v->config.n_layer == 1 ? "" : "s", v->config.n_embd, v->config.batch_size,
             config_longest(&v->config));
    grid(w, top);
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        area(w, t, c, top);
    phases(w, t);
    mark_peak(w, t, top);
    legend(w, t);
    writer_str(w, "</svg>\n");
}

int timeline_svg(struct vram *v)
{
    struct timeline *t;
    int rc = timeline_record(v, &t);
    if (rc == VRAM_OK)
        draw(&v->text, v, t);
    timeline_free(v, t);
    return rc;
}
