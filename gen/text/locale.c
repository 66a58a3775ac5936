// What ICU knows of one language, behind plain C: formatting objects are opened on first use and
// kept.
#include "gen/text/locale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/udat.h>
#include <unicode/uldnames.h>
#include <unicode/uloc.h>
#include <unicode/unumberformatter.h>
#include <unicode/upluralrules.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

#include "gen/base/arena.h"

#define DECIMALS_MAX 9
#define TEXT_MAX 256  // UTF-16 units of a formatted value, of a name
#define NBSP "\xc2\xa0"
#define NARROW_NBSP "\xe2\x80\xaf"

#define SMALL 64  // whole numbers below it are formatted once: minutes, counts

enum style { STYLE_NUMBER, STYLE_PERCENT, STYLE_PERCENT_SIGNED, STYLE_COUNT };
enum { UNIT_COUNT = UNIT_TiB + 1 };

// How a size is written: what is before and behind the number.
struct unit_pattern {
    str before, after;
    bool known;
};

// Opened on first use; the locale itself stays constant.
struct cache {
    arena arena;
    UFormattedNumber *result;
    UNumberFormatter *numbers[STYLE_COUNT][DECIMALS_MAX + 2];  // [decimals + 1]
    UPluralRules *plurals;
    UDateFormat *dates[2];
    struct unit_pattern units[UNIT_COUNT];
    str small[SMALL], small_plurals[SMALL];
};

struct locale {
    str tag, name, script, region;
    char id[ULOC_FULLNAME_CAPACITY];  // as ICU writes it: "pt_BR"
    bool rtl;
    bool latin;  // digits and units as code and tools write them
    struct cache *cache;
};

static void put_utf16(buf *out, const UChar *s, int32_t len)
{
    for (int32_t i = 0; i < len;) {
        UChar32 c;
        U16_NEXT(s, i, len, c);
        buf_utf8(out, (uint32_t)c);
    }
}

static int32_t to_utf16(str s, UChar *out, int32_t cap)
{
    UErrorCode e = U_ZERO_ERROR;
    int32_t len = 0;
    u_strFromUTF8WithSub(out, cap, &len, s.ptr, (int32_t)s.len, 0xfffd, NULL, &e);
    return U_SUCCESS(e) ? len : 0;
}

// Name of the language in itself, as at the beginning of a sentence: "Español".
static str native_name(const struct locale *l, arena *a)
{
    UDisplayContext contexts[] = {UDISPCTX_CAPITALIZATION_FOR_BEGINNING_OF_SENTENCE,
                                  UDISPCTX_DIALECT_NAMES};
    UErrorCode e = U_ZERO_ERROR;
    UChar name[TEXT_MAX];
    ULocaleDisplayNames *names = uldn_openForContext(l->id, contexts, 2, &e);
    int32_t len = uldn_localeDisplayName(names, l->id, name, TEXT_MAX, &e);
    uldn_close(names);
    if (U_FAILURE(e) || len <= 0)
        return l->tag;
    buf utf8 = BUF_INIT;
    put_utf16(&utf8, name, len);
    str result = arena_str(a, buf_view(&utf8));
    buf_free(&utf8);
    return result;
}

// Source: CLDR's likely subtags (supplemental/likelySubtags.xml), as ICU has them: "de" is most
// likely de-Latn-DE.
static void find_likely(struct locale *l, arena *a)
{
    char full[ULOC_FULLNAME_CAPACITY], language[ULOC_LANG_CAPACITY], script[ULOC_SCRIPT_CAPACITY],
        region[ULOC_COUNTRY_CAPACITY];
    UErrorCode e = U_ZERO_ERROR;
    uloc_addLikelySubtags(l->id, full, sizeof full, &e);
    int32_t script_len = uloc_getScript(full, script, sizeof script, &e);
    int32_t region_len = uloc_getCountry(full, region, sizeof region, &e);
    uloc_getLanguage(full, language, sizeof language, &e);
    bool ok = U_SUCCESS(e);
    l->script = ok && script_len == 4 ? arena_str(a, (str){script, 4}) : STR("Zyyy");
    // 001 is the world: no region of anybody's.
    l->region = ok && region_len == 2 ? arena_printf(a, "%s_%s", language, region) : l->tag;
}

