// A key of one format that is read as a key of another.

#ifndef CALC_DELEGATE_H
#define CALC_DELEGATE_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

// A key that is another format's: it is read as a key of that one.
struct delegate {
    enum format_id format;  // FORMAT_NONE: of none
    struct entry e;
    char key[96];  // what e.key may point to
};

#endif
