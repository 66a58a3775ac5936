// What the whole library answers a page beyond its first number: searches over configurations, and
// every format of every answer.
//
// vram-whole.wasm is the first module's whole interface and these functions more, without what
// VRAM_SMALL leaves out there. A page goes on with it after its first number.

#include "calc/wasm/wasm.h"

// Writes an answer of the configuration as it is now; answers and formats by their positions in
// VRAM_ANSWERS and VRAM_FORMATS. An answer that is not there yet is an error.
EXPORT(write) int wasm_write(uint32_t answer, uint32_t format)
{
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    return wasm_finish(v, vram_write(v, (enum vram_answer)answer, (enum vram_format)format, 0));
}

// The input is a file's name, a NUL and its text where `named` bytes are the name with its NUL; a
// text alone where they are 0. Some kinds are known by the end of the name.
static const char *named_text(size_t named, size_t *len, const char **file)
{
    const char *input = wasm_input_text(*len);
    if (!input || named > *len || (named && input[named - 1]))
        return NULL;
    *file = named ? input : NULL;
    *len -= named;
    return input + named;
}

// Reads a text of one of VRAM_KINDS into the configuration, on top of what is there.
EXPORT(parse) int wasm_parse(uint32_t kind, size_t named, size_t len)
{
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    const char *file, *text = named_text(named, &len, &file);
    if (!text || kind >= VRAM_KIND_COUNT)
        return VRAM_EARG;
    return wasm_finish(v, vram_parse(v, (enum vram_kind)kind, text, len, file, NULL, NULL));
}

// The kind of a text; AUTO where it is none that is read.
EXPORT(recognize) uint32_t wasm_recognize(size_t named, size_t len)
{
    vram *v = wasm_handle();
    const char *file, *text = v ? named_text(named, &len, &file) : NULL;
    return text ? vram_recognize(v, text, len, file) : VRAM_KIND_AUTO;
}

static int finish_json(vram *v, int code, enum vram_answer answer)
{
    return wasm_finish(v, code ? code : vram_write(v, answer, VRAM_FORMAT_JSON, 0));
}

// What to change, ranked.
EXPORT(advise) int wasm_advise(void)
{
    const struct vram_advice *advice;
    vram *v = wasm_handle();
    return v ? finish_json(v, vram_advise(v, &advice), VRAM_ANSWER_ADVICE) : VRAM_ENOMEM;
}

// The first len bytes of the input are the key of the field whose value is looked for.
EXPORT(solve) int wasm_solve(size_t len)
{
    const struct vram_solution *solution;
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    const char *field = wasm_input_text(len);
    return field ? finish_json(v, vram_solve(v, field, &solution), VRAM_ANSWER_SOLUTION)
                 : VRAM_EARG;
}

// The cards that the configuration fits.
EXPORT(cards) int wasm_cards(void)
{
    const struct vram_cards *cards;
    vram *v = wasm_handle();
    return v ? finish_json(v, vram_cards(v, &cards), VRAM_ANSWER_CARDS) : VRAM_ENOMEM;
}

// What a server of the configuration has room for.
EXPORT(serve) int wasm_serve(void)
{
    const struct vram_serving *serving;
    vram *v = wasm_handle();
    return v ? finish_json(v, vram_serve(v, &serving), VRAM_ANSWER_SERVING) : VRAM_ENOMEM;
}

// The allocator's segments at one of VRAM_MOMENTS, or after an event (below 2^32: a run has some
// hundred thousand).
EXPORT(segments) int wasm_segments(uint32_t moment, uint32_t event)
{
    const struct vram_segments *segments;
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    int code = vram_segments(v, moment, event, &segments);
    return wasm_finish(v, code ? code : vram_write(v, VRAM_ANSWER_SEGMENTS, VRAM_FORMAT_JSON, 0));
}

// The first len bytes of the input are PyTorch's out-of-memory message.
EXPORT(explain) int wasm_explain(size_t len, bool with_config)
{
    const struct vram_oom *oom;
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    const char *text = wasm_input_text(len);
    return text ? finish_json(v, vram_explain_oom(v, text, len, with_config, &oom), VRAM_ANSWER_OOM)
                : VRAM_EARG;
}

// The first len bytes of the input are a memory snapshot of PyTorch, a pickle or JSON.
EXPORT(snapshot) int wasm_snapshot(size_t len, bool with_config)
{
    const struct vram_snapshot *snapshot;
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    const char *data = wasm_input_text(len);
    return data ? finish_json(v, vram_read_snapshot(v, data, len, "", with_config, &snapshot),
                              VRAM_ANSWER_SNAPSHOT)
                : VRAM_EARG;
}

// The same configuration by the formulas of others.
EXPORT(compare) int wasm_compare(void)
{
    const struct vram_comparison *comparison;
    vram *v = wasm_handle();
    return v ? finish_json(v, vram_compare(v, &comparison), VRAM_ANSWER_COMPARISON) : VRAM_ENOMEM;
}

// The words for the numbers above: answers, formats, kinds of text, moments, one group a line.
EXPORT(write_names) const char *wasm_write_names(void)
{
    return ""
#define X(id, name) name " "
        VRAM_ANSWERS(X)
#undef X
            "\n"
#define X(id, name) name " "
        VRAM_FORMATS(X)
#undef X
            "\n"
#define X(id, name, text) name " "
        VRAM_KINDS(X)
#undef X
            "\n"
#define X(id, name, text) name " "
        VRAM_MOMENTS(X)
#undef X
            "\n";
}
