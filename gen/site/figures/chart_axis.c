// What the drawings share: values of figures, axes with round ticks, texts and lines of SVG.
#include <math.h>

#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

// Words with their numbers as the language writes them: "8 x {1024}" is 8 x 1,024, or 8 x 1.024.
static void put_words(const struct locale *locale, str words, buf *out)
{
    for (size_t i = 0; i < words.len; i++) {
        size_t end = i + 1;
        int64_t number = 0;
        while (words.ptr[i] == '{' && end < words.len && end < i + 18 &&
               ascii_is_digit(words.ptr[end]))
            number = number * 10 + (words.ptr[end++] - '0');
        if (end > i + 1 && end < words.len && words.ptr[end] == '}') {
            locale_integer(locale, number, out);
            i = end;
        } else
            buf_char(out, words.ptr[i]);
    }
}

str chart_words(lua_State *L)
{
    struct figures *f = figures_of(L);
    const struct language *language = f->page->language;
    buf words = BUF_INIT;
    str key = STR("");
    if (lua_type(L, -1) == LUA_TSTRING)
        key.ptr = lua_tolstring(L, -1, &key.len);
    if (!catalog_format(language->catalog, key, NULL, 0, &words, NULL))
        put_words(language->locale, key, &words);
    str s = arena_str(&f->arena, buf_view(&words));
    buf_free(&words);
    lua_pop(L, 1);
    return s;
}

str chart_words_field(lua_State *L, int index, const char *name)
{
    lua_getfield(L, index, name);
    return chart_words(L);
}

bool chart_has(const struct chart_row *row, size_t column)
{
    return row->value[column] && !row->value[column]->missing;
}

double chart_value(const struct chart_row *row, size_t column)
{
    double scale = 1;
    if (!chart_has(row, column))
        return 0;
    figure_is_bytes(row->value[column]->unit, &scale);
    return fmax(0, row->value[column]->value * scale);
}

double chart_limit(const struct chart *c)
{
    double scale = 1;
    if (!c->limit || c->limit->missing)
        return 0;
    figure_is_bytes(c->limit->unit, &scale);
    return c->limit->value * scale;
}

void chart_letter(size_t row, double x, double y, buf *out)
{
    buf_printf(out, "<text class=\"on\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%c</text>\n",
               x, y + 4, (char)('A' + row % 26));
}

// The smallest of 1, 2 and 5 times a power of ten that is not less than v.
static double round_step(double v)
{
    double power = pow(10, floor(log10(v)));
    return v <= power       ? power
           : v <= 2 * power ? 2 * power
           : v <= 5 * power ? 5 * power
                            : 10 * power;
}

struct chart_axis chart_axis(double largest, double size)
{
    enum byte_unit unit = largest >= 2 * byte_unit_size(UNIT_GiB) ? UNIT_GiB : UNIT_MiB;
    double scale = byte_unit_size(unit), step = round_step(fmax(largest / scale, 1) / 5) * scale;
    return (struct chart_axis){.max = fmax(ceil(largest * 1.02 / step), 1) * step,
                               .step = step,
                               .size = size,
                               .unit = unit};
}

void chart_isolate(const struct chart *c, bool begins, buf *out)
{
    if (locale_rtl(c->language->locale))
        buf_str(out, begins ? STR("\xe2\x81\xa6") : STR("\xe2\x81\xa9"));
}

void chart_bytes(const struct chart *c, double bytes, enum byte_unit u, int decimals, buf *out)
{
    chart_isolate(c, true, out);
    locale_bytes(c->language->locale, bytes, u, decimals, out);
    chart_isolate(c, false, out);
}

void chart_named(const struct chart *c, str name, str value, buf *out)
{
    struct catalog_argument args[] = {{.name = STR("name"), .text = name},
                                      {.name = STR("value"), .text = value}};
    if (!catalog_format(c->language->catalog, STR("chart.named"), args, 2, out, NULL))
        buf_printf(out, "%.*s: %.*s", STR_ARG(name), STR_ARG(value));
}

void chart_named_bytes(const struct chart *c, str name, double bytes, enum byte_unit u,
                       int decimals, buf *out)
{
    buf value = BUF_INIT;
    chart_bytes(c, bytes, u, decimals, &value);
    chart_named(c, name, buf_view(&value), out);
    buf_free(&value);
}

void chart_text(buf *out, double x, double y, const char *anchor, str text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    escape_text(out, text);
    buf_lit(out, "</text>\n");
}

double chart_text_width(str text)
{
    double width = 0;
    for (size_t i = 0, n; i < text.len; i += n) {
        uint32_t sign = utf8_next(str_slice(text, i, text.len), &n);
        width += sign >= 0x2066 && sign <= 0x2069 ? 0 : sign >= 0x2E80 ? 12 : 6.5;
    }
    return width;
}

void chart_line(buf *out, const char *class, double x1, double y1, double x2, double y2)
{
    buf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2, y2);
}

static void tick_text(const struct chart *c, const struct chart_axis *a, double v, buf *text)
{
    buf_clear(text);
    chart_bytes(c, v, a->unit, a->step < byte_unit_size(a->unit) ? 1 : 0, text);
}

void chart_axis_x(const struct chart *c, const struct chart_axis *a, double x, double y, double up,
                  buf *out)
{
    buf text = BUF_INIT;
    double free_from = x;
    for (int i = 0; i * a->step <= a->max * 1.001; i++) {
        double at = x + i * a->step / a->max * a->size;
        bool last = (i + 1) * a->step > a->max * 1.001;
        tick_text(c, a, i * a->step, &text);
        double width = chart_text_width(buf_view(&text));
        last = last && at + width / 2 > CHART_WIDTH;
        double left = at - (i == 0 ? 0 : last ? width : width / 2);
        chart_line(out, "grid", at, y - up, at, y);
        if (left < free_from)
            continue;
        chart_text(out, at, y + 13, i == 0 ? "start" : last ? "end" : "middle", buf_view(&text));
        free_from = left + width + 3;
    }
    buf_free(&text);
}

void chart_axis_y(const struct chart *c, const struct chart_axis *a, double x, double y,
                  double width, buf *out)
{
    buf text = BUF_INIT;
    for (int i = 0; i * a->step <= a->max * 1.001; i++) {
        double at = y - i * a->step / a->max * a->size;
        tick_text(c, a, i * a->step, &text);
        chart_line(out, "grid", x, at, x + width, at);
        chart_text(out, x - 4, at + 4, "end", buf_view(&text));
    }
    buf_free(&text);
}
