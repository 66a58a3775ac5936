// The table of the answers' members: the order is that of JSON, the names are those of JSON and
// Lua.

#include "calc/write/visit_objects.h"

// A member m of struct S, with its type checked.
#define OF(m) (((struct S *)0)->m)
#define AT(m) .at = offsetof(struct S, m)
#define WIDTH(m) .width = _Generic(OF(m), uint64_t : 8, uint32_t : 4, bool : 1)
#define WHEN(m) \
    { \
        .kind = MEMBER_WHEN, .width = sizeof OF(m), AT(m) \
    }
#define UNLESS(m) \
    { \
        .kind = MEMBER_UNLESS, .width = sizeof OF(m), AT(m) \
    }
#define WHEN_OUTER(s, m) \
    { \
        .kind = MEMBER_WHEN_OUTER, .width = sizeof((struct s *)0)->m, .at = offsetof(struct s, m) \
    }
#define SCHEMA \
    { \
        .name = "schema", .kind = MEMBER_SCHEMA \
    }
#define COUNT(n, m) \
    { \
        .name = n, .kind = MEMBER_NUMBER, WIDTH(m), AT(m) \
    }
#define BYTES(n, m) \
    { \
        .name = n, .kind = MEMBER_NUMBER, WIDTH(m), .unit = VRAM_UNIT_BYTES, AT(m) \
    }
#define DIFFERENCE(n, m) \
    { \
        .name = n, .kind = MEMBER_DIFFERENCE, .width = _Generic(OF(m), int64_t : 8), AT(m) \
    }
#define LAYER(n, m) \
    { \
        .name = n, .kind = MEMBER_LAYER, .width = _Generic(OF(m), int64_t : 8), AT(m) \
    }
#define TENTHS(n, m) \
    { \
        .name = n, .kind = MEMBER_TENTHS, WIDTH(m), AT(m) \
    }
#define TEXT(n, m) \
    { \
        .name = n, .kind = MEMBER_TEXT, .width = _Generic(OF(m), const char * : 1), AT(m) \
    }
#define CODE(n, m) \
    { \
        .name = n, .kind = MEMBER_CODE, .width = sizeof OF(m), AT(m) \
    }
#define WORD(n, m, f) \
    { \
        .name = n, .kind = MEMBER_WORD, WIDTH(m), AT(m), .by.word = f \
    }
#define TRUTH(n, m) \
    { \
        .name = n, .kind = MEMBER_TRUTH, .width = _Generic(OF(m), bool : 1), AT(m) \
    }
#define TRUTH_OF(n, m, f) \
    { \
        .name = n, .kind = MEMBER_TRUTH, WIDTH(m), AT(m), .by.truth = f \
    }
#define MEMBERS(m, o) \
    { \
        .kind = MEMBER_MEMBERS, AT(m), .by.object = &o \
    }
#define PART(o) \
    { \
        .kind = MEMBER_MEMBERS, .by.object = &o \
    }
#define OBJECT(n, m, o) \
    { \
        .name = n, .kind = MEMBER_OBJECT, AT(m), .by.object = &o \
    }
#define GROUP(n, o) \
    { \
        .name = n, .kind = MEMBER_OBJECT, .by.object = &o \
    }
#define MESSAGE(n, m) \
    { \
        .name = n, .kind = MEMBER_POINTER, \
        .width = _Generic(OF(m), const struct vram_message * : 1), AT(m), \
        .by.object = &visit_message \
    }
#define LIST(n, m, c, o) \
    { \
        .name = n, .kind = MEMBER_LIST, .width = _Generic(OF(c), size_t : 1), AT(m), \
        .count_at = offsetof(struct S, c), .size = sizeof *OF(m), .by.object = &o \
    }
#define SHAPE(m, most) \
    { \
        .name = "shape", .kind = MEMBER_SHAPE, .width = most, AT(m) \
    }
#define SPECIAL(n, k) \
    { \
        .name = n, .kind = MEMBER_##k \
    }

