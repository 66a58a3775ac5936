// Tells the language of a text by its letters: kana are Japanese, and no other language is written
// in Hangul. Latin letters say nothing.
#include "gen/text/written.h"

#include <string.h>

#include "gen/base/ascii.h"

enum { LOOKED_AT = 4 << 10, FEWEST = 12, LATIN_LETTERS_OF_A_SIGN = 3 };

enum script {
#define X(first, last, tag, script) SCRIPT_##script,
#include "gen/text/written.def"
#undef X
    SCRIPT_COUNT
};

static const struct {
    uint32_t first, last;
    str tag;
} scripts[] = {
#define X(first, last, tag, script) {first, last, STR(tag)},
#include "gen/text/written.def"
#undef X
};

// Letters that one language of a script has and the others lack, the rarest language first. Of
// Chinese, the commonest signs that were simplified, and what they were.
enum mark { BELARUSIAN, UKRAINIAN, SHORT_I, RUSSIAN, URDU, PERSIAN, SIMPLE, FULL, MARK_COUNT };
static const struct {
    enum script script;
    str letters;
} marks[MARK_COUNT] = {
    [BELARUSIAN] = {SCRIPT_CYRILLIC, STR("ўЎ")},
    [UKRAINIAN] = {SCRIPT_CYRILLIC, STR("їЇєЄ")},
    [SHORT_I] = {SCRIPT_CYRILLIC, STR("іІәңғүұқөһ")},
    [RUSSIAN] = {SCRIPT_CYRILLIC, STR("ыэЫЭ")},
    [URDU] = {SCRIPT_ARABIC, STR("ٹڈڑے")},
    [PERSIAN] = {SCRIPT_ARABIC, STR("پچژگ")},
    [SIMPLE] = {SCRIPT_HAN, STR("这们个来说时会为对国发经学过还问题开关动实现进种样")},
    [FULL] = {SCRIPT_HAN, STR("這們個來說時會為對國發經學過還問題開關動實現進種樣")},
};

struct letters {
    size_t latin, of[SCRIPT_COUNT], marked[MARK_COUNT];
};

static void count(struct letters *n, uint32_t c, str bytes)
{
    size_t i = 0;
    while (i < SCRIPT_COUNT && c > scripts[i].last)
        i++;
    if (i == SCRIPT_COUNT || c < scripts[i].first)
        return;
    n->of[i]++;
    for (size_t k = 0; k < MARK_COUNT; k++)
        if (marks[k].script == i)
            n->marked[k] += str_has(marks[k].letters, bytes);
}

// Behind what no reader reads in a line: `code`, <a tag>, (an address) of a link. 0 for anything
// else.
static size_t unread(str s)
{
    static const char open[] = "`<(", close[] = "`>)";
    const char *found = strchr(open, s.ptr[0]);
    bool address = s.ptr[0] != '(' || str_search(str_slice(s, 0, 9), STR("://")) < 9 ||
                   (s.len > 1 && strchr("./#", s.ptr[1]));
    if (!found || !address)
        return 0;
    size_t end = 1 + str_find(str_slice(s, 1, s.len), close[found - open]);
    return end < s.len ? end + 1 : 0;
}

static void count_line(struct letters *n, str line)
{
    for (size_t i = 0, len; i < line.len; i += len) {
        str rest = str_slice(line, i, line.len);
        char c = rest.ptr[0];
        len = unread(rest);
        if (len)
            continue;
        n->latin += ascii_is_letter(c);
        uint32_t letter = utf8_next(rest, &len);
        if (letter >= 0x370)
            count(n, letter, str_slice(rest, 0, len));
        n->latin += letter >= 0xC0 && letter < 0x250;
    }
}

static bool stands_for_a_word(enum script s)
{
    return s == SCRIPT_HAN || s == SCRIPT_KANA || s == SCRIPT_HANGUL;
}

static str cyrillic(const struct letters *n)
{
    if (n->marked[BELARUSIAN])
        return STR("be");
    if (n->marked[UKRAINIAN])
        return STR("uk");
    return n->marked[RUSSIAN] && !n->marked[SHORT_I] ? STR("ru") : STR_NONE;
}

static str of_script(const struct letters *n, enum script s)
{
    if (s == SCRIPT_CYRILLIC)
        return cyrillic(n);
    if (s == SCRIPT_ARABIC && n->marked[URDU] * 50 > n->of[s])
        return STR("ur");
    if (s == SCRIPT_ARABIC && n->marked[PERSIAN] * 50 > n->of[s])
        return STR("fa");
    if (s == SCRIPT_HAN && n->of[SCRIPT_KANA] * 10 > n->of[s])
        return STR("ja");
    if (s == SCRIPT_HAN && n->marked[FULL] != n->marked[SIMPLE])
        return n->marked[FULL] > n->marked[SIMPLE] ? STR("zh-Hant") : STR("zh-Hans");
    return scripts[s].tag;
}

str written_in(str text)
{
    struct letters n = {0};
    bool fenced = false;
    str line, rest = str_slice(text, 0, LOOKED_AT);
    while (str_line(&rest, &line)) {
        str words = str_trim(line);
        if (str_starts(words, STR("```")) || str_starts(words, STR("~~~")))
            fenced = !fenced;
        else if (!fenced)
            count_line(&n, words);
    }
    enum script best = 0;
    for (size_t i = 1; i < SCRIPT_COUNT; i++)
        best = n.of[i] > n.of[best] ? (enum script)i : best;
    size_t weight = stands_for_a_word(best) ? LATIN_LETTERS_OF_A_SIGN : 1;
    bool most = n.of[best] >= FEWEST && n.of[best] * weight > n.latin;
    return most ? of_script(&n, best) : STR_NONE;
}
