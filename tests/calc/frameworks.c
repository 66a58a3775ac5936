// The estimator against the allocations of the real frameworks: for every trace of a case in
// frameworks.tsv, the peak of the requested bytes in each forward, backward and optimizer step, and
// of a prompt, equals that of the trace, cuBLAS's workspaces aside; so does the peak of what is
// smaller than logits. frameworks ROOT; NAME=case shows all phases of one case.
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "calc/vram.h"
#include "gen/base/arena.h"
#include "gen/base/fs.h"

// What has so many bytes and more is left out the second time, where a case does not say.
static const double LOGITS_BYTES = 4e8, NO_LIMIT = 1e18;

static bool failed;

// The case that is asked for, or NULL.
static const char *one_case(void)
{
    const char *name = getenv("NAME");
    return name && *name ? name : NULL;
}

static bool tell(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "not ok", what);
    failed |= !good;
    return good;
}

// ---- the peaks of phases -----------------------------------------------------------------------

enum { PHASES = 64 };

struct phase {
    str name;
    double peak;
};

// Live bytes by phase, of what is smaller than most. The phases' names live in a.
struct tally {
    arena *a;
    double most, live;
    size_t count;
    struct phase phases[PHASES];
};

static struct phase *phase_of(struct tally *t, str name)
{
    for (size_t i = t->count; i-- > 0;)
        if (str_eq(t->phases[i].name, name))
            return &t->phases[i];
    if (t->count == PHASES) {
        fputs("frameworks: too many phases\n", stderr);
        exit(1);
    }
    t->phases[t->count] = (struct phase){arena_str(t->a, name), t->live};
    return &t->phases[t->count++];
}

static void tally_add(struct tally *t, struct phase *phase, double bytes)
{
    t->live += bytes;
    if (t->live > phase->peak)
        phase->peak = t->live;
}

// ---- a trace -----------------------------------------------------------------------------------

// A line "a ID BYTES OP PHASE CATEGORY MODULE" or "f ID".
struct line {
    bool allocates;
    uint64_t id;
    double bytes;
    str op, phase, category;
};

static bool read_line(str *rest, struct line *out)
{
    str line, id, bytes;
    uint64_t number;
    if (!str_line(rest, &line) || line.len < 3)
        return false;
    *out = (struct line){.allocates = line.ptr[0] == 'a'};
    line = str_slice(line, 2, line.len);
    if (!str_cut(&line, ' ', &id) || !str_u64(id, &out->id))
        return false;
    if (!out->allocates)
        return true;
    if (!str_cut(&line, ' ', &bytes) || !str_u64(bytes, &number))
        return false;
    out->bytes = (double)number;
    return str_cut(&line, ' ', &out->op) && str_cut(&line, ' ', &out->phase) &&
           str_cut(&line, ' ', &out->category);
}

static uint64_t count_of(str text)
{
    uint64_t most = 0;
    for (struct line l; read_line(&text, &l);)
        most = l.id > most ? l.id : most;
    return most;
}

// Live bytes without workspaces. Of a workspace's size are results of products, too: what a product
// borrows it gives back before it returns, in the next line.
static void phases_of_trace(struct tally *t, str text, double workspace)
{
    arena sizes = ARENA_INIT;
    double *size = arena_alloc(&sizes, count_of(text) + 1, sizeof *size);
    struct phase *phase = NULL;
    uint64_t held = 0;  // no trace has a block of this number
    for (struct line l; read_line(&text, &l);) {
        if (held && (l.allocates || l.id != held))
            tally_add(t, phase, size[held] = workspace);
        held = 0;
        if (!l.allocates) {
            t->live -= size[l.id];
            size[l.id] = 0;
            continue;
        }
        phase = phase_of(t, l.phase);
        if (l.bytes >= t->most || str_eq(l.category, STR("workspace")))
            continue;
        if (l.bytes == workspace && str_has(l.op, STR("mm")))
            held = l.id;
        else if (l.bytes != 1048576 || !str_ends(l.op, STR(">_scaled_mm")))  // of cuBLASLt
            tally_add(t, phase, size[l.id] = l.bytes);
    }
    arena_free(&sizes);
}

// The first workspace that is freed later than in the next line, or 0. A product frees what it
// borrows before it returns, a handle keeps its own for ever: the others are results of a
// workspace's size.
static uint64_t result_as_workspace(str text)
{
    arena lines = ARENA_INIT;
    size_t *borrowed = arena_alloc(&lines, count_of(text) + 1, sizeof *borrowed);
    uint64_t found = 0;
    struct line l;
    for (size_t n = 1; !found && read_line(&text, &l); n++)
        if (l.allocates)
            borrowed[l.id] = str_eq(l.category, STR("workspace")) ? n : 0;
        else if (borrowed[l.id] && borrowed[l.id] + 1 != n)
            found = l.id;
    arena_free(&lines);
    return found;
}

