// Names of Jekyll's posts: _posts/2016-05-03-title.md.
#include "gen/base/path.h"
#include "gen/site/source/names.h"

static bool is_post_date(str s)
{
    static const char shape[] = "dddd-dd-dd-";
    if (s.len < sizeof shape)
        return false;
    for (size_t i = 0; i + 1 < sizeof shape; i++)
        if (shape[i] == 'd' ? !ascii_is_digit(s.ptr[i]) : s.ptr[i] != '-')
            return false;
    return true;
}

// Where the folder "_posts/" is in a path; its length when it does not.
static size_t posts_folder(str path)
{
    if (str_starts(path, STR("_posts/")))
        return 0;
    size_t at = str_search(path, STR("/_posts/"));
    return at < path.len ? at + 1 : at;
}

str names_strip_post(str key, str *date, arena *a)
{
    size_t at = posts_folder(key);
    if (at == key.len)
        return key;
    key = arena_join(a, str_slice(key, 0, at), str_slice(key, at + 7, key.len), STR_NONE);
    size_t name = path_name_at(key);
    str own = str_slice(key, name, key.len);
    if (!is_post_date(own))
        return key;
    *date = str_slice(own, 0, 10);
    return arena_join(a, str_slice(key, 0, name), str_slice(own, 11, own.len), STR_NONE);
}
