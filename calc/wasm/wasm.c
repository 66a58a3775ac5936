// The estimator in a web page: libvram with the memory of a WebAssembly module, texts in and out by
// address and length.
//
// The module imports nothing. All state lies at the start of its heap, so nothing here is a global
// variable.
//
//     const at = e.input(bytes.length);            // room for the text; 0 = no memory
//     new Uint8Array(e.memory.buffer).set(bytes, at);
//     const code = e.estimate(bytes.length);       // flat `key = value` lines -> JSON of schema
//     vramcalc/1 const json = decode(e.memory.buffer, e.text_at(), e.text_bytes());
//
// Every call returns a code of enum vram_code. When it is not 0 the text is the error as JSON. The
// memory may have grown: take e.memory.buffer again after every call. Numbers of WASM_ASKS are
// positions in that list, from 0; names() lists them, so that a page need not repeat them.

#include "calc/wasm/wasm.h"

// What answer() can be asked, and the function that makes the answer first; plain ones are always
// there.
#define WASM_ASKS(X) \
    X(REPORT, REPORT, "report") \
    X(CONFIG, CONFIG, "config") \
    X(GPUS, GPUS, "gpus") \
    X(PRESETS, PRESETS, "presets") \
    X(FIELDS, FIELDS, "fields") \
    X(TIMELINE, TIMELINE, "timeline") \
    X(SERVING, SERVING, "serving")

enum wasm_ask {
#define X(id, answer, name) WASM_ASK_##id,
    WASM_ASKS(X)
#undef X
        WASM_ASK_COUNT
};

enum { SMALLEST = 5, LARGEST = 30, WASM_PAGE = 65536 };

// What the module remembers. Zero at first, as all of its memory.
struct instance {
    unsigned char *top;        // end of what was ever handed out
    void *spare[LARGEST + 1];  // blocks given back, by power of two; the first word is the next one
    struct vram_mem mem;
    vram *v;
    char *input;
    size_t input_cap;
};

extern unsigned char __heap_base;  // from the linker: the first address after data and stack

static struct instance *instance(void)
{
    return (struct instance *)&__heap_base;
}

// ---- memory: powers of two ---------------------------------------------------------------------

static unsigned power_for(size_t bytes)
{
    unsigned p = SMALLEST;
    while (p <= LARGEST && (size_t)1 << p < bytes)
        p++;
    return p;
}

static bool reach(size_t end)
{
    size_t have = __builtin_wasm_memory_size(0);
    size_t need = end / WASM_PAGE + 1;
    return need <= have || __builtin_wasm_memory_grow(0, need - have) != (size_t)-1;
}

static void *heap_alloc(void *ctx, size_t bytes)
{
    struct instance *in = ctx;
    unsigned p = power_for(bytes);
    if (p > LARGEST)
        return NULL;
    void *block = in->spare[p];
    if (block) {
        in->spare[p] = *(void **)block;
        return block;
    }
    size_t end = (size_t)in->top + ((size_t)1 << p);
    if (end < (size_t)in->top || !reach(end))
        return NULL;
    block = in->top;
    in->top = (unsigned char *)end;
    return block;
}

static void heap_free(void *ctx, void *ptr, size_t bytes)
{
    struct instance *in = ctx;
    unsigned p = power_for(bytes);
    *(void **)ptr = in->spare[p];
    in->spare[p] = ptr;
}

// The handle, made at the first call. NULL without memory.
vram *wasm_handle(void)
{
    struct instance *in = instance();
    if (!in->top) {
        size_t start = ((size_t)(in + 1) + 15) / 16 * 16;
        if (!reach(start))
            return NULL;
        in->top = (unsigned char *)start;
        in->mem = (struct vram_mem){heap_alloc, heap_free, in};
    }
    if (!in->v)
        in->v = vram_new(&in->mem);
    return in->v;
}

// ---- what the page calls -----------------------------------------------------------------------

int wasm_finish(vram *v, int code)
{
    if (code)
        vram_write_json(v, VRAM_ANSWER_ERROR);
    return code;
}

// Room for len bytes of text, to be filled before the next call. 0: no memory.
EXPORT(input) char *wasm_input(size_t len)
{
    struct instance *in = instance();
    if (!wasm_handle())
        return NULL;
    if (len >= in->input_cap) {
        char *room = heap_alloc(in, len + 1);
        if (!room)
            return NULL;
        if (in->input)
            heap_free(in, in->input, in->input_cap);
        in->input = room;
        in->input_cap = len + 1;
    }
    return in->input;
}

