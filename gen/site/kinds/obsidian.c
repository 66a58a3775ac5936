// Vaults of Obsidian: a folder .obsidian beside the notes, with a JSON file for each thing it can
// be told. Source: help.obsidian.md, "Configuration folder".
#include "gen/site/kinds/kind_lib.h"

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