// ---- an estimate -------------------------------------------------------------------------------

static int on_event(void *ctx, const struct vram_event *e)
{
    struct tally *t = ctx;
    if ((double)e->bytes < t->most && e->category != VRAM_CAT_WORKSPACE)
        tally_add(t, phase_of(t, str_c(e->phase)),
                  e->is_free ? -(double)e->bytes : (double)e->bytes);
    return 0;
}

// Sets those of words whose key is a preset's, or the others.
static bool set_words(vram *v, const char *words, bool presets)
{
    str rest = str_c(words), word, key;
    while (str_cut(&rest, ' ', &word)) {
        if (!word.len || str_starts(word, STR("preset=")) != presets)
            continue;
        str value = word;
        if (!str_cut(&value, '=', &key) ||
            vram_set_n(v, key.ptr, key.len, value.ptr, value.len) != VRAM_OK)
            return false;
    }
    return true;
}

// What is wrong with the words, or NULL.
static const char *set_run(vram *v, const char *words)
{
    vram_clear(v);
    return set_words(v, words, true) && set_words(v, words, false) ? NULL : vram_error(v)->text;
}

// ---- one against the other ---------------------------------------------------------------------

// What a row of frameworks.tsv says, and one of its traces.
struct kase {
    str name, words, slack, cause, environment;
    str run, layers, environment_of_run, batch, seq, card;
};

static const struct phase *find(const struct tally *t, str name)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_eq(t->phases[i].name, name))
            return &t->phases[i];
    return NULL;
}

static bool is_compared(str name, const regex_t *without)
{
    static const char *const begin[] = {"fwd:it", "bwd:it", "step:it", "eval:"};
    bool counts = str_eq(name, STR("prefill"));
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        counts |= str_starts(name, str_c(begin[i]));
    return counts && !(without && regexec(without, name.ptr, 0, NULL, 0) == 0);
}

// Adds to why what differs; so many phases are in both at least.
static void compare(const struct tally *want, const struct tally *have, const regex_t *without,
                    double slack, double tokens, size_t least, buf *why)
{
    size_t both = 0;
    for (size_t i = 0; i < have->count; i++) {
        const struct phase *h = &have->phases[i], *w = find(want, h->name);
        if (!w || !is_compared(h->name, without))
            continue;
        double over = h->peak - w->peak;
        both++;
        if (one_case())
            fprintf(stderr, "    %s: %.0f, trace %.0f, %+.0f\n", h->name.ptr, h->peak, w->peak,
                    over);
        if (over < -slack - 1024 || over > 16 * tokens + slack + 1024)
            buf_printf(why, "%s: %.0f, trace %.0f (%+.0f); ", h->name.ptr, h->peak, w->peak, over);
    }
    if (find(want, STR("prefill")) && is_compared(STR("prefill"), without))
        least = 1;
    if (both < least)
        buf_printf(why, "only %zu phases in common", both);
}

// The words of the estimator for this trace. A word that begins with new: or old: holds for that
// environment alone; without:PHASES and most:BYTES are no words of the estimator.
static void words_of(const struct kase *k, buf *out, buf *without, double *most)
{
    bool is_new = str_eq(k->environment_of_run, STR("new"));
    buf_printf(out,
               "optimizer=adamw_foreach grad_clip=0 gradient_accumulation_steps=1 "
               "keep_logits=backward framework=transformers evaluation=false %s",
               is_new ? "torch=2.15 transformers=5.23" : "torch=2.4 transformers=4.48");
    str rest = k->words, word;
    while (str_cut(&rest, ' ', &word)) {
        if (str_starts(word, STR("without:")))
            buf_printf(without, "^(%.*s)$", (int)word.len - 8, word.ptr + 8);
        else if (str_starts(word, STR("most:")))
            *most = strtod(word.ptr + 5, NULL);
        else if (!str_starts(word, STR("new:")) && !str_starts(word, STR("old:")))
            buf_printf(out, " %.*s", STR_ARG(word));
        else if (str_starts(word, STR("new:")) == is_new)
            buf_printf(out, " %.*s", (int)word.len - 4, word.ptr + 4);
    }
    buf_printf(out, " n_layer=%.*s batch_size=%.*s seq_len=%.*s gpu=%s", STR_ARG(k->layers),
               STR_ARG(k->batch), STR_ARG(k->seq),
               str_eq(k->card, STR("t4")) ? "T4" : "A100_80GB");  // what a card lacks
}

