// Vaults of Obsidian: a folder .obsidian beside the notes, with a JSON file for each thing it can
// be told. Source: help.obsidian.md, "Configuration folder".
#include "gen/site/kinds/kind_lib.h"
#include "gen/text/markdown_wiki.h"

// How much of a folder is looked at for links of notes.
enum { MAX_NOTES = 100, MAX_IN_FOLDER = 6, MAX_FOLDERS = 12, MAX_DEPTH = 3 };

struct links {
    size_t notes, linked;
};

// Whether a text has [[Note]] outside of listings.
static bool has_link(str text)
{
    str line;
    bool code = false;
    while (str_line(&text, &line)) {
        if (str_starts(str_trim(line), STR("```")))
            code = !code;
        size_t at = code ? line.len : str_search(line, STR("[["));
        if (at == line.len || !wiki_end(line, at) || (at && line.ptr[at - 1] == '`'))
            continue;
        char c = line.ptr[at + 2];
        if ((ascii_is_lower(ascii_lower(c)) || c & 0x80) &&
            !str_starts(str_slice(line, at, line.len), STR("[[toc")))
            return true;
    }
    return false;
}

static void count_links(struct tree *t, str folder, int depth, struct links *out)
{
    str *names;
    size_t n = kind_files(t, folder, &names);
    for (size_t i = 0, taken = 0; i < n && out->notes < MAX_NOTES && taken < MAX_IN_FOLDER; i++)
        if (str_ends(names[i], STR(".md"))) {
            out->notes++, taken++;
            out->linked += has_link(kind_peek(t, kind_join(t, folder, names[i])));
        }
    n = depth < MAX_DEPTH ? kind_folders(t, folder, &names) : 0;
    for (size_t i = 0; i < n && i < MAX_FOLDERS && out->notes < MAX_NOTES; i++)
        if (names[i].ptr[0] != '.' && names[i].ptr[0] != '_')
            count_links(t, kind_join(t, folder, names[i]), depth + 1, out);
}

// A vault that is published without its settings: a third of its notes and more link by [[Note]].
bool obsidian_is_linked(struct tree *t)
{
    struct links found = {0};
    count_links(t, STR_NONE, 0, &found);
    return found.notes > 2 && found.linked * 3 >= found.notes;
}

// Templates are no notes: the folder of the core plugin, and that of Templater.
static void leave_out_templates(struct tree *t)
{
    static const struct {
        const char *file, *key;
    } settings[] = {
        {".obsidian/templates.json", "folder"},
        {".obsidian/plugins/templater-obsidian/data.json", "templates_folder"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        str file = kind_path(t, str_c(settings[i].file));
        str folder =
            kind_has(t, file) ? kind_text(kind_values(t, file), settings[i].key) : STR_NONE;
        folder = folder.len ? kind_path(t, folder) : STR_NONE;
        if (!folder.len || !kind_has_folder(t, folder))
            continue;
        kind_ignore(t, folder);
        kind_explain(t, "no notes, but templates: %.*s", STR_ARG(folder));
    }
}

void obsidian_read(struct tree *t)
{
    str app = kind_path(t, STR(".obsidian/app.json"));
    const struct yaml_node *c = kind_has(t, app) ? kind_values(t, app) : NULL;
    t->breaks = !kind_true(c, "strictLineBreaks", false);
    t->math = true;
    leave_out_templates(t);
}
