// Numbers and strings as bytes, for the cache and for what workers send: little-endian, no
// alignment, bounds checked.
#ifndef GEN_BASE_PACKED_VALUES_H
#define GEN_BASE_PACKED_VALUES_H

#include <string.h>

#include "gen/base/buf.h"

struct unpack {
    const char *at, *end;
    bool bad;  // something was asked for that is not there
};

// Where n more bytes go; the caller writes them and calls pack_end with their end.
static inline char *pack_room(buf *out, size_t n)
{
    if (out->cap < out->len + n + 1)
        buf_reserve(out, n);
    return out->ptr + out->len;
}

static inline void pack_end(buf *out, char *end)
{
    *end = 0;
    out->len = (size_t)(end - out->ptr);
}

static inline void pack_u64(buf *out, uint64_t v)
{
    char *to = pack_room(out, sizeof v);
    memcpy(to, &v, sizeof v);
    pack_end(out, to + sizeof v);
}

static inline void pack_uint(buf *out, uint64_t v)  // 7 bits a byte, small numbers short
{
    char *to = pack_room(out, 10);
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(v | 0x80);
    *to++ = (char)v;
    pack_end(out, to);
}

static inline void pack_int(buf *out, int64_t v)  // zigzag
{
    pack_uint(out, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static inline void pack_str(buf *out, str s)
{
    pack_uint(out, s.len);
    if (!s.len)
        return;
    char *to = pack_room(out, s.len);
    memcpy(to, s.ptr, s.len);
    pack_end(out, to + s.len);
}

static inline struct unpack unpack_from(str s)
{
    return (struct unpack){s.ptr, s.len ? s.ptr + s.len : s.ptr, false};
}

static inline uint64_t unpack_u64(struct unpack *u)
{
    uint64_t v = 0;
    if ((size_t)(u->end - u->at) < sizeof v) {
        u->bad = true;
        return 0;
    }
    memcpy(&v, u->at, sizeof v);
    u->at += sizeof v;
    return v;
}

static inline uint64_t unpack_uint(struct unpack *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (u->at == u->end)
            break;
        unsigned char c = (unsigned char)*u->at++;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return v;
    }
    u->bad = true;
    return 0;
}

static inline int64_t unpack_int(struct unpack *u)
{
    uint64_t v = unpack_uint(u);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

// A view of the packed bytes.
static inline str unpack_str(struct unpack *u)
{
    uint64_t n = unpack_uint(u);
    if (u->bad || n > (uint64_t)(u->end - u->at)) {
        u->bad = true;
        return (str){0};
    }
    str s = {u->at, (size_t)n};
    u->at += n;
    return s;
}

// A count of things of at least one byte each, so that damaged bytes cannot ask for much memory.
static inline size_t unpack_count(struct unpack *u)
{
    uint64_t n = unpack_uint(u);
    if (n > (uint64_t)(u->end - u->at)) {
        u->bad = true;
        return 0;
    }
    return (size_t)n;
}

#endif
