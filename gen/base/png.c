// PNG with four bits a pixel. SRC: PNG specification, third edition (W3C), 5 and 11; RFC 1950 and
// 1951 for the stored blocks.
#include "gen/base/png.h"

#include <zlib.h>

enum { STORED_MAX = 65535 };

static void put_u32(buf *out, uint32_t v)
{
    unsigned char bytes[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                              (unsigned char)(v >> 8), (unsigned char)v};
    buf_put(out, bytes, 4);
}

// A chunk: its length, its name and bytes, and the CRC of these.
static void put_chunk(buf *out, const char *name, str bytes)
{
    put_u32(out, (uint32_t)bytes.len);
    size_t start = out->len;
    buf_put(out, name, 4);
    buf_str(out, bytes);
    put_u32(out, (uint32_t)crc32(0, (const Bytef *)out->ptr + start, (uInt)(out->len - start)));
}

static void put_stored(buf *out, str bytes)
{
    buf_put(out, "\x78\x01", 2);
    for (size_t from = 0; from < bytes.len; from += STORED_MAX) {
        size_t n = bytes.len - from < STORED_MAX ? bytes.len - from : STORED_MAX;
        buf_char(out, from + n == bytes.len);
        buf_char(out, (char)(n & 0xff)), buf_char(out, (char)(n >> 8));
        buf_char(out, (char)(~n & 0xff)), buf_char(out, (char)(~n >> 8 & 0xff));
        buf_put(out, bytes.ptr + from, n);
    }
    put_u32(out, (uint32_t)adler32(1, (const Bytef *)bytes.ptr, (uInt)bytes.len));
}

// Each row begins with its filter, none; two pixels a byte.
static void put_rows(const uint8_t *pixels, uint32_t width, uint32_t height, buf *out)
{
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = pixels + (size_t)y * width;
        buf_char(out, 0);
        for (uint32_t x = 0; x < width; x += 2)
            buf_char(out, (char)(row[x] << 4 | (x + 1 < width ? row[x + 1] : 0)));
    }
}

void png_write(const uint8_t *pixels, uint32_t width, uint32_t height, const uint32_t *palette,
               uint32_t colours, buf *out)
{
    buf part = BUF_INIT, rows = BUF_INIT;
    buf_put(out, "\x89PNG\r\n\x1a\n", 8);
    put_u32(&part, width);
    put_u32(&part, height);
    buf_put(&part, "\x04\x03\0\0\0", 5);  // four bits, a palette
    put_chunk(out, "IHDR", buf_view(&part));
    buf_clear(&part);
    for (uint32_t i = 0; i < colours; i++)
        buf_char(&part, (char)(palette[i] >> 16)), buf_char(&part, (char)(palette[i] >> 8)),
            buf_char(&part, (char)palette[i]);
    put_chunk(out, "PLTE", buf_view(&part));
    buf_clear(&part);
    put_rows(pixels, width, height, &rows);
    put_stored(&part, buf_view(&rows));
    put_chunk(out, "IDAT", buf_view(&part));
    put_chunk(out, "IEND", STR(""));
    buf_free(&part);
    buf_free(&rows);
}
