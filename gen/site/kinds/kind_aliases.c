// What projects call their folders in paths: compilerOptions.paths of tsconfig.json, which may have
// comments. Source: typescriptlang.org/tsconfig, "paths".
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

static void add(struct tree *t, str from, str to)
{
    t->aliases = arena_grow(t->a, t->aliases, t->alias_count, &t->alias_cap, t->alias_count + 1,
                            sizeof *t->aliases);
    t->aliases[t->alias_count++] = (struct tree_alias){from, to};
}

// "~/*" and the first of ["src/*"], from baseUrl.
static void read_pair(struct tree *t, str base, str from, const struct yaml_node *list)
{
    const struct yaml_node *first = list->kind == YAML_LIST && list->count ? list->items[0] : list;
    str to = first->kind == YAML_SCALAR ? first->text : STR_NONE;
    bool named = from.len > 2 && !strchr("./", from.ptr[0]);  // and no destination of all pages
    if (!named || !str_ends(from, STR("/*")) || !str_ends(to, STR("/*")))
        return;
    str folder = kind_path(t, arena_join(t->a, base, STR("/"), str_slice(to, 0, to.len - 2)));
    if (folder.len && kind_has_folder(t, folder))
        add(t, arena_str(t->a, str_slice(from, 0, from.len - 1)),
            arena_join(t->a, folder, STR("/"), STR_NONE));
}

void kind_aliases(struct tree *t)
{
    static const char *const names[] = {"tsconfig.json", "jsconfig.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !t->alias_count; i++) {
        str file = kind_path(t, str_c(names[i]));
        struct js_text js = kind_program(t, kind_has(t, file) ? kind_file(t, file) : STR_NONE);
        const struct yaml_node *paths = js.text.len ? js_value(&js, STR("paths")) : NULL;
        str base = js.text.len ? kind_script_text(&js, "baseUrl") : STR_NONE;
        for (size_t k = 0; paths && paths->kind == YAML_MAP && k < paths->count; k++)
            read_pair(t, base.len ? base : STR("."), paths->pairs[k].key->text,
                      paths->pairs[k].value);
    }
    if (kind_has_folder(t, kind_path(t, STR("src/assets"))))  // what Astro's own examples call it
        add(t, STR("@assets/"),
            arena_join(t->a, kind_path(t, STR("src/assets")), STR("/"), STR_NONE));
}
