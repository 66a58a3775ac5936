// The Lua binding, from Lua: fields of the report, configurations as tables and texts, errors,
// limits of memory.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "calc/vram.h"
#include "calc/vram_lua.h"
#include "tests/unit/calc_answers.h"

struct heap {
    size_t live, limit, calls, fail_at;
};

static void *heap_realloc(void *ctx, void *ptr, size_t old, size_t size)
{
    struct heap *h = ctx;
    old = ptr ? old : 0;
    if (size == 0) {
        h->live -= old;
        free(ptr);
        return NULL;
    }
    if (size > old && (h->live - old + size > h->limit || ++h->calls == h->fail_at))
        return NULL;
    void *fresh = realloc(ptr, size);
    h->live += fresh ? size - old : 0;
    return fresh;
}

static lua_State *open_state(struct heap *h)
{
    lua_State *L = lua_newstate(heap_realloc, h);
    assert_non_null(L);
    luaL_openlibs(L);
    luaL_requiref(L, "vram", luaopen_vram, 1);
    lua_settop(L, 0);
    return L;
}

static void run(const char *script)
{
    struct heap h = {.limit = 256 << 20};
    lua_State *L = open_state(&h);
    if (luaL_dostring(L, script) != LUA_OK)
        fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
    assert_int_equal(h.live, 0);
}

static void test_estimate(void **state)
{
    (void)state;
    run("local r = vram.estimate{preset = 'gpt2', batch_size = 4, mode = 'reference'}\n"
        "assert(r.params == 124373760, r.params)\n"
        "for _, k in ipairs{'params', 'decayed_params', 'saved_bytes', 'peak_live_bytes', "
        "'peak_allocated_bytes',\n"
        "                   'peak_reserved_bytes', 'process_bytes', 'first_step_peak_bytes'} do\n"
        "    assert(math.type(r[k]) == 'integer', k)\n"
        "end\n"
        "assert(r.peak_live_bytes <= r.peak_allocated_bytes)\n"
        "assert(r.peak_allocated_bytes <= r.peak_reserved_bytes)\n"
        "assert(type(r.peak_at) == 'table' and r.schema == 'vramcalc/1')\n"
        "local largest, sum = r.at_peak[1], 0\n"
        "assert(type(largest.name) == 'string' and math.type(largest.bytes) == 'integer')\n"
        "for i = 2, #r.at_peak do assert(r.at_peak[i].bytes <= r.at_peak[i - 1].bytes) end\n"
        "for _, bytes in pairs(r.breakdown) do sum = sum + bytes end\n"
        "assert(sum == r.peak_live_bytes)\n");
}

static void test_configuration_as_text_and_table(void **state)
{
    (void)state;
    run("local a = vram.live_peak{preset = 'gpt2', batch_size = 2, bias = true, dropout = 0.1}\n"
        "local b = vram.live_peak('preset = gpt2\\nbatch_size = 2\\nbias = true\\ndropout = "
        "0.1\\n')\n"
        "assert(math.type(a) == 'integer' and a == b)\n"
        "assert(a == vram.live_peak{preset = 'gpt2', batch_size = 2.0, bias = 'true', dropout = "
        "'0.1'})\n"
        "assert(a == vram.estimate{preset = 'gpt2', batch_size = 2, bias = true, dropout = "
        "0.1}.peak_live_bytes)\n"
        "assert(vram.live_peak() == vram.live_peak{})\n");
}

