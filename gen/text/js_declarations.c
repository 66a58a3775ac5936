// Words behind const, let, var, function or import, and nothing but blanks between.
#include "gen/text/js_declarations.h"

static bool declares(str word)
{
    static const str words[] = {STR("const"), STR("let"), STR("var"), STR("function"),
                                STR("import")};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, words[i]))
            return true;
    return false;
}

// First and last of a name.
struct ends {
    struct js_declaration *first, *last;
};

static void note(struct js_declarations *all, str name, size_t at, arena *a)
{
    struct js_declaration *d = arena_new(a, struct js_declaration, 1);
    void **slot = map_put(&all->by_name, a, name, NULL);
    *d = (struct js_declaration){.at = at};
    if (!*slot)
        *slot = arena_new(a, struct ends, 1);
    struct ends *e = *slot;
    *(e->first ? &e->last->next : &e->first) = d;
    e->last = d;
}

static void find(struct js_declarations *all, str text, arena *a)
{
    str before = STR_NONE;  // the word that only blanks follow
    for (size_t at = 0, end; at < text.len; at = end) {
        for (end = at; end < text.len && js_is_name_byte(text.ptr[end]);)
            end++;
        str word = str_slice(text, at, end);
        if (word.len && declares(before))
            note(all, word, at, a);
        if (word.len)
            before = word;
        else if (str_trim(str_slice(text, at, ++end)).len)
            before = STR_NONE;
    }
    all->known = true;
}

const struct js_declaration *js_declarations_of(struct js_declarations *all, str text, str name,
                                                arena *a)
{
    if (!all->known)
        find(all, text, a);
    const struct ends *e = map_get(&all->by_name, name);
    return e ? e->first : NULL;
}
