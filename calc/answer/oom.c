// vram_explain_oom: which tensor an out-of-memory message is about, when in the step, and what to
// change.

#include "calc/answer/answers.h"
#include "calc/answer/oom_search.h"
#include "calc/answer/oom_shape.h"

// ROOM_LEAST_MIB: a driver that loads kernels takes what it said was free.
enum { GUESSES = 6, MIB = 1048576, OTHERS_LEAST_MIB = 512, ROOM_LEAST_MIB = 128 };

// What the allocator asks the driver for on behalf of a small request. SRC:
// c10/cuda/CUDACachingAllocator.cpp, kLargeBuffer, kSmallBuffer.
enum { SEGMENT_MIB = 20, SMALL_MIB = 2 };

static void hint(struct answers *a, message_id id)
{
    message_list_add(&a->oom_hints, id, NO_FIELD, NO_ARGS);
}

// Sizes of hints are in whole MiB.
static uint64_t to_mib(uint64_t bytes)
{
    return (bytes + MIB / 2) / MIB;
}

static void hint_mib(struct answers *a, message_id id, uint64_t bytes)
{
    message_list_add(&a->oom_hints, id, NO_FIELD, ARGS(arg_u64("mib", to_mib(bytes))));
}

// Where no tensor of PyTorch's is meant.
static void add_other_hints(struct answers *a, const struct oom_message *m)
{
    switch (m->source) {
    case OOM_DRIVER:
    case OOM_BNB:
    case OOM_NCCL:
        hint(a, MESSAGE_hint_holder);
        hint(a, MESSAGE_hint_leave_room);
        hint(a, MESSAGE_hint_contexts);
        break;
    case OOM_TRITON: hint(a, MESSAGE_hint_triton); break;
    case OOM_XLA:
        hint(a, MESSAGE_hint_xla);
        hint(a, MESSAGE_hint_holder);
        break;
    case OOM_TENSORFLOW:
        hint(a, MESSAGE_hint_tensorflow);
        hint(a, MESSAGE_hint_holder);
        break;
    case OOM_METAL: hint(a, MESSAGE_hint_metal); break;
    case OOM_TPU:
    case OOM_INTEL: hint(a, MESSAGE_hint_half_batch); break;
    case OOM_OLLAMA:
        hint(a, MESSAGE_hint_ollama);
        hint(a, MESSAGE_hint_llama_serve);
        break;
    case OOM_SGLANG: hint(a, MESSAGE_hint_sglang); break;
    case OOM_SHM: hint(a, MESSAGE_hint_shm); break;
    case OOM_LLAMA:
        hint(a, MESSAGE_hint_llama);
        hint(a, MESSAGE_hint_llama_serve);
        break;
    case OOM_VLLM:
        if (m->room_tokens)
            message_list_add(&a->oom_hints, MESSAGE_hint_vllm_room, NO_FIELD,
                             ARGS(arg_u64("tokens", m->room_tokens)));
        hint(a, MESSAGE_hint_vllm);
        hint(a, MESSAGE_hint_vllm_serve);
        break;
    case OOM_HOST:
    case OOM_KILLED: hint(a, MESSAGE_hint_host); break;
    case OOM_VLLM_PROFILE:
    case OOM_DEVICE_MAP:
    case OOM_OTHER: hint(a, MESSAGE_hint_holder); break;
    default: break;
    }
}

// Requests of less than 10 MiB are served out of a segment, whose size is what the message then
// says.
static void add_segment_hint(struct answers *a, const struct oom_message *m)
{
    if (m->tried.bytes == (uint64_t)SEGMENT_MIB * MIB)
        hint(a, MESSAGE_hint_segment_of_20);
    else if (m->tried.bytes == (uint64_t)SMALL_MIB * MIB)
        hint(a, MESSAGE_hint_segment_of_2);
    else if (m->tried.high <= (uint64_t)SEGMENT_MIB / 2 * MIB)
        hint_mib(a, MESSAGE_hint_segment,
                 (uint64_t)(m->tried.low > MIB ? SEGMENT_MIB : SMALL_MIB) * MIB);
}

// The card had what was asked for, as far as the message says; a limit explains itself.
static bool had_room(const struct oom_message *m)
{
    return m->free.present && !m->allowed.present &&
           m->free.low >= m->tried.high + (uint64_t)ROOM_LEAST_MIB * MIB;
}

// Why there was no room, by the sizes that the message has.
static void add_size_hints(struct answers *a, const struct oom_message *m,
                           const struct vram_config *c)
{
    bool beyond = m->total.present && m->tried.low > m->total.high;
    if (beyond)
        hint_mib(a, MESSAGE_hint_beyond, m->tried.bytes);
    else if (had_room(m))
        hint_mib(a, MESSAGE_hint_free, m->free.bytes);
    else if (m->source == OOM_PYTORCH)
        add_segment_hint(a, m);
    if (oom_others(m) > (uint64_t)OTHERS_LEAST_MIB * MIB)
        hint_mib(a, MESSAGE_hint_other_processes, oom_others(m));
    if (m->total.present && m->allocated.present && m->allocated.low > m->total.high)
        hint_mib(a, MESSAGE_hint_system_memory, m->allocated.bytes - m->total.bytes);
    if (m->allowed.present)
        hint_mib(a, MESSAGE_hint_allowed, m->allowed.bytes);
    if (m->private_pools.present)
        hint_mib(a, MESSAGE_hint_private_pools, m->private_pools.bytes);
    if (!beyond && oom_idle(m) >= m->tried.bytes && oom_idle(m) > 0)
        message_list_add(
            &a->oom_hints, MESSAGE_hint_fragmented, NO_FIELD,
            ARGS(arg_u64("mib", to_mib(oom_idle(m))), arg_text("variable", config_alloc_conf(c))));
}