// Lists and sets as tables.
static void test_lists(void **state)
{
    (void)state;
    run("local function said(c) c.preset, c.batch_size = 'smollm2-135m', 1\n"
        "  return vram.estimate(c) end\n"
        "local a = said{seq_lens = {512, 1024}}\n"
        "local b = said{seq_lens = '512+1024'}\n"
        "assert(a.peak_reserved_bytes == b.peak_reserved_bytes)\n"
        "assert(a.peak_reserved_bytes > said{seq_lens = {512}}.peak_reserved_bytes)\n"
        "local l = said{lora_rank = 8, lora_targets = {'q', 'v'}}\n"
        "assert(l.params == said{lora_rank = 8, lora_targets = 'q+v'}.params)\n"
        "assert(l.params < said{lora_rank = 8}.params)\n"
        "local ok, e = pcall(vram.estimate, {seq_lens = {{512}}})\n"
        "assert(not ok and e:find('seq_lens: a list in a list', 1, true), e)\n"
        "ok, e = pcall(vram.estimate, {batch_size = print})\n"
        "assert(not ok and e:find('a boolean or a list of them is needed, not a function', 1, "
        "true), e)");
}

// The roofline says what advice says, and moves as its rules do.
static void test_step_seconds(void **state)
{
    (void)state;
    run("local run = {preset = 'oom-gpt2', compile = 'none', gpu = 'RTX 4070'}\n"
        "local function time(changes)\n"
        "  local c = {} for k, v in pairs(run) do c[k] = v end\n"
        "  for k, v in pairs(changes) do c[k] = v end\n"
        "  return vram.step_seconds(c)\n"
        "end\n"
        "local whole = time{}\n"
        "assert(whole > 0)\n"
        "local slower = time{batch_size = 4, gradient_accumulation_steps = 128} / whole - 1\n"
        "for i = 1, #vram.advise(run).changes do\n"
        "  local row = vram.advise(run).changes[i]\n"
        "  if row.change == 'batch_size=4 gradient_accumulation_steps=128' then\n"
        "    assert(math.abs(row.slowdown_permille - 1000 * slower) <= 0.5, slower)\n"
        "    slower = nil\n"
        "  end\n"
        "end\n"
        "assert(slower == nil)\n"
        // half the tokens take about half the time; a block's forward once more is at most a third
        "local half = time{batch_size = 8} / whole\n"
        "assert(half > 0.5 and half < 0.52, half)\n"
        "local again = time{checkpointing = 'block'} / whole\n"
        "assert(again > 1.2 and again < 1.34, again)\n"
        "local ok, text = pcall(vram.step_seconds, {preset = 'gpt2', task = 'inference'})\n"
        "assert(not ok and text:find('task=train', 1, true), text)\n"
        "ok, text = pcall(vram.step_seconds, {n_embd = 512, n_head = 12})\n"
        "assert(not ok and text:find('n_head', 1, true), text)\n");
}

static void test_errors_name_the_key(void **state)
{
    (void)state;
    run("local function err(...) local ok, e = pcall(...) assert(not ok) return e end\n"
        "local function has(text, what) assert(text:find(what, 1, true), text) end\n"
        "has(err(vram.estimate, {n_layers_ = 3}), 'n_layers_')\n"
        "has(err(vram.estimate, {n_layers_ = 3}), 'vram.estimate')\n"
        "has(err(vram.estimate, {batch_size = -1}), 'batch_size')\n"
        "has(err(vram.estimate, {batch_size = 0/0}), 'batch_size')\n"
        "has(err(vram.estimate, {batch_size = 1e300}), 'batch_size')\n"
        "has(err(vram.estimate, {batch_size = {}}), 'batch_size')\n"
        "has(err(vram.estimate, {preset = 'gpt-zwei'}), 'gpt-zwei')\n"
        "has(err(vram.estimate, {gpu = 'RTX 9999'}), 'RTX 9999')\n"
        "has(err(vram.fit, {preset = 'gpt2'}), 'give gpu = \"NAME\" (`vram.gpus()` lists them)')\n"
        "has(err(vram.estimate, {7}), 'names')\n"
        "has(err(vram.live_peak, {n_embd = 512, n_head = 12}), 'n_head')\n"
        "has(err(vram.estimate, 'batch_size = x'), 'batch_size')\n"
        "err(vram.estimate, 7)\n"
        "has(err(vram.gpu, 'RTX 9999'), 'RTX 9999')\n"
        // the same table, the same error, whatever the order of pairs
        "local first = err(vram.estimate, {zz = 1, aa = 1, mm = 1})\n"
        "for _ = 1, 20 do assert(err(vram.estimate, {mm = 1, zz = 1, aa = 1}) == first) end\n"
        "has(first, 'aa')\n");
}

