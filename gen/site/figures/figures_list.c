// records() and gpus() in a cell: the records of measurements with their results, and the GPUs that
// they are of.
#include <math.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/text/address.h"
#include "gen/text/front.h"
#include "gen/site/source/each.h"
#include "gen/site/source/measurements.h"
#include "gen/site/documents/nav.h"
#include "gen/base/escape.h"

static void put_word(const struct language *l, const char *key, buf *out)
{
    buf words = BUF_INIT;
    if (!catalog_format(l->catalog, str_c(key), NULL, 0, &words, NULL))
        buf_printf(&words, "%s", key);
    escape_text(out, buf_view(&words));
    buf_free(&words);
}

static void put_head_cell(const struct language *l, const char *key, const char *attributes,
                          buf *out)
{
    buf_printf(out, "<th scope=\"col\"%s>", attributes);
    put_word(l, key, out);
    buf_lit(out, "</th>");
}

// Units of the schema as they are read: how many of them one of ours is.
// SRC: kernels/vramprobe.schema.json, value.unit
static const struct {
    const char *unit, *shown;
    double scale;
} units[] = {
    {"B/s", "GB/s", 1e9}, {"FLOP/s", "TFLOP/s", 1e12},
    {"s", "ms", 1e-3},    {"tokens/s", "tokens/s", 1},
    {"count", "", 1},     {"ratio", "", 1},
};

static void put_number(const struct locale *l, double v, const char *unit, buf *out)
{
    if (strcmp(unit, "B") == 0) {
        bool small = fabs(v) < byte_unit_size(UNIT_MiB);
        locale_bytes(l, v, small ? UNIT_B : UNIT_MiB, small ? 0 : 1, out);
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        double shown = v / units[i].scale;
        locale_number(l, shown, shown == floor(shown) ? 0 : fabs(shown) < 1 ? 4 : 2, out);
        if (*units[i].shown)
            buf_printf(out, "\xc2\xa0%s", units[i].shown);
        return;
    }
}

static void put_value(const struct language *l, const struct rjson *value, buf *out)
{
    const struct rjson *v = rjson_get(value, "value");
    buf text = BUF_INIT;
    buf_lit(out, "<code>");
    escape_text(out, str_c(value->key));
    buf_lit(out, "</code> ");
    if (isfinite(rjson_number(v))) {
        put_number(l->locale, rjson_number(v), measurement_text(value, "unit"), &text);
        buf_printf(out, "<data class=\"fig measured\" value=\"%.15g\">", rjson_number(v));
        escape_text(out, buf_view(&text));
        buf_lit(out, "</data>");
    } else {
        escape_text(out, str_c(measurement_text(value, "value")));
    }
    buf_free(&text);
}

// "n=1024 dtype=float16", as the record has it.
static void put_config(const struct rjson *config, buf *out)
{
    const char *before = "";
    for (const struct rjson *v = config->first; v; v = v->next) {
        escape_text(out, str_c(before));
        escape_text(out, str_c(v->key));
        buf_char(out, '=');
        if (v->kind == RJSON_STRING)
            escape_text(out, str_c(v->text));
        else if (v->kind == RJSON_BOOL)
            buf_str(out, v->truth ? STR("true") : STR("false"));
        else
            buf_printf(out, "%.15g", rjson_number(v));
        before = " ";
    }
}

static void put_outcome(const struct language *l, const struct rjson *result, buf *out)
{
    const char *status = measurement_text(result, "status"), *before = "";
    if (strcmp(status, "ok") != 0) {
        buf key = BUF_INIT;
        buf_printf(&key, "records.status.%s", status);
        put_word(l, key.ptr, out);
        buf_free(&key);
        return;
    }
    for (const struct rjson *value = rjson_get(result, "values")->first; value;
         value = value->next) {
        buf_printf(out, "%s", before);
        put_value(l, value, out);
        before = "; ";
    }
}

static void put_result(const struct language *l, const struct rjson *result, buf *out)
{
    buf_lit(out, "<tr><th scope=\"row\">");
    escape_text(out, str_c(measurement_text(result, "experiment")));
    buf_lit(out, "</th><td>");
    escape_text(out, str_c(measurement_text(result, "engine")));
    buf_lit(out, "</td><td>");
    put_config(rjson_get(result, "config"), out);
    buf_lit(out, "</td><td>");
    put_outcome(l, result, out);
    buf_lit(out, "</td></tr>\n");
}

