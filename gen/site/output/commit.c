// The end of a build: the new site is exchanged for the old one, or, where files of others lie in
// the output or little has changed, its files are moved in one by one. Nothing is removed that the
// manifest or the cache does not name.
#include "gen/site/output/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/site/output/manifest_format.h"

struct commit {
    struct emit *emit;
    int output;       // -1: there is none
    struct map ours;  // what the last build wrote, of a fresh build or once it was asked for
    bool knows_ours;
    const struct emit_file *written;
    size_t written_count;
    const str *removed;
    size_t removed_count;
};

static bool failed_at(struct commit *c, str url)
{
    struct emit *e = c->emit;
    return emit_failed(e, arena_printf(&e->arena, "%.*s/%.*s", STR_ARG(e->output), STR_ARG(url)));
}

// The work folder has become the site: there is none any more.
static bool end_work(struct emit *e)
{
    close(e->root);
    e->root = -1;
    return true;
}

static bool put_first(struct commit *c)
{
    struct emit *e = c->emit;
    unlinkat(e->root, EMIT_UNFINISHED, 0);
    return renameat(e->parent, e->work, e->parent, e->name) == 0 ? end_work(e)
                                                                 : emit_failed(e, e->output);
}

// False when this file system cannot exchange folders; the work folder is then as it was.
static bool exchange(struct commit *c)
{
    struct emit *e = c->emit;
    unlinkat(e->root, EMIT_UNFINISHED, 0);
    if (renameat2(e->parent, e->work, e->parent, e->name, RENAME_EXCHANGE) == 0) {
        foreign_retire(c->output, &c->ours, e->root);  // the descriptors went with the folders
        unlinkat(e->parent, e->work, AT_REMOVEDIR);
        return end_work(e);
    }
    int mark = beneath_create(e->root, STR(EMIT_UNFINISHED));
    if (mark >= 0)
        close(mark);
    return false;
}

static const struct map *ours(struct commit *c)
{
    if (!c->knows_ours)
        foreign_ours(c->output, &c->emit->arena, &c->ours);
    c->knows_ours = true;
    return &c->ours;
}

// Whether a file that lies in the output is of the build before: a page may have its address from
// another one, whose language or name is another now.
static bool is_ours(struct commit *c, str url)
{
    return map_has(ours(c), url);
}

// Files of others are not written over: all of them are named before anything is changed.
static bool nothing_in_the_way(struct commit *c)
{
    bool free = true;
    for (size_t i = 0; i < c->written_count; i++) {
        const struct emit_file *f = &c->written[i];
        bool is_new = c->emit->fresh || f->is_new;
        if (!is_new || (!beneath_exists(c->output, f->url) && errno == ENOENT) ||
            is_ours(c, f->url))
            continue;
        str at =
            arena_printf(&c->emit->arena, "%.*s/%.*s", STR_ARG(c->emit->output), STR_ARG(f->url));
        diag_add(
            c->emit->diag, D_IO_WRITE, DIAG_FILE(at),
            "it is to be written, and a file of somebody else is in its place; move that away");
        free = false;
    }
    return free;
}

// While nothing else is changed yet: a disk may be full. A file of the last build in a folder's
// place goes in a moment.
static bool make_folders(struct commit *c)
{
    struct beneath b;
    for (size_t i = 0; i < c->written_count; i++) {
        if (beneath_place(c->output, c->written[i].url, true, &b))
            beneath_leave(&b, 0);
        else if (errno != ENOTDIR)
            return failed_at(c, c->written[i].url);
    }
    return true;
}

static bool move_one(struct commit *c, str url)
{
    buf path = BUF_INIT;
    emit_work_path(c->emit, url, &path);
    bool ok = beneath_move(c->emit->root, buf_view(&path), c->output, url) == 0;
    buf_free(&path);
    return ok || failed_at(c, url);
}

// What is gone is removed, then comes the manifest, which lists what is about to be written:
// whenever a build is killed, each file of this program in the output is in the manifest that lies
// there.
static bool move_in(struct commit *c)
{
    bool ok = true;
    if (!nothing_in_the_way(c) || !make_folders(c))
        return false;
    for (size_t i = 0; i < c->removed_count; i++)
        beneath_remove(c->output, c->removed[i]);
    for (int rest = 0; rest < 2; rest++)
        for (size_t i = 0; i < c->written_count; i++)
            if (str_eq(c->written[i].url, STR(MANIFEST_NAME)) != rest)
                ok = move_one(c, c->written[i].url) && ok;
    return ok;
}

// What a fresh build finds in the output: what the build before it wrote and it did not, and the
// files of others.
static bool look_at_output(struct commit *c)
{
    struct emit *e = c->emit;
    struct map now = {0};
    const struct map *before = ours(c);
    map_reserve(&now, &e->arena, c->written_count);
    for (size_t i = 0; i < c->written_count; i++)
        map_put_kept(&now, &e->arena, c->written[i].url, NULL);
    str *removed = arena_new(&e->arena, str, before->count);
    for (size_t i = 0; i < before->count; i++)
        if (!map_has(&now, before->entries[i].key))
            removed[c->removed_count++] = before->entries[i].key;
    c->removed = removed;
    return foreign_find(c->output, before, &e->arena, &e->foreign) || emit_failed(e, e->output);
}

bool emit_commit(struct emit *e, const struct emit_file *written, size_t written_count,
                 const str *removed, size_t removed_count)
{
    struct commit c = {.emit = e,
                       .written = written,
                       .written_count = written_count,
                       .removed = removed,
                       .removed_count = removed_count};
    c.output = openat(e->parent, e->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = c.output >= 0 || errno == ENOENT;
    if (!ok)
        return emit_failed(e, e->output);
    if (e->fresh && c.output >= 0)
        ok = look_at_output(&c);
    e->removed_count = c.removed_count;
    bool whole = e->fresh && !e->foreign.count;
    if (ok && c.output < 0)
        ok = put_first(&c);
    else if (ok && !(whole && exchange(&c)))
        ok = move_in(&c);
    if (c.output >= 0)
        close(c.output);
    return ok;
}
