// The sandbox: no way out, limits that cannot be caught or outrun, the same answers in every run.
#include "tests/unit/base_fixture.h"

#include <lua.h>
#include <time.h>

#include "gen/site/sandbox/sandbox.h"

// The processor's time: a machine that does other work, too, is no fault of the sandbox.
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct result {
    bool ok;
    buf output, messages;
    double took;
};

static bool run_source(struct sandbox *s, str source, str file, uint32_t first_line, int nresults,
                       struct diag *d)
{
    return sandbox_load(s, source, file, first_line <= 1 ? source : STR_NONE, first_line, d) &&
           sandbox_call(s, 0, nresults, file, d);
}

static struct result run_with(const char *source, struct sandbox_limits limits)
{
    struct result r = {.output = BUF_INIT, .messages = BUF_INIT};
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct sandbox *s = sandbox_new(limits);
    double start = seconds();
    r.ok = run_source(s, str_c(source), STR("dir/code.lua"), 1, 0, d);
    r.took = seconds() - start;
    buf_str(&r.output, sandbox_output(s));
    diag_text(d, &r.messages);
    sandbox_free(s);
    diag_free(d);
    return r;
}

static void result_free(struct result *r)
{
    buf_free(&r->output);
    buf_free(&r->messages);
}

static void prints(const char *source, const char *want)
{
    struct result r = run_with(source, (struct sandbox_limits){0});
    if (!r.ok || !str_eq(buf_view(&r.output), str_c(want)))
        fail_msg("%s\n  prints %s\n  wanted %s\n  %s", source, r.output.ptr, want, r.messages.ptr);
    result_free(&r);
}

static void fails(const char *source, const char *message)
{
    struct result r = run_with(source, (struct sandbox_limits){0});
    if (r.ok || str_search(buf_view(&r.messages), str_c(message)) == r.messages.len)
        fail_msg("%s\n  ok %d, says %s\n  wanted %s", source, r.ok, r.messages.ptr, message);
    result_free(&r);
}

// A limit must stop it, and soon; the time is generous because of the sanitizers.
static void is_stopped(const char *source)
{
    struct result r =
        run_with(source, (struct sandbox_limits){
                             .instructions = 3000000, .memory_bytes = 16 << 20, .time_ms = 2000});
    if (r.ok || r.took > 20 ||
        str_search(buf_view(&r.messages), STR("lua-limit")) == r.messages.len)
        fail_msg("%s\n  ok %d after %.1f s: %s", source, r.ok, r.took, r.messages.ptr);
    result_free(&r);
}

static void no_way_out(void **state)
{
    static const char *const absent[] = {"io",
                                         "os",
                                         "package",
                                         "debug",
                                         "require",
                                         "dofile",
                                         "loadfile",
                                         "warn",
                                         "string.dump",
                                         "collectgarbage('count')",
                                         "coroutine.nothing"};
    (void)state;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        buf b = BUF_INIT;
        buf_printf(&b, "local ok, v = pcall(function() return %s end) assert(not ok or v == nil)",
                   absent[i]);
        prints(b.ptr, "");
        buf_free(&b);
    }
    prints("print(load('return 1 + 1')())", "2\n");
    prints("print(load('\\27Lua'))", "nil\tattempt to load a binary chunk (mode is 't')\n");
    prints("print(load('x', 'n', 'b'))", "nil\t[string \"n\"]:1: syntax error near <eof>\n");
    prints("local f = load('x = 1', 'n', 't', {}) f() print(x)", "nil\n");
    fails("load(function() return nil end)", "string expected");
    fails("load(('x'):rep(2000000))", "more than 1 MiB");
}

