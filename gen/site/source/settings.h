// The settings of a site: site.yaml read against a table of what it can say.
#ifndef GEN_SITE_SETTINGS_H
#define GEN_SITE_SETTINGS_H

#include "gen/site/source/site.h"

// What the command line says; "" where it says nothing.
struct settings_paths {
    str file;  // -c; "" looks for site.yaml in the content folder
    str content, output, templates, i18n, cache;
    str base_url;                  // --base-url; "" leaves that of the settings
    const struct tree_kind *kind;  // --kind; NULL where it says nothing
};

// Fills s; strings live in a. program_dir is the folder of the running program: templates/ and
// i18n/ are looked for beside and above it. False after errors were recorded.
bool settings_load(struct settings *s, const struct settings_paths *paths, str program_dir,
                   arena *a, struct diag *d);
// The same from bytes, without paths; for tests and fuzzing.
bool settings_parse(struct settings *s, str text, str file, str base_dir, arena *a, struct diag *d);
// An address without the slashes at its end, or STR_NONE when it is none of the web.
str settings_base_url(str url);
void settings_defaults(struct settings *s);
str settings_title(const struct settings *s, str language);
str settings_description(const struct settings *s, str language);
str settings_synonyms(const struct settings *s, str language);    // a line each
str settings_navigation(const struct settings *s, str language);  // a line each
// A BCP 47 tag in its usual spelling ("PT_br" -> "pt-BR"), or STR_NONE when it is none that ICU
// knows.
str language_tag(str text, arena *a);
// What a text that is no such tag was probably meant to be ("jp": ja, "ko-KO": ko, "English": en),
// or STR_NONE.
str language_meant(str text, arena *a);

#endif
