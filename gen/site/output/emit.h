// Output files on their way: a fresh site grows in a folder beside the output, an old one gets the
// files that changed from a staging folder. Until the very end the last good site is untouched.
// Files of others in the output stay where they are.
#ifndef GEN_SITE_EMIT_H
#define GEN_SITE_EMIT_H

#include "gen/base/diag.h"
#include "gen/base/map.h"
#include "gen/site/output/foreign.h"

// A file that was written to the work folder; is_new: the last build wrote no such file.
struct emit_file {
    str url;
    bool is_new;
};

// A folder below the work folder: those used last stay open.
struct emit_folder {
    int fd;  // or -1
    uint64_t used;
};
enum { EMIT_FOLDERS = 400 };  // that are open at once

struct emit {
    str output;  // the site's folder, as messages name it
    bool fresh;
    int parent;        // of the folder that the output lies in
    const char *name;  // of the output in it
    const char *work;  // of the folder beside it that files are written to now
    int root;          // of work; -1: nothing has begun
    arena arena;
    struct map folders;  // path -> struct emit_folder *, below root (fresh)
    struct emit_folder *open[EMIT_FOLDERS];
    size_t open_count;
    uint64_t clock;          // counts uses
    struct foreign foreign;  // as emit_commit found it; of a fresh build only
    size_t removed_count;    // files of the last build that emit_commit took away
    struct diag *diag;
};

// Makes the folder to write into; what a build left that was killed is taken away first. False
// after io-write was recorded.
bool emit_begin(struct emit *e, str output, bool fresh, struct diag *d);
// Makes the folders that urls need; before workers fork.
bool emit_folder_of(struct emit *e, str url);
// Writes one file. In any process.
bool emit_write(struct emit *e, str url, str bytes);
// Takes over a file that exists.
bool emit_copy(struct emit *e, str url, str from);
// Of commit.c: puts everything in its place. removed: urls of files that are gone (not fresh, where
// the manifest tells).
bool emit_commit(struct emit *e, const struct emit_file *written, size_t written_count,
                 const str *removed, size_t removed_count);
// Removes what was written and not put in place, and closes everything.
void emit_end(struct emit *e);
// Whether a build may write there: a folder that is missing or empty, a site of this program, or,
// with into, any folder. False after io-write was recorded.
bool emit_may_write(str output, bool into, struct diag *d);

// What the two files share: where a file lies in the work folder, and errors.
void emit_work_path(const struct emit *e, str url, buf *out);
bool emit_failed(struct emit *e, str path);

#define EMIT_UNFINISHED ".vramdoc-unfinished"  // in a work folder, until it is the site or is gone

#endif
