// Owns what a stack of frames says: whose line it was, and what the memory is for.

#include "calc/parse/snapshot_read.h"

#include "calc/base/text.h"

enum which { ANY, OUTERMOST };

static const struct rule {
    uint32_t category;
    const char *file, *name;
    enum which which;
} RULES[] = {
#define FRAME(category, file, name, which) {VRAM_CAT_##category, file, name, which},
#include "calc/parse/snapshot_frames.def"
#undef FRAME
};

enum { RULE_COUNT = sizeof RULES / sizeof *RULES };
_Static_assert(RULE_COUNT < 255, "a rule is kept in a byte");

static bool holds(struct span s, const char *part)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == part[0] && span_starts((struct span){s.at + i, s.len - i}, part))
            return true;
    return part[0] == 0;
}

// Number of the first rule that a frame matches, or RULE_COUNT.
static size_t rule_of(struct span file, struct span name, bool outermost)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if ((RULES[i].which == ANY || outermost) && holds(file, RULES[i].file) &&
            holds(name, RULES[i].name))
            return i;
    return RULE_COUNT;
}

// As rule_of, once for each frame: they are shared by the stacks of many allocations.
static size_t rule_of_frame(struct snapshot_read *s, const struct tree_value *frame,
                            struct span file, struct span name, bool outermost)
{
    unsigned char *known = frame->kind == TREE_DICT ? &s->rule_of_frame[frame->n] : NULL;
    if (outermost || !known)
        return rule_of(file, name, outermost);
    if (*known == 0)
        *known = (unsigned char)(rule_of(file, name, false) + 1);
    return *known - 1u;
}

static bool ends(struct span s, const char *end)
{
    size_t n = text_len(end);
    return s.len >= n && span_is(span_skip(s, s.len - n), end);
}

// Is it a file of the interpreter or of another library in C or C++? Stacks of all languages have
// their frames between those of Python.
static bool is_compiled(struct span file)
{
    static const char *const kinds[] = {".c",   ".cc", ".cpp", ".cu", ".h",
                                        ".hpp", ".o",  ".so",  ".S"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends(file, kinds[i]))
            return true;
    return file.len == 0 || span_is(file, "??") || holds(file, ".so.");
}

// Is it a line of a library that runs in every stack, or of C++?
static bool is_inside(struct span file, struct span name)
{
    return holds(file, "/torch/") || span_starts(file, "torch/") || holds(name, "::") ||
           is_compiled(file);
}

struct snapshot_site snapshot_site_of(struct snapshot_read *s, const struct tree_value *frames)
{
    struct tree *t = &s->tree;
    struct snapshot_site site = {{"", 0}, {"", 0}, 0, SNAPSHOT_UNKNOWN, true};
    bool chosen = false;
    size_t best = RULE_COUNT;
    uint64_t left = t->lists[frames->n].count;
    struct tree_value frame;
    struct tree_walk w = tree_items(t, frames);
    while (tree_next(t, &w, &frame)) {
        struct tree_value f = tree_get(t, &frame, "filename"), n = tree_get(t, &frame, "name"),
                          l = tree_get(t, &frame, "line");
        struct span file = tree_str(t, &f), name = tree_str(t, &n);
        left--;
        if (!tree_pay(t, (file.len + name.len) / 8))
            break;
        size_t rule = rule_of_frame(s, &frame, file, name, left == 0);
        best = rule < best ? rule : best;
        bool inside = is_inside(file, name);
        site.empty = false;
        if (chosen || is_compiled(file) || (inside && site.file.len > 0))
            continue;
        chosen = !inside;
        site = (struct snapshot_site){file, name, tree_u64(&l), SNAPSHOT_UNKNOWN, false};
    }
    if (best < RULE_COUNT)
        site.category = RULES[best].category;
    return site;
}
