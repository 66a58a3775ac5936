// Owns the table of sentences and their making: arguments copied, English filled in.

#include "calc/base/message.h"

#include "calc/base/text.h"
#include "calc/base/writer.h"

enum { ARG_CUT = 60 };

// The page has its own words, in its reader's language. MESSAGES_AS_IDS: a build for tests, in
// which no English is left for anything to depend on.
#if defined __wasm__
#define ENGLISH(id, english) ""
#elif defined MESSAGES_AS_IDS
#define ENGLISH(id, english) "#" #id
#else
#define ENGLISH(id, english) english
#endif
#define MESSAGE(ident, class, english) \
    const struct vram_message MESSAGE_##ident[1] = { \
        {.id = #ident, .code = class, .text = ENGLISH(ident, english)}};
#include "calc/base/messages.def"
#undef MESSAGE

const struct vram_message *vram_message_at(size_t index)
{
    static const message_id all[] = {
#define MESSAGE(id, class, english) MESSAGE_##id,
#include "calc/base/messages.def"
#undef MESSAGE
    };
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

struct arg arg_text(const char *name, const char *text)
{
    return (struct arg){name, text, text_len(text), 0};
}

struct arg arg_part(const char *name, const char *text, size_t len)
{
    size_t cut = len > ARG_CUT ? ARG_CUT : len;
    while (cut < len && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;  // not in the middle of a character
    return (struct arg){name, text, cut, 0};
}

void message_clear(struct message *m)
{
    m->text[0] = 0;
    m->about[0] = NULL;
    m->out = (struct vram_message){.id = "", .code = VRAM_OK, .text = m->text};
}

// Copies len bytes into the message's room; what does not fit is cut.
static const char *message_keep(struct message *m, size_t *used, const char *text, size_t len)
{
    size_t left = MESSAGE_ROOM - 1 - *used;
    char *at = m->room + *used;
    if (*used >= MESSAGE_ROOM - 1)
        return "";
    len = len < left ? len : left;
    mem_copy(at, text, len);
    at[len] = 0;
    *used += len + 1;
    return at;
}

#ifndef __wasm__  // where no sentence has English
// The words of a door for what a sentence sends its reader to; NULL: there is no such row.
static const char *door_words(enum vram_door door, const char *name, size_t n)
{
    static const struct {
        const char *name, *words[VRAM_DOOR_COUNT];
    } all[] = {
#define DOOR(name, ...) {#name, {__VA_ARGS__}},
#include "calc/base/doors.def"
#undef DOOR
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (text_equal(name, n, all[i].name))
            return all[i].words[door];
    return NULL;
}

static void message_write_arg(struct writer *w, const struct vram_arg *a)
{
    if (a->text)
        writer_str(w, a->text);
    else
        writer_u64(w, a->number);
}

// The value of the placeholder whose name has n bytes.
static void message_write_value(struct writer *w, const struct vram_message *m, const char *name,
                                size_t n, enum vram_door door)
{
    const char *words = *name == '=' ? door_words(door, name + 1, n - 1) : NULL;
    if (words) {
        writer_str(w, words);
        return;
    }
    if (text_equal(name, n, "field")) {
        writer_str(w, m->field ? m->field : "");
        return;
    }
    for (size_t i = 0; i < m->arg_count; i++)
        if (text_equal(name, n, m->args[i].name)) {
            message_write_arg(w, &m->args[i]);
            return;
        }
    writer_bytes(w, name - 1, n + 2);  // a placeholder that no one fills shows itself
}

static void message_write_list(struct writer *w, const struct vram_message *m)
{
    writer_char(w, '{');
    if (m->field)
        writer_f(w, "field=%s", m->field);
    for (size_t i = 0; i < m->arg_count; i++) {
        writer_f(w, "%s%s=", i || m->field ? "|" : "", m->args[i].name);
        message_write_arg(w, &m->args[i]);
    }
    writer_char(w, '}');
}

static void message_write(struct writer *w, const char *english, const struct vram_message *m,
                          enum vram_door door)
{
    if (english[0] == '#') {
        writer_str(w, english);
        message_write_list(w, m);
        return;
    }
    for (const char *c = english; *c; c++) {
        size_t n = 0;
        if (*c != '{') {
            writer_char(w, *c);
            continue;
        }
        while (c[1 + n] && c[1 + n] != '}')
            n++;
        message_write_value(w, m, c + 1, n, door);
        c += n + (c[1 + n] == '}');
    }
}

static void *message_no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

// The text is made in an array, so that one about memory needs none.
static void message_fill(char *text, size_t room, const char *english, const struct vram_message *m,
                         enum vram_door door)
{
    static const char more[] = "...";
    struct vram_mem mem = {message_no_memory, NULL, NULL};
    struct writer w = {.mem = &mem, .text = text, .cap = room - sizeof more};
    text[0] = 0;
    message_write(&w, english, m, door);
    if (w.failed)
        mem_copy(text + w.len, more, sizeof more);
}

static void message_say(struct message *m, message_id id)
{
    message_fill(m->text, MESSAGE_TEXT, id->text, &m->out, VRAM_DOOR_COMMAND);
}

void vram_say(const struct vram_message *m, enum vram_door door, char text[VRAM_SENTENCE])
{
    const struct vram_message *row = NULL;
    for (size_t i = 0; (row = vram_message_at(i)) != NULL; i++)
        if (text_equal(m->id, text_len(m->id), row->id))
            break;
    struct vram_arg whole = {"whole", m->text, 0};
    struct vram_message alone = {.args = &whole, .arg_count = 1};
    message_fill(text, VRAM_SENTENCE, row ? row->text : "{whole}", row ? m : &alone, door);
}
#else
static void message_say(struct message *m, message_id id)
{
    (void)m;
    (void)id;
}
#endif

static void message_begin(struct message *m, const char *id, enum vram_code code, const char *field)
{
    message_clear(m);
    m->about[0] = field;
    m->about[1] = NULL;
    m->out.id = id;
    m->out.code = code;
    m->out.field = field;
    m->out.args = m->args;
}

static void message_add_arg(struct message *m, size_t *used, const struct arg *a)
{
    if (m->out.arg_count < MESSAGE_ARGS)
        m->args[m->out.arg_count++] = (struct vram_arg){
            a->name, a->text ? message_keep(m, used, a->text, a->len) : NULL, a->number};
}

void message_set(struct message *m, message_id id, const char *const *about, struct args args)
{
    size_t used = 0, keys = 0;
    message_begin(m, id->id, id->code, about[0]);
    for (; keys < MESSAGE_ABOUT && about[keys]; keys++)
        m->about[keys] = about[keys];
    m->about[keys] = NULL;
    for (size_t i = 0; i < args.count; i++)
        message_add_arg(m, &used, &args.at[i]);
    message_say(m, id);
}

void message_place(struct message *m, const char *file, uint32_t line, uint32_t col)
{
    size_t n = 0;
    m->out.line = line;
    m->out.col = col;
    if (!file)
        return;
    for (; n + 1 < MESSAGE_FILE && file[n]; n++)
        m->file[n] = file[n];
    m->file[n] = 0;
    m->out.file = m->file;
}

void message_copy(struct message *to, const struct vram_message *from)
{
    size_t used = 0, n = text_len(from->text);
    message_begin(to, from->id, from->code, from->field);
    for (size_t i = 0; i < from->arg_count; i++) {
        const struct vram_arg *a = &from->args[i];
        struct arg arg = {a->name, a->text, a->text ? text_len(a->text) : 0, a->number};
        message_add_arg(to, &used, &arg);
    }
    n = n < MESSAGE_TEXT - 1 ? n : MESSAGE_TEXT - 1;
    mem_copy(to->text, from->text, n);
    to->text[n] = 0;
    message_place(to, from->file, from->line, from->col);
}

// ---- lists -----------------------------------------------------------------------------------

void message_list_init(struct message_list *l, const struct vram_mem *mem)
{
    mem_zero(l, sizeof *l);
    l->arena.mem = mem;
}

void message_list_free(struct message_list *l)
{
    const struct vram_mem *mem = l->arena.mem;
    if (!mem)
        return;
    mem_arena_free(&l->arena);
    mem_free(mem, l->at, l->cap * sizeof *l->at);
    message_list_init(l, mem);
}

static const char *list_text(struct message_list *l, const char *text)
{
    size_t n = text ? text_len(text) : 0;
    char *copy = text ? mem_arena_new(&l->arena, n + 1, 1) : NULL;
    if (copy)
        mem_copy(copy, text, n);
    l->failed |= text && !copy;
    return copy;
}

static const struct vram_arg *list_args(struct message_list *l, const struct vram_message *m)
{
    struct vram_arg *args = mem_arena_new(&l->arena, m->arg_count, sizeof *args);
    l->failed |= !args;
    for (size_t i = 0; args && i < m->arg_count; i++)
        args[i] =
            (struct vram_arg){m->args[i].name, list_text(l, m->args[i].text), m->args[i].number};
    return args;
}

void message_list_copy(struct message_list *l, const struct vram_message *m)
{
    void *p = l->at;
    struct vram_message copy = *m;
    copy.text = list_text(l, m->text);
    copy.file = list_text(l, m->file);
    copy.args = list_args(l, m);
    l->failed |= mem_grow(l->arena.mem, &p, &l->cap, l->count + 1, sizeof *l->at) != VRAM_OK;
    l->at = p;
    if (!l->failed)
        l->at[l->count++] = copy;
}

void message_list_add(struct message_list *l, message_id id, const char *const *about,
                      struct args args)
{
    struct message m;
    message_set(&m, id, about, args);
    message_list_copy(l, &m.out);
}

void message_list_drop(struct message_list *l, const char *field)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) {
        const char *own = l->at[i].field;
        if (!own || !text_equal(own, text_len(own), field))
            l->at[n++] = l->at[i];
    }
    l->count = n;
}
