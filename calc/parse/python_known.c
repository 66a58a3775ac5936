// Owns the calls of Python that are as good as literals: int("4"), os.getenv("N", "4"),
// field(default=4), torch.cuda.is_bf16_supported().

#include "calc/parse/python_known.h"

#include "calc/base/text.h"

static const struct {
    const char *path;
    enum python_known call;
} CALLS[] = {{"int", PYTHON_INT},
             {"float", PYTHON_FLOAT},
             {"bool", PYTHON_BOOL},
             {"str", PYTHON_STR},
             {"os.getenv", PYTHON_DEFAULT},
             {"getenv", PYTHON_DEFAULT},
             {"os.environ.get", PYTHON_DEFAULT},
             {"environ.get", PYTHON_DEFAULT},
             {"field", PYTHON_FIELD},
             {"dataclasses.field", PYTHON_FIELD},
             {"torch.cuda.is_available", PYTHON_TRUE},
             {"torch.cuda.is_bf16_supported", PYTHON_TRUE},
             {"is_bf16_supported", PYTHON_TRUE},
             {"is_bfloat16_supported", PYTHON_TRUE},
             {"is_torch_bf16_gpu_available", PYTHON_TRUE},
             {"torch.backends.mps.is_available", PYTHON_FALSE}};

enum python_known python_known(struct span path)
{
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (span_is(path, CALLS[i].path))
            return CALLS[i].call;
    return PYTHON_OTHER;
}

static struct py_value py_of(enum py_kind kind)
{
    return (struct py_value){.kind = kind};
}

// int("4096"), float(2), bool("no"), which is true as every text that is not empty.
static struct py_value py_convert(enum python_known call, struct py_value v)
{
    struct py_value n = v;
    bool overflow;
    uint64_t whole;
    if (call == PYTHON_BOOL && v.kind == PY_STR)
        return (struct py_value){.kind = PY_BOOL, .i = v.s.len > 0};
    if (call == PYTHON_BOOL && (v.kind == PY_INT || v.kind == PY_BOOL))
        return (struct py_value){.kind = PY_BOOL, .i = v.i != 0};
    if (call == PYTHON_STR)
        return v.kind == PY_STR ? v : py_of(PY_UNKNOWN);
    struct span s = span_trim(v.s);
    if (v.kind == PY_STR && text_to_u64(s.at, s.len, &whole, &overflow) && whole < 1u << 31)
        n = (struct py_value){.kind = PY_INT, .i = (int64_t)whole};
    else if (v.kind == PY_STR && call == PYTHON_FLOAT &&
             text_to_millionths(s.at, s.len, &whole, &overflow))
        n = (struct py_value){.kind = PY_FLOAT, .d = (double)whole / 1e6};
    if (call == PYTHON_FLOAT && n.kind == PY_INT)
        return (struct py_value){.kind = PY_FLOAT, .d = (double)n.i};
    bool fits = n.kind == PY_INT || (call == PYTHON_FLOAT && n.kind == PY_FLOAT);
    return fits ? n : py_of(PY_UNKNOWN);
}

struct py_value python_known_value(enum python_known call, const struct py_arguments *a,
                                   struct span *of)
{
    if (call == PYTHON_TRUE || call == PYTHON_FALSE)
        return a->count || a->has_fallback
                   ? py_of(PY_UNKNOWN)
                   : (struct py_value){.kind = PY_BOOL, .i = call == PYTHON_TRUE};
    if (call == PYTHON_FIELD)
        return a->has_fallback && !a->count ? a->fallback : py_of(PY_UNKNOWN);
    if (call != PYTHON_DEFAULT)
        return a->count == 1 && !a->has_fallback ? py_convert(call, a->at[0]) : py_of(PY_UNKNOWN);
    bool good = a->at[0].kind == PY_STR && a->count + a->has_fallback == 2 && a->count > 0;
    struct py_value v = a->has_fallback ? a->fallback : a->at[1];
    if (!good || v.kind == PY_NONE)
        return py_of(PY_UNKNOWN);
    *of = a->at[0].s;
    return v;
}