static void test_trace(void **state)
{
    (void)state;
    run("local c = {n_layer = 2, n_embd = 64, n_head = 2, block_size = 32, vocab_size = 64, "
        "batch_size = 2}\n"
        "local events = vram.trace(c)\n"
        "local live, peak, n = 0, 0, 0\n"
        "for i, e in ipairs(events) do\n"
        "    if e.category ~= 'workspaces' then live = live + (e.is_free and -e.bytes or e.bytes) "
        "end\n"
        "    peak = math.max(peak, live)\n"
        "    assert(type(e.name) == 'string' and type(e.phase) == 'string' and type(e.op) == "
        "'string')\n"
        "end\n"
        "assert(peak == vram.estimate(c).peak_live_bytes, peak)\n"
        "vram.trace(c, function(e) n = n + 1 assert(e.bytes == events[n].bytes) return n == 10 "
        "end)\n"
        "assert(n == 10)\n"
        "local ok, e = pcall(vram.trace, c, function() error('stop here') end)\n"
        "assert(not ok and e:find('stop here'))\n"
        "vram.trace(c, function() vram.live_peak(c) return true end)\n");
}

static void test_parameters(void **state)
{
    (void)state;
    run("local c = {preset = 'gpt2'}\n"
        "local sum, decayed = 0, 0\n"
        "for _, p in ipairs(vram.params(c)) do\n"
        "    local n = p.rows * math.max(p.cols, 1)\n"
        "    if p.trained then sum = sum + n; decayed = decayed + (p.decayed and n or 0) end\n"
        "end\n"
        "local r = vram.estimate(c)\n"
        "assert(sum == r.params and decayed == r.decayed_params, sum)\n");
}

static void test_cards_and_questions(void **state)
{
    (void)state;
    run("local g = vram.gpu('RTX 4070')\n"
        "assert(g.memory_bytes == 12282 * 1048576 and g.source:find('^http'))\n"
        "assert(#vram.gpus() >= 60)\n"
        "local c = {preset = 'oom-gpt2'}\n"
        "assert(type(vram.fit(c)) == 'table')\n"
        "assert(type(vram.advise(c)) == 'table')\n"
        "assert(type(vram.compare(c)) == 'table')\n"
        "local n = vram.max_batch(c)\n"
        "assert(math.type(n) == 'integer' and n >= 1 and n < 16, n)\n"
        "local s = vram.solve('batch_size', c)\n"
        "assert(s.value == n and s.method == 'bisection' and not s.refusal, s.value)\n"
        "assert(vram.solve('seq_len', {preset = 'llama-2-70b', gpu = 'T4'}).refusal.id == "
        "'solve_nothing_fits')\n"
        "assert(not pcall(vram.solve, 'dtype', c))\n"
        "local served = vram.serve{preset = 'llama-3.1-8b', quantization = 'q4_k_m', seq_len = "
        "4096, "
        "gpu = 'RTX 3060'}\n"
        "assert(served.server == 'llama.cpp' and served.sequences > 0 and served.token_bytes == "
        "131072)\n"
        "local cards = vram.cards(c)\n"
        "assert(#cards.cards > 60 and cards.cards[1].margin_bytes > 0)\n"
        "local oom = 'CUDA out of memory. Tried to allocate 6.14 GiB'\n"
        "assert(type(vram.explain_oom(oom)) == 'table')\n"
        "assert(type(vram.explain_oom(oom, {preset = 'gpt2', batch_size = 32})) == 'table')\n"
        "local f = assert(io.open('tests/cli/calc_snapshot/step4.pickle', 'rb'))\n"
        "local snapshot = vram.snapshot(f:read('a'))\n"
        "assert(snapshot.reserved_bytes == 200 << 20 and snapshot.oom.at.line == 41 and not "
        "snapshot.missing[1])\n"
        "f:seek('set')\n"
        "assert(vram.snapshot(f:read('a'), {preset = 'gpt2', batch_size = 1}).missing[1].bytes > "
        "0)\n"
        "assert(not pcall(vram.snapshot, 'no snapshot'))\n"
        "local own = vram.config{'preset = llama-3.2-1b', 'per_device_train_batch_size: "
        "3\\nlearning_rate: 1\\n'}\n"
        "assert(own.batch_size == 3 and own.n_layer == 16)\n"
        "assert(type(vram.config('batch_size = 3\\n', 'nanogpt')) == 'table')\n"
        "local _, said = vram.config{'base_model: meta-llama/Llama-3.2-1B\\nmicro_batch_size: "
        "2\\nfoo_bar: 3\\n'}\n"
        "assert(said[#said]:find('^3:1: .foo_bar. is no key of axolotl'), said[#said])\n"
        "assert(#select(2, vram.config('batch_size = 3')) == 0)\n"
        "assert(vram.timeline{n_layer = 1}:find('^<svg'))\n"
        "assert(#vram.emit({n_layer = 1}, 'md') > 100)\n"
        "assert(vram.version:find('^%d'))\n");
}

