// Owns the library's calls that read a text or pairs into the configuration: all of it, or nothing.

#include "calc/parse/kind.h"

// Protocols from 2 on begin so.
static bool is_pickle(const struct parse *p)
{
    return p->len > 1 && (unsigned char)p->text[0] == 0x80 && p->text[1] >= 2 && p->text[1] <= 5;
}

// Text has no NUL and no control characters but tabs and line ends; the first other byte is named.
static int check_bytes(struct parse *p)
{
    if (p->len > PARSE_TEXT_MAX)
        return err_set(&p->v->err, MESSAGE_text_too_long, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                       ARGS(arg_u64("bytes", p->len), arg_u64("most", PARSE_TEXT_MAX)));
    if (is_pickle(p))
        return err_set(&p->v->err, MESSAGE_text_is_snapshot, (struct err_pos){p->file, 1, 1},
                       NO_FIELD, NO_ARGS);
    if (parse_is_utf16((struct span){p->text, p->len}))
        return err_set(&p->v->err, MESSAGE_text_is_utf16, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                       NO_ARGS);
    for (size_t i = 0; i < p->len; i++) {
        unsigned char c = (unsigned char)p->text[i];
        if ((c < 32 && c != '\t' && c != '\n' && c != '\r' && c != 27) || c == 127)
            return err_set(&p->v->err, MESSAGE_not_text, err_pos_of(p->file, p->text, i), NO_FIELD,
                           ARGS(arg_u64("byte", c)));
    }
    return VRAM_OK;
}

// Reads with a parser. What it reported on the way is an error of the whole, too: nothing of the
// text is kept.
static int run_parser(struct parse *p, enum vram_kind kind)
{
    struct vram *v = p->v;
    struct vram_config before = v->config;
    struct facts facts = v->facts;
    message_clear(&v->err);
    message_clear(&p->first);
    message_list_free(&v->notes);
    v->has_result = false;
    handle_begin_text(v, p->file);
    int rc = check_bytes(p);
    if (rc == VRAM_OK)
        rc = kind_read(p, kind);
    if (rc == VRAM_OK && v->notes.failed)
        rc = handle_no_memory(v);
    if (rc != VRAM_OK)
        parse_report(p);
    if (!err_is_set(&v->err) && !err_is_set(&p->first)) {
        v->facts.read = v->facts.read || kind != VRAM_KIND_SETTINGS;
        return VRAM_OK;
    }
    if (!err_is_set(&v->err))
        message_copy(&v->err, &p->first.out);
    v->config = before;
    v->facts = facts;
    return v->err.out.code;
}

static int bad_kind(struct vram *v, enum vram_kind kind)
{
    message_clear(&v->err);
    return err_set(&v->err, MESSAGE_no_such_kind, NO_POS, NO_FIELD,
                   ARGS(arg_u64("kind", (uint64_t)kind)));
}

int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len, const char *file,
               vram_message_fn *each, void *ctx)
{
    struct parse p = {.v = v,
                      .text = text ? text : "",
                      .len = text ? len : 0,
                      .file = file,
                      .each = each,
                      .ctx = ctx};
    return (unsigned)kind < VRAM_KIND_COUNT ? run_parser(&p, kind) : bad_kind(v, kind);
}

int vram_parse_pairs(vram *v, enum vram_kind kind, const struct vram_pair *pairs, size_t count,
                     const char *file, vram_message_fn *each, void *ctx)
{
    struct parse p = {.v = v,
                      .text = "",
                      .file = file,
                      .pairs = pairs,
                      .pair_count = count,
                      .each = each,
                      .ctx = ctx};
    bool text =
        kind == VRAM_KIND_NANOGPT || kind == VRAM_KIND_LOG || (unsigned)kind >= VRAM_KIND_COUNT;
    return text ? bad_kind(v, kind) : run_parser(&p, kind);
}

enum vram_kind vram_recognize(vram *v, const char *text, size_t len, const char *file)
{
    struct parse p = {.v = v, .text = text ? text : "", .len = text ? len : 0, .file = file};
    struct pair_list pairs;
    pairs_init(&pairs, &v->mem, p.text);
    message_clear(&v->err);
    enum vram_kind kind = check_bytes(&p) == VRAM_OK ? kind_recognize(&p, &pairs) : VRAM_KIND_AUTO;
    pairs_free(&pairs);
    return kind;
}