struct locale *locale_open(str tag)
{
    char text[64];
    UErrorCode e = U_ZERO_ERROR;
    int32_t parsed = 0;
    if (tag.len == 0 || tag.len >= sizeof text)
        return NULL;
    memcpy(text, tag.ptr, tag.len);
    text[tag.len] = '\0';
    struct locale *l = calloc(1, sizeof *l);
    struct cache *c = calloc(1, sizeof *c);
    if (!l || !c)
        buf_no_memory();
    l->cache = c;
    uloc_forLanguageTag(text, l->id, sizeof l->id, &parsed, &e);
    if (U_FAILURE(e) || (size_t)parsed != tag.len || !*uloc_getISO3Language(l->id)) {
        locale_free(l);
        return NULL;
    }
    l->tag = arena_str(&c->arena, tag);
    l->name = native_name(l, &c->arena);
    find_likely(l, &c->arena);
    l->rtl = uloc_isRightToLeft(l->id);
    c->result = unumf_openResult(&e);
    return l;
}

void locale_free(struct locale *l)
{
    if (!l)
        return;
    struct cache *c = l->cache;
    for (int style = 0; style < STYLE_COUNT; style++)
        for (int i = 0; i < DECIMALS_MAX + 2; i++)
            unumf_close(c->numbers[style][i]);
    unumf_closeResult(c->result);
    if (c->plurals)
        uplrules_close(c->plurals);
    for (int i = 0; i < 2; i++)
        if (c->dates[i])
            udat_close(c->dates[i]);
    arena_free(&c->arena);
    free(c);
    free(l);
}

void locale_latin_digits(struct locale *l)
{
    UErrorCode e = U_ZERO_ERROR;
    uloc_setKeywordValue("numbers", "latn", l->id, sizeof l->id, &e);
    l->latin = true;
}

str locale_tag(const struct locale *l)
{
    return l->tag;
}

bool locale_rtl(const struct locale *l)
{
    return l->rtl;
}

str locale_native_name(const struct locale *l)
{
    return l->name;
}

str locale_script(const struct locale *l)
{
    return l->script;
}

str locale_region(const struct locale *l)
{
    return l->region;
}

static UNumberFormatter *open_skeleton(const struct locale *l, str skeleton)
{
    UChar text[TEXT_MAX];
    UErrorCode e = U_ZERO_ERROR;
    int32_t len = to_utf16(skeleton, text, TEXT_MAX);
    return unumf_openForSkeletonAndLocale(text, len, l->id, &e);
}

// The formatter for a style with this number of decimals, -1 for as many as needed.
static UNumberFormatter *number_formatter(const struct locale *l, enum style style, int decimals)
{
    static const char *const heads[STYLE_COUNT] = {
        "",
        "percent scale/100 ",
        "percent scale/100 sign-except-zero ",
    };
    int d = decimals < -1 ? -1 : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
    UNumberFormatter **slot = &l->cache->numbers[style][d + 1];
    if (*slot)
        return *slot;
    buf skeleton = BUF_INIT;
    buf_printf(&skeleton, "%srounding-mode-half-up ", heads[style]);
    if (d == 0)
        buf_lit(&skeleton, "precision-integer");
    else
        buf_printf(&skeleton, ".%.*s", d < 0 ? 6 : d, d < 0 ? "######" : "000000000");
    *slot = open_skeleton(l, buf_view(&skeleton));
    buf_free(&skeleton);
    return *slot;
}

// Appends what ICU left in the cache's result. CLDR has a hyphen before negative numbers in most
// languages, for keyboards; what is printed has the minus sign, as wide as a plus.
static void put_result(const struct locale *l, buf *out)
{
    enum { MINUS_SIGN = 0x2212 };
    UErrorCode e = U_ZERO_ERROR;
    UChar text[TEXT_MAX];
    int32_t len = unumf_resultToString(l->cache->result, text, TEXT_MAX, &e);
    for (int32_t i = 0; U_SUCCESS(e) && i < len; i++)
        text[i] = text[i] == '-' ? MINUS_SIGN : text[i];
    if (U_SUCCESS(e))
        put_utf16(out, text, len);
}