static void put_origin(const struct language *l, const char *key, const char *text, buf *out)
{
    if (!*text)
        return;
    buf_lit(out, "<bdi>");
    put_word(l, key, out);
    buf_lit(out, " ");
    escape_text(out, str_c(text));
    buf_lit(out, "</bdi>; ");
}

// The day of a record, as the page's language writes it; what is no date stays as it is.
static void put_day(const struct language *l, str created, buf *out)
{
    int64_t seconds;
    buf_printf(out, "<time datetime=\"%.*s\">", STR_ARG(created));
    if (front_date(created, &seconds))
        locale_date(l->locale, seconds, DATE_LONG, out);
    else
        escape_text(out, created);
    buf_lit(out, "</time>");
}

static void put_record(const struct language *l, const struct measurement *r, buf *out)
{
    const struct rjson *software = rjson_get(r->root, "software"),
                       *tool = rjson_get(r->root, "tool");
    buf_lit(out, "<p>");
    put_origin(l, "records.driver", measurement_text(software, "driver"), out);
    put_origin(l, "records.torch", measurement_text(software, "torch"), out);
    put_origin(l, measurement_text(tool, "name"), measurement_text(tool, "version"), out);
    put_day(l, r->created, out);
    buf_lit(out, "; <code>");
    escape_text(out, r->id);
    buf_lit(out, "</code></p>\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(out, r->id);
    buf_lit(out, "\"><table>\n<thead><tr>");
    put_head_cell(l, "records.experiment", "", out);
    put_head_cell(l, "records.engine", "", out);
    put_head_cell(l, "records.config", "", out);
    put_head_cell(l, "records.result", "", out);
    buf_lit(out, "</tr></thead>\n<tbody>\n");
    for (const struct rjson *result = rjson_get(r->root, "results")->first; result;
         result = result->next)
        put_result(l, result, out);
    buf_lit(out, "</tbody></table></div>\n");
}

// One section for each kind of GPU, in order of its newest record; only that of slug, if there is
// one.
static void put_devices(const struct language *l, const struct measurements *list, str slug,
                        buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct measurement *first = &list->items[i];
        if (measurements_seen(list, i) || (slug.len && !str_eq(first->slug, slug)))
            continue;
        buf_lit(out, "<div class=\"block\">\n");
        if (!slug.len) {
            buf_lit(out, "<h2>");
            escape_text(out, first->device);
            buf_lit(out, "</h2>\n");
        }
        for (size_t k = i; k < list->count; k++)
            if (str_eq(first->slug, list->items[k].slug))
                put_record(l, &list->items[k], out);
        buf_lit(out, "</div>\n");
    }
}

// The document of a kind of GPU, or NULL.
static const struct document *document_for(const struct site *site, str device)
{
    for (size_t i = 0; i < site->document_count; i++)
        if (each_recorded(site->documents[i]->source) &&
            str_eq(site->documents[i]->source->subject, device))
            return site->documents[i];
    return NULL;
}

static void put_device_name(struct figures *f, str device, buf *out)
{
    const struct document *doc = document_for(f->site, device);
    str url = doc ? nav_url(f->site, doc, f->page->language, &f->arena) : STR_NONE;
    buf link = BUF_INIT;
    if (url.len) {
        buf_lit(out, "<a href=\"");
        address_relative(f->page->url, url, &link);
        escape_attribute(out, buf_view(&link));
        buf_lit(out, "\">");
    }
    escape_text(out, device);
    if (url.len)
        buf_lit(out, "</a>");
    buf_free(&link);
}

// A kind of GPU, whose newest record is items[i]: its page, its memory, how many results its
// records have, the day of the newest.
static void put_device(struct figures *f, const struct measurements *list, size_t i, buf *out)
{
    size_t results = 0;
    const struct locale *l = f->page->language->locale;
    const struct measurement *newest = &list->items[i];
    for (size_t k = i; k < list->count; k++)
        if (str_eq(newest->slug, list->items[k].slug))
            for (const struct rjson *x = rjson_get(list->items[k].root, "results")->first; x;
                 x = x->next)
                results++;
    buf_lit(out, "<tr><th scope=\"row\">");
    put_device_name(f, newest->device, out);
    buf_lit(out, "</th><td class=\"right\">");
    locale_bytes(l,
                 rjson_number(rjson_get(rjson_get(newest->root, "device"), "memory_total_bytes")),
                 UNIT_MiB, 0, out);
    buf_lit(out, "</td><td class=\"right\">");
    locale_number(l, (double)results, 0, out);
    buf_lit(out, "</td><td>");
    put_day(f->page->language, newest->created, out);
    buf_lit(out, "</td></tr>\n");
}