// The state's allocator refuses at every point once: an error each time, and nothing lost.
static void test_every_allocation_failure(void **state)
{
    (void)state;
    static const char script[] =
        "local c = {n_layer = 2, n_embd = 64, n_head = 2, block_size = 32, vocab_size = 64}\n"
        "vram.estimate(c) vram.trace(c)";
    size_t failures = 0;
    for (size_t n = 1;; n += 1 + n / 40) {
        struct heap h = {.limit = 256 << 20};
        lua_State *L = open_state(&h);
        h.fail_at = h.calls + n;
        int rc = luaL_dostring(L, script);
        bool reached = h.calls >= h.fail_at;
        h.fail_at = 0;
        lua_close(L);
        assert_int_equal(h.live, 0);
        if (!reached) {
            assert_int_equal(rc, LUA_OK);
            break;
        }
        failures += rc != LUA_OK;
    }
    assert_true(failures > 10);
}

// Equality of what the library writes as JSON and what Lua gets: j is jansson's, the Lua value is
// on top.
static void assert_same(lua_State *L, const char *where, const json_t *j)
{
    const char *key;
    json_t *x;
    size_t i;
    int top = lua_gettop(L);
    switch (json_typeof(j)) {
    case JSON_OBJECT: {
        size_t members = 0;
        if (!lua_istable(L, top))
            fail_msg("%s is no table", where);
        json_object_foreach((json_t *)j, key, x)
        {
            members += !json_is_null(x);
            lua_getfield(L, top, key);
            assert_same(L, key, x);
            lua_settop(L, top);
        }
        for (lua_pushnil(L); lua_next(L, top); lua_pop(L, 1))
            members--;
        if (members)
            fail_msg("%s: Lua has other members than JSON", where);
        break;
    }
    case JSON_ARRAY:
        if (luaL_len(L, top) != (lua_Integer)json_array_size(j))
            fail_msg("%s: another length", where);
        json_array_foreach(j, i, x)
        {
            lua_rawgeti(L, top, (lua_Integer)i + 1);
            assert_same(L, where, x);
            lua_settop(L, top);
        }
        break;
    case JSON_STRING:
        if (!lua_isstring(L, top) || strcmp(lua_tostring(L, top), json_string_value(j)))
            fail_msg("%s: %s", where, json_string_value(j));
        break;
    case JSON_INTEGER:
        if (!lua_isinteger(L, top) || lua_tointeger(L, top) != json_integer_value(j))
            fail_msg("%s: %lld", where, (long long)json_integer_value(j));
        break;
    case JSON_REAL:
        if (lua_tonumber(L, top) != json_real_value(j))
            fail_msg("%s: %g", where, json_real_value(j));
        break;
    case JSON_NULL:
        if (!lua_isnil(L, top))
            fail_msg("%s is not nil", where);
        break;
    default:
        if (!lua_isboolean(L, top) || lua_toboolean(L, top) != json_is_true(j))
            fail_msg("%s: another truth", where);
    }
}

