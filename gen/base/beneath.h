// Files below one folder, each reached by a descriptor of its parent and one name: no path, link or
// race leads out of it.
#ifndef GEN_BASE_BENEATH_H
#define GEN_BASE_BENEATH_H

#include "gen/base/str.h"

// Where a file is, or is to be.
struct beneath {
    int folder;      // its parent
    bool own;        // whether folder was opened for it; else it is the root that was given
    char name[256];  // one part, without '/'
};

// Whether path names something below a folder: relative, parts of at most 255 bytes, none of them
// empty, "." or "..", no NUL.
bool beneath_is_path(str path);
// A descriptor of the folder path below root ("" for root itself), for the calls that end in -at;
// the caller closes it. make creates what is missing. -1 with errno: EINVAL when it is no such
// path, ELOOP or ENOTDIR when a part is a symbolic link.
int beneath_folder(int root, str path, bool make);
// The parent of path, and its last part, until beneath_leave. False with errno.
bool beneath_place(int root, str path, bool make, struct beneath *out);
// Closes what beneath_place opened, keeps errno, and returns rc.
int beneath_leave(struct beneath *b, int rc);
// Creates or empties a file and opens it for writing; the folder must exist. -1 with errno.
int beneath_create(int root, str path);
// Whether something is there, a link that leads nowhere included. False with errno, ENOENT when it
// is not there.
bool beneath_exists(int root, str path);
// Moves a file of one tree to another of the same file system, over a file that is there; the
// folder is made. 0, or -1 with errno.
int beneath_move(int from, str path, int to, str target);
// Removes a file or link, then the folders above it that are empty, up to root. 0, or -1 with
// errno.
int beneath_remove(int root, str path);
// Removes all that is below folder, links without following them; what is named last goes last
// (NULL: no such order). 0, or -1 with errno.
int beneath_clear(int folder, const char *last);

#endif
