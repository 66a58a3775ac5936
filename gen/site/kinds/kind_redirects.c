// Older addresses that a tree leads on: by plugins of its generator, and by files that its host
// reads. Sources: docs.netlify.com/routing/redirects and its file-based configuration.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

enum { MAX_REDIRECTS = 10000 };

static bool is_plain(str address)
{
    return address.len && str_search(address, STR("://")) == address.len &&
           !strpbrk(address.ptr, "#*:?{");
}

static void add(struct tree *t, str from, str to, bool by_host)
{
    from = arena_str(t->a, from), to = arena_str(t->a, to);
    to = arena_str(t->a, str_slice(to, 0, str_find(to, '#')));
    if (!is_plain(from) || !is_plain(to) || t->redirect_count == MAX_REDIRECTS)
        return;
    t->redirects = arena_grow(t->a, t->redirects, t->redirect_count, &t->redirect_cap,
                              t->redirect_count + 1, sizeof *t->redirects);
    t->redirects[t->redirect_count++] = (struct tree_redirect){from, to, by_host};
}

void kind_redirect(struct tree *t, str from, str to)
{
    add(t, from, to, false);
}

void kind_redirects(struct tree *t, const struct yaml_node *map)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++) {
        const struct yaml_node *value = map->pairs[i].value;
        str to = value->kind == YAML_SCALAR ? value->text : kind_text(value, "destination");
        kind_redirect(t, map->pairs[i].key->text, to);
    }
}

// "/old /new 301", with conditions behind it.
static void read_line(struct tree *t, str line)
{
    str words[2] = {STR_NONE, STR_NONE}, rest = str_trim(line);
    for (size_t i = 0; i < 2 && rest.len && rest.ptr[0] != '#'; i++) {
        size_t end = 0;
        while (end < rest.len && !strchr(" \t", rest.ptr[end]))
            end++;
        words[i] = str_slice(rest, 0, end);
        rest = str_trim(str_slice(rest, end, rest.len));
    }
    if (words[1].len)
        add(t, words[0], words[1], true);
}

void kind_host_redirects(struct tree *t, str folder)
{
    str file = kind_join(t, folder, STR("_redirects")), host = kind_path(t, STR("netlify.toml")),
        line;
    str text = kind_has(t, file) && !kind_has_folder(t, file) ? kind_file(t, file) : STR_NONE;
    while (str_line(&text, &line))
        read_line(t, line);
    if (!kind_has(t, host) || kind_has_folder(t, host))
        return;
    const struct yaml_node *list = kind_get(kind_values(t, host), "redirects");
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++)
        add(t, kind_text(list->items[i], "from"), kind_text(list->items[i], "to"), true);
}