// Every answer as a table is the answer as JSON.
static void test_tables_are_the_json(void **state)
{
    static const struct {
        const char *function;
        enum vram_answer answer;
    } answers[] = {{"estimate", VRAM_ANSWER_REPORT},
                   {"fit", VRAM_ANSWER_FIT},
                   {"advise", VRAM_ANSWER_ADVICE},
                   {"compare", VRAM_ANSWER_COMPARISON}};
    static const char *const configs[] = {
        "preset = oom-gpt2\n", "preset = llama-3.2-1b\nlora_rank = 8\ngpu = T4\n",
        "preset = gpt2\ndropout = 0.1\n", "preset = gpt2-xl\nbatch_size = 4\ngpu = A100\n"};
    struct heap h = {.limit = 256 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) {
            struct vram_mem mem = vram_mem_malloc();
            lua_State *L = open_state(&h);
            vram *v = vram_new(&mem);
            assert_int_equal(parse_text(v, VRAM_KIND_FLAT, configs[i], strlen(configs[i]), NULL),
                             VRAM_OK);
            bool has_gpu = strstr(configs[i], "gpu") || i == 0;
            const struct vram_fit *fit;
            const struct vram_advice *advice;
            const struct vram_comparison *comparison;
            int code = k == 0   ? vram_run(v)
                       : k == 1 ? vram_fit(v, &fit)
                       : k == 2 ? vram_advise(v, &advice)
                                : vram_compare(v, &comparison);
            if (k == 1 && !has_gpu) {
                assert_int_equal(code, VRAM_EGPU);
            } else {
                assert_int_equal(code, VRAM_OK);
                assert_int_equal(vram_write(v, answers[k].answer, VRAM_FORMAT_JSON, 0), VRAM_OK);
                json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
                assert_non_null(j);
                lua_getglobal(L, "vram");
                lua_getfield(L, -1, answers[k].function);
                lua_pushstring(L, configs[i]);
                if (lua_pcall(L, 1, 1, 0) != LUA_OK)
                    fail_msg("%s: %s", answers[k].function, lua_tostring(L, -1));
                assert_same(L, answers[k].function, j);
                json_decref(j);
            }
            vram_free(v);
            lua_close(L);
        }
}

static void test_units(void **state)
{
    struct heap h = {.limit = 256 << 20};
    lua_State *L = open_state(&h);
    (void)state;
    if (luaL_dostring(L, "local r = vram.estimate{preset = 'gpt2'}\n"
                         "assert(getmetatable(r) == false)") != LUA_OK)
        fail_msg("%s", lua_tostring(L, -1));
    lua_getglobal(L, "vram");
    lua_getfield(L, -1, "estimate");
    assert_int_equal(lua_pcall(L, 0, 1, 0), LUA_OK);
    assert_int_equal(luaL_getmetafield(L, -1, "units"), LUA_TTABLE);
    lua_getfield(L, -1, "peak_live_bytes");
    assert_string_equal(lua_tostring(L, -1), "bytes");
    lua_getfield(L, -2, "params");
    assert_true(lua_isnil(L, -1));
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_configuration_as_text_and_table),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_step_seconds),
        cmocka_unit_test(test_errors_name_the_key),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_cards_and_questions),
        cmocka_unit_test(test_every_allocation_failure),
        cmocka_unit_test(test_tables_are_the_json),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
