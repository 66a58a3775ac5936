// What a vram handle holds, for the files of the core.

#ifndef CALC_HANDLE_H
#define CALC_HANDLE_H

#include "calc/base/err.h"
#include "calc/base/mem.h"
#include "calc/base/writer.h"
#include "calc/model/config.h"
#include "calc/model/facts.h"
#include "calc/vram.h"

// Where a field got its value: line 0 means that nothing set it, HANDLE_BY_CALL that no text did.
#define HANDLE_BY_CALL UINT32_MAX
struct handle_place {
    uint32_t line, col;
};

// What the layers above keep in a handle: each brings the function that frees it.
#ifdef VRAM_SMALL
enum handle_part_id { HANDLE_ENGINE, HANDLE_ANSWERS, HANDLE_PARTS };
#else
enum handle_part_id { HANDLE_ENGINE, HANDLE_ANSWERS, HANDLE_SETTINGS, HANDLE_PARTS };
#endif
struct handle_part {
    void *ptr;
    void (*free)(void *ptr);
};

struct vram {
    struct vram_mem mem;
    struct vram_config config;
    struct facts facts;  // of the files that were read, beside the fields
    struct message err;
    struct writer text;         // what vram_text returns
    struct message_list notes;  // of the last parse
    struct handle_place places[CONFIG_FIELD_COUNT];
    struct handle_place last;       // of the key that was set last
    char place_file[MESSAGE_FILE];  // the text that lines are of; "" for a text without a name
    bool has_result;                // of the configuration as it is
    struct vram_result result;
    struct handle_part parts[HANDLE_PARTS];
#ifndef VRAM_SMALL
    void (*copy_settings)(struct vram *to, const struct vram *from);  // NULL: there are none
#endif
};

// The recorded error is about the configuration as a whole: finds which of its fields something
// set, and gives it the place of that, or else of the key that was set last, where it came from a
// text. Returns the error's code.
int handle_locate(struct vram *v);

// vram_set for parsers: with a position, and without forgetting the last error. "preset" and "gpu"
// too.
int handle_set(struct vram *v, struct err_pos pos, const char *key, size_t key_len,
               const char *value, size_t value_len);

// Sets fields from "a=1 b=2" that no one wrote: the defaults of a format or a family.
int handle_imply(struct vram *v, const char *fields);

// Lines are of one text: what an earlier one set counts as set by a call.
void handle_begin_text(struct vram *v, const char *file);

// Out of memory, recorded.
int handle_no_memory(struct vram *v);
// Of a code from within, without a sentence: no memory, or a fault of the tapes or their player.
// The small module has no room for the other sentence.
#ifdef VRAM_SMALL
#define handle_failed(v, code) handle_no_memory(v)
#else
int handle_failed(struct vram *v, int code);
#endif

#endif