static void libraries_cannot_be_changed(void **state)
{
    static const char *const rows[] = {
        "string.upper = 1",
        "table.x = 1",
        "math.pi = 3",
        "rawset(string, 'x', 1)",
        "rawset(math, 1, 1)",
        "setmetatable(string, {})",
        "setmetatable(coroutine, nil)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fails(rows[i], "cannot");
    prints("print(getmetatable(''), getmetatable(string))", "false\tfalse\n");
    fails("getmetatable('').__index.x = 1", "index");
    fails("setmetatable({}, {__gc = function() end})", "__gc is not available");
    fails("setmetatable({}, {__mode = 'k'})", "__mode is not available");
    prints("local t = setmetatable({}, {__index = function(_, k) return k end}) print(t.a, "
           "rawget(t, 'a'))",
           "a\tnil\n");
}

static void endless_loops(void **state)
{
    static const char *const rows[] = {
        "while true do end",
        "while true do pcall(error) end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) "
        "end",
        "pcall(pcall, function() while true do end end) while true do end",
        "local function f() return f() end f()",
        "local function f() pcall(f) f() end f()",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do coroutine.wrap(function() end)() end",
        "local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true "
        "do c() end",
        "while true do coroutine.close(coroutine.create(function() end)) end",
        "setmetatable({}, {__index = function(t, k) while true do end end}).x = nil; local _ = "
        "setmetatable({}, {__index = function(t, k) while true do end end}).x",
        "local t <close> = setmetatable({}, {__close = function() while true do end end}) "
        "error('x')",
        "local t = setmetatable({}, {__len = function() return 1 << 40 end, __index = function() "
        "return '' end}) table.concat(t, '', 1, 1 << 40)",
        "table.sort({3, 2, 1, 4, 5}, function() while true do end end)",
        "local t = {} for i = 1, 1000 do t[i] = i end while true do table.sort(t) end",
        "goto a ::a:: goto a",
        "for i = 1, math.huge do end",
        "while true do load('return 1')() end",
        "while true do next({1, 2, 3}) end",
        "local t = {} for i = 1, 100000 do t[i] = i end while true do for k in pairs(t) do break "
        "end end",
        "string.gsub(('x'):rep(100000), 'x', function() while true do end end)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_stopped(rows[i]);
}

// Work that hides inside one call of C.
static void work_inside_one_call(void **state)
{
    static const char *const rows[] = {
        "table.move({}, 1, 1 << 60, 2)",
        "table.move({}, 1, 30000000, 2)",
        "string.find(('a'):rep(100000), ('.-'):rep(20) .. 'b')",
        "string.find(('a'):rep(30000), ('a*'):rep(15) .. 'b')",
        "string.match(('a'):rep(200000), '.-.-.-.-b')",
        "string.gsub(('a'):rep(100000), '.-.-.-b', '')",
        "for _ in string.gmatch(('a'):rep(100000), '.-.-.-b') do end",
        "string.find(('('):rep(100000), '%b()%b()%b()x')",
        "for i = 1, 1e9 do string.find(('a'):rep(100000), 'b', 1, true) end",
        "local s = ('a'):rep(1 << 20) while true do s:upper() end",
        "local s = ('a'):rep(1 << 20) while true do local _ = s .. 'x' end",
        "string.rep('x', 1 << 20, ('y'):rep(1 << 20))",
        "local t = setmetatable({}, {__len = function() return 1 << 30 end}) table.insert(t, 1, 1)",
        "local t = setmetatable({}, {__len = function() return 1 << 30 end}) table.remove(t, 1)",
        "local t = setmetatable({}, {__len = function() return 1 << 30 end}) table.sort(t)",
        "while true do ('x'):rep(0) end",
        "local t = {} for i = 1, 50000 do t[i] = i end while true do next(t, 1) end",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r = run_with(rows[i], (struct sandbox_limits){.instructions = 3000000,
                                                                    .memory_bytes = 16 << 20,
                                                                    .time_ms = 2000});
        if (r.ok || r.took > 20)
            fail_msg("%s\n  ok %d after %.1f s: %s", rows[i], r.ok, r.took, r.messages.ptr);
        result_free(&r);
    }
    prints("print(#string.rep('', 1 << 62), #string.rep('', 1 << 62, ''))", "0\t0\n");
}

static void memory(void **state)
{
    static const char *const rows[] = {
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = {} end end) end",
        "local t = {} while true do t = {t} end",
        "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
        "local ok = pcall(function() local t = {} while true do t[#t + 1] = {} end end) print(ok)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_stopped(rows[i]);
    fails("print(string.rep('x', 1 << 40))", "too large");
    fails("for i = 1, 100 do print(('x'):rep(100000)) end", "too much printed");
}

// Each passes the limit in its third line: by many small things, by one table, by one string, in a
// coroutine, when caught.
static void memory_names_the_line(void **state)
{
    static const char *const rows[] = {
        "local t = {}\n\nwhile true do t[#t + 1] = {} end",
        "local t = {}\n\nfor i = 1, 1e9 do t[i] = i end",
        "local t = {}\n\nfor i = 1, 1e9 do t['k' .. i] = i end",
        "local s = 'x'\nwhile true do\n  s = s .. s\nend",
        "local s = ('x'):rep(1 << 23)\n\nprint(#(s .. s .. s .. s .. s))",
        "local t, s = {}, ('x'):rep(1 << 20)\nfor i = 1, 40 do t[i] = s "
        "end\nprint(#table.concat(t))",
        "local t = {}\n\ncoroutine.wrap(function() while true do t[#t + 1] = {} end end)()",
        "local t = {}\nwhile true do\n  pcall(function() while true do t[#t + 1] = {} end "
        "end)\nend",
        "local t = {}\nlocal function f(n)\n  while true do t[#t + 1] = n .. #t end\nend\nf('x')",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r = run_with(rows[i], (struct sandbox_limits){.memory_bytes = 16 << 20});
        str said = buf_view(&r.messages);
        if (r.ok || str_search(said, STR("dir/code.lua:3:")) == said.len ||
            str_search(said, STR("lua-limit")) == said.len)
            fail_msg("row %zu: %.*s", i, STR_ARG(said));
        result_free(&r);
    }
}

// What is garbage does not count: memory that comes and goes stays below the limit.
static void garbage_is_no_memory(void **state)
{
    (void)state;
    struct result r =
        run_with("local s = ('x'):rep(1 << 16) local n = 0\n"
                 "for i = 1, 3000 do local t = {s .. i} n = n + #t[1] end print(n > 0)",
                 (struct sandbox_limits){.memory_bytes = 4 << 20});
    assert_true(r.ok);
    result_free(&r);
}

static void deep_nesting_is_an_error(void **state)
{
    (void)state;
    fails("local function f() return 1 + f() end f()", "lua-limit");
    fails("local f = coroutine.wrap(function() end) local function g() return coroutine.wrap(g)() "
          "end g()",
          "overflow");
    fails("local s = ('('):rep(300) .. '1' .. (')'):rep(300) assert(load('return ' .. s))",
          "code.lua:1");
    fails("string.find(('x'):rep(10), ('('):rep(40) .. 'x')", "captures");
    fails("local t = setmetatable({}, {}) getmetatable(t).__index = t local _ = t.x", "loop");
}

static void the_same_in_every_run(void **state)
{
    (void)state;
    prints("for k, v in pairs({b = 1, a = 2, [3] = 3, [1] = 4, [2.5] = 5, [true] = 6}) do print(k, "
           "v) end",
           "1\t4\n2.5\t5\n3\t3\na\t2\nb\t1\ntrue\t6\n");
    prints("local t = {b = 1, a = 2, c = 3} local k, v = next(t) print(k, v) print(next(t, 'a')) "
           "print(next(t, 'c'), next({}))",
           "a\t2\nb\t1\nnil\tnil\n");
    prints("local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t.b = nil io = k end for k in "
           "pairs(t) do print(k) end",
           "a\nc\n");
    fails("for k in pairs({[{}] = 1}) do end", "has no order");
    prints("print({}, print, coroutine.create(print))", "table\tfunction\tthread\n");
    prints("print(tostring(setmetatable({}, {__tostring = function() return 'T' end})), "
           "setmetatable({}, {__name = 'N'}))",
           "T\tN\n");
    prints("print(string.format('%s %s %5.1f %q', {}, nil, 1.25, 'a'))", "table nil   1.2 \"a\"\n");
    fails("string.format('%p', {})", "not available");
    fails("string.format('%10p', 'x')", "not available");
    prints("print(pcall(error, {}))", "false\ttable\n");
    prints("print(collectgarbage())", "0\n");
    struct result a =
        run_with("for i = 1, 5 do print(math.random(1000), math.random(), math.random(5, 6)) end",
                 (struct sandbox_limits){0});
    struct result b =
        run_with("for i = 1, 5 do print(math.random(1000), math.random(), math.random(5, 6)) end",
                 (struct sandbox_limits){0});
    assert_true(a.ok && a.output.len > 50 && str_eq(buf_view(&a.output), buf_view(&b.output)));
    result_free(&a);
    result_free(&b);
    fails("math.randomseed()", "number expected");
    fails("math.random(0)", "interval is empty");
    prints("math.randomseed(7) local x = math.random(1 << 60) math.randomseed(7) print(x == "
           "math.random(1 << 60))",
           "true\n");
}

static void sort_is_stable(void **state)
{
    (void)state;
    prints("local t = {} for i = 1, 40 do t[i] = {k = i % 3, i = i} end table.sort(t, function(a, "
           "b) return a.k < b.k end)\n"
           "for i = 2, 40 do assert(t[i-1].k < t[i].k or (t[i-1].k == t[i].k and t[i-1].i < "
           "t[i].i)) end print('ok')",
           "ok\n");
    prints("local t = {3, 1, 2} table.sort(t) print(table.concat(t, ' '))", "1 2 3\n");
    prints("local t = {'b', 'a'} table.sort(t, function() return true end) print(#t)", "2\n");
    fails("table.sort({1, 'a', {}})", "attempt to compare");
    fails("table.sort({1, 2}, 5)", "function expected");
}

static void table_functions(void **state)
{
    (void)state;
    prints("local t = {1, 2, 3} table.insert(t, 4) table.insert(t, 1, 0) print(table.concat(t, "
           "',')) print(table.remove(t), table.remove(t, 1), "
           "table.concat(t, ',')) print(table.remove({}))",
           "0,1,2,3,4\n4\t0\t1,2,3\nnil\n");
    prints("print(table.concat(table.move({1, 2, 3}, 1, 3, 2), ','))", "1,1,2,3\n");
    prints("print(table.concat(table.move({1, 2, 3}, 2, 3, 1), ','))", "2,3,3\n");
    prints("print(table.concat(table.move({1, 2}, 1, 2, 3, {8, 9}), ','))", "8,9,1,2\n");
    prints("print(table.unpack({1, 2, 3}, 2))", "2\t3\n");
    prints("print(select('#', table.unpack({}, 1, 3)), table.pack(1, nil).n)", "3\t2\n");
    fails("table.insert({1}, 5, 2)", "out of bounds");
    fails("table.concat({1, {}})", "invalid value (at index 2)");
}

// The same answers as Lua's own matcher gives; each checked against lua5.4.
static void patterns(void **state)
{
    (void)state;
    prints("print(('hello world'):find('o w')) print(('hello'):find('l+')) print(('a.b'):find('.', "
           "1, true)) print(('abc'):find('b', -1))",
           "5\t7\n3\t4\n2\t2\nnil\n");
    prints("print(('key = value'):match('^(%w+)%s*=%s*(%w+)$')) print(('  trim  "
           "'):match('^%s*(.-)%s*$') .. '|') print(('x'):match('()'))",
           "key\tvalue\ntrim|\n1\n");
    prints("print(('THE (quick) fox'):find('%((%a+)%)')) print(('f(a(b)c)d'):match('%b()')) "
           "print(('THE (quick) fox'):gsub('%f[%a]%a+', '<%0>'))",
           "5\t11\tquick\n(a(b)c)\n<THE> (<quick>) <fox>\t3\n");
    prints("print(('abc'):gsub('', '-')) print(('hello world'):gsub('o', {o = '0'})) "
           "print(('abc'):gsub('%w', '%0%0', 2))",
           "-a-b-c-\t4\nhell0 w0rld\t2\naabbc\t2\n");
    prints("print(('abc'):gsub('b', function() return false end)) print(('a,b,,c'):gsub(',', ';')) "
           "print(('x^y'):gsub('%^', '**'))",
           "abc\t1\na;b;;c\t3\nx**y\t1\n");
    prints("for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do print(k, v) end for w in "
           "('ab'):gmatch('') do print('e') end",
           "a\t1\nb\t2\ne\ne\ne\n");
    prints("print(('0x1F'):match('^0[xX](%x+)$'), ('a]b'):match('[]]'), ('a-b'):match('[a%-]+'), "
           "('ab'):match('[^a]'), ('5'):match('[0-9]'))",
           "1F\t]\ta-\tb\t5\n");
    prints("print(('\"x\"'):match('([\"\\'])x%1'), ('aXb'):find('%u'), ('a\\0b'):find('%z'), "
           "('a\\0b'):find('\\0'))",
           "\"\t2\t2\t2\t2\n");
    prints("print(('aaa'):match('a-'), ('aaa'):match('a-$'), ('aab'):match('a?a?a?b'), "
           "('abc'):find('', 10), ('abc'):find('', 4))",
           "\taaa\taab\tnil\t4\t3\n");
    prints("print(('abc'):match('((a)(b))')) print(pcall(string.rep, 'x', -1)) print(('x'):rep(3, "
           "'-'))",
           "ab\ta\tb\ntrue\t\nx-x-x\n");
    fails("('x'):find('[')", "missing ']'");
    fails("('x'):find('%')", "ends with '%'");
    fails("('x'):find('(')", "unfinished capture");
    fails("('x'):match(')')", "invalid pattern capture");
    fails("('x'):find('%1')", "invalid capture index");
    fails("('x'):find('%f')", "missing '['");
    fails("('x'):find('%b')", "missing arguments");
    fails("('x'):gsub('x', '%2')", "invalid capture index");
    fails("('x'):gsub('x', '%q')", "invalid use of '%'");
    fails("('x'):gsub('x', function() return {} end)", "invalid replacement value");
}

static void coroutines(void **state)
{
    (void)state;
    prints("local c = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 "
           "end) print(c(1), c(5))",
           "2\t10\n");
    prints("local c = coroutine.create(function() error('x') end) print(coroutine.resume(c)) "
           "print(coroutine.status(c), coroutine.resume(c))",
           "false\tdir/code.lua:1: x\ndead\tfalse\tcannot resume dead coroutine\n");
    prints("local c c = coroutine.create(function() return coroutine.resume(c) end) "
           "print(coroutine.resume(c))",
           "true\tfalse\tcannot resume non-suspended coroutine\n");
    prints("local c = coroutine.create(function() coroutine.yield() end) coroutine.resume(c) "
           "print(coroutine.close(c), coroutine.status(c))",
           "true\tdead\n");
    prints("print(coroutine.isyieldable(), pcall(coroutine.yield))",
           "false\tfalse\tattempt to yield from outside a coroutine\n");
    prints("local c = coroutine.wrap(function() print(pcall(function() coroutine.yield(1) "
           "error('e') end)) end) c() c()",
           "false\tdir/code.lua:1: e\n");
}

static void errors_name_their_line(void **state)
{
    (void)state;
    fails("local a\n\n  a.b = 1",
          "dir/code.lua:3:3: error: error in Lua: attempt to index a nil value (local 'a')");
    fails("x =", "dir/code.lua:1:1: error: error in Lua: unexpected symbol near <eof>");
    fails("error({})", "an error that is no text");
    fails("error('plain', 0)", "dir/code.lua: error: error in Lua: plain");
    fails("error(setmetatable({}, {__tostring = error}))", "no text");
    prints("print(pcall(error, 'a', 0)) print(xpcall(error, function(m) return m .. '!' end, 'a', "
           "0)) print(select(2, pcall(error)))",
           "false\ta\nfalse\ta!\nnil\n");
}

static void shifts_lines(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct sandbox *s = sandbox_new((struct sandbox_limits){0});
    buf said = BUF_INIT;
    assert_false(run_source(s, STR("local x\nx()"), STR("page.md"), 100, 0, d));
    diag_text(d, &said);
    assert_true(str_starts(buf_view(&said), STR("page.md:101: error")));
    assert_true(run_source(s, STR("return 7"), STR("page.md"), 1, 1, d));
    assert_int_equal(lua_tointeger(sandbox_state(s), -1), 7);
    buf_free(&said);
    sandbox_free(s);
    diag_free(d);
}

static void goes_on_after_a_limit(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct sandbox *s = sandbox_new((struct sandbox_limits){.instructions = 100000});
    assert_false(run_source(s, STR("while true do end"), STR("a"), 1, 0, d));
    assert_true(run_source(s, STR("print(1)"), STR("a"), 1, 0, d));
    assert_str(sandbox_output(s), "1\n");
    sandbox_free(s);
    diag_free(d);
}

// Sleeps: what happens to a script on a machine that has other work.
static int waits(lua_State *L)
{
    (void)L;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    return 0;
}

static void time_is_the_processors(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct sandbox *s =
        sandbox_new((struct sandbox_limits){.instructions = UINT64_MAX / 2, .time_ms = 150});
    buf said = BUF_INIT;
    lua_register(sandbox_state(s), "wait", waits);
    assert_true(run_source(s, STR("for i = 1, 2 do for k = 1, 30000 do end wait() end"), STR("a"),
                           1, 0, d));
    assert_false(run_source(s, STR("while true do end"), STR("a"), 1, 0, d));
    diag_text(d, &said);
    assert_int_not_equal(str_search(buf_view(&said), STR("too much time")), said.len);
    buf_free(&said);
    sandbox_free(s);
    diag_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_way_out),
        cmocka_unit_test(libraries_cannot_be_changed),
        cmocka_unit_test(endless_loops),
        cmocka_unit_test(work_inside_one_call),
        cmocka_unit_test(memory),
        cmocka_unit_test(memory_names_the_line),
        cmocka_unit_test(garbage_is_no_memory),
        cmocka_unit_test(deep_nesting_is_an_error),
        cmocka_unit_test(the_same_in_every_run),
        cmocka_unit_test(sort_is_stable),
        cmocka_unit_test(table_functions),
        cmocka_unit_test(patterns),
        cmocka_unit_test(coroutines),
        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(shifts_lines),
        cmocka_unit_test(goes_on_after_a_limit),
        cmocka_unit_test(time_is_the_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