static double number_of(str s)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", STR_ARG(s));
    return strtod(text, NULL);
}

// Once whole, and once without logits and embeddings, which hide what happens in the blocks: what
// has 400 MB and more, or as the case says, where a whole block is gathered.
static void compare_both(vram *v, const struct kase *k, str trace, const regex_t *without,
                         size_t phases, double most, buf *why)
{
    double workspace = str_eq(k->card, STR("h100")) ? 33554432 : 8519680;
    const double limits[] = {NO_LIMIT, most};
    for (int i = 0; i < 2; i++) {
        arena a = ARENA_INIT;
        struct tally want = {.a = &a, .most = limits[i]}, have = want;
        phases_of_trace(&want, trace, workspace);
        if (vram_trace(v, on_event, &have) != VRAM_OK)
            buf_printf(why, "refused: %s; ", vram_error(v)->text);
        else
            compare(&want, &have, without, number_of(k->slack),
                    number_of(k->batch) * number_of(k->seq), phases, why);
        arena_free(&a);
    }
}

static void run_case(vram *v, const struct kase *k, str trace)
{
    buf words = BUF_INIT, pattern = BUF_INIT, why = BUF_INIT;
    double most = LOGITS_BYTES;
    regex_t without;
    words_of(k, &words, &pattern, &most);
    // One iteration of two is left.
    size_t phases = str_has(buf_view(&pattern), STR("(fwd|bwd)")) ? 2 : 3;
    const char *wrong = set_run(v, words.ptr);
    if (wrong)
        buf_printf(&why, "refused: %s", wrong);
    else if (pattern.len && regcomp(&without, pattern.ptr, REG_EXTENDED | REG_NOSUB))
        buf_printf(&why, "no pattern: %s", pattern.ptr);
    else {
        compare_both(v, k, trace, pattern.len ? &without : NULL, phases, most, &why);
        if (pattern.len)
            regfree(&without);
    }
    printf("%s %.*s", why.len ? "not ok" : "ok", STR_ARG(k->run));
    if (why.len)
        printf(": %s\n", why.ptr);
    else if (k->slack.len)
        printf(" (%.*s)\n", STR_ARG(k->cause));
    else
        putchar('\n');
    failed |= why.len > 0;
    buf_free(&words);
    buf_free(&pattern);
    buf_free(&why);
}

// ---- tables and files --------------------------------------------------------------------------

enum { COLUMNS = 20 };

