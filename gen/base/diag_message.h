// What diag_message.c keeps and diag_print.c shows; no other file includes this.
#ifndef GEN_BASE_DIAG_MESSAGE_H
#define GEN_BASE_DIAG_MESSAGE_H

#include "gen/base/diag.h"
#include "gen/base/map.h"

// How many bytes of a source line are shown in front of the caret and from it on.
enum { DIAG_BEFORE = 120, DIAG_BEHIND = 120 };

struct diag_message {
    enum diag_id id;
    enum diag_level level;
    str file, detail, source;  // source: the part of the line that is shown
    size_t caret;              // byte in source
    uint32_t line, col;        // 0: not known
};

// A text made of pieces.
struct diag_made {
    str whole;
    const struct diag_piece *pieces;
    size_t count;
    const struct diag_made *next;
};

struct diag {
    struct diag_options options;
    arena arena;
    struct diag_message *messages;
    size_t count, cap, printed;
    struct map known;  // what was said once is not said again
    size_t counts[DIAG_ERROR + 1];
    const struct diag_made *made;
    struct diag_cursor last;  // where the last message was, so that those of a page cost one pass
    str last_text;
    uint64_t last_file;          // the hash of its name: memory is used again for the next page
    uint8_t levels[DIAG_COUNT];  // given by the settings: a level and 1; 0 for the row's own
};

// By file, line, column, message and detail.
void diag_sort(struct diag_message *messages, size_t count);

#endif
