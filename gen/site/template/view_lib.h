// What the files of the view share: its state, and how values become bytes.
#ifndef GEN_SITE_VIEW_LIB_H
#define GEN_SITE_VIEW_LIB_H

#include <lauxlib.h>
#include <lua.h>

#include "gen/site/sandbox/sandbox.h"
#include "gen/site/template/view.h"
#include "gen/text/template_context.h"

// Who shares a value or a once block: all pages, those of a language, those of a document, or none.
enum view_scope { SCOPE_SITE, SCOPE_LANGUAGE, SCOPE_DOCUMENT, SCOPE_PAGE };

// Addresses go up to the site's root as often as the page lies deep; a fallback page has other
// alternates.
struct view_variant {
    uint32_t depth;
    bool is_fallback;
};
// The depth of pages that may be shown anywhere: their addresses start at the server's root.
enum { DEPTH_LOST = 1 << 20 };

// A stretch of a once block's output that depends on whether its item is the current translation.
struct view_segment {
    size_t item;  // index in translations; SIZE_MAX for none
    size_t from;
};

struct view_recording {
    struct view_segment *segments;
    size_t count, cap;
    size_t start;  // where the block begins in the output
};

struct view_once {
    str bytes[2];  // [0] no item is current, [1] every item is
    struct view_segment *segments[2];
    size_t segment_count;   // 0: nothing depends on it
    const uint8_t *assets;  // that it asks for: a page that shows it asks for them, too
};

// What a field is before Lua sees it. Of HTML that was made for it, and of an address, the bytes
// are in the view's buffers: until the next value is asked for.
enum view_kind {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_HTML,
    VALUE_MADE,
    VALUE_WORDS,
    VALUE_NUMBER,
    VALUE_BOOL
};
struct view_value {
    enum view_kind kind;
    str text;
    uint64_t number;
};

struct view_field {
    const char *name;
    struct view_value (*value)(struct view *v,
                               const struct view_field *f);    // a list's is its count
    void (*push)(struct view *v, const struct view_field *f);  // the table that Lua sees, or NULL
    size_t offset;                                             // in struct view_page
    enum view_scope scope;                                     // whose pages agree on it
    enum view_list list;                                       // that it shows; VIEW_LISTS for none
};

struct view_template {
    str name, file, text;
    struct template_include *includes;
    size_t include_count;
    uint8_t visited;  // by the search for cycles
};

// The folder that the pages of a language are in now. number: of this stay in it, among all.
struct view_stay {
    buf folder;
    uint64_t number;
};

// The translations of a document as HTML, at one depth of pages.
struct view_switcher {
    const struct document *document;
    uint32_t depth;
    buf html;
    size_t *marks;  // where an item has its mark
    size_t mark_count;
};

// How pages of a layout and a language were rendered before, see view_trace.c.
struct view_trace {
    arena arena;
    struct map roots;         // layout and language -> struct trace_root
    struct trace_node *node;  // that is being recorded; NULL for none
    size_t from;              // what is behind this in the output is not in it yet
    buf key;
};

struct view {
    const struct site *site;
    const struct view_site *vs;
    struct sandbox *sandbox;
    lua_State *L;
    arena arena;  // templates
    struct view_template *templates;
    size_t template_count, template_cap;
    uint64_t hash;
    unsigned wanted_lists;  // view_lists(), once they are known
    bool lists_known;
    int functions;       // registry reference: name -> function
    int lists;           // registry reference: lists of the page, by field
    int document_lists;  // and those that its document's pages share
    int site_lists;      // and for each depth of page, site.languages
    int messages;        // and for each language what t() gives without arguments
    int field_names;     // and the places of fields, by name
    int once_bodies;     // and the functions of once blocks, by number

    // the page that is rendered
    const struct view_page *page;
    struct diag *d;
    buf *out;
    struct view_variant variant;
    str base_path;          // of base_url, for DEPTH_LOST: "/docs"
    enum view_scope scope;  // of the once block that is rendered; SCOPE_PAGE outside
    int marking;            // what "current" answers: -1 the truth, 0 never, 1 always
    struct view_recording *recording;
    buf scratch;
    buf html;  // that was made for a field
    const struct view_field *html_field;
    uint8_t *page_assets;  // view_assets()
    uint8_t *assets;  // where asked for ones are noted: those, or those of the once block that is
                      // rendered
    size_t asset_bytes;

    struct view_stay *stays;  // of each language
    uint64_t stay;            // the number of the page's; 0 on a page that may be shown anywhere
    uint64_t stay_count;
    struct view_switcher switcher;
    arena walk_arena;                           // of a walk through the contents
    struct view_kept_contents **kept_contents;  // of each language, see view_contents.c

    // once blocks
    arena once_arena[SCOPE_PAGE];
    struct map once[SCOPE_PAGE];
    uint64_t once_forgotten;  // how often blocks were forgotten
    const struct document *document;
    bool lists_used, document_lists_used;
    bool document_is_new;  // the lists kept in Lua are another document's

    struct view_trace trace;
};

#define VIEW_PAGE_META "page"
#define VIEW_GIVEN_META "given"
#define VIEW_SITE_META "site"
#define VIEW_HTML_META "html"
#define VIEW_TRANSLATION_META "translation"

