// Ids of blocks, counted from heading to heading.
#include "gen/site/translation/block_id.h"

#include <string.h>

str *block_ids(const struct md_result *md, arena *a)
{
    str *ids = arena_new(a, str, md->block_count + 1), section = STR_NONE;
    unsigned counts[128] = {0};
    size_t heading = 0;
    for (size_t i = 0; i < md->block_count; i++) {
        uint8_t kind = md->blocks[i].kind & 127;
        if (kind == 'h' && heading < md->heading_count) {
            ids[i] = section = md->headings[heading++].id;
            memset(counts, 0, sizeof counts);
            continue;
        }
        counts[kind]++;
        ids[i] = arena_printf(a, "%.*s%s%c%u", STR_ARG(section), section.len ? "/" : "", kind,
                              counts[kind]);
    }
    return ids;
}