static void format_double(const struct locale *l, enum style style, double v, int decimals,
                          buf *out)
{
    UErrorCode e = U_ZERO_ERROR;
    unumf_formatDouble(number_formatter(l, style, decimals), v, l->cache->result, &e);
    put_result(l, out);
}

static bool is_small(double v)
{
    return v >= 0 && v < SMALL && v == (int)v && !signbit(v);
}

void locale_number(const struct locale *l, double v, int decimals, buf *out)
{
    if (decimals <= 0 && is_small(v)) {
        str *known = &l->cache->small[(int)v];
        size_t from = out->len;
        if (!known->len) {
            format_double(l, STYLE_NUMBER, v, 0, out);
            *known = arena_str(&l->cache->arena, str_slice(buf_view(out), from, out->len));
        } else {
            buf_str(out, *known);
        }
        return;
    }
    format_double(l, STYLE_NUMBER, v, decimals, out);
}

void locale_integer(const struct locale *l, int64_t v, buf *out)
{
    UErrorCode e = U_ZERO_ERROR;
    unumf_formatInt(number_formatter(l, STYLE_NUMBER, 0), v, l->cache->result, &e);
    put_result(l, out);
}

void locale_percent(const struct locale *l, double fraction, int decimals, bool sign, buf *out)
{
    format_double(l, sign ? STYLE_PERCENT_SIGNED : STYLE_PERCENT, fraction, decimals, out);
}

// X(name, size in bytes, ICU's unit or NULL, symbol, French symbol). ICU 72 has no good short names
// for B and the binary units ("6.5 Gibyte" in English); their symbols are those of IEC 80000-13, in
// French with the octet.
#define UNITS(X) \
    X(B, 1.0, NULL, "B", "o") \
    X(kB, 1e3, "kilobyte", "kB", "ko") \
    X(MB, 1e6, "megabyte", "MB", "Mo") \
    X(GB, 1e9, "gigabyte", "GB", "Go") \
    X(TB, 1e12, "terabyte", "TB", "To") \
    X(KiB, 1024.0, NULL, "KiB", "Kio") \
    X(MiB, 1048576.0, NULL, "MiB", "Mio") \
    X(GiB, 1073741824.0, NULL, "GiB", "Gio") \
    X(TiB, 1099511627776.0, NULL, "TiB", "Tio")

static const struct {
    const char *name;
    double size;
    const char *icu, *symbol, *french;
} units[UNIT_COUNT] = {
#define X(name, size, icu, symbol, french) [UNIT_##name] = {#name, size, icu, symbol, french},
    UNITS(X)
#undef X
};

bool byte_unit_parse(str name, enum byte_unit *out)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (str_eq(name, str_c(units[i].name))) {
            *out = (enum byte_unit)i;
            return true;
        }
    }
    return false;
}

double byte_unit_size(enum byte_unit u)
{
    return units[u].size;
}

static bool is_french(const struct locale *l)
{
    return strncmp(l->id, "fr", 2) == 0 && (l->id[2] == '\0' || l->id[2] == '_' || l->id[2] == '@');
}

// Every space within a quantity keeps its parts together.
static str without_breaks(arena *a, str s)
{
    buf out = BUF_INIT;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == ' ')
            buf_lit(&out, NBSP);
        else
            buf_char(&out, s.ptr[i]);
    }
    str result = arena_str(a, buf_view(&out));
    buf_free(&out);
    return result;
}