// The cells of a line; those that it lacks are empty.
static void cells_of(str line, str cells[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (!str_cut(&line, '\t', &cells[i]))
            cells[i] = STR_NONE;
}

// The next line of a table with its cells; the one with the columns' names is passed over.
static bool next_row(str *table, str cells[COLUMNS], const char *names)
{
    str line;
    while (str_line(table, &line))
        if (line.len && line.ptr[0] != '#' && !str_starts(line, str_c(names))) {
            cells_of(line, cells);
            return true;
        }
    return false;
}

static bool unpack(const char *path, buf *out)
{
    char bytes[1 << 16];
    gzFile file = gzopen(path, "rb");
    int n = -1;
    buf_clear(out);
    while (file && (n = gzread(file, bytes, sizeof bytes)) > 0)
        buf_put(out, bytes, (size_t)n);
    if (file)
        gzclose(file);
    return file && n == 0 && out->len;
}

// A trace, and the rows of the table that are about it. Its name is CASE_LDEPTH_ENVIRONMENT.
static void run_trace(vram *v, const char *folder, const str *row, str table, buf *text)
{
    const char *only = one_case();
    struct kase k = {.run = row[0], .batch = row[5], .seq = row[6], .card = row[7]};
    size_t last = str_rfind(k.run, '_'), depth = str_rfind(str_slice(k.run, 0, last), '_');
    str name = str_slice(k.run, 0, depth), cells[COLUMNS];
    k.environment_of_run = str_slice(k.run, last + 1, k.run.len);
    k.layers = str_slice(k.run, depth + 2, last);
    if (only && !str_eq(name, str_c(only)))
        return;
    buf path = BUF_INIT;
    buf_printf(&path, "%s/%.*s.txt.gz", folder, STR_ARG(k.run));
    bool there = unpack(path.ptr, text);
    buf_free(&path);
    uint64_t wrong = there ? result_as_workspace(buf_view(text)) : 0;
    if (!there || wrong) {
        printf("not ok %.*s: ", STR_ARG(k.run));
        printf(there ? "allocation %ju is no workspace\n" : "it cannot be read\n",
               (uintmax_t)wrong);
        failed = true;
    }
    while (there && next_row(&table, cells, "case\t")) {
        k.words = cells[1], k.slack = cells[2], k.cause = cells[3], k.environment = cells[4];
        if (str_eq(cells[0], name) &&
            (!k.environment.len || str_eq(k.environment, k.environment_of_run)))
            run_case(v, &k, buf_view(text));
    }
}

// Whether row, whose run is CASE_LDEPTH_ENVIRONMENT, is a trace of the case.
static bool is_trace_of(const str *row, str name, str environment)
{
    size_t last = str_rfind(row[0], '_');
    return str_eq(str_slice(row[0], 0, str_rfind(str_slice(row[0], 0, last), '_')), name) &&
           (!environment.len || str_eq(str_slice(row[0], last + 1, row[0].len), environment));
}

static void check_names(str table, str cases)
{
    str cells[COLUMNS], row[COLUMNS];
    while (next_row(&table, cells, "case\t")) {
        bool found = false;
        for (str rest = cases; !found && next_row(&rest, row, "name\t");)
            found = is_trace_of(row, cells[0], cells[4]);
        if (!found)
            printf("not ok %.*s: it has no trace\n", STR_ARG(cells[0]));
        failed |= !found;
    }
}

// A trace that no case has is compared with nothing.
static void check_traces(str table, str cases)
{
    str row[COLUMNS], cells[COLUMNS];
    while (next_row(&cases, row, "name\t")) {
        bool found = false;
        for (str rest = table; !found && next_row(&rest, cells, "case\t");)
            found = is_trace_of(row, cells[0], cells[4]);
        if (!found)
            printf("not ok %.*s: no case of frameworks.tsv compares it\n", STR_ARG(row[0]));
        failed |= !found;
    }
}

// ---- the checks are shown to fail --------------------------------------------------------------

static void check_checks(void)
{
    arena a = ARENA_INIT;
    buf why = BUF_INIT, none = BUF_INIT;
    struct tally t = {.a = &a, .most = 100};
    phases_of_trace(
        &t, STR("a 1 7 mm fwd temp -\na 2 7 mm fwd temp -\nf 2\na 3 1 add fwd temp -\nf 1\n"), 7);
    tell(t.count == 1 && t.phases[0].peak == 8, "a result of a workspace's size counts");
    // A peak that is 1,100 bytes too low.
    struct tally want = {.count = 4,
                         .phases = {{STR("fwd:it0.m0"), 5000},
                                    {STR("bwd:it0.m0"), 9000},
                                    {STR("fwd:it1.m0"), 5000},
                                    {STR("bwd:it1.m0"), 9000}}};
    struct tally have = want;
    have.phases[1].peak = have.phases[3].peak = 7900;
    compare(&want, &have, NULL, 0, 8, 3, &why);
    compare(&want, &want, NULL, 0, 8, 3, &none);
    tell(why.len && !none.len, "a wrong peak is seen");
    tell(result_as_workspace(
             STR("a 1 9 addmm fwd workspace -\na 2 9 addmm fwd workspace -\nf 2\nf 1\n")) == 1,
         "a result that is taken for a workspace is seen");
    buf_free(&why);
    buf_free(&none);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    buf folder = BUF_INIT, path = BUF_INIT, cases = BUF_INIT, table = BUF_INIT, trace = BUF_INIT;
    const char *root = argc > 1 ? argv[1] : ".";
    buf_printf(&folder, "%s/tests/calc/truth/frameworks", root);
    buf_printf(&path, "%s/cases.tsv", folder.ptr);
    bool there = fs_read(path.ptr, 0, &cases) == 0;
    buf_clear(&path);
    buf_printf(&path, "%s/tests/calc/frameworks.tsv", root);
    if (!there || fs_read(path.ptr, 0, &table)) {
        fprintf(stderr, "frameworks: no tables below %s\n", root);
        return 1;
    }
    if (!one_case()) {
        check_checks();
        check_names(buf_view(&table), buf_view(&cases));
        check_traces(buf_view(&table), buf_view(&cases));
    }
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    str rest = buf_view(&cases), cells[COLUMNS];
    while (v && next_row(&rest, cells, "name\t"))
        run_trace(v, folder.ptr, cells, buf_view(&table), &trace);
    vram_free(v);
    buf_free(&folder);
    buf_free(&path);
    buf_free(&cases);
    buf_free(&table);
    buf_free(&trace);
    return failed || !v;
}
