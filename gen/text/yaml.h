// YAML as a tree of views, by libyaml: for front matter and the site's settings.
#ifndef GEN_TEXT_YAML_H
#define GEN_TEXT_YAML_H

#include "gen/base/diag.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_pair;

struct yaml_node {
    enum yaml_kind kind;
    bool plain;                // a scalar without quotes: true, 12 and null mean something
    size_t offset;             // in the file's text
    str text;                  // of a scalar
    str tag;                   // as it is resolved, "tag:yaml.org,2002:python/name:x"; "" for none
    struct yaml_node **items;  // of a list
    struct yaml_pair *pairs;   // of a map, in the file's order, no key twice: the last value counts
    size_t count;              // of items or pairs
};

struct yaml_pair {
    struct yaml_node *key, *value;
};

// Reads text[from, to) as one document; offsets count from the start of text. Everything lives in
// a. *out is NULL for an empty document. False after yaml-syntax was recorded at its place.
bool yaml_parse(str text, size_t from, size_t to, str file, arena *a, struct diag *d,
                struct yaml_node **out);
// What a plain scalar means: null or nothing; true or false. Anything else, or with quotes: false.
bool yaml_is_null(const struct yaml_node *n);
bool yaml_bool(const struct yaml_node *n, bool *out);

#endif