static void put_device_table(struct figures *f, const struct measurements *list, buf *out)
{
    const struct language *l = f->page->language;
    buf_lit(
        out,
        "<div class=\"block\">\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    put_word(l, "records.gpus", out);
    buf_lit(out, "\"><table>\n<thead><tr>");
    put_head_cell(l, "records.gpu", "", out);
    put_head_cell(l, "records.memory", " class=\"right\"", out);
    put_head_cell(l, "records.results", " class=\"right\"", out);
    put_head_cell(l, "records.newest", "", out);
    buf_lit(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < list->count; i++)
        if (!measurements_seen(list, i))
            put_device(f, list, i, out);
    buf_lit(out, "</tbody></table></div>\n</div>\n");
}

static struct figures *cell_figures(lua_State *L, const char *name)
{
    struct figures *f = figures_of(L);
    if (f->in_page_lua || !f->page)
        luaL_error(L, "%s() belongs into a cell", name);
    sandbox_charge(L, 2000);
    return f;
}

// Leaves what put wrote; says that there is nothing if it wrote nothing.
static int leave(lua_State *L, struct figures *f, buf *html)
{
    if (!html->len) {
        buf_lit(html, "<div class=\"block\">\n<p><strong>");
        put_word(f->page->language, "records.none", html);
        buf_lit(html, "</strong></p>\n</div>\n");
    }
    str kept = arena_str(&f->arena, buf_view(html));
    buf_free(html);
    return chart_push(L, kept);
}

// records(): all of them, by GPU; records(gpu): those of one kind of GPU, by its name.
static int list_records(lua_State *L)
{
    struct figures *f = cell_figures(L, "records");
    buf html = BUF_INIT;
    const struct measurements *list = &f->site->measurements;
    str gpu = str_c(luaL_optstring(L, 1, ""));
    put_devices(f->page->language, list, gpu.len ? measurements_slug(gpu, &f->arena) : STR_NONE,
                &html);
    return leave(L, f, &html);
}

static int list_gpus(lua_State *L)
{
    struct figures *f = cell_figures(L, "gpus");
    buf html = BUF_INIT;
    const struct measurements *list = &f->site->measurements;
    if (list->count)
        put_device_table(f, list, &html);
    return leave(L, f, &html);
}

// kinds(): each kind of figure with its line below it, and what it rests on.
static int list_kinds(lua_State *L)
{
    struct figures *f = cell_figures(L, "kinds");
    const struct language *l = f->page->language;
    buf html = BUF_INIT;
    buf_lit(
        &html,
        "<div class=\"block\">\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    put_word(l, "sources.kind", &html);
    buf_lit(&html, "\"><table>\n<thead><tr>");
    put_head_cell(l, "sources.kind", "", &html);
    put_head_cell(l, "sources.source", "", &html);
    buf_lit(&html, "</tr></thead>\n<tbody>\n");
    static const char *const names[] = {"computed", "measured", "reported", "claimed", "given"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        buf_printf(&html, "<tr><th scope=\"row\"><span class=\"fig %s\">", names[i]);
        put_word(l, arena_printf(&f->arena, "figure.kind.%s", names[i]).ptr, &html);
        buf_lit(&html, "</span></th><td>");
        put_word(l, arena_printf(&f->arena, "figure.about.%s", names[i]).ptr, &html);
        buf_lit(&html, "</td></tr>\n");
    }
    buf_lit(&html, "</tbody></table></div>\n</div>\n");
    return leave(L, f, &html);
}

void figures_open_list(lua_State *L)
{
    lua_pushcfunction(L, list_kinds);
    lua_setfield(L, -2, "kinds");
    lua_pushcfunction(L, list_records);
    lua_setfield(L, -2, "records");
    lua_pushcfunction(L, list_gpus);
    lua_setfield(L, -2, "gpus");
}
