// The writer of PNG: what zlib reads of it, and the checks of its chunks.
#include "tests/unit/base_fixture.h"

#include <zlib.h>

#include "gen/base/png.h"

static uint32_t u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

// The bytes of the first chunk of that name; fails when a checksum on the way is wrong.
static str chunk(const buf *png, const char *name)
{
    for (size_t at = 8; at < png->len;) {
        uint32_t len = u32(png->ptr + at);
        const char *head = png->ptr + at + 4;
        assert_int_equal(crc32(0, (const Bytef *)head, len + 4), u32(head + 4 + len));
        if (memcmp(head, name, 4) == 0)
            return (str){head + 4, len};
        at += 12 + len;
    }
    fail_msg("no %s", name);
    return STR_NONE;
}

static void test_pixels_come_back(void **state)
{
    enum {
        WIDTH = 601,
        HEIGHT = 300
    };  // more than one stored block; the last byte of a row holds one pixel
    static uint8_t pixels[WIDTH * HEIGHT];
    static unsigned char rows[HEIGHT * ((WIDTH + 1) / 2 + 1)];
    static const uint32_t palette[] = {0xffffff, 0xab0d00, 0x123456};
    uLongf len = sizeof rows;
    buf png = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i % 3);
    png_write(pixels, WIDTH, HEIGHT, palette, 3, &png);
    assert_memory_equal(png.ptr, "\x89PNG\r\n\x1a\n", 8);
    str head = chunk(&png, "IHDR"), colours = chunk(&png, "PLTE"), data = chunk(&png, "IDAT");
    assert_int_equal(u32(head.ptr), WIDTH);
    assert_int_equal(u32(head.ptr + 4), HEIGHT);
    assert_memory_equal(head.ptr + 8, "\x04\x03\0\0\0", 5);
    assert_int_equal(colours.len, 9);
    assert_memory_equal(colours.ptr + 3, "\xab\x0d\0", 3);
    assert_int_equal(uncompress(rows, &len, (const Bytef *)data.ptr, data.len), Z_OK);
    assert_int_equal(len, sizeof rows);
    for (size_t y = 0; y < HEIGHT; y++) {
        const unsigned char *row = rows + y * ((WIDTH + 1) / 2 + 1);
        assert_int_equal(row[0], 0);
        for (size_t x = 0; x < WIDTH; x++)
            assert_int_equal(row[1 + x / 2] >> (x % 2 ? 0 : 4) & 15, pixels[y * WIDTH + x]);
    }
    assert_int_equal(chunk(&png, "IEND").len, 0);
    buf_free(&png);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pixels_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