static void add_hints(struct answers *a, const struct oom_message *m, const struct vram_config *c,
                      bool with_config)
{
    if (!oom_is_tensor(m)) {
        add_other_hints(a, m);
        return;
    }
    add_size_hints(a, m, c);
    if (m->source == OOM_MPS)
        hint(a, MESSAGE_hint_mps);
    if (with_config)
        return;
    hint(a, MESSAGE_hint_half_batch);
    if (m->source == OOM_PYTORCH || m->source == OOM_ASYNC)  // Liger wants CUDA
        hint(a, MESSAGE_hint_chunked);
    hint(a, MESSAGE_hint_checkpointing);
}

static void *keep(struct answers *a, const void *what, size_t bytes)
{
    void *copy = mem_arena_new(&a->oom_arena, 1, bytes);
    if (copy)
        mem_copy(copy, what, bytes);
    return copy;
}

static int add_tensors(struct answers *a, const struct vram *v, const struct oom_search *s)
{
    struct vram_suspect *out = mem_arena_new(&a->oom_arena, s->count, sizeof *out);
    if (!out)
        return VRAM_ENOMEM;
    for (size_t i = 0; i < s->count; i++) {
        out[i] = s->found[i].out;
        out[i].phase = keep(a, s->found[i].phase, OOM_PHASE);
        if (!out[i].phase)
            return VRAM_ENOMEM;
        if (!oom_shape_find(&v->config, out[i].bytes, &out[i].shape))
            out[i].shape.dims = 0;
    }
    a->oom.tensors = out;
    a->oom.tensor_count = s->count;
    return VRAM_OK;
}

static int add_shapes(struct answers *a, const struct oom_message *m)
{
    struct vram_shape shapes[GUESSES];
    size_t n = oom_shape_guess(m->source, m->tried.low, m->tried.high, shapes, GUESSES);
    a->oom.shapes = keep(a, shapes, sizeof shapes);
    a->oom.shape_count = n;
    return a->oom.shapes ? VRAM_OK : VRAM_ENOMEM;
}

static const char *compile_name(uint64_t mode)
{
    return vram_field_at(FIELD_compile)->values[mode];
}

#ifdef __wasm__
#define ADVISES false  // a page asks for the advice itself, of its worker
#else
#define ADVISES true
#endif

// Against a configuration: the tensors, and what to change. Advice that cannot be had is left out.
static int explain_config(struct vram *v, struct answers *a, const struct oom_message *m)
{
    struct oom_search s;
    const struct vram_advice *advice = NULL;
    int rc = oom_search(v, m, &s);
    if (rc == VRAM_OK)
        rc = add_tensors(a, v, &s);
    if (rc == VRAM_OK && ADVISES && vram_advise(v, &advice) == VRAM_ENOMEM)
        rc = VRAM_ENOMEM;
    a->oom.advice = err_is_set(&v->err) ? NULL : advice;
    if (rc == VRAM_OK)
        message_clear(&v->err);
    a->oom.compile = s.count ? compile_name(s.compile) : NULL;
    a->oom.compile_as_asked = compile_name(s.asked);
    oom_set_mode(v, s.asked);
    return rc;
}

static void begin(struct answers *a, const struct oom_message *m, bool with_config)
{
    mem_arena_free(&a->oom_arena);
    message_list_free(&a->oom_hints);
    a->has_oom = false;
    a->oom = (struct vram_oom){.tried = m->tried,
                               .total = m->total,
                               .free = m->free,
                               .allocated = m->allocated,
                               .reserved = m->reserved,
                               .unallocated = m->unallocated,
                               .in_use = m->in_use,
                               .driver = !oom_is_tensor(m),
                               .source = oom_source_name(m->source),
                               .about = oom_source_sentence(m->source),
                               .has_config = with_config};
}

int vram_explain_oom(vram *v, const char *text, size_t len, bool with_config,
                     const struct vram_oom **out)
{
    struct oom_message m;
    message_clear(&v->err);
    struct answers *a = answers_of(v);
    int rc = a ? oom_parse(&m, &v->err, text, len) : VRAM_ENOMEM;
    if (rc != VRAM_OK)
        return rc;
    with_config = with_config && oom_is_tensor(&m);
    begin(a, &m, with_config);
    if (with_config)
        rc = explain_config(v, a, &m);
    if (rc == VRAM_OK && a->oom.tensor_count == 0 && oom_is_tensor(&m))
        rc = add_shapes(a, &m);
    add_hints(a, &m, &v->config, with_config);
    if (rc == VRAM_ENOMEM || (rc == VRAM_OK && a->oom_hints.failed))
        return handle_no_memory(v);
    a->oom.hints = a->oom_hints.at;
    a->oom.hint_count = a->oom_hints.count;
    a->has_oom = rc == VRAM_OK;
    *out = &a->oom;
    return rc;
}
