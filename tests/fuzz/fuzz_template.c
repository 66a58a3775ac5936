// Templates from any bytes: the Lua that comes out of one that is accepted is text that Lua can at
// least scan.
#include <lauxlib.h>

#include "gen/text/template.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    struct template t = {0};
    buf lua = BUF_INIT;
    bool ok = template_compile(text, STR("fuzz.html"), 1, &a, d, &t, &lua);
    fuzz_check(ok || diag_count(d, DIAG_ERROR) > 0, "refused without a message\n");
    if (ok) {
        // What the author wrote between the tags may be no Lua; whether it is, Lua's own compiler
        // says, in text mode.
        lua_State *state = luaL_newstate();
        fuzz_check(luaL_loadbufferx(state, lua.ptr, lua.len, "fuzz", "t") != LUA_ERRMEM,
                   "too much memory\n");
        lua_close(state);
        for (size_t i = 0; i < t.include_count; i++)
            fuzz_check(t.includes[i].offset < size, "an include outside\n");
    }
    buf_free(&lua);
    fuzz_messages(d);
    arena_free(&a);
    return 0;
}