#define TABLE(linkage, id, words, ...) \
    static const struct member id##_members[] = {__VA_ARGS__}; \
    linkage const struct object id = {words, id##_members, \
                                      sizeof id##_members / sizeof *id##_members};
// The page knows an object by its members.
#ifdef __wasm__
#define KIND(id) ""
#else
#define KIND(id) "vram." #id
#endif
#define STATIC(id, ...) TABLE(static, id, KIND(id), __VA_ARGS__)
#define PUBLIC(id, ...) TABLE(, visit_##id, KIND(id), __VA_ARGS__)

// ---- what is in several answers --------------------------------------------------------------

#define S vram_message
PUBLIC(message, TEXT("id", id), TEXT("field", field), SPECIAL("text", SENTENCE),
       SPECIAL("args", ARGS))
STATIC(error_at, CODE("code", code), PART(visit_message), TEXT("file", file), COUNT("line", line),
       COUNT("col", col))
PUBLIC(error, SCHEMA, GROUP("error", error_at))
#undef S

#define S vram_capacity
PUBLIC(capacity, BYTES("memory_bytes", total_bytes), BYTES("cuda_bytes", cuda_bytes),
       BYTES("cuda_low_bytes", cuda_low_bytes), BYTES("cuda_high_bytes", cuda_high_bytes),
       WORD("cuda_basis", basis, vram_capacity_name), COUNT("cuda_seen", seen))
#undef S

// Members that the small module has nothing for.
#ifdef VRAM_SMALL
#define OF_WHOLE(...)
#else
#define OF_WHOLE(...) __VA_ARGS__,
#endif

// ---- the estimate ----------------------------------------------------------------------------

#define S vram_figure
STATIC(bound, BYTES("low", low), BYTES("high", high), WORD("basis", basis, vram_basis_name),
       TENTHS("tolerance_percent", tolerance_permille), COUNT("measurements", measurements),
       OF_WHOLE(TEXT("wider_kind", wider)) MESSAGE("why", why))
#undef S

#define S vram_line
STATIC(line, TEXT("name", name), TEXT("op", op), WORD("category", category, vram_category_name),
       COUNT("count", count), BYTES("bytes", bytes))
#undef S

#define S vram_phase
STATIC(phase, TEXT("name", name), BYTES("peak_live_bytes", peak_live_bytes))
#undef S

#define S vram_tensor
STATIC(tensor, TEXT("name", name), COUNT("count", count), SHAPE(rows, 2),
       COUNT("elements", elements), TRUTH("decayed", decayed), TRUTH("trained", trained))
#undef S

#define S vram_result
STATIC(gpu_left, TEXT("name", gpu_name), BYTES("left_bytes", gpu_bytes),
       MEMBERS(capacity, visit_capacity))
STATIC(bounds, OBJECT("peak_live_bytes", peak_live, bound),
       OBJECT("peak_allocated_bytes", peak_allocated, bound),
       OBJECT("peak_reserved_bytes", peak_reserved, bound), OBJECT("context_bytes", context, bound),
       OBJECT("process_bytes", process, bound), OBJECT("needed_bytes", needed, bound))
STATIC(peak_at, TEXT("phase", peak_phase), TEXT("op", peak_op), LAYER("block", peak_block))
PUBLIC(result, SCHEMA, WORD("regime", regime, vram_regime_name),
       OF_WHOLE(TEXT("kind", kind)) COUNT("params", params),
       COUNT("reported_params", reported_params), COUNT("trained_params", trained_params),
       COUNT("decayed_params", decayed_params), COUNT("decayed_tensors", decayed_tensors),
       COUNT("nodecay_params", nodecay_params), COUNT("nodecay_tensors", nodecay_tensors),
       COUNT("tensors", tensors), BYTES("param_bytes", param_bytes),
       BYTES("grad_bytes", grad_bytes), BYTES("optim_bytes", optim_bytes),
       BYTES("buffer_bytes", buffer_bytes), BYTES("saved_bytes", saved_bytes),
       BYTES("peak_live_bytes", peak_live.bytes),
       BYTES("peak_requested_bytes", peak_requested_bytes),
       BYTES("peak_allocated_bytes", peak_allocated.bytes),
       BYTES("peak_reserved_bytes", peak_reserved.bytes), BYTES("context_bytes", context.bytes),
       BYTES("process_bytes", process.bytes), BYTES("needed_bytes", needed.bytes),
       BYTES("first_step_peak_bytes", first_step_peak_bytes),
       BYTES("steady_end_bytes", steady_end_bytes), BYTES("reserved_end_bytes", reserved_end_bytes),
       BYTES("eval_peak_bytes", eval_peak_bytes),
       BYTES("cards_allocated_bytes", cards_allocated_bytes), COUNT("segments", segments),
       COUNT("events", events), COUNT("iterations", iterations),
       COUNT("alloc_retries", alloc_retries), WHEN(gpu_name), GROUP("gpu", gpu_left),
       WHEN(gpu_name), TRUTH_OF("fits", verdict, vram_verdict_fits), GROUP("bounds", bounds),
       GROUP("peak_at", peak_at), SPECIAL("breakdown", BREAKDOWN),
       LIST("at_peak", at_peak, at_peak_count, line), LIST("saved", saved, saved_count, line),
       LIST("phases", phases, phase_count, phase),
       LIST("parameters", parameters, parameter_count, tensor), SPECIAL("config", CONFIG),
       LIST("notes", notes, note_count, visit_message))
#undef S

#define S vram_param
PUBLIC(param, TEXT("name", name), LAYER("block", block), COUNT("rows", rows), COUNT("cols", cols),
       BYTES("bytes", bytes), TRUTH("decayed", decayed), TRUTH("trained", trained))
#undef S

#define S vram_event
PUBLIC(event, BYTES("bytes", bytes), BYTES("live", live), COUNT("id", id),
       TRUTH("is_free", is_free), LAYER("block", block), TEXT("name", name), TEXT("op", op),
       TEXT("phase", phase), WORD("category", category, vram_category_name))
#undef S

static const char *memory_basis(uint32_t reported)
{
    return reported ? "reported" : "nominal";
}

#define S vram_gpu
STATIC(gpu_sources, TEXT("source", source), TEXT("source_note", source_note),
       TEXT("memory_source", memory_source), TEXT("memory_note", memory_note))
PUBLIC(gpu, TEXT("name", name), SPECIAL(NULL, CAPACITY),
       WORD("memory_basis", memory_reported, memory_basis), COUNT("bandwidth_mb_s", bandwidth_mb_s),
       COUNT("fp16_gflops", fp16_gflops), COUNT("bf16_gflops", bf16_gflops),
       COUNT("fp32_gflops", fp32_gflops), COUNT("sm_count", sm_count),
       COUNT("compute_capability", compute_capability), TEXT("architecture", architecture),
       WHEN(source), PART(gpu_sources))
#undef S

// ---- the allocator at a moment ---------------------------------------------------------------

#define S vram_block
STATIC(block_used, BYTES("requested_bytes", requested),
       WORD("category", category, vram_category_name), TEXT("tensor", name),
       DIFFERENCE("layer", layer))
STATIC(block, BYTES("bytes", bytes), WORD("state", state, vram_block_state_name), WHEN(name),
       PART(block_used))
#undef S

#define S vram_segment
STATIC(segment, BYTES("bytes", bytes), BYTES("used_bytes", used_bytes),
       BYTES("largest_free_bytes", largest_free_bytes), TRUTH("small", small),
       COUNT("stream", stream), LIST("blocks", blocks, block_count, block))
#undef S

#define S vram_segments
PUBLIC(segments, SCHEMA, WORD("moment", moment, vram_moment_name), COUNT("event", event),
       COUNT("events", events), BYTES("event_bytes", event_bytes),
       TRUTH("event_is_free", event_is_free), TEXT("tensor", name), TEXT("op", op),
       TEXT("phase", phase), BYTES("reserved_bytes", reserved_bytes),
       BYTES("allocated_bytes", allocated_bytes), BYTES("requested_bytes", requested_bytes),
       BYTES("pending_bytes", pending_bytes), COUNT("free_blocks", free_blocks),
       BYTES("largest_free_bytes", largest_free_bytes),
       LIST("segments", segments, segment_count, segment))
#undef S

#ifdef VRAM_SMALL
#define NOTES
#else
#define NOTES , LIST("notes", notes, note_count, visit_message)
#endif

// ---- does it fit, and with how much ----------------------------------------------------------

static bool within_error_bound(uint32_t verdict)
{
    return verdict == VRAM_VERDICT_TIGHT || verdict == VRAM_VERDICT_NEARLY;
}

#define S vram_fit
PUBLIC(fit, SCHEMA, TRUTH_OF("fits", verdict, vram_verdict_fits),
       TRUTH_OF("within_error_bound", verdict, within_error_bound),
       COUNT("alloc_retries", alloc_retries), BYTES("process_bytes", process.bytes),
       BYTES("process_low_bytes", process.low), BYTES("process_high_bytes", process.high),
       TEXT("gpu", gpu_name), BYTES("gpu_bytes", gpu_bytes),
       MEMBERS(capacity, visit_capacity) NOTES)
#undef S

#define S vram_max_batch
PUBLIC(max_batch, SCHEMA, COUNT("max_batch_size", batch_size),
       COUNT("safe_batch_size", safe_batch_size),
       COUNT("gradient_accumulation_steps", gradient_accumulation_steps),
       BYTES("process_bytes", process_bytes), TEXT("gpu", gpu_name), BYTES("gpu_bytes", gpu_bytes),
       MEMBERS(capacity, visit_capacity), MESSAGE("refusal", refusal) NOTES)
#undef S

#define S vram_solution
PUBLIC(solution, SCHEMA, TEXT("field", field), WORD("goal", goal, vram_goal_name),
       WORD("method", method, vram_method_name), COUNT("tried", tried),
       COUNT("configured", configured), WHEN(found), COUNT("value", value), WHEN(safe_found),
       COUNT("safe_value", safe_value), WHEN(found), BYTES("process_bytes", process_bytes),
       TEXT("gpu", gpu_name), BYTES("gpu_bytes", gpu_bytes), MEMBERS(capacity, visit_capacity),
       MESSAGE("limit", limit), MESSAGE("refusal", refusal) NOTES)
#undef S

#define S vram_card
STATIC(card, TEXT("gpu", gpu_name), COUNT("count", count), TEXT("change", change),
       BYTES("total_bytes", total_bytes), BYTES("gpu_bytes", gpu_bytes),
       BYTES("process_bytes", process_bytes), BYTES("margin_bytes", margin_bytes),
       TRUTH("surely", surely))
#undef S

#define S vram_cards
PUBLIC(cards, SCHEMA, LIST("cards", cards, card_count, card), COUNT("tried", tried),
       MESSAGE("note", note), MESSAGE("refusal", refusal) NOTES)
#undef S

#define S vram_serving
PUBLIC(serving, SCHEMA, TEXT("server", server), COUNT("params", params),
       BYTES("weights_bytes", weights_bytes), BYTES("work_bytes", work_bytes),
       BYTES("context_bytes", context_bytes), BYTES("pool_bytes", pool_bytes),
       BYTES("token_bytes", token_bytes), COUNT("block_tokens", block_tokens),
       COUNT("blocks", blocks), COUNT("tokens", tokens), WHEN(batched_tokens),
       COUNT("batched_tokens", batched_tokens), WHEN(most_sequences),
       COUNT("most_sequences", most_sequences), COUNT("length", length),
       COUNT("sequences", sequences), COUNT("longest", longest), TEXT("gpu", gpu_name),
       BYTES("gpu_bytes", gpu_bytes), MEMBERS(capacity, visit_capacity), MESSAGE("note", note),
       MESSAGE("refusal", refusal))
#undef S

// ---- what to change --------------------------------------------------------------------------

#define S vram_change
STATIC(change, TEXT("id", id), TEXT("change", what), WORD("effect", effect, vram_effect_name),
       MESSAGE("result", result), MESSAGE("how", how), MESSAGE("refused", refusal),
       BYTES("process_bytes", process_bytes), BYTES("saved_bytes", saved_bytes),
       WHEN(cost_predicted), DIFFERENCE("slowdown_permille", cost_permille),
       MESSAGE("slowdown_basis", cost_basis), TRUTH("fits", fits), TEXT("line", line),
       TRUTH("by_tensors", by_tensors))
#undef S

#define S vram_advice
STATIC(plan, BYTES("process_bytes", plan_process_bytes),
       DIFFERENCE("slowdown_permille", plan_cost_permille), SPECIAL("changes", PLAN),
       SPECIAL("config", CONFIG))
PUBLIC(advice, SCHEMA, BYTES("process_bytes", process_bytes), WHEN(gpu_bytes),
       BYTES("gpu_bytes", gpu_bytes), WHEN(gpu_bytes), MEMBERS(capacity, visit_capacity),
       WHEN(gpu_bytes), TRUTH("fits", fits), TEXT("framework", framework),
       LIST("changes", changes, change_count, change), WHEN(plan_found), GROUP("plan", plan) NOTES)
#undef S

// ---- other questions -------------------------------------------------------------------------

#define S vram_shape
STATIC(shape_only, SHAPE(dim, VRAM_SHAPE_DIMS), BYTES("element_bytes", element_bytes))
STATIC(shape, BYTES("bytes", bytes), PART(shape_only))
#undef S

#define S vram_suspect
STATIC(suspect, TEXT("name", name), TEXT("op", op), TEXT("phase", phase),
       WORD("category", category, vram_category_name), BYTES("bytes", bytes),
       BYTES("live_bytes", live_bytes), WHEN(shape.dims), MEMBERS(shape, shape_only))
#undef S

#define S vram_oom
#define SIZE(n, m) WHEN(m.present), BYTES(n, m.bytes)
PUBLIC(oom, SCHEMA, TEXT("source", source), MESSAGE("about", about), SIZE("tried_bytes", tried),
       SIZE("total_bytes", total), SIZE("free_bytes", free), SIZE("allocated_bytes", allocated),
       SIZE("reserved_bytes", reserved), SIZE("unallocated_bytes", unallocated),
       SIZE("in_use_bytes", in_use), TEXT("compile", compile),
       LIST("tensors", tensors, tensor_count, suspect), LIST("shapes", shapes, shape_count, shape),
       LIST("hints", hints, hint_count, visit_message))
#undef S

#define S vram_formula
STATIC(formula, TEXT("id", id), TEXT("name", name), UNLESS(too_large), BYTES("bytes", bytes),
       UNLESS(too_large), DIFFERENCE("difference_permille", difference_permille),
       MESSAGE("because", because))
#undef S

#define S vram_comparison
PUBLIC(comparison, SCHEMA, BYTES("peak_live_bytes", peak_live_bytes),
       LIST("formulas", formulas, formula_count, formula) NOTES)
#undef S

// ---- memory snapshots ------------------------------------------------------------------------

#define S vram_snapshot_block
STATIC(snapshot_block, BYTES("bytes", bytes), COUNT("count", count), TEXT("category", category),
       TEXT("file", file), COUNT("line", line), TEXT("name", name))
#undef S

#define S vram_snapshot_segment
STATIC(snapshot_segment, COUNT("address", address), BYTES("bytes", bytes),
       BYTES("allocated_bytes", allocated_bytes), BYTES("largest_free_bytes", largest_free_bytes),
       COUNT("stream", stream), COUNT("blocks", blocks), TRUTH("small", small),
       TRUTH("expandable", expandable))
#undef S

#define S vram_snapshot_row
STATIC(snapshot_row, TEXT("category", category), BYTES("now_bytes", now_bytes),
       WHEN_OUTER(vram_snapshot, has_trace), BYTES("peak_bytes", peak_bytes),
       WHEN_OUTER(vram_snapshot, has_config), BYTES("estimated_bytes", estimated_bytes))
#undef S

#define S vram_snapshot
#define TRACED(n) WHEN(has_trace), BYTES(#n, n)
#define EXPECTED(n) WHEN(has_config), BYTES(#n, n)
STATIC(snapshot_oom, BYTES("tried_bytes", oom_bytes), BYTES("free_bytes", oom_free_bytes),
       OBJECT("at", oom_site, snapshot_block))
PUBLIC(snapshot, SCHEMA, COUNT("device", device), COUNT("devices", devices),
       BYTES("reserved_bytes", reserved_bytes), BYTES("allocated_bytes", allocated_bytes),
       BYTES("requested_bytes", requested_bytes), BYTES("pending_bytes", pending_bytes),
       BYTES("free_bytes", free_bytes), BYTES("largest_free_bytes", largest_free_bytes),
       TEXT("settings", settings), TRUTH("has_frames", has_frames), COUNT("events", events),
       TRACED(peak_requested_bytes), TRACED(peak_reserved_bytes), WHEN(has_oom),
       GROUP("oom", snapshot_oom), EXPECTED(estimated_requested_bytes),
       EXPECTED(estimated_reserved_bytes), EXPECTED(matched_bytes), EXPECTED(unmatched_bytes),
       EXPECTED(missing_bytes), LIST("categories", rows, row_count, snapshot_row),
       LIST("blocks", blocks, block_count, snapshot_block),
       LIST("missing", missing, missing_count, snapshot_block),
       LIST("segments", segments, segment_count, snapshot_segment))
#undef S
