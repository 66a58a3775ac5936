// The pictures for previews of pages (og:image): the parts of a page's first bar or card as a band
// of colours, without letters. Only where the site's address is known; pages with the same parts
// share a file.
#include <stdlib.h>

#include "gen/base/png.h"
#include "gen/site/output/rendered.h"

enum { WIDTH = 600, HEIGHT = 315, EDGE = 40, TOP = 90, BOTTOM = 225 };

// The light colours of the stylesheet, by category; what is none of these is grey.
// tests/browser/pictures.mjs compares them.
static const struct {
    const char *category;
    uint32_t rgb;
} colours[] = {
    {"", 0xfdfcf9},
    {"cat", 0x8f877b},
    {"logits", 0xab0d00},
    {"activations", 0xd77014},
    {"backward", 0xffbe71},
    {"parameters", 0x16393a},
    {"gradients", 0x356d74},
    {"optimizer", 0x6c9ba1},
    {"weight_casts", 0xaad6e7},
    {"context", 0x60604d},
    {"cache", 0x9c8c74},
    {"workspaces", 0xcec8b8},
    {"inputs", 0x7862cb},
    {"kv_cache", 0xab98ff},
    {"limit", 0x1f1c18},
};
enum { COLOURS = sizeof colours / sizeof *colours, GREY = 1, LIMIT = COLOURS - 1 };

static uint8_t colour_of(str category)
{
    for (uint8_t i = 0; i < COLOURS; i++)
        if (str_eq(category, str_c(colours[i].category)))
            return i;
    return GREY;
}

static void fill(uint8_t *pixels, double from, double to, uint32_t top, uint32_t bottom,
                 uint8_t colour)
{
    for (uint32_t y = top; y < bottom; y++)
        for (uint32_t x = (uint32_t)(from + 0.5); x < (uint32_t)(to + 0.5); x++)
            pixels[(size_t)y * WIDTH + x] = colour;
}

// A line is "category bytes"; that of "limit" is where the card ends.
static bool next_part(str *rest, str *category, double *bytes)
{
    str line;
    if (!str_line(rest, &line))
        return false;
    size_t space = str_find(line, ' ');
    *category = str_slice(line, 0, space);
    *bytes = strtod(line.ptr + space, NULL);
    return true;
}

static void make_preview(struct build *b, str parts, buf *out)
{
    str rest = parts, category;
    double bytes, sum = 0, limit = 0, at = EDGE;
    uint32_t palette[COLOURS];
    uint8_t *pixels = arena_new(&b->site.arena, uint8_t, WIDTH * HEIGHT);
    while (next_part(&rest, &category, &bytes))
        *(colour_of(category) == LIMIT ? &limit : &sum) += bytes;
    double scale = (WIDTH - 2 * EDGE) / (sum > limit ? sum : limit);
    for (rest = parts; next_part(&rest, &category, &bytes);) {
        if (colour_of(category) == LIMIT)
            continue;
        fill(pixels, at, at + bytes * scale, TOP, BOTTOM, colour_of(category));
        at += bytes * scale;
    }
    if (limit > 0)
        fill(pixels, EDGE + limit * scale - 2, EDGE + limit * scale + 2, TOP - 30, BOTTOM + 30,
             LIMIT);
    for (size_t i = 0; i < COLOURS; i++)
        palette[i] = colours[i].rgb;
    png_write(pixels, WIDTH, HEIGHT, palette, COLOURS, out);
}

void preview_write(struct build *b)
{
    struct map written = {0};
    for (size_t i = 0; i < b->site.document_count; i++)
        for (size_t l = 0; l < b->site.language_count; l++) {
            const struct rendered_page *p = rendered_of(b, i, l);
            bool is_new;
            if (!p || !p->preview.len)
                continue;
            str parts = p->preview, url = figures_preview_url(parts, &b->site.arena);
            map_put(&written, &b->site.arena, url, &is_new);
            if (is_new && output_begin(b, url, str_hash(parts))) {
                buf bytes = BUF_INIT;
                make_preview(b, parts, &bytes);
                output_end(b, url, str_hash(parts), &bytes);
            }
        }
}
