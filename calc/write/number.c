// Numbers for people: thousands, MiB, bars; and the phases of a step in words.

#include "calc/write/number.h"

#include "calc/base/text.h"

enum { DIGITS_MAX = 40 };

// n with commas and `places` decimal digits, at the end of buf.
static char *digits(char *end, uint64_t n, unsigned places)
{
    char *at = end;
    for (unsigned i = 0; i < places; i++, n /= 10)
        *--at = (char)('0' + n % 10);
    if (places)
        *--at = '.';
    unsigned written = 0;
    do {
        if (written && written % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + n % 10);
        n /= 10;
        written++;
    } while (n > 0);
    return at;
}

static void put(struct writer *w, uint64_t n, unsigned places, unsigned width)
{
    char buf[DIGITS_MAX];
    char *at = digits(buf + DIGITS_MAX, n, places);
    size_t len = (size_t)(buf + DIGITS_MAX - at);
    for (size_t i = len; i < width; i++)
        writer_char(w, ' ');
    writer_bytes(w, at, len);
}

// bytes / unit in tenths, rounded half up. bytes stay below 2^53.
static uint64_t tenths(uint64_t bytes, uint64_t unit)
{
    return (bytes * 10 + unit / 2) / unit;
}

void put_count(struct writer *w, uint64_t n)
{
    put(w, n, 0, 0);
}

void put_count_right(struct writer *w, uint64_t n, unsigned width)
{
    put(w, n, 0, width);
}

void put_mib(struct writer *w, uint64_t bytes)
{
    put(w, tenths(bytes, NUMBER_MIB), 1, 0);
}

void put_mib_right(struct writer *w, uint64_t bytes, unsigned width)
{
    put(w, tenths(bytes, NUMBER_MIB), 1, width);
}

void put_mib_round(struct writer *w, uint64_t bytes)
{
    put(w, (bytes + NUMBER_MIB / 2) / NUMBER_MIB, 0, 0);
}

// SRC: c10/cuda/CUDACachingAllocator.cpp, format_size
void put_size(struct writer *w, uint64_t bytes)
{
    if (bytes <= 1024)
        writer_f(w, "%u bytes", bytes);
    else if (bytes <= NUMBER_MIB)
        writer_ratio(w, bytes, 1024, 2);
    else
        writer_ratio(
            w, bytes,
            bytes <= (uint64_t)NUMBER_MIB * 1024 ? NUMBER_MIB : (uint64_t)NUMBER_MIB * 1024, 2);
    if (bytes > 1024)
        writer_str(w, bytes <= NUMBER_MIB                    ? " KiB"
                      : bytes <= (uint64_t)NUMBER_MIB * 1024 ? " MiB"
                                                             : " GiB");
}

// Eighths of a block, so that small parts are seen too.
void put_bar(struct writer *w, uint64_t part, uint64_t whole, unsigned width)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    uint64_t steps = whole ? part * width * 8 / whole : 0;  // part is below 2^53, width below 64
    unsigned done = 0;
    if (steps > width * 8)
        steps = width * 8;
    for (; done < steps / 8; done++)
        writer_str(w, "\u2588");
    if (steps % 8) {
        writer_str(w, eighths[steps % 8]);
        done++;
    }
    for (; done < width; done++)
        writer_char(w, ' ');
}

void put_percent_right(struct writer *w, uint64_t part, uint64_t whole, unsigned width)
{
    put(w, whole ? (part * 100 + whole / 2) / whole : 0, 0, width);
}

void put_pad(struct writer *w, size_t start, size_t width)
{
    while (w->len < start + width && !w->failed)
        writer_char(w, ' ');
}

void put_cell(struct writer *w, const char *text, size_t width)
{
    size_t start = w->len;
    writer_str(w, text);
    put_pad(w, start, width);
}

// "bwd:it1.m0": kind, iteration, micro-step
struct phase {
    const char *words;
    uint64_t iteration, micro;
    bool has_iteration, has_micro;
};

static struct phase phase_of(const char *s)
{
    static const struct {
        const char *prefix, *words;
    } kinds[] = {{"fwd", "forward"},
                 {"bwd", "backward"},
                 {"step", "optimizer step"},
                 {"eval", "evaluation"},
                 {"param", "building the model"},
                 {"data", "loading the batch"},
                 {"prefill", "prefill"},
                 {"decode", "decoding"}};
    struct phase p = {s, 0, 0, false, false};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_equal(s, text_len(kinds[i].prefix) <= text_len(s) ? text_len(kinds[i].prefix) : 0,
                       kinds[i].prefix))
            p.words = kinds[i].words;
    for (; *s; s++) {
        uint64_t *n = s[0] == 't' && s[1] >= '0' && s[1] <= '9'   ? &p.iteration
                      : s[0] == 'm' && s[1] >= '0' && s[1] <= '9' ? &p.micro
                                                                  : NULL;
        p.has_iteration |= n == &p.iteration;
        p.has_micro |= n == &p.micro;
        for (; n && s[1] >= '0' && s[1] <= '9'; s++)
            *n = *n * 10 + (uint64_t)(s[1] - '0');
    }
    return p;
}

const char *phase_words(const char *phase, char out[NUMBER_PHASE])
{
    struct phase p = phase_of(phase);
    const char *parts[4] = {p.words, "", "", ""};
    char digit[2] = {(char)('1' + p.micro % 9), 0};
    size_t n = 0;
    if (p.has_micro && p.micro < 9) {
        parts[1] = " of micro-step ";
        parts[2] = digit;
    }
    if (p.has_iteration)
        parts[3] = p.iteration ? ", steady state" : ", first iteration";
    for (size_t i = 0; i < 4; i++)
        for (const char *c = parts[i]; *c && n < NUMBER_PHASE - 1; c++)
            out[n++] = *c;
    out[n] = 0;
    return out;
}
