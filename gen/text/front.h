// Front matter: the YAML or TOML at the head of a page, as typed fields and, unknown keys included,
// as pairs.
#ifndef GEN_TEXT_FRONT_H
#define GEN_TEXT_FRONT_H

#include "gen/text/yaml.h"

struct front_pair {
    str key, value;  // value: the scalar as written, or the list joined by ", "
    size_t offset;   // of the key in the file
};

// Fields of front.def: X(name, TYPE, "help"); TYPE is STR, BOOL, FLAG (a BOOL whose other values
// mean nothing), INT, DATE or LIST.
struct front {
#define FRONT_STR(name) str name;
#define FRONT_BOOL(name) int8_t name;  /* -1 not given */
#define FRONT_FLAG(name) int8_t name;  /* the same */
#define FRONT_INT(name) int64_t name;  /* INT64_MIN not given */
#define FRONT_DATE(name) int64_t name; /* Unix seconds, UTC; INT64_MIN not given */
#define FRONT_LIST(name) \
    struct { \
        str *items; \
        size_t count; \
    } name;
#define X(name, type, help) FRONT_##type(name)
#include "gen/text/front.def"
#undef X
#undef FRONT_LIST
#undef FRONT_DATE
#undef FRONT_INT
#undef FRONT_FLAG
#undef FRONT_BOOL
#undef FRONT_STR
    struct front_pair *pairs;  // every key of the file, in its order, known or not
    size_t pair_count;
    size_t body;  // offset of the Markdown in the file
};

// Reads the head of text. Everything lives in a. False after an error was recorded in d.
bool front_parse(str text, str file, arena *a, struct diag *d, struct front *out);

// The YAML at the head of text as it is, NULL without any; *body: where the Markdown begins.
bool front_map(str text, str file, arena *a, struct diag *d, struct yaml_node **map, size_t *body);
// front_parse, with choices.
enum front_how {
    FRONT_BY_LINES = 1,  // what is simple is read without libyaml
    FRONT_OPEN = 2,      // where the whole file is front matter its last line may be missing
};
bool front_parse_tree(str text, str file, arena *a, struct diag *d, struct front *out,
                      unsigned how);
// "2026-05-31", with or without a time and a zone, as Unix seconds.
bool front_date(str s, int64_t *out);

#endif
