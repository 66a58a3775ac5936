// Which formulas are known, in memory and in a file, and what is shown for each.
#include "gen/text/math.h"

#include <string.h>

#include "gen/base/escape.h"
#include "gen/base/map.h"
#include "gen/text/math_cache.h"
#include "gen/text/math_markup.h"
#include "gen/text/math_program.h"
#include "gen/text/math_spelling.h"

enum {
    MAX_FORMULA = 16384,
    FORMAT = 6,  // raised when what is kept would be made differently
};

// What is known of a formula: MathML, or why there is none.
struct answer {
    bool is_math;
    str text;
};

struct math {
    str path;  // of the file that is kept; "" for none
    buf file;  // its bytes, once read
    bool read;
    arena arena;
    struct map known;  // key -> struct answer *
    struct math_program program;
};

struct math *math_open(str cache_dir)
{
    arena a = ARENA_INIT;
    struct math *m = arena_new(&a, struct math, 1);
    m->path = cache_dir.len ? arena_join(&a, cache_dir, STR("/formulas"), STR_NONE) : STR_NONE;
    m->file = BUF_INIT;
    m->program = MATH_PROGRAM_INIT(MATH_PROGRAM_WAIT_MS);
    m->arena = a;
    return m;
}

void math_rest(struct math *m)
{
    math_program_end(&m->program);
}

void math_free(struct math *m)
{
    if (!m)
        return;
    math_rest(m);
    buf_free(&m->file);
    arena a = m->arena;
    arena_free(&a);
}

// The key of a formula: everything that its MathML depends on.
static void put_key(buf *key, str tex, bool display)
{
    buf_clear(key);
    buf_printf(key, "%d %c ", FORMAT, display ? 'd' : 'i');
    buf_str(key, tex);
}

// text lives as long as m.
static struct answer *remember(struct math *m, str key, str text)
{
    bool is_new;
    void **place = map_put(&m->known, &m->arena, key, &is_new);
    struct answer *known = arena_new(&m->arena, struct answer, 1);
    *known = (struct answer){str_starts(text, STR("<math")), text};
    return *place = known;
}

static void remember_kept(void *ctx, str key, str text)
{
    remember(ctx, key, text);
}

static bool is_known(struct math *m, str key)
{
    bool known = map_has(&m->known, key);
    if (known || m->read || !m->path.len)
        return known;
    m->read = true;
    math_cache_read(m->path.ptr, &m->file, remember_kept, m);
    return map_has(&m->known, key);
}

// What is still to be asked: keys[i] is that of questions[i].
struct open_questions {
    arena arena;
    struct map keys;
    struct math_question *questions;
};

// Why a formula is not asked about, NULL when it is: what XML cannot hold, in blahtexml's own
// words.
static const char *unfit(str tex)
{
    for (size_t i = 0; i < tex.len; i++)
        if ((unsigned char)tex.ptr[i] < ' ' && !strchr("\t\n\r", tex.ptr[i]))
            return "Illegal character in input";
    return tex.len > MAX_FORMULA ? "too long" : NULL;
}

static void note_open(struct math *m, struct open_questions *open, str key,
                      const struct math_formula *f, buf *spelled)
{
    bool is_new;
    buf_clear(spelled);
    math_spelling(f->tex, f->display, spelled);
    const char *why = unfit(buf_view(spelled));
    if (why) {
        remember(m, key, str_c(why));
        return;
    }
    map_put(&open->keys, &open->arena, key, &is_new);
    if (is_new)
        open->questions[open->keys.count - 1] = (struct math_question){
            .tex = arena_str(&open->arena, buf_view(spelled)), .display = f->display};
}

// What failed may do better in another run: it is not kept.
static void take_answer(struct math *m, str key, const struct math_question *q, buf *records)
{
    buf markup = BUF_INIT;
    if (q->outcome == MATH_CONVERTED)
        math_markup(q->text, q->display, &markup);
    str text = q->outcome == MATH_CONVERTED ? buf_view(&markup) : q->text;
    remember(m, key, arena_str(&m->arena, text));
    if (q->outcome != MATH_FAILED)
        math_cache_put(records, key, text);
    buf_free(&markup);
}

static void ask(struct math *m, struct open_questions *open)
{
    buf records = BUF_INIT;
    math_program_ask(&m->program, open->questions, open->keys.count, &open->arena);
    for (size_t i = 0; i < open->keys.count; i++)
        take_answer(m, open->keys.entries[i].key, &open->questions[i], &records);
    if (records.len && m->path.len)
        math_cache_append(m->path.ptr, buf_view(&records));
    buf_free(&records);
}

void math_prepare(struct math *m, const struct math_formula *formulas, size_t count)
{
    struct open_questions open = {.arena = ARENA_INIT};
    buf key = BUF_INIT, spelled = BUF_INIT;
    open.questions = arena_new(&open.arena, struct math_question, count);
    for (size_t i = 0; i < count; i++) {
        put_key(&key, formulas[i].tex, formulas[i].display);
        if (!is_known(m, buf_view(&key)))
            note_open(m, &open, buf_view(&key), &formulas[i], &spelled);
    }
    ask(m, &open);
    buf_free(&key);
    buf_free(&spelled);
    arena_free(&open.arena);
}

static void show(const struct answer *known, str tex, struct diag_pos at, struct diag *d, buf *out)
{
    if (known->is_math) {
        buf_str(out, known->text);
        return;
    }
    diag_add(d, D_MATH_SYNTAX, at, "%.*s", STR_ARG(known->text));
    buf_lit(out, "<code>");
    escape_text(out, tex);
    buf_lit(out, "</code>");
}

bool math_render(struct math *m, str tex, bool display, struct diag_pos at, struct diag *d,
                 buf *out)
{
    struct math *own = m ? NULL : math_open(STR_NONE);
    struct math *used = m ? m : own;
    buf key = BUF_INIT;
    put_key(&key, tex, display);
    const struct answer *known = map_get(&used->known, buf_view(&key));
    if (!known) {
        math_prepare(used, &(struct math_formula){tex, display}, 1);
        known = map_get(&used->known, buf_view(&key));
    }
    bool is_math = known->is_math;
    show(known, tex, at, d, out);
    buf_free(&key);
    math_free(own);
    return is_math;
}
