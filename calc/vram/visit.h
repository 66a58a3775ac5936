// libvram: the members of an answer one by one, under the names that JSON has for them.

#ifndef VRAM_VISIT_H
#define VRAM_VISIT_H

#include "explain.h"
#include "fit.h"
#include "segments.h"

#ifdef __cplusplus
extern "C" {
#endif

// The structs whose members are known: VRAM_OBJECT_FIT is struct vram_fit. ERROR is a message with
// its code and its place.
#define VRAM_OBJECTS(X) \
    X(RESULT, result) \
    X(FIT, fit) \
    X(MAX_BATCH, max_batch) \
    X(SOLUTION, solution) \
    X(CARDS, cards) \
    X(SERVING, serving) \
    X(ADVICE, advice) \
    X(OOM, oom) \
    X(COMPARISON, comparison) \
    X(SNAPSHOT, snapshot) \
    X(SEGMENTS, segments) \
    X(MESSAGE, message) \
    X(ERROR, error) \
    X(PARAM, param) \
    X(EVENT, event) \
    X(GPU, gpu)

enum vram_object {
#define X(id, name) VRAM_OBJECT_##id,
    VRAM_OBJECTS(X)
#undef X
        VRAM_OBJECT_COUNT
};

// What gets the members. key is NULL for an element of a list, and for the object itself.
struct vram_visitor {
    void (*open)(void *ctx, const char *key,
                 const char *kind);              // an object, by the name of its kind; NULL: a list
    void (*close)(void *ctx, const char *kind);  // with the same kind
    void (*number)(void *ctx, const char *key, uint64_t n, uint32_t unit);  // enum vram_unit
    void (*difference)(void *ctx, const char *key, int64_t n);
    void (*fixed)(void *ctx, const char *key, uint64_t n, unsigned decimals);  // n / 10^decimals
    void (*text)(void *ctx, const char *key, const char *text);  // NULL: the member has no value
    void (*truth)(void *ctx, const char *key, bool yes);
    void (*config)(void *ctx, const char *key);  // the configuration of a result, or the one that a
                                                 // plan comes to: vram_take_advice
    enum vram_door door;                         // whose words sentences have
};

// Calls the visitor for an object and all that is in it, in the order of JSON. object points to the
// struct.
VRAM_API void vram_visit(enum vram_object kind, const void *object,
                         const struct vram_visitor *visitor, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
