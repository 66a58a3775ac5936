// Which words in names are tags of languages: by ICU's data, and some that people use instead.
#include "gen/site/source/names_tag.h"

#include <string.h>
#include <unicode/uloc.h>

enum { LONGEST_WORD = 20 };

// Words that mean a language without being a tag, in the order of their first letters.
static const struct {
    str word, tag;
} words[] = {
#define X(word, tag) {STR(word), STR(tag)},
#include "gen/site/source/names_words.def"
#undef X
};

// Where words that begin with a letter begin.
static size_t first_from(char letter)
{
    size_t low = 0, high = sizeof words / sizeof *words;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (words[middle].word.ptr[0] < letter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

str names_word(str tag)
{
    char first = tag.len && tag.len <= LONGEST_WORD ? ascii_lower(tag.ptr[0]) : 0;
    size_t count = sizeof words / sizeof *words;
    for (size_t i = first_from(first); i < count && words[i].word.ptr[0] == first; i++)
        if (tag.len == words[i].word.len && str_eq_nocase(tag, words[i].word))
            return words[i].tag;
    return tag;
}

bool names_is_locale(str tag)
{
    char wanted[16];
    bool found = false;
    size_t joint = 0;
    for (size_t i = 0; i < tag.len && i < sizeof wanted - 1; i++) {
        wanted[i] = tag.ptr[i] == '-' || tag.ptr[i] == '_' ? '_' : ascii_lower(tag.ptr[i]);
        joint = wanted[i] == '_' ? i : joint;
    }
    for (int32_t i = 0, count = uloc_countAvailable(); i < count && !found; i++) {
        str locale = str_c(uloc_getAvailable(i)),
            area = str_slice(locale, str_rfind(locale, '_'), locale.len);
        found =
            joint && tag.len < sizeof wanted && str_starts(locale, (str){wanted, joint}) &&
            locale.ptr[joint] == '_' &&
            (str_eq_nocase((str){wanted + joint, tag.len - joint}, area) ||  // zh-cn: zh_Hans_CN
             str_eq_nocase((str){wanted, tag.len}, locale));
    }
    return found;
}

bool names_is_tag(const struct map *languages, str s)
{
    char base[4];
    size_t len = 0;
    if (names_word(s).ptr != s.ptr)
        return true;
    while (len < s.len && len < 4 && ascii_is_letter(s.ptr[len]))
        len++;
    if (len < 2 || len > 3 || s.len > 12 || (s.len > len && s.ptr[len] != '-' && s.ptr[len] != '_'))
        return false;
    for (size_t i = 0; i < len; i++)
        base[i] = ascii_lower(s.ptr[i]);
    if (!map_has(languages, (str){base, len}))
        return false;
    for (size_t i = len, part = 0; i < s.len; i++) {
        bool joint = s.ptr[i] == '-' || s.ptr[i] == '_';
        bool word = ascii_is_alnum(s.ptr[i]);
        if (joint ? (i > len && part < 2) || i + 1 == s.len : !word)
            return false;
        part = joint ? 0 : part + 1;
        if (part > 4)
            return false;
    }
    return true;
}

void names_languages(struct map *languages, arena *a)
{
    for (int32_t i = 0, count = uloc_countAvailable(); i < count; i++) {
        const char *locale = uloc_getAvailable(i);
        if (strcspn(locale, "_") == strlen(locale))
            map_put(languages, a, str_c(locale), NULL);
    }
}
