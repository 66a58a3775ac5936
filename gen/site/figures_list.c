// records() in a cell: every record of a measurement, by GPU, with its origin and a table of its results.
#include <math.h>
#include <string.h>

#include "gen/site/figures_record.h"
#include "gen/text/escape.h"

static void put_word(const struct language *l, const char *key, buf *out)
{
    buf words = BUF_INIT;
    if (!catalog_format(l->catalog, str_c(key), NULL, 0, &words, NULL))
        buf_printf(&words, "%s", key);
    escape_text(out, buf_view(&words));
    buf_free(&words);
}

static void put_head_cell(const struct language *l, const char *key, buf *out)
{
    buf_lit(out, "<th scope=\"col\">");
    put_word(l, key, out);
    buf_lit(out, "</th>");
}

// ---- values ------------------------------------------------------------------------------------

// Units of the schema as they are read: how many of them one of ours is.
// SRC: kernels/vramprobe.schema.json, value.unit
static const struct { const char *unit, *shown; double scale; } units[] = {
    {"B/s", "GB/s", 1e9}, {"FLOP/s", "TFLOP/s", 1e12}, {"s", "ms", 1e-3}, {"tokens/s", "tokens/s", 1}, {"count", "", 1}, {"ratio", "", 1},
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

static void put_value(const struct language *l, const char *name, const json_t *value, buf *out)
{
    const json_t *v = json_object_get(value, "value");
    buf text = BUF_INIT;
    buf_lit(out, "<code>");
    escape_text(out, str_c(name));
    buf_lit(out, "</code> ");
    if (json_is_number(v)) {
        put_number(l->locale, json_number_value(v), record_text(value, "unit"), &text);
        buf_printf(out, "<data class=\"fig measured\" value=\"%.15g\">", json_number_value(v));
        escape_text(out, buf_view(&text));
        buf_lit(out, "</data>");
    } else {
        escape_text(out, str_c(record_text(value, "value")));
    }
    buf_free(&text);
}

// "n=1024 dtype=float16", as the record has it.
static void put_config(json_t *config, buf *out)
{
    const char *key, *before = "";
    json_t *v;
    json_object_foreach(config, key, v) {
        escape_text(out, str_c(before));
        escape_text(out, str_c(key));
        buf_char(out, '=');
        if (json_is_string(v))
            escape_text(out, str_c(json_string_value(v)));
        else if (json_is_boolean(v))
            buf_str(out, json_is_true(v) ? STR("true") : STR("false"));
        else
            buf_printf(out, "%.15g", json_number_value(v));
        before = " ";
    }
}

// ---- a record ----------------------------------------------------------------------------------

static void put_outcome(const struct language *l, json_t *result, buf *out)
{
    const char *status = record_text(result, "status"), *name, *before = "";
    json_t *value;
    if (strcmp(status, "ok") != 0) {
        buf key = BUF_INIT;
        buf_printf(&key, "records.status.%s", status);
        put_word(l, key.ptr, out);
        buf_free(&key);
        return;
    }
    json_object_foreach(json_object_get(result, "values"), name, value) {
        buf_printf(out, "%s", before);
        put_value(l, name, value, out);
        before = "; ";
    }
}

static void put_result(const struct language *l, json_t *result, buf *out)
{
    buf_lit(out, "<tr><th scope=\"row\">");
    escape_text(out, str_c(record_text(result, "experiment")));
    buf_lit(out, "</th><td>");
    escape_text(out, str_c(record_text(result, "engine")));
    buf_lit(out, "</td><td>");
    put_config(json_object_get(result, "config"), out);
    buf_lit(out, "</td><td>");
    put_outcome(l, result, out);
    buf_lit(out, "</td></tr>\n");
}

static void put_origin(const struct language *l, const char *key, const char *text, buf *out)
{
    if (!*text)
        return;
    put_word(l, key, out);
    buf_lit(out, " ");
    escape_text(out, str_c(text));
    buf_lit(out, "; ");
}

static void put_record(const struct language *l, const struct record *r, buf *out)
{
    json_t *software = json_object_get(r->root, "software"), *tool = json_object_get(r->root, "tool"), *result;
    size_t i;
    buf_lit(out, "<p>");
    put_origin(l, "records.driver", record_text(software, "driver"), out);
    put_origin(l, "records.torch", record_text(software, "torch"), out);
    put_origin(l, record_text(tool, "name"), record_text(tool, "version"), out);
    buf_printf(out, "<time datetime=\"%.*s\">%.10s</time>; <code>", STR_ARG(r->created), r->created.ptr);
    escape_text(out, r->id);
    buf_lit(out, "</code></p>\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(out, r->id);
    buf_lit(out, "\"><table>\n<thead><tr>");
    put_head_cell(l, "records.experiment", out);
    put_head_cell(l, "records.engine", out);
    put_head_cell(l, "records.config", out);
    put_head_cell(l, "records.result", out);
    buf_lit(out, "</tr></thead>\n<tbody>\n");
    json_array_foreach(json_object_get(r->root, "results"), i, result)
        put_result(l, result, out);
    buf_lit(out, "</tbody></table></div>\n");
}

static str device_of(const struct record *r)
{
    return str_c(record_text(json_object_get(r->root, "device"), "name"));
}

// One section for each GPU, in order of its newest record.
static void put_devices(const struct language *l, const struct record_list *list, buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !str_eq(device_of(&list->items[k]), device_of(&list->items[i]));
        if (!is_first)
            continue;
        buf_lit(out, "<section>\n<h2>");
        escape_text(out, device_of(&list->items[i]));
        buf_lit(out, "</h2>\n");
        for (size_t k = i; k < list->count; k++)
            if (str_eq(device_of(&list->items[k]), device_of(&list->items[i])))
                put_record(l, &list->items[k], out);
        buf_lit(out, "</section>\n");
    }
}

static int list_records(lua_State *L)
{
    struct figures *f = figures_of(L);
    buf html = BUF_INIT;
    if (f->in_page_lua || !f->page)
        return luaL_error(L, "records() belongs into a cell");
    const struct record_list *list = records_of(L);
    sandbox_charge(L, 2000);
    if (list->count) {
        put_devices(f->page->language, list, &html);
    } else {
        buf_lit(&html, "<section>\n<p><strong>");
        put_word(f->page->language, "records.none", &html);
        buf_lit(&html, "</strong></p>\n</section>\n");
    }
    str kept = arena_str(&f->arena, buf_view(&html));
    buf_free(&html);
    return chart_push(L, kept);
}

void figures_open_list(lua_State *L)
{
    lua_pushcfunction(L, list_records);
    lua_setfield(L, -2, "records");
}
