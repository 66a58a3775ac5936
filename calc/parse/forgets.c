// Owns the answer whether a value matters: keys that some format names and none has a use for.

#include "calc/parse/forgets.h"

#include "calc/base/text.h"

static const char *const USED[] = {
#define KEY(id, key, target, map) key,
#include "calc/parse/formats.def"
};

static const char *const IGNORED[] = {
#define IGNORE(id, words) words,
#include "calc/parse/formats.def"
};

bool format_forgets(struct span key)
{
    static const char adapter[] = "lora_config.";
    bool ignored = false, used = false;
    key = span_skip(key, span_starts(key, adapter) ? sizeof adapter - 1 : 0);
    for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
        ignored = ignored || span_in_words(IGNORED[i], key);
    for (size_t i = 0; i < sizeof USED / sizeof *USED; i++)
        used = used || span_is(key, USED[i]);
    return ignored && !used;
}