// HTML that needs no escaping any more. bytes may lie behind it or elsewhere; then they outlive the
// page.
struct view_html {
    str html;
    bool is_words;  // a message of a catalog: in a script it is a string of its text
    const struct view_field *field;  // that it is the value of, or NULL
};

void view_push_str(lua_State *L, str s);
// bytes are not copied.
void view_push_html(lua_State *L, str bytes);
void view_push_html_copy(lua_State *L, str bytes);
// The HTML value at index, or NULL.
const struct view_html *view_to_html(lua_State *L, int index);
// A url as it is written in the page: relative, going up to the root and down again; on a lost page
// from the server's root.
str view_url(struct view *v, str url);  // the same in the scratch buffer
void view_push_url(struct view *v, str url);
// Appends what stands within an address of the page, such as its fragment.
void view_put_url_part(buf *out, str s);
// {iso, text} in the page's language, or nil for an unknown time.
void view_push_date(struct view *v, int64_t seconds);
// Into the table on top of the stack.
void view_set_str(lua_State *L, const char *key, str s);
void view_set_url(struct view *v, const char *key, str url);
struct view *view_of(lua_State *L);

extern const luaL_Reg view_emitters[], view_functions[], view_html_methods[];

// In Lua, before a template's code runs for a page: forgets lists of others.
void view_enter(struct view *v);
// Appends a value, escaped for its place. NULL, or why it cannot stand there.
const char *view_emit(struct view *v, enum html_emitter how, struct view_value x);
// Neither nil, nor "", 0, false or an empty list.
bool view_is_given(struct view_value x);

// All fields of a page; their values without Lua, their names from it.
const struct view_field *view_fields(size_t *count);
// The field that the string at name calls, if the scope may read it; else an error. The function
// that runs has the table of names as its first upvalue.
const struct view_field *view_field_named(lua_State *L, int name);
// Whether the page at hand has the list that the field shows.
bool view_field_is_filled(const struct view *v, const struct view_field *f);
void view_field_check(struct view *v, const struct view_field *f);  // the same as an error

// The trace: what is said here follows a page that is rendered in Lua.
enum view_ask { ASK_VALUE, ASK_GIVEN };
// Renders the page as the ones before it were. PLAY_UNKNOWN: none of them was like it; what was
// appended is then to be taken off.
enum view_play { PLAY_DONE, PLAY_UNKNOWN, PLAY_FAILED };
enum view_play view_trace_play(struct view *v, const struct view_template *t, bool *may_record);
void view_trace_begin(struct view *v, const struct view_template *t);
void view_trace_end(struct view *v, bool ok);
// The code may decide by x from here on.
void view_trace_ask(struct view *v, enum view_ask ask, const struct view_field *f,
                    struct view_value x);
// A value goes out next, or a once block; view_trace_resume() behind it.
void view_trace_field(struct view *v, const struct view_field *f, enum html_emitter how);
void view_trace_once(struct view *v, enum view_scope scope, uint32_t number);
void view_trace_resume(struct view *v);
// What the code sees of this page cannot be followed.
void view_trace_lose(struct view *v);

// The lists of a page: each pushes one table. field is the row of the look-up that asks, and none
// of them needs it.
void view_push_translations(struct view *v, const struct view_field *field);
void view_push_alternates(struct view *v, const struct view_field *field);
void view_push_crumbs(struct view *v, const struct view_field *field);
void view_push_contents(struct view *v, const struct view_field *f);
void view_push_children(struct view *v, const struct view_field *field);
void view_push_toc(struct view *v, const struct view_field *field);
void view_push_provenance(struct view *v, const struct view_field *field);
void view_push_figures(struct view *v, const struct view_field *field);
// Their items as HTML, in the view's buffer, which may have them still from the question whether
// there are any: view_is_made().
bool view_is_made(struct view *v, const struct view_field *f);
struct view_value view_made(const struct view *v);
void view_contents_free(struct view *v);
struct view_value view_contents_html(struct view *v, const struct view_field *f);
struct view_value view_translations_html(struct view *v, const struct view_field *f);
struct view_value view_crumbs_html(struct view *v, const struct view_field *f);
struct view_value view_toc_html(struct view *v, const struct view_field *f);

// VIEW_BIT of each list that text names.
unsigned view_lists_named(str text);
// Appends the way from the page up to the site's root to the scratch buffer. Within what pages of
// several folders share, only the depth of the page may show.
void view_put_root(struct view *v);
// Raises an error when the once block that is rendered may not read object.name, which the pages of
// scope share.
void view_check_scope(struct view *v, enum view_scope scope, const char *object, const char *name);
int view_page_index(lua_State *L);
int view_given_index(lua_State *L);
int view_site_index(lua_State *L);
int view_translation_index(lua_State *L);
// once(scope, number, body), the emitter of once blocks.
int view_once(lua_State *L);
// What is kept of the block for the page at hand, or NULL; and how it goes out.
const struct view_once *view_once_kept(struct view *v, enum view_scope scope, uint32_t number);
void view_once_emit(struct view *v, const struct view_once *o);
void view_once_forget(struct view *v, enum view_scope scope);
// Notes that the block being recorded asked whether an item is the current one; the answer.
bool view_is_current(struct view *v, size_t item);

#endif
