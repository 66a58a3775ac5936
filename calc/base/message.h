// Sentences as data: a row of messages.def, the fields that it is about, the values of its
// placeholders.

#ifndef CALC_MESSAGE_H
#define CALC_MESSAGE_H

#include "calc/base/mem.h"
#include "calc/base/text.h"
#include "calc/vram.h"

// A sentence is known by its row's address, and not by a number in a table: a module has those that
// its code can say.
typedef const struct vram_message *message_id;

#define MESSAGE(id, class, english) extern const struct vram_message MESSAGE_##id[1];
#include "calc/base/messages.def"
#undef MESSAGE
#define MESSAGE_NONE NULL

// A value for a placeholder: text or, where that is NULL, a number.
struct arg {
    const char *name, *text;
    size_t len;
    uint64_t number;
};

struct arg arg_text(const char *name, const char *text);
struct arg arg_part(const char *name, const char *text,
                    size_t len);  // of the user's text: cut at 60 bytes
static inline struct arg arg_u64(const char *name, uint64_t number)
{
    return (struct arg){name, NULL, 0, number};
}

struct args {
    const struct arg *at;
    size_t count;
};

#define ARGS(...) \
    ((struct args){(const struct arg[]){__VA_ARGS__}, \
                   sizeof((const struct arg[]){__VA_ARGS__}) / sizeof(struct arg)})
#define NO_ARGS ((struct args){NULL, 0})

// Keys of fields, the first of which the sentence is about; NULL at the end.
#define ABOUT(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_FIELD ((const char *const[]){NULL})

// A message that needs no memory but its own: what does not fit into it is cut.
enum {
    MESSAGE_ARGS = 8,
    MESSAGE_ABOUT = 4,
    MESSAGE_TEXT = TEXT_LINE,
    MESSAGE_ROOM = TEXT_LINE + 112,
    MESSAGE_FILE = 256
};

struct message {
    struct vram_message out;  // points into the arrays below: a copy is made by message_copy
    const char *about[MESSAGE_ABOUT + 1];
    struct vram_arg args[MESSAGE_ARGS];
    char text[MESSAGE_TEXT], room[MESSAGE_ROOM], file[MESSAGE_FILE];
};

void message_clear(struct message *m);
void message_set(struct message *m, message_id id, const char *const *about, struct args args);
void message_copy(struct message *to, const struct vram_message *from);

// Gives a message its place; file may be NULL.
void message_place(struct message *m, const char *file, uint32_t line, uint32_t col);

// Messages with a common end of life.
struct message_list {
    struct mem_arena arena;
    struct vram_message *at;
    size_t count, cap;
    bool failed;  // out of memory, sticky: some are missing
};

void message_list_init(struct message_list *l, const struct vram_mem *mem);
void message_list_free(struct message_list *l);  // and ready for use again
void message_list_add(struct message_list *l, message_id id, const char *const *about,
                      struct args args);
void message_list_copy(struct message_list *l, const struct vram_message *m);  // appends
void message_list_drop(struct message_list *l, const char *field);  // those about a field

#endif
