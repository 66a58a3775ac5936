// Literals in the text of a JavaScript or TypeScript configuration, found by the names of their
// keys. Nothing is run.
#ifndef GEN_TEXT_JS_LITERALS_H
#define GEN_TEXT_JS_LITERALS_H

#include "gen/text/yaml.h"

struct js_text {
    str text;
    arena *a;
    int deepest;  // brackets around a key at most: those of a call and of its object are two; 0:
                  // any number
    // The bytes of a file that the text imports ("./locales.json"), STR_NONE when there are none.
    // May be NULL.
    str (*import)(void *ctx, str path);
    void *ctx;
};

// The value of the outermost key of that name, the first of several. What is no literal is an empty
// scalar; a name that the same text gives a literal, or a function that returns one, stands for it.
// NULL when there is no such key. Everything lives in the arena.
struct yaml_node *js_value(const struct js_text *js, str key);
// The value of a name that is declared (const NAME = ..., export default): NULL for none.
struct yaml_node *js_declared(const struct js_text *js, str name);
// What the text exports: export default ..., module.exports = ...; NULL for none.
struct yaml_node *js_exported(const struct js_text *js);

#endif
