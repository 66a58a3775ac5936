// A small writer of PNG: pictures of few colours, in zlib's stored blocks, so that every machine
// writes the same bytes.
#ifndef GEN_BASE_PNG_H
#define GEN_BASE_PNG_H

#include <stdint.h>

#include "gen/base/buf.h"

// pixels: width * height numbers of colours below 16, row by row; palette: 0xRRGGBB of each, at
// most 16. Appends the file.
void png_write(const uint8_t *pixels, uint32_t width, uint32_t height, const uint32_t *palette,
               uint32_t colours, buf *out);

#endif
