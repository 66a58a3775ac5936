// Owns what a Python file takes out of files of settings: values, sections, and what the script
// changes of them. Nothing is run.

#include "calc/parse/python_files.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"
#include "calc/parse/python_way.h"
#include "calc/parse/settings.h"

// ---- changes ---------------------------------------------------------------------------------

// What a line sets or updates, if it can be something of a file: cfg["a"]["b"] = x, cfg.update(x).
static struct span target_of(const char *line, const char *end)
{
    const char *first = way_spaces(line, end), *stop = way_line_end(first, end);
    struct span text = {first, (size_t)(stop - first)}, none = {first, 0};
    size_t update = span_find(text, ".update("), is = span_find(text, "=");
    struct span target = {first, update < text.len ? update : is};
    bool sets = update < text.len ||
                (is + 1 < text.len && text.at[is + 1] != '=' && span_find(target, "(") == is &&
                 (span_find(target, "[") < is || span_find(target, ".") < is));
    return sets && python_is_name_byte(*first) ? span_trim(target) : none;
}

// All lines that set or update what is in a file, each with its place there.
static void find_changes(const struct python_names *n)
{
    struct python_changes *c = n->changes;
    c->made = true;
    for (const char *line = n->begin; line < n->end; line = way_next_line(line, n->end)) {
        struct way w = {.n = n, .soft = SIZE_MAX};
        struct span target = target_of(line, n->end);
        const char *end = target.at + target.len;
        // a name, self.name: the line binds it
        bool binds = way_name(target.at, end).len == target.len;
        if (target.len == 0 || (binds && *way_spaces(end, n->end) == '=') ||
            way_walk(&w, target.at, end) != end)
            continue;
        char *path = mem_arena_new(n->arena, w.len + 1, 1);
        c->unknown = c->unknown || !path || c->count == PYTHON_CHANGES;
        if (c->unknown)
            return;
        mem_copy(path, w.path, w.len);
        c->at[c->count++] = (struct python_change){{path, w.len}, line};
    }
}

// Does a line set what is at the path, or what it is in?
static bool is_changed(const struct way *w)
{
    const struct python_changes *c = w->n->changes;
    struct python_names outside = *w->n;
    outside.functions_in = 0;
    if (!c->made)
        find_changes(w->n);
    bool changed = c->unknown || *w->n->steps == 0;
    for (size_t i = 0; i < c->count && !changed; i++) {
        struct span path = c->at[i].path;
        bool above = path.len <= w->len && text_equal(w->path, path.len, path.at) &&
                     (path.len == w->len || path.len == 0 || w->path[path.len] == '.');
        changed = above && python_condition(&outside, c->at[i].line) != PYTHON_NEVER;
    }
    return changed;
}

// ---- values ----------------------------------------------------------------------------------

// What .get(key, default) gives where its section has no such key.
static bool take_default(const struct way *w, struct py_value *out)
{
    const struct python_names *n = w->n;
    struct span above = {w->path, w->len}, value;
    while (above.len > 0 && above.at[above.len] != '.')
        above.len--;
    bool none = settings_find(n->v, above, &value) == SETTINGS_NONE;
    if (none && above.len > w->soft)
        above.len = w->soft;
    if (!w->gets || (above.len ? settings_find(n->v, above, &value) != SETTINGS_MAPPING
                               : !settings_are_given(n->v, above)))
        return false;
    struct py_names names = python_names_of(n);
    struct py_error error = {0};
    *out = (struct py_value){.kind = PY_NONE};
    if (w->fallback)
        py_eval(&names, true, w->fallback, n->end, out, &error);
    return !error.at && out->kind != PY_UNKNOWN;
}

// getattr(torch, "bfloat16"), whose name is as good as its last word.
static bool of_torch(const struct python_names *n, struct span expression, struct py_value *out)
{
    static const char begin[] = "getattr(torch,";
    struct py_names names = python_names_of(n);
    struct py_error error = {0};
    if (!span_starts(expression, begin))
        return false;
    struct py_value v;
    py_eval(&names, true, way_blank(expression.at + sizeof begin - 1, n->end), n->end, &v, &error);
    if (error.at || v.kind != PY_STR)
        return false;
    *out = v;
    return true;
}

static bool find_setting(const struct python_names *n, struct span expression, struct py_value *out)
{
    struct way w = {.n = n, .soft = SIZE_MAX};
    struct span value = {"", 0}, path;
    if (of_torch(n, expression, out))
        return true;
    const char *end = expression.at + expression.len;
    const char *next = way_spaces(end, n->end);
    bool goes_on = next < n->end && (*next == '[' || *next == '.' || *next == '(');
    if (!n->v || goes_on || *n->steps == 0 || way_walk(&w, expression.at, end) != end || w.len == 0)
        return false;
    path = (struct span){w.path, w.len};
    enum settings_found found = settings_find(n->v, path, &value);
    struct py_value v = settings_typed(value);
    bool said = found == SETTINGS_VALUE || (found == SETTINGS_NONE && take_default(&w, &v));
    *n->asked = *n->asked || (found == SETTINGS_NONE && !said);
    if (!said || is_changed(&w))
        return false;
    *out = v;
    return true;
}

const char *python_section(const struct python_names *n, const char *at, const char *end,
                           struct span *path)
{
    struct way w = {.n = n, .soft = SIZE_MAX};
    struct span value;
    const char *behind = n->v ? way_walk(&w, at, end) : NULL;
    if (!behind)
        return NULL;
    *path = (struct span){w.path, w.len};
    enum settings_found found = settings_find(n->v, *path, &value);
    bool whole = w.len == 0 && settings_are_given(n->v, (struct span){"", 0});
    *n->asked = *n->asked || (found == SETTINGS_NONE && !whole);
    char *own = mem_arena_new(n->arena, w.len + 1, 1);
    if (!own || (found != SETTINGS_MAPPING && !whole) || is_changed(&w))
        return NULL;
    mem_copy(own, w.path, w.len);
    path->at = own;
    return behind;
}

int python_files_begin(struct python_names *n, const struct vram *v)
{
    struct span text = {n->begin, (size_t)(n->end - n->begin)};
    size_t len;
    n->setting = find_setting;
    n->asked = mem_arena_new(n->arena, 1, sizeof *n->asked);
    n->changes = mem_arena_new(n->arena, 1, sizeof *n->changes);
    n->ways = mem_arena_new(n->arena, 1, sizeof *n->ways);
    for (const char *at = n->begin; at < n->end && !n->v; at++)
        if (python_load_at(n->begin, at, n->end, &len))
            n->v = v;
    n->v = span_find(text, "@hydra.main(") < text.len ? v : n->v;
    return n->asked && n->changes && n->ways ? VRAM_OK : VRAM_ENOMEM;
}
