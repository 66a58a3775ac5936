// Width and height from the first bytes of the four formats of pictures on the web.
#include "gen/text/images.h"

#include <string.h>

static uint32_t big(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static uint32_t little(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

// Source: W3C, Portable Network Graphics, 11.2.2: the IHDR chunk is the first.
static bool png(const unsigned char *p, size_t n, uint32_t *w, uint32_t *h)
{
    if (n < 24 || memcmp(p, "\x89PNG\r\n\x1a\n", 8) || memcmp(p + 12, "IHDR", 4))
        return false;
    *w = big(p + 16, 4);
    *h = big(p + 20, 4);
    return true;
}

// Source: CompuServe, GIF89a, 18: the logical screen descriptor.
static bool gif(const unsigned char *p, size_t n, uint32_t *w, uint32_t *h)
{
    if (n < 10 || (memcmp(p, "GIF87a", 6) && memcmp(p, "GIF89a", 6)))
        return false;
    *w = little(p + 6, 2);
    *h = little(p + 8, 2);
    return true;
}

// Source: ITU-T T.81, B.1.1.3 and B.2.2: markers with their lengths, until a frame header (SOF0 to
// SOF15 but DHT, JPG, DAC).
static bool jpeg(const unsigned char *p, size_t n, uint32_t *w, uint32_t *h)
{
    if (n < 4 || p[0] != 0xFF || p[1] != 0xD8)
        return false;
    for (size_t at = 2; at + 9 < n;) {
        if (p[at] != 0xFF)
            return false;
        unsigned char marker = p[at + 1];
        if (marker == 0xFF) {
            at++;
            continue;
        }
        bool frame =
            marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (frame) {
            *h = big(p + at + 5, 2);
            *w = big(p + at + 7, 2);
            return true;
        }
        at += 2 + big(p + at + 2, 2);
    }
    return false;
}

// Source: RFC 9649 (WebP), 2.5 to 2.7, and RFC 6386 9.1 for the frame header of the lossy kind.
static bool webp(const unsigned char *p, size_t n, uint32_t *w, uint32_t *h)
{
    if (n < 30 || memcmp(p, "RIFF", 4) || memcmp(p + 8, "WEBP", 4))
        return false;
    if (!memcmp(p + 12, "VP8X", 4)) {
        *w = little(p + 24, 3) + 1;
        *h = little(p + 27, 3) + 1;
    } else if (!memcmp(p + 12, "VP8L", 4)) {
        uint32_t bits = little(p + 21, 4);
        *w = (bits & 0x3FFF) + 1;
        *h = (bits >> 14 & 0x3FFF) + 1;
    } else if (!memcmp(p + 12, "VP8 ", 4)) {
        *w = little(p + 26, 2) & 0x3FFF;
        *h = little(p + 28, 2) & 0x3FFF;
    } else {
        return false;
    }
    return true;
}

bool image_size(str head, uint32_t *width, uint32_t *height)
{
    const unsigned char *p = (const unsigned char *)head.ptr;
    bool known = png(p, head.len, width, height) || gif(p, head.len, width, height) ||
                 jpeg(p, head.len, width, height) || webp(p, head.len, width, height);
    return known && *width && *height;
}
