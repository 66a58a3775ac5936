// Numbers, percents, byte units, dates, plurals, collation and names of languages, by ICU.
#ifndef GEN_TEXT_LOCALE_H
#define GEN_TEXT_LOCALE_H

#include "gen/base/buf.h"

// What ICU knows of one language, opened once (before workers fork) and then only read.
struct locale;

struct locale *locale_open(str tag);  // BCP 47, "es", "pt-BR"; NULL when ICU has no such language
void locale_free(struct locale *l);
str locale_tag(const struct locale *l);
bool locale_rtl(const struct locale *l);
// Digits 0 to 9 and the symbols kB to TB also where the language has its own; before the first
// number is written.
void locale_latin_digits(struct locale *l);
str locale_native_name(const struct locale *l);  // "Español": capitalised as for a menu
str locale_script(const struct locale *l);       // "Latn", "Deva"
str locale_region(const struct locale *l);  // "de_DE", "pt_BR", where the language most likely is;
                                            // the tag where it is nowhere

// decimals: digits behind the point; -1 for as many as needed, at most 6.
void locale_number(const struct locale *l, double v, int decimals, buf *out);
void locale_integer(const struct locale *l, int64_t v, buf *out);  // grouped: 3,01,30,176 in hi
void locale_percent(const struct locale *l, double fraction, int decimals, bool sign, buf *out);
// Reads a number at the beginning of s as this language writes it (or plainly, or a version):
// appends it normalised, "4464.5", and returns its length; 0 when there is none.
size_t locale_read_number(const struct locale *l, str s, buf *out);

enum byte_unit {
    UNIT_B,
    UNIT_kB,
    UNIT_MB,
    UNIT_GB,
    UNIT_TB,
    UNIT_KiB,
    UNIT_MiB,
    UNIT_GiB,
    UNIT_TiB
};
bool byte_unit_parse(str name, enum byte_unit *out);
double byte_unit_size(enum byte_unit u);
// "6,5 GB", "6,5 Go", "4.464 MiB", "4 464 Mio": bytes divided by the unit, the number, its space,
// the unit's symbol.
void locale_bytes(const struct locale *l, double bytes, enum byte_unit u, int decimals, buf *out);

enum date_style { DATE_LONG, DATE_SHORT };
// In UTC.
void locale_date(const struct locale *l, int64_t unix_seconds, enum date_style style, buf *out);
// CLDR plural category ("one", "few", "other", ...) of n.
str locale_plural(const struct locale *l, double n);
// Whether category is one that this language uses.
bool locale_has_plural(const struct locale *l, str category);

// How many decimals a size gets by default: whole small units, one decimal for gigabytes and up.
static inline int byte_unit_decimals(enum byte_unit u)
{
    return byte_unit_size(u) >= 1e9 ? 1 : 0;
}

#endif
