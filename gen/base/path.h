// Paths and addresses cut at their last '/': their folder, and the name in it.
#ifndef GEN_BASE_PATH_H
#define GEN_BASE_PATH_H

#include "gen/base/str.h"

// Where the last part of a path begins: 0 where it has no '/'.
static inline size_t path_name_at(str path)
{
    size_t slash = str_rfind(path, '/');
    return slash == path.len ? 0 : slash + 1;
}

// "b.md" of "a/b.md".
static inline str path_name(str path)
{
    return str_slice(path, path_name_at(path), path.len);
}

// "a" of "a/b.md"; "" where there is no '/'.
static inline str path_folder(str path)
{
    size_t name = path_name_at(path);
    return str_slice(path, 0, name ? name - 1 : 0);
}

// "a/" of "a/b.md": what a name is put behind.
static inline str path_folder_slash(str path)
{
    return str_slice(path, 0, path_name_at(path));
}

// The folder that the system opens: "." where there is no '/', "/" for what is directly in the
// root.
static inline str path_parent(str path)
{
    size_t name = path_name_at(path);
    return !name ? STR(".") : str_slice(path, 0, name > 1 ? name - 1 : 1);
}

// Where the ending ".md" begins; path.len where the name has none.
static inline size_t path_ending_at(str path)
{
    size_t dot = str_rfind(path, '.');
    return dot >= path_name_at(path) ? dot : path.len;
}

#endif
