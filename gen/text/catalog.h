// The words of the interface in one language: JSON, a string or an object of CLDR plural
// categories, {name} placeholders.
#ifndef GEN_TEXT_CATALOG_H
#define GEN_TEXT_CATALOG_H

#include "gen/base/diag.h"
#include "gen/text/locale.h"

struct catalog;

struct catalog_argument {
    str name;
    str text;       // what is put in, already formatted
    double number;  // chooses the plural category when is_number
    bool is_number;
};

// Of a language that has no catalog: fallback (may be NULL) speaks, and nothing is said about it.
struct catalog *catalog_none(const struct locale *l, const struct catalog *fallback);
// Reads one catalog. fallback (may be NULL) gives what is missing, with a catalog-missing message
// per key; the calculator's words (accuracy., calc., chart., records., unit.) may be missing all
// together.
struct catalog *catalog_parse(str json, str file, const struct locale *l,
                              const struct catalog *fallback, struct diag *d);
// What a catalog has read, as bytes that live as long as it does; they hold for the same locale and
// fallback.
str catalog_packed(const struct catalog *c);
// A catalog of such bytes, which must outlive it.
struct catalog *catalog_unpack(str packed, const struct locale *l, const struct catalog *fallback);
void catalog_free(struct catalog *c);
// False when no language has the key; *lang_differs (may be NULL) says that the text is the
// fallback's.
bool catalog_format(const struct catalog *c, str key, const struct catalog_argument *args,
                    size_t count, buf *out, bool *lang_differs);
// Language of the texts that the catalog takes from its fallback; "" without one.
str catalog_fallback_tag(const struct catalog *c);
uint64_t catalog_hash(const struct catalog *c);

#endif
