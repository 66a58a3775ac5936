// Sizes of pictures: each format, cut at every length, and what is no picture.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gen/text/images.h"

static const struct {
    const char *name, *bytes;
    size_t len;
    uint32_t width, height;
} cases[] = {
#define CASE(name, bytes, w, h) \
    { \
        name, bytes, sizeof(bytes) - 1, w, h \
    }
    CASE("png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2\0\0\0\7", 258, 7),
    CASE("gif", "GIF89a\x40\1\xf0\0", 320, 240),
    CASE("jpeg", "\xff\xd8\xff\xe0\0\4ab\xff\xc4\0\2\xff\xff\xc2\0\x11\x08\0\x64\0\xc8\3\1\1", 200,
         100),
    CASE("webp x", "RIFF\0\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0\x1f\3\0\x57\2\0", 800, 600),
    CASE("webp l", "RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\xc0\1\0\0\0\0\0\0", 16, 8),
    CASE("webp", "RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\1\x2a\x10\0\x20\0", 16, 32),
};

static void each_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t w = 0, h = 0;
        if (!image_size((str){cases[i].bytes, cases[i].len}, &w, &h) || w != cases[i].width ||
            h != cases[i].height)
            fail_msg("%s: got %u x %u", cases[i].name, w, h);
    }
}

// Under the sanitizer a read behind the end would be seen.
static void cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t n = 0; n < cases[i].len; n++) {
            char *copy = malloc(n + 1);
            uint32_t w, h;
            assert_non_null(copy);
            memcpy(copy, cases[i].bytes, n);
            char *exact = realloc(copy, n ? n : 1);
            assert_non_null(exact);
            image_size((str){exact, n}, &w, &h);
            free(exact);
        }
}

static void no_picture(void **state)
{
    uint32_t w, h;
    (void)state;
    assert_false(image_size((str){"", 0}, &w, &h));
    assert_false(image_size((str){"<svg/>", 6}, &w, &h));
    assert_false(image_size((str){"GIF89a\0\0\xf0\0", 10}, &w, &h));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_format), cmocka_unit_test(cut_short),
                                       cmocka_unit_test(no_picture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
