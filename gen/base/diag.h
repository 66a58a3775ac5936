// The one door for diagnostics: file:line:col, a level, what and what to do, the line with a caret;
// counts and the worst level.
#ifndef GEN_BASE_DIAG_H
#define GEN_BASE_DIAG_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

// Rows of diag.def: X(ID, LEVEL, "id-in-brackets", "what it means; what to do", STRICT) where
// STRICT is the group of --strict that turns a warning into an error: NEVER, CONTENT (--strict) or
// MEASURED (--strict=measured).
enum diag_id {
#define X(id, level, slug, text, strict) D_##id,
#include "gen/base/diag.def"
#undef X
    DIAG_COUNT
};

// Where: text is the whole source when known (for the line and caret), offset a byte in it.
// line and col are found from them when line is 0; with text empty they are used as they are, and 0
// leaves them out.
struct diag_pos {
    str file;
    str text;
    size_t offset;
    uint32_t line, col;
};

#define DIAG_AT(f, t, o) ((struct diag_pos){.file = (f), .text = (t), .offset = (o)})
#define DIAG_FILE(f) ((struct diag_pos){.file = (f)})

// A part of a text that was put together from several files: text[offset..] of file is at byte at
// of the whole.
struct diag_piece {
    size_t at;
    str file, text;
    size_t offset;
};

struct diag;

struct diag_options {
    bool strict, strict_measured, color, json, quiet;
    bool verbose;  // each warning is shown, however many a file has of one kind
};

// The id that is called slug in messages, DIAG_COUNT for none.
enum diag_id diag_named(str slug);
// From now on messages of that id have that level; --strict raises them all the same.
void diag_set_level(struct diag *d, enum diag_id id, enum diag_level level);
// The same for all messages about links.
void diag_set_links(struct diag *d, enum diag_level level);

// Whether messages on stderr are coloured: it is a terminal, and NO_COLOR is not set or empty.
bool diag_may_color(void);
struct diag *diag_new(struct diag_options options);
void diag_free(struct diag *d);
// Records one message: the row's text up to its ';', ": " and the detail that format gives (leave
// it out with DIAG_PLAIN), then the rest of the row's text. Same position, id and text twice is
// kept once. Output is sorted by file, line and column at diag_flush, so that the number of workers
// does not show.
void diag_add(struct diag *d, enum diag_id id, struct diag_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// From now on a message about whole, which has these pieces in their order, names the file and the
// line that the place is from. All must live as long as messages about it are recorded.
void diag_pieces(struct diag *d, str whole, const struct diag_piece *pieces, size_t count);
// The place in its own file of byte offset of such a text; there is at least one piece.
struct diag_pos diag_origin(const struct diag_piece *pieces, size_t count, size_t offset);
#define DIAG_PLAIN "%s", ""
// A place that goes through a text, so that many places in order cost one pass. Zero-initialise.
struct diag_cursor {
    size_t at;
    uint32_t line, col;
};
// Moves c to a byte offset of the text that it goes through; an earlier one is found from the
// beginning again.
void diag_advance(struct diag_cursor *c, str text, size_t offset);
// Line and column (both from 1, columns in code points) of a byte offset.
void diag_line_col(str text, size_t offset, uint32_t *line, uint32_t *col);
// Messages as bytes, to carry them from a worker to its parent and back.
void diag_pack(const struct diag *d, buf *out);
bool diag_unpack(struct diag *d, str packed);
// Records all messages of from in d, too, and frees from; the messages packed, in a.
str diag_hand_over(struct diag *from, struct diag *d, arena *a);
size_t diag_count(const struct diag *d, enum diag_level at_least);
bool diag_has(const struct diag *d, enum diag_id id);
// Whether a file could not be read or written (io-read, io-write): such a run ends with exit
// code 3.
bool diag_has_io(const struct diag *d);
// Prints what has not been printed yet to stderr (text or JSON lines). Of a file's many warnings of
// one kind the first are shown, and how many more there are.
void diag_flush(struct diag *d);
// Bytes to stderr as they are: usage errors and the progress line, which are no diagnostics of a
// file.
void diag_say(str text);
// All messages kept so far as HTML-free text, for the page that serve shows.
void diag_text(const struct diag *d, buf *out);

#endif
