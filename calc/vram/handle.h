// libvram: sentences as data, and a handle's life.

#ifndef VRAM_HANDLE_H
#define VRAM_HANDLE_H

#include "base.h"
#include "words.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- messages: sentences as data -------------------------------------------------------------

// A value of a sentence's placeholder.
struct vram_arg {
    const char *name;  // "max"
    const char *text;  // NULL: it is a number
    uint64_t number;
};

// An error, a note, a reason or a piece of advice. Nothing needs to read its text: what it is
// about is beside it, and a face in another language makes the sentence from id and args.
struct vram_message {
    const char *id;       // "out_of_range": a row of the library's table of sentences
    enum vram_code code;  // class of an error; VRAM_OK for other sentences
    const char *field;    // key of the field that it is about, or NULL
    const char *text;     // in English, one line, without the position; never NULL
    const char *file;     // of the text that was read, as its reader was told; NULL without a name
    uint32_t line, col;   // from 1; 0 where there is no text
    const struct vram_arg *args;
    size_t arg_count;
};

// Gets messages one by one. The message is valid during the call.
typedef void vram_message_fn(void *ctx, const struct vram_message *message);

// The rows of the table, for translations: id and code are set, text has its {placeholders}.
// NULL past the end.
VRAM_API const struct vram_message *vram_message_at(size_t index);

// How the reader of a sentence asks: which words `vramcalc gpus` and --gpu NAME have there. A
// message's own text is the command line's.
enum vram_door { VRAM_DOOR_COMMAND, VRAM_DOOR_LUA, VRAM_DOOR_PYTHON, VRAM_DOOR_COUNT };

// Writes a message's sentence as its reader asks; what does not fit is cut and ends in "...".
enum { VRAM_SENTENCE = 800 };
VRAM_API void vram_say(const struct vram_message *m, enum vram_door door, char text[VRAM_SENTENCE]);

// ---- a handle's life -------------------------------------------------------------------------

// A handle with every field at its default. NULL if mem has none. *mem is copied.
VRAM_API vram *vram_new(const vram_mem *mem);
VRAM_API void vram_free(vram *v);  // NULL is allowed

// Puts every field back to its default and forgets answers, notes and error.
VRAM_API void vram_clear(vram *v);

// Copies the configuration of one handle into another. Both must be live.
VRAM_API void vram_copy(vram *to, const vram *from);

// The last error; its code is VRAM_OK if there is none. Valid until the next call with v.
VRAM_API const struct vram_message *vram_error(const vram *v);

// Notes of the texts that were read: what was guessed, what a text says twice and differently.
// NULL past the end. Valid until the next call that sets or reads something.
VRAM_API const struct vram_message *vram_note_at(const vram *v, size_t index);

#ifdef __cplusplus
}
#endif

#endif
