// Files beside page.lua: require("NAME") runs NAME.lua once and gives what it returned,
// contents("NAME") is a file as a string. A module that is not there is looked for in the content
// folder itself, where documents share theirs; "DOCUMENT/NAME" is one of another document's, and
// what that requires in turn lies beside it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/fs.h"
#include "gen/base/path.h"
#include "gen/site/figures/figures_lib.h"

#define BESIDE_MAX ((size_t)4 << 20)  // bytes of a file

static int by_path(const void *key, const void *entry)
{
    return str_cmp(*(const str *)key, ((const struct fs_entry *)entry)->path);
}

static bool is_there(const struct figures *f, str path)
{
    const struct fs_list *files = &f->site->files;
    return files->count &&
           bsearch(&path, files->items, files->count, sizeof *files->items, by_path);
}

// Whether the site has a file NAME in folder, which ends in '/' or is empty; *path is its path
// below the content folder.
static bool find_in(const struct figures *f, arena *a, str folder, str name, str *path)
{
    *path = arena_printf(a, "%.*s%.*s", STR_ARG(folder), STR_ARG(name));
    return is_there(f, *path);
}

// The file of the site that has this name: beside the module that asks, beside page.lua, a module
// in the content folder, or with a '/' in the name one of another document, whose folder page.lua
// names (so that the digest knows it); its path below the content folder. Raises an error if there
// is none: what the walk left out, such as a link out of the content, is none.
static str path_beside(lua_State *L, str name)
{
    struct figures *f = figures_of(L);
    str path = STR_NONE;
    bool plain = str_find(name, '/') == name.len;
    bool shared = plain ? str_ends(name, STR(".lua")) : str_has(f->text, path_folder_slash(name));
    bool there =
        name.len &&
        ((plain && find_in(f, &f->arena, f->module_folder, name, &path)) ||
         (plain && find_in(f, &f->arena, path_folder_slash(f->doc->source->source), name, &path)) ||
         (shared && find_in(f, &f->arena, STR(""), name, &path)));
    if (!there)
        luaL_error(L, "no file '%s' lies beside page.lua", name.ptr);
    return path;
}

static str in_content(const struct figures *f, arena *a, str path)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(f->site->settings.content_dir), STR_ARG(path));
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
    struct figures *f = figures_of(L);
    str text = read_beside(L, in_content(f, &f->arena, path_beside(L, checked_name(L))));
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

// Runs the chunk on top of the stack; what it requires is looked for in its own folder first.
static void call_in(lua_State *L, str folder)
{
    struct figures *f = figures_of(L);
    str before = f->module_folder;
    f->module_folder = folder;
    int status = lua_pcall(L, 0, 1, 0);
    f->module_folder = before;
    if (status != LUA_OK)
        lua_error(L);
}

// Upvalue: path -> what the file returned, true while it runs.
static int run_module(lua_State *L)
{
    only_in_page_lua(L, "require");
    struct figures *f = figures_of(L);
    str name = checked_name(L);
    name = arena_printf(&f->arena, "%.*s", STR_ARG(name));
    str path = path_beside(L, arena_printf(&f->arena, "%.*s.lua", STR_ARG(name)));
    lua_settop(L, 0);
    lua_pushlstring(L, path.ptr, path.len);
    lua_pushvalue(L, 1);
    lua_rawget(L, lua_upvalueindex(1));
    if (lua_isboolean(L, -1))
        return luaL_error(L, "'%s' requires itself", name.ptr);
    if (!lua_isnil(L, -1))
        return 1;
    lua_pushvalue(L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, lua_upvalueindex(1));
    str file = in_content(f, &f->arena, path);
    sandbox_include(L, read_beside(L, file), file);
    call_in(L, path_folder_slash(path));
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