const char *wasm_input_text(size_t len)
{
    struct instance *in = instance();
    if (!in->input || len >= in->input_cap)
        return NULL;
    in->input[len] = 0;
    return in->input;
}

EXPORT(text_at) const char *wasm_text_at(void)
{
    vram *v = wasm_handle();
    return v ? vram_text(v, NULL) : "";
}

EXPORT(text_bytes) size_t wasm_text_bytes(void)
{
    size_t len = 0;
    vram *v = wasm_handle();
    if (v)
        vram_text(v, &len);
    return len;
}

// Every field back to its default.
EXPORT(clear) int wasm_clear(void)
{
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    vram_clear(v);
    return VRAM_OK;
}

static const char *trim(const char *at, size_t *len)
{
    while (*len && (at[*len - 1] == ' ' || at[*len - 1] == '\r'))
        (*len)--;
    while (*len && *at == ' ') {
        at++;
        (*len)--;
    }
    return at;
}

// A preset depends on the mode, and other lines are set over it: in this order, whatever the lines'
// own is.
static const char *const FIRST[] = {"mode", "preset"};
enum { FIRST_COUNT = sizeof FIRST / sizeof *FIRST };

// Which of FIRST a key is, FIRST_COUNT for others.
static unsigned turn_of(const char *key, size_t len)
{
    unsigned turn = 0;
    for (; turn < FIRST_COUNT; turn++) {
        size_t n = 0;
        while (n < len && FIRST[turn][n] == key[n])
            n++;
        if (n == len && !FIRST[turn][n])
            break;
    }
    return turn;
}

// "key = value", if it is this key's turn; an empty line sets nothing.
static int set_line(vram *v, const char *line, size_t len, unsigned turn)
{
    size_t key_len = 0;
    line = trim(line, &len);
    while (key_len < len && line[key_len] != '=')
        key_len++;
    size_t value_len = key_len < len ? len - key_len - 1 : 0;
    const char *value = trim(line + len - value_len, &value_len), *key = trim(line, &key_len);
    return len && turn_of(key, key_len) == turn ? vram_set_n(v, key, key_len, value, value_len)
                                                : VRAM_OK;
}

static int set_lines(vram *v, const char *text, size_t len, unsigned turn)
{
    int code = VRAM_OK;
    for (size_t at = 0; at < len && code == VRAM_OK;) {
        size_t end = at;
        while (end < len && text[end] != '\n')
            end++;
        code = set_line(v, text + at, end - at, turn);
        at = end + 1;
    }
    return code;
}

// Sets the lines `key = value` of the first len bytes of the input on top of what is there, up to
// the first that is wrong. Readers of files are the whole one's.
EXPORT(flat) int wasm_flat(size_t len)
{
    vram *v = wasm_handle();
    const char *text = v ? wasm_input_text(len) : NULL;
    int code = VRAM_OK;
    if (!text)
        return v ? VRAM_EARG : VRAM_ENOMEM;
    for (unsigned turn = 0; turn <= FIRST_COUNT && code == VRAM_OK; turn++)
        code = set_lines(v, text, len, turn);
    return wasm_finish(v, code);
}

// Makes the answer that is asked for, of the configuration as it is now, as JSON.
EXPORT(answer) int wasm_answer(uint32_t ask)
{
    static const enum vram_answer answers[] = {
#define X(id, answer, name) VRAM_ANSWER_##answer,
        WASM_ASKS(X)
#undef X
    };
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    if (ask >= WASM_ASK_COUNT)
        return VRAM_EARG;
    const struct vram_serving *serving;
    int code = ask == WASM_ASK_REPORT    ? vram_run(v)
               : ask == WASM_ASK_SERVING ? vram_serve(v, &serving)
                                         : VRAM_OK;
    return wasm_finish(v, code ? code : vram_write_json(v, answers[ask]));
}

// The whole way at once: defaults, the input's flat lines, the run, the report as JSON.
EXPORT(estimate) int wasm_estimate(size_t len)
{
    int code = wasm_clear();
    if (!code)
        code = wasm_flat(len);
    return code ? code : wasm_answer(WASM_ASK_REPORT);
}

// The words for the numbers above, in one line.
EXPORT(names) const char *wasm_names(void)
{
    return ""
#define X(id, answer, name) name " "
        WASM_ASKS(X)
#undef X
            "\n";
}
