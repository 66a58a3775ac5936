// Width and height of a picture, so that nothing moves on a page when the picture has loaded.
#ifndef GEN_TEXT_IMAGES_H
#define GEN_TEXT_IMAGES_H

#include "gen/base/str.h"

// Reads the head of a PNG, GIF, JPEG or WebP file. False for other files, and for sizes of 0.
bool image_size(str head, uint32_t *width, uint32_t *height);

#endif
