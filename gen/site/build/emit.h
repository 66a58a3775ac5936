// Output files on their way: a fresh site grows in a sibling folder that is renamed whole; an old one gets the files that
// changed, from a staging folder, at the very end. Until then the last good site is untouched.
#ifndef GEN_SITE_EMIT_H
#define GEN_SITE_EMIT_H

#include "gen/base/diag.h"
#include "gen/base/map.h"

struct emit {
    str output;          // the site's folder
    str work;            // where files are written now: the sibling, or the staging folder
    bool fresh;
    int root;            // of work
    arena arena;
    struct map folders;  // path -> int *, open folders below root (fresh)
    struct diag *diag;
};

// Makes the folder to write into; leftovers of a build that was killed are removed. False after io-write was recorded.
bool emit_begin(struct emit *e, str output, bool fresh, struct diag *d);
// Makes the folders that urls need; before workers fork.
bool emit_folder_of(struct emit *e, str url);
// Writes one file. In any process.
bool emit_write(struct emit *e, str url, str bytes);
// Takes over a file that exists: a copy, by the kernel where it can.
bool emit_copy(struct emit *e, str url, str from);
// Puts everything in its place. written: urls of the files to move (not fresh); removed: urls of files that are gone.
bool emit_commit(struct emit *e, const str *written, size_t written_count, const str *removed, size_t removed_count);
// Leaves the output as it was and removes what was written.
void emit_abandon(struct emit *e);
// Whether output is missing, empty, or a site of ours, so that it may be replaced.
bool emit_may_replace(str output);

#endif
