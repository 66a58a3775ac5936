// Goes through the source once more when the site is made: what became no page, no file of the
// site, and was not read for one.
#include "gen/site/output/unpublished.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gen/site/page/page_markdown.h"
#include "gen/site/documents/assets.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/publish.h"

static void list(struct build *b, struct build_list *l, str path, const char *why)
{
    struct build_summary *s = b->summary;
    l->count++;
    if (!b->options->verbose)
        return;
    l->items = arena_grow(&s->arena, l->items, l->count - 1, &l->cap, l->count, sizeof *l->items);
    l->items[l->count - 1] = (struct build_item){arena_str(&s->arena, path), why};
}

static void leave_out(struct build *b, str source, enum publish why)
{
    arena a = ARENA_INIT;
    list(b, &b->summary->left_out, site_path(&b->site, source, &a), publish_why(why));
    arena_free(&a);
}

// Settings and records of measurements are read; they are not what anybody misses on the site.
static bool is_read(const struct build *b, str source)
{
    arena a = ARENA_INIT;
    bool settings = str_eq(site_path(&b->site, source, &a), b->site.settings.file);
    arena_free(&a);
    return settings || (str_starts(source, STR("measurements/")) && str_ends(source, STR(".json")));
}

void unpublished_find(struct build *b)
{
    const struct site *site = &b->site;
    size_t page = 0;
    for (size_t i = 0; i < site->files.count; i++) {
        str source = site->files.items[i].path;
        enum publish why = publish_in_tree(site, source);
        if (page < site->read_count && site->read_pages[page]->source.ptr == source.ptr) {
            why = site->read_pages[page++]->left_out;
        } else if (why == PUBLISH && !is_read(b, source)) {
            const struct asset *x = assets_lookup(site, source);
            why = x && x->used ? PUBLISH : LEFT_UNUSED;
        }
        if (why != PUBLISH && why != LEFT_INPUT)
            leave_out(b, source, why);
    }
    for (size_t i = 0; i < site->files.bad_count; i++) {
        const struct fs_bad *bad = &site->files.bad[i];
        leave_out(b, bad->path,
                  bad->error == EXDEV    ? LEFT_OUTSIDE
                  : bad->error == ENOENT ? LEFT_NOWHERE
                                         : LEFT_UNREADABLE);
    }
}

void unpublished_list_foreign(struct build *b)
{
    struct map ours = {0};
    struct foreign found;
    arena a = ARENA_INIT;
    const struct map *pages = &b->site.page_by_url;
    for (size_t i = 0; i < pages->count; i++) {
        map_put(&ours, &a, pages->entries[i].key, NULL);
        map_put(&ours, &a, page_markdown_url(pages->entries[i].key, &a), NULL);
    }
    for (size_t i = 0; i < b->output_count; i++)
        map_put(&ours, &a, b->outputs[i].url, NULL);
    int output = open(b->site.settings.output_dir.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (output >= 0 && foreign_find(output, &ours, &a, &found))
        for (size_t i = 0; i < found.count; i++)
            list(b, &b->summary->foreign_list, found.paths[i], "");
    if (output >= 0)
        close(output);
    arena_free(&a);
}
