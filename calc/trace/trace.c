// Owns the texts of the trace's ids: operations, places, parts, autograd nodes, phases.

#include "calc/trace/graph.h"
#include "calc/trace/trace.h"

#include "calc/base/text.h"

const char *trace_op_name(uint16_t op)
{
    static const char *const names[] = {
#define OP(id, name) name,
#include "calc/trace/ops.def"
    };
    return op < OP_COUNT ? names[op] : "";
}

const char *trace_place_name(uint16_t name)
{
    static const char *const labels[] = {
#define ROLE(id, label) label,
#include "calc/model/roles.def"
    };
    return name >> 6 < ROLE_COUNT ? labels[name >> 6] : "";
}

const char *trace_part_name(uint16_t name)
{
    static const char *const suffixes[] = {
#define PART(id, suffix) suffix,
#include "calc/model/parts.def"
    };
    return (name & 63) < PART_COUNT ? suffixes[name & 63] : "";
}

_Static_assert(PART_COUNT <= 64, "a part has six bits in a name");

const char *trace_node_name(uint8_t kind)
{
    static const char *const names[] = {
#define NODE(id, name, ...) name,
#include "calc/trace/nodes.def"
    };
    return kind < NODE_COUNT ? names[kind] : "";
}

const char *trace_saved_name(uint8_t kind, uint8_t which)
{
    static const char *const names[][GRAPH_SAVED] = {
#define NODE(id, name, ...) {__VA_ARGS__},
#include "calc/trace/nodes.def"
    };
    bool known = kind < NODE_COUNT && which < GRAPH_SAVED && names[kind][which];
    return known ? names[kind][which] : "";
}

struct phase_text {
    char *at;
    size_t len;
};

static void phase_put(struct phase_text *t, const char *s)
{
    while (*s && t->len + 1 < TRACE_PHASE_TEXT)
        t->at[t->len++] = *s++;
}

static void phase_number(struct phase_text *t, uint32_t n)
{
    char digits[TEXT_DIGITS + 1];
    digits[TEXT_DIGITS] = 0;
    phase_put(t, text_digits(digits + TEXT_DIGITS, n));
}

const char *trace_phase_name(uint32_t phase, char out[TRACE_PHASE_TEXT])
{
    static const char *const kinds[] = {"params", "data", "eval",    "fwd",
                                        "bwd",    "step", "prefill", "decode"};
    struct phase_text t = {out, 0};
    uint32_t kind = phase >> 28;
    phase_put(&t, kinds[kind < sizeof kinds / sizeof *kinds ? kind : 0]);
    if (kind == TRACE_FORWARD || kind == TRACE_BACKWARD || kind == TRACE_STEP) {
        phase_put(&t, ":it");
        phase_number(&t, phase >> 16 & 0xfff);
    }
    if (kind == TRACE_FORWARD || kind == TRACE_BACKWARD) {
        phase_put(&t, ".m");
        phase_number(&t, phase & 0xffff);
    }
    if (kind == TRACE_EVAL || kind == TRACE_DECODE) {
        phase_put(&t, ":");
        phase_number(&t, phase & 0xffff);
    }
    out[t.len] = 0;
    return out;
}
