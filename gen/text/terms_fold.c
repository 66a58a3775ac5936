// Folds a term: letters that readers leave out or write in another way become one.
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include "gen/text/terms.h"

// Letters whose decomposition does not say what they are taken for, and digits; templates/search.js
// has the same list.
static const struct {
    uint32_t from, to;
    const char *as;
} letters[] = {
#define X(from, to, as) {from, to, as},
#include "gen/text/terms_fold.def"
#undef X
};

// What a letter becomes, looked up once. state: 0 as long as it was not, LONG where it is more than
// fits.
struct folded {
    uint8_t state, len;
    char bytes[6];
};

enum { BLOCK = 256, BLOCKS = 0x110000 / BLOCK, KNOWN = 1, LONG = 2 };

struct terms_folds {
    struct folded *blocks[BLOCKS];  // NULL until a letter of it is met
};

struct terms_folds *terms_folds_new(void)
{
    struct terms_folds *f = calloc(1, sizeof *f);
    if (!f)
        buf_no_memory();
    return f;
}

// What is in a range that is counted through (digits): as names the first.
static bool put_listed(uint32_t c, buf *out)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters && letters[i].from <= c; i++) {
        if (c > letters[i].to)
            continue;
        if (letters[i].as[0] == '0')
            buf_char(out, (char)('0' + (c - letters[i].from)));
        else
            buf_str(out, str_c(letters[i].as));
        return true;
    }
    return false;
}

// Scripts whose marks are left out with the decomposition: Latin, Greek, Cyrillic, Latin's
// ligatures and wide forms.
static bool is_decomposed(uint32_t c)
{
    return (c >= 0xC0 && c < 0x530) || (c >= 0x1E00 && c < 0x2000) || (c >= 0xFB00 && c < 0xFB07) ||
           (c >= 0xFF00 && c < 0xFF5F);
}

static void put_folded(uint32_t c, buf *out)
{
    UChar parts[24];
    UErrorCode e = U_ZERO_ERROR;
    if (put_listed(c, out))
        return;
    const UNormalizer2 *nfkd = is_decomposed(c) ? unorm2_getNFKDInstance(&e) : NULL;
    int32_t n = nfkd ? unorm2_getDecomposition(nfkd, (UChar32)c, parts, 24, &e) : -1;
    if (n <= 0 || U_FAILURE(e)) {
        buf_utf8(out, c);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        if (!(U_MASK(u_charType(parts[i])) & U_GC_MN_MASK))
            buf_utf8(out, (uint32_t)u_tolower(parts[i]));
}

static void look_up(uint32_t c, struct folded *to)
{
    buf bytes = BUF_INIT;
    put_folded(c, &bytes);
    to->state = bytes.len > sizeof to->bytes ? LONG : KNOWN;
    if (to->state == KNOWN && bytes.len)
        memcpy(to->bytes, bytes.ptr, to->len = (uint8_t)bytes.len);
    buf_free(&bytes);
}

static void put_letter(struct terms_folds *f, uint32_t c, buf *out)
{
    struct folded **block = &f->blocks[c / BLOCK];
    if (!*block && !(*block = calloc(BLOCK, sizeof **block)))
        buf_no_memory();
    struct folded *as = &(*block)[c % BLOCK];
    if (!as->state)
        look_up(c, as);
    if (as->state == LONG)
        put_folded(c, out);
    else
        buf_put(out, as->bytes, as->len);
}

static bool is_ascii(str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.ptr[i];
    return all < 0x80;
}

void terms_fold(struct terms_folds *f, str term, buf *out)
{
    if (is_ascii(term)) {
        buf_str(out, str_slice(term, 0, TERM_LETTERS));
        return;
    }
    size_t start = out->len;
    for (size_t i = 0, n; i < term.len; i += n) {
        uint32_t c = utf8_next(str_slice(term, i, term.len), &n);
        if (c < 0x80)
            buf_char(out, term.ptr[i]);
        else
            put_letter(f, c, out);
    }
    if (out->len - start <= TERM_LETTERS)
        return;
    size_t end = start;
    for (int letters_left = TERM_LETTERS; end < out->len; end++)
        if (((unsigned char)out->ptr[end] & 0xC0) != 0x80 && !letters_left--)
            break;
    out->len = end;
    out->ptr[end] = 0;
}