// Lets ICU write 7 of a unit, and takes what is around the number. False when the number is not to
// be found in it.
static bool unit_from_icu(const struct locale *l, enum byte_unit u, struct unit_pattern *p)
{
    buf sample = BUF_INIT, number = BUF_INIT, skeleton = BUF_INIT;
    UErrorCode e = U_ZERO_ERROR;
    buf_printf(&skeleton, "unit/%s unit-width-short precision-integer", units[u].icu);
    UNumberFormatter *f = open_skeleton(l, buf_view(&skeleton));
    unumf_formatInt(f, 7, l->cache->result, &e);
    if (U_SUCCESS(e))
        put_result(l, &sample);
    unumf_close(f);
    locale_integer(l, 7, &number);
    str s = buf_view(&sample), n = buf_view(&number);
    size_t at = str_search(s, n);
    bool found = at < s.len;
    if (found) {
        p->before = without_breaks(&l->cache->arena, str_slice(s, 0, at));
        p->after = without_breaks(&l->cache->arena, str_slice(s, at + n.len, s.len));
    }
    buf_free(&sample);
    buf_free(&number);
    buf_free(&skeleton);
    return found;
}

static const struct unit_pattern *unit_pattern(const struct locale *l, enum byte_unit u)
{
    struct unit_pattern *p = &l->cache->units[u];
    bool named = units[u].icu && !l->latin;
    if (!p->known && !(named && unit_from_icu(l, u, p))) {
        bool french = is_french(l);
        p->before = STR("");
        p->after = arena_printf(&l->cache->arena, "%s%s", french ? NARROW_NBSP : NBSP,
                                french ? units[u].french : units[u].symbol);
    }
    p->known = true;
    return p;
}

void locale_bytes(const struct locale *l, double bytes, enum byte_unit u, int decimals, buf *out)
{
    const struct unit_pattern *p = unit_pattern(l, u);
    buf_str(out, p->before);
    locale_number(l, bytes / units[u].size, decimals, out);
    buf_str(out, p->after);
}

void locale_date(const struct locale *l, int64_t unix_seconds, enum date_style style, buf *out)
{
    static const UChar utc[] = {'U', 'T', 'C', 0};
    UErrorCode e = U_ZERO_ERROR;
    UDateFormat **f = &l->cache->dates[style];
    UChar text[TEXT_MAX];
    if (!*f)
        *f = udat_open(UDAT_NONE, style == DATE_LONG ? UDAT_LONG : UDAT_SHORT, l->id, utc, 3, NULL,
                       0, &e);
    int32_t len = udat_format(*f, (UDate)unix_seconds * 1000.0, text, TEXT_MAX, NULL, &e);
    if (U_SUCCESS(e))
        put_utf16(out, text, len);
}

static UPluralRules *plural_rules(const struct locale *l)
{
    UErrorCode e = U_ZERO_ERROR;
    if (!l->cache->plurals)
        l->cache->plurals = uplrules_open(l->id, &e);
    return l->cache->plurals;
}

// CLDR's six categories, which live longer than ICU's answer.
static str category_named(const UChar *name, int32_t len)
{
    static const str names[] = {STR("zero"), STR("one"), STR("two"), STR("few"), STR("many")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = 0;
        while (k < names[i].len && k < (size_t)len && name[k] == (UChar)names[i].ptr[k])
            k++;
        if (k == names[i].len && k == (size_t)len)
            return names[i];
    }
    return STR("other");
}

str locale_plural(const struct locale *l, double n)
{
    str *known = is_small(n) ? &l->cache->small_plurals[(int)n] : NULL;
    if (known && known->len)
        return *known;
    UChar name[16];
    UErrorCode e = U_ZERO_ERROR;
    int32_t len = uplrules_select(plural_rules(l), n, name, 16, &e);
    str category = U_SUCCESS(e) ? category_named(name, len) : STR("other");
    if (known)
        *known = category;
    return category;
}

bool locale_has_plural(const struct locale *l, str category)
{
    UErrorCode e = U_ZERO_ERROR;
    UEnumeration *all = uplrules_getKeywords(plural_rules(l), &e);
    const char *name;
    int32_t len;
    bool found = false;
    while (!found && (name = uenum_next(all, &len, &e)) && U_SUCCESS(e))
        found = str_eq(category, (str){name, (size_t)len});
    uenum_close(all);
    return found;
}
