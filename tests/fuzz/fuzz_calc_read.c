// Any file that a framework has: YAML, JSON, TOML, Python calls, launch scripts, over a model that
// was said before or not. The first byte is the file's name and what came before: with its seventh
// bit a file that a script takes values from, up to the first NUL.

#include "tests/fuzz/calc_fuzz.h"

static const char *const names[] = {"a.yaml", "a.json", "a.toml", "a.py", NULL};

// What was read can be written and read again, and a second reading is the same.
static void check_kept(vram *v)
{
    struct calc_fuzz_heap h = {0};
    vram *again = calc_fuzz_open(&h);
    size_t len;
    if (vram_write(v, VRAM_ANSWER_CONFIG, VRAM_FORMAT_TEXT, 0) == VRAM_OK) {
        const char *text = vram_text(v, &len);
        calc_fuzz_check(parse_text(again, VRAM_KIND_FLAT, text, len, "again") == VRAM_OK,
                        "the configuration that was written cannot be read");
    }
    calc_fuzz_close(&h, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calc_fuzz_heap h = {0};
    if (size == 0)
        return 0;
    vram *v = calc_fuzz_open(&h);
    const char *text = (const char *)data + 1, *name = data[0] & 32 ? "a.sh" : names[data[0] % 5];
    size_t settings = data[0] & 64 ? strnlen(text, size - 1) : 0;
    if (data[0] & 8)
        vram_set(v, "preset", "llama-3.2-1b");
    if (settings) {
        calc_fuzz_check_error(v,
                              parse_text(v, VRAM_KIND_SETTINGS, text, settings, "settings.yaml"));
        text += settings < size - 1 ? settings + 1 : settings;
        size -= settings < size - 1 ? settings + 1 : settings;
        name = "a.py";
    }
    enum vram_kind kind = vram_recognize(v, text, size - 1, name);
    calc_fuzz_check((unsigned)kind < VRAM_KIND_COUNT, "a kind that is none");
    int code = parse_text(v, data[0] & 16 ? kind : VRAM_KIND_AUTO, text, size - 1, name);
    calc_fuzz_check_error(v, code);
    if (code == VRAM_OK)
        check_kept(v);
    calc_fuzz_check(vram_check(v) <= 0, "vram_check");
    calc_fuzz_close(&h, v);
    return 0;
}
