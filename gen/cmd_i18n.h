// What the files of `vramdoc i18n` share: its options, one translation compared with its source,
// and what it prints of it.
#ifndef GEN_CMD_I18N_H
#define GEN_CMD_I18N_H

#include "gen/cmd.h"
#include "gen/cmd_site.h"
#include "gen/site/translation/staleness.h"

struct i18n_options {
    struct site_options site;
    const char *format, *output;
    bool yes, po;
};

enum i18n_format { I18N_TEXT, I18N_MD, I18N_JSON };

// One translation beside its source; everything lives in the site's arena.
struct translation {
    const struct document *document;
    const struct page *page;
    struct scanned source, own;
    str *ids;                           // of the source's blocks
    const struct staleness *staleness;  // NULL: never accepted
};

// A block that is not what its source says, or a source's block that has no translation.
struct translation_change {
    const char *state;                    // "stale", "missing", "orphaned", "unknown"
    const struct md_block *own, *source;  // NULL where there is none
    str id;                               // of the source's block; "" without one
    str then;          // the source's text when it was accepted; "" when it is not known
    size_t own_index;  // of own, or of the block that a missing one belongs in front of
    bool untouched;    // stale, and the translation is what was accepted
};

// Both files read and compared. False after errors were recorded.
bool translation_open(struct site *site, const struct document *doc, const struct page *p,
                      struct translation *out);
// The i-th change in the order of the translation, missing ones last. False when there are no more.
bool translation_change(const struct translation *t, size_t i, struct translation_change *out);
void translation_print(const struct translation *t, const struct translation_change *c,
                       enum i18n_format format, buf *out);
// The page of a document in a language, if it has a file that is not the source; else NULL.
const struct page *translation_of(const struct document *doc, size_t language);
// Prints "vramdoc i18n: ..." for a command line that makes no sense: the exit code.
int i18n_usage(const char *text);

int i18n_status(const struct i18n_options *o, const char *document);
int i18n_accept(const struct i18n_options *o, int count, char **operands);
int i18n_export(const struct i18n_options *o, const char *document, const char *language);
int i18n_import(const struct i18n_options *o, int count, char **files);

#endif
