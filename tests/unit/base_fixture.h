// What the tests of gen/base share: cmocka's headers in their order, and comparing a view with a
// literal.
#ifndef TESTS_UNIT_BASE_FIXTURE_H
#define TESTS_UNIT_BASE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/base/arena.h"
#include "gen/base/buf.h"

#define assert_str(got, want) \
    do { \
        str got_ = (got); \
        if (!str_eq(got_, str_c(want))) \
            fail_msg("%s:%d: got \"%.*s\", wanted \"%s\"", __FILE__, __LINE__, STR_ARG(got_), \
                     want); \
    } while (0)

#endif
