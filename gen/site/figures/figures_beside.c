// Files beside page.lua: require("NAME") runs NAME.lua once and gives what it returned, contents("NAME") is a file as a string.
// A module that is not there is looked for in the content folder itself, where documents share theirs.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/fs.h"
#include "gen/site/figures/figures_lib.h"

#define BESIDE_MAX ((size_t)4 << 20)   // bytes of a file

static int by_path(const void *key, const void *entry)
{
    return str_cmp(*(const str *)key, ((const struct fs_entry *)entry)->path);
}

// The folder of page.lua below the content folder, with a '/' at its end unless it is the content folder itself.
static str folder_of(const struct figures *f)
{
    str source = f->doc->source->source;
    size_t slash = str_rfind(source, '/');
    return slash < source.len ? str_slice(source, 0, slash + 1) : STR("");
}

static bool is_there(const struct figures *f, str path)
{
    const struct fs_list *files = &f->site->files;
    return files->count && bsearch(&path, files->items, files->count, sizeof *files->items, by_path);
}

// The file of the site that lies beside page.lua and has this name; its path from the current folder. Raises an error if there
// is none: what the walk left out, such as a link out of the content, is none.
static str path_beside(lua_State *L, str name)
{
    struct figures *f = figures_of(L);
    str folder = folder_of(f), path = arena_printf(&f->arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(name));
    bool plain = name.len && str_find(name, '/') == name.len;
    if (plain && !is_there(f, path) && str_ends(name, STR(".lua")))
        path = name;
    if (!plain || !is_there(f, path))
        luaL_error(L, "no file '%s' lies beside page.lua", name.ptr);
    return arena_printf(&f->arena, "%.*s/%.*s", STR_ARG(f->site->settings.content_dir), STR_ARG(path));
}

static str read_beside(lua_State *L, str path)
{
    struct figures *f = figures_of(L);
    buf bytes = BUF_INIT;
    if (fs_read(path.ptr, BESIDE_MAX, &bytes) != 0) {
        const char *why = errno == EFBIG ? "it has more than 4 MiB" : strerror(errno);
        buf_free(&bytes);
        luaL_error(L, "%s: %s", path.ptr, why);
    }
    str text = arena_str(&f->arena, buf_view(&bytes));
    buf_free(&bytes);
    sandbox_charge(L, text.len / 16);
    return text;
}

static void only_in_page_lua(lua_State *L, const char *name)
{
    if (!figures_of(L)->in_page_lua)
        luaL_error(L, "%s() belongs into page.lua", name);
}

static str checked_name(lua_State *L)
{
    str name;
    name.ptr = luaL_checklstring(L, 1, &name.len);
    luaL_argcheck(L, strlen(name.ptr) == name.len, 1, "a file's name has no zero byte");
    return name;
}

static int read_contents(lua_State *L)
{
    only_in_page_lua(L, "contents");
    str text = read_beside(L, path_beside(L, checked_name(L)));
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

// Upvalue: name -> what the file returned, true while it runs.
static int run_module(lua_State *L)
{
    only_in_page_lua(L, "require");
    str name = checked_name(L);
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    lua_rawget(L, lua_upvalueindex(1));
    if (lua_isboolean(L, -1))
        return luaL_error(L, "'%s' requires itself", name.ptr);
    if (!lua_isnil(L, -1))
        return 1;
    str path = path_beside(L, arena_printf(&figures_of(L)->arena, "%.*s.lua", STR_ARG(name)));
    lua_pushvalue(L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, lua_upvalueindex(1));
    sandbox_include(L, read_beside(L, path), path);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1) || lua_isboolean(L, -1))
        return luaL_error(L, "'%s.lua' returns no table", name.ptr);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, lua_upvalueindex(1));
    return 1;
}

void figures_open_beside(lua_State *L)
{
    lua_pushcfunction(L, read_contents);
    lua_setfield(L, -2, "contents");
    lua_newtable(L);
    lua_pushcclosure(L, run_module, 1);
    lua_setfield(L, -2, "require");
}
