// SHA-256 (FIPS 180-4) of bytes, as 64 hexadecimal digits: for the card's number and the probe's
// own sources.
#ifndef KERNELS_SHA256_H
#define KERNELS_SHA256_H

#include <stddef.h>

#ifdef __cplusplus
extern "C"
#endif
    void
    sha256_hex(const void *bytes, size_t n, char out[65]);

#endif
