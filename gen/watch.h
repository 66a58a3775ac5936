// Notices that something changed below some folders: inotify, new folders and renamed files
// included.
#ifndef GEN_WATCH_H
#define GEN_WATCH_H

#include "gen/base/str.h"

struct watch;

struct watch *watch_new(void);  // NULL with errno when the system has no watch to give
void watch_free(struct watch *w);
int watch_fd(const struct watch *w);  // readable when watch_read has something to read
// Watches folder and all below it, but hidden ones and the folder except (may be NULL; the first
// that was there is meant in every later call). A folder that is not there is left out. A file's
// path watches its folder for that one name. 0, or -1 with errno (ENOSPC: the system's limit of
// watches is reached).
int watch_add(struct watch *w, const char *path, const char *except);
// Takes all events that wait. True when one of them is a change that a build can see: a file that
// was closed after writing, came, went or was renamed. Editors' hidden and backup files (".x.swp",
// "x~", "4913") do not count.
bool watch_read(struct watch *w);

#endif
