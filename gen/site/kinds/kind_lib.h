// What the readers of the kinds share: files of the tree, values of its configuration, roots and
// lines of contents.
#ifndef GEN_SITE_KIND_LIB_H
#define GEN_SITE_KIND_LIB_H

#include "gen/site/kinds/kind.h"
#include "gen/text/js_literals.h"

// A function for each kind, each in a file of its own: it fills what follows from the
// configuration.
#define KINDS(X) \
    X(docusaurus) \
    X(vitepress) X(starlight) X(mdbook) X(mkdocs) X(hugo) X(gitbook) X(jekyll) X(obsidian) X(plain)
#define X(name) void name##_read(struct tree *t);
KINDS(X)
#undef X

// The bytes of a file below the content folder, STR_NONE when it cannot be read; it counts in
// t->hash. At most 4 MiB.
str kind_file(struct tree *t, str path);
str kind_peek(struct tree *t, str path);        // the same of one that says no more than the kind
bool kind_has(const struct tree *t, str path);  // a file or a folder below the content folder
bool kind_has_folder(const struct tree *t, str path);
// The folders directly in a folder below the content folder, sorted.
size_t kind_folders(struct tree *t, str folder, str **names);
size_t kind_files(struct tree *t, str folder, str **names);  // the same of files
// A file of the tree as a tree of values, by its ending (.toml, .yml, .yaml, .json); NULL when it
// is none.
struct yaml_node *kind_values(struct tree *t, str path);
// A path from the configuration's folder, below the content folder; "." and ".." are taken out.
// Climbing out gives "".
str kind_path(struct tree *t, str path);
str kind_join(struct tree *t, str folder, str path);  // the same from any folder

// Values of a map; NULL, "" or otherwise when the key is absent or of another kind. path may have
// dots: "output.html.site-url".
const struct yaml_node *kind_get(const struct yaml_node *map, const char *path);
str kind_text(const struct yaml_node *map, const char *path);
// The value of a key that may itself have dots.
const struct yaml_node *kind_value(const struct yaml_node *map, str key);
str kind_trim_slashes(str address);  // at both ends
bool kind_true(const struct yaml_node *map, const char *path, bool otherwise);

// The words and numbers below a map by their paths, "params.version", behind a prefix; more than
// 20,000 of a tree are not kept.
void kind_put_values(struct tree *t, struct map *values, str prefix, const struct yaml_node *map);

bool obsidian_is_linked(struct tree *t);  // whether its notes say that it is a vault
// The folders that hold books of mdBook, sorted.
size_t mdbook_books(struct tree *t, str **folders);
struct tree_root *kind_root(struct tree *t, str folder, str language, str prefix, str address);
bool kind_is_tag(str name);  // whether a folder may be called after a language
// The contents as a list of links in Markdown: [Title](file.md), nested by indentation. Parts begin
// at headings: of mdBook and of literate-nav, whose items without a link are sections, at those of
// the first level. In GitBook such items are sections, too, and a link's title in quotes is shown.
enum summary_of { SUMMARY_MDBOOK, SUMMARY_LITERATE, SUMMARY_GITBOOK };
// False when there is no such file.
bool kind_summary(struct tree *t, str folder, str file, enum summary_of of);
// Each language a project of its own, beside the one that was found: en/mkdocs.yml, en/docs,
// fr/docs. Makes roots of all and the found one's language that of the source; false when there is
// only one.
bool kind_siblings(struct tree *t, str docs);
void kind_nav(struct tree *t, uint32_t depth, str title, str file, str url);
// A page by the address that its own front matter may give it.
void kind_nav_address(struct tree *t, uint32_t depth, str title, str address);
// What a title of the contents is in a language.
void kind_word(struct tree *t, str language, str title, str words);
// An address whose files the settings take from where there is nothing.
void kind_absent(struct tree *t, str address);
void kind_static(struct tree *t, str folder);   // when it is there
void kind_include(struct tree *t, str folder);  // where included files are
void kind_append(struct tree *t, str path);     // of a file that every page ends with
// What tsconfig.json beside the configuration says of paths: {"~/*": ["src/*"]}.
void kind_aliases(struct tree *t);
void kind_ignore(struct tree *t, str pattern);
// The same below a folder; an empty pattern, whose value is not known, is none.
void kind_ignore_below(struct tree *t, str folder, str pattern);
void kind_language(struct tree *t, str tag);
// The pattern of the addresses of what is in a folder.
void kind_permalink(struct tree *t, str folder, str pattern);
// defaults: a list of maps with scope: {path, type} and values, as Jekyll has it.
void kind_defaults(struct tree *t, const struct yaml_node *defaults);
// An older address that leads to another of the site; one of another site, a pattern and one within
// a page are passed over.
void kind_redirect(struct tree *t, str from, str to);
// redirects: a map from addresses to addresses, or to {destination}.
void kind_redirects(struct tree *t, const struct yaml_node *map);
// What a server reads: _redirects in folder, and netlify.toml beside the configuration.
void kind_host_redirects(struct tree *t, str folder);
// Sets the address of the site: base_url and base_path.
void kind_site(struct tree *t, str url, str base);
void kind_explain(struct tree *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The configuration's text as JavaScript, whose imports are files of the tree.
struct js_text kind_script(struct tree *t);
struct js_text kind_program(struct tree *t, str text);  // the same of another text beside it
str kind_script_text(const struct js_text *js, const char *key);
str kind_script_top(const struct js_text *js,
                    const char *key);  // of the configuration itself, not of what is in it

#endif
