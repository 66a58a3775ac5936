// nanotron's runs: states, what a layer saves, stages by cost, blocks that collectives hold,
// against closed forms of its code.

#include "tests/unit/calc_fixture.h"

#define RUN \
    "family=llama framework=nanotron dtype=bfloat16_master n_layer=16 n_embd=2048 n_head=32 " \
    "n_inner=8192 vocab_size=131072 " \
    "tie_embeddings=true batch_size=1 seq_len=4096 gradient_accumulation_steps=4 torch=2.4 " \
    "gpu=H100 "
#define MIB UINT64_C(1048576)

static const struct vram_result *run(vram *v, const char *more)
{
    vram_clear(v);
    set_all(v, RUN);
    set_all(v, more);
    assert_int_equal(vram_run(v), VRAM_OK);
    return vram_result(v);
}

static const uint64_t layer_weights =
    4 * UINT64_C(2048) * 2048 + 3 * UINT64_C(8192) * 2048 + 2 * 2048;
static const uint64_t embedding = UINT64_C(131072) * 2048;
// Cosines and sines of half a head, in bfloat16, which every layer has of its own.
static const uint64_t tables = 2 * 2 * UINT64_C(4096) * 32;

// bfloat16 weights; float32 copies, sums of gradients and two moments; what a pass makes of
// gradients goes with the pass.
static void test_states(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    // qkv, o, gate, up, down, two norms: 7 a layer.
    uint64_t p = embedding + 16 * layer_weights + 2048, steps = 4 * (16 * 6 + 2);
    (void)state;
    const struct vram_result *r = run(v, "");
    assert_int_equal(r->params, p);
    assert_int_equal(r->param_bytes, 2 * p);
    assert_int_equal(r->grad_bytes, 0);
    assert_in_range(r->optim_bytes, 16 * p, 16 * p + 2 * steps);
    assert_int_equal(r->buffer_bytes, 16 * tables);
    uint64_t held = 16 * tables;
    assert_in_range(r->steady_end_bytes, 18 * p + held, 18 * p + held + MIB);
    // ZeRO-1 divides the copies and the moments, and not the sums, which all GPUs need until the
    // last micro-step.
    r = run(v, "parallel=zero1 n_gpu=8");
    assert_in_range(r->optim_bytes, 4 * p + 12 * p / 8, 4 * p + 12 * p / 8 + 16 * r->tensors);
    // No DDP, and no buckets, where gradients are summed in float32 and the state is divided.
    held += 6 * p + 12 * p / 8;
    assert_in_range(r->steady_end_bytes, held, held + MIB);
    r = run(v, "parallel=ddp n_gpu=8");
    held = 20 * p + 16 * tables;
    assert_in_range(r->steady_end_bytes, held, held + MIB);
    // Tensor parallelism divides heads, and not a head's table.
    r = run(v, "tensor_parallel=4 sequence_parallel=true pipeline_parallel=2 pipeline_stage=last");
    assert_int_equal(r->buffer_bytes, 5 * tables);
    close_vram(v, &h);
}

// Saved by a layer in bfloat16: inputs of both norms and their results, the permuted projection in
// which the query is rotated, keys with values, the attention's output; gate, up, silu(gate) and
// the product; in float32 the norms' factors and the attention's sums.
static void test_what_a_layer_saves(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t n = 4096, u = 2 * n * 2048, f = 2 * n * 8192, small = 2 * 4 * n + 4 * n * 32;
    (void)state;
    uint64_t whole = run(v, "n_layer=8")->saved_bytes, half = run(v, "n_layer=4")->saved_bytes;
    assert_int_equal((whole - half) / 4, 10 * u + 4 * f + small);
    // Every tensor of a layer is divided where the sequence is divided too.
    whole = run(v, "n_layer=8 tensor_parallel=4 sequence_parallel=true")->saved_bytes;
    half = run(v, "n_layer=4 tensor_parallel=4 sequence_parallel=true")->saved_bytes;
    assert_int_equal((whole - half) / 4, (10 * u + 4 * f + small) / 4);
    close_vram(v, &h);
}

// The logits: in bfloat16 until there is a copy in float32, then that and the softmax, in which the
// gradient is made.
struct logits {
    uint64_t now, most;
};

static int logits_event(void *ctx, const struct vram_event *e)
{
    struct logits *l = ctx;
    if (e->category == VRAM_CAT_LOGITS) {
        l->now += e->is_free ? 0 - e->bytes : e->bytes;
        l->most = l->now > l->most ? l->now : l->most;
    }
    return 0;
}

static void test_logits(void **state)
{
    struct heap h = {0};
    struct logits l = {0};
    vram *v = open_vram(&h);
    (void)state;
    run(v, "n_layer=2");
    assert_int_equal(vram_trace(v, logits_event, &l), VRAM_OK);
    assert_int_equal(l.now, 0);
    assert_int_equal(l.most, 8 * UINT64_C(4096) * 131072);
    close_vram(v, &h);
}

// After a step of ZeRO-1 there are for a moment this GPU's part of the weights, the parts of all
// GPUs, a tensor each, and all of them in a row; under DDP there is nothing to gather.
static int weights_event(void *ctx, const struct vram_event *e)
{
    struct logits *l = ctx;
    if (e->category == VRAM_CAT_PARAM) {
        l->now += e->is_free ? 0 - e->bytes : e->bytes;
        l->most = l->now > l->most ? l->now : l->most;
    }
    return 0;
}

static void test_gathered_weights(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t p = embedding + 2 * layer_weights + 2048, held = 2 * p + 2 * tables;
    (void)state;
    struct logits zero = {0}, ddp = {0};
    run(v, "n_layer=2 parallel=zero1 n_gpu=8");
    assert_int_equal(vram_trace(v, weights_event, &zero), VRAM_OK);
    assert_int_equal(zero.now, held);
    assert_int_equal(zero.most, held + 2 * p / 8 + 2 * 2 * p);
    run(v, "n_layer=2 parallel=ddp n_gpu=8");
    assert_int_equal(vram_trace(v, weights_event, &ddp), VRAM_OK);
    assert_int_equal(ddp.most, held);
    close_vram(v, &h);
}

// The embedding's backward: the gradient of the whole sequence, which is gathered into memory of
// its own, then the same with zeros for the others' rows, in memory of its own, too.
struct embedding_walk {
    uint64_t now, most;
    unsigned gathers;
};

static int embedding_event(void *ctx, const struct vram_event *e)
{
    struct embedding_walk *w = ctx;
    if (e->phase[0] != 'b' || (strcmp(e->name, "wte scratch") && strcmp(e->name, "wte gradient")))
        return 0;
    w->gathers += !e->is_free && !strcmp(e->op, "all_gather");
    w->now += e->is_free ? 0 - e->bytes : e->bytes;
    w->most = w->now > w->most ? w->now : w->most;
    return 0;
}

static void test_embedding_gradient(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t u = 2 * UINT64_C(4096) * 2048;
    (void)state;
    struct embedding_walk divided = {0}, one = {0};
    run(v, "n_layer=2 tensor_parallel=8 sequence_parallel=true gradient_accumulation_steps=1");
    assert_int_equal(vram_trace(v, embedding_event, &divided), VRAM_OK);
    assert_int_equal(divided.gathers, vram_result(v)->iterations);
    assert_int_equal(divided.most, 2 * u);
    run(v, "n_layer=2 gradient_accumulation_steps=1");
    assert_int_equal(vram_trace(v, embedding_event, &one), VRAM_OK);
    assert_int_equal(one.gathers, 0);
    close_vram(v, &h);
}

// Layers of the first and the last stage: the head costs as much as four layers here.
static void test_stages(void **state)
{
    static const struct {
        const char *words;
        uint64_t layers;
        bool embeds;
    } rows[] = {
        {"pipeline_parallel=2 pipeline_stage=first", 11, true},
        {"pipeline_parallel=2 pipeline_stage=last", 5, false},
        {"pipeline_parallel=4 pipeline_stage=first", 6, true},
        {"pipeline_parallel=2 pipeline_stage=first pipeline_first_layers=10", 10, true},
        {"pipeline_parallel=4 pipeline_stage=last pipeline_first_layers=6", 3, false},
    };
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct vram_result *r = run(v, rows[i].words);
        // The last stage has the norm, and a copy of the tied weight.
        uint64_t ends = embedding + (rows[i].embeds ? 0 : 2048);
        assert_int_equal(r->param_bytes, 2 * (rows[i].layers * layer_weights + ends));
    }
    // All forward passes first: as many micro-batches are under way as a step has.
    uint64_t two = run(v, "pipeline_parallel=2 pipeline_stage=first")->peak_live.bytes;
    uint64_t all =
        run(v, "pipeline_parallel=2 pipeline_stage=first pipeline_schedule=afab")->peak_live.bytes;
    uint64_t once = run(v, "pipeline_parallel=2 pipeline_stage=first pipeline_schedule=afab "
                           "gradient_accumulation_steps=2")
                        ->peak_live.bytes;
    assert_int_equal(two, once);
    assert_true(all > two + 11 * (2 * 4096 * UINT64_C(8) * 2048));
    close_vram(v, &h);
}

// What a collective has used comes back late: reserved memory has it, allocated memory has not,
// live bytes have not.
static void test_late_blocks(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r = run(v, "tensor_parallel=8 sequence_parallel=true batch_size=4");
    uint64_t u = 2 * UINT64_C(4) * 4096 * 2048,
             lag = r->peak_reserved.bytes - r->peak_allocated.bytes;
    assert_in_range(lag, 32 * u, 72 * u);
    assert_in_range(r->peak_allocated.bytes - r->peak_live.bytes, 0, r->peak_live.bytes / 50);
    // A pipeline over several nodes: what one collective has used, and no more, until the next.
    static const char *const nodes[] = {
        "tensor_parallel=16 sequence_parallel=true batch_size=16 pipeline_parallel=2",
        "tensor_parallel=32 sequence_parallel=true batch_size=8 pipeline_parallel=4"};
    for (unsigned i = 0; i < 2; i++) {
        r = run(v, nodes[i]);
        lag = r->peak_reserved.bytes - r->peak_allocated.bytes;
        assert_in_range(lag, (i ? 2 : 4) * u, 2 * (i ? 2 : 4) * u - 1);
    }
    // Where a layer takes longer than checks the card is behind: with many sequences, with the same
    // ones on a slower card, and where what moves between the group's cards makes the difference.
#define CHECKED \
    "tensor_parallel=4 sequence_parallel=true pipeline_parallel=4 pipeline_stage=first " \
    "gradient_accumulation_steps=16 "
    static const struct {
        const char *words;
        uint64_t sequences;
        bool late;
    } paces[] = {
        {CHECKED "batch_size=4 gpu=H100_SXM", 4, false},
        {CHECKED "batch_size=16 gpu=H100_SXM", 16, true},
        {CHECKED "batch_size=4 gpu=A100_80GB_SXM", 4, true},
        {CHECKED "batch_size=16 tensor_parallel=8 gpu=H100_SXM", 16, false},
        {CHECKED "batch_size=24 tensor_parallel=8 gpu=H100_SXM", 24, true},
    };
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        r = run(v, paces[i].words);
        uint64_t whole = paces[i].sequences * 2 * 4096 * 2048,
                 late = (r->peak_reserved.bytes - r->peak_allocated.bytes) / whole;
        assert_int_equal(late >= 16, paces[i].late);
    }
    // On one node a pipeline's late blocks are those of one backward pass and the forward pass
    // after it, as the next message waits for the card: of two layers few, of eleven as many as the
    // queue takes.
#define STAGE \
    "tensor_parallel=4 sequence_parallel=true batch_size=4 pipeline_parallel=2 " \
    "pipeline_stage=first"
    r = run(v, STAGE);
    assert_in_range(r->peak_reserved.bytes - r->peak_allocated.bytes, 32 * u, 72 * u);
    r = run(v, STAGE " n_layer=4");
    assert_in_range(r->peak_reserved.bytes - r->peak_allocated.bytes, 8 * u, 32 * u);
    // The end of a step waits for the card: with one micro-batch a step no pass finds the late
    // blocks of another.
    lag = run(v, "tensor_parallel=4 sequence_parallel=true batch_size=4")->peak_reserved.bytes;
    r = run(v,
            "tensor_parallel=4 sequence_parallel=true batch_size=4 gradient_accumulation_steps=1");
    assert_true(r->peak_reserved.bytes < lag - 16 * u);
    close_vram(v, &h);
}

// ZeRO-1 gathers behind a step that the program is through with before the card: what the last
// backward pass's collectives have used lies where the step before has gathered, and there are more
// parts. Not where the program takes longer than the card, nor where the step fills the queue.
static uint64_t gathering(vram *v, const char *words, const char *gpu)
{
    vram_clear(v);
    set_all(v, RUN);
    set_all(v, "n_embd=4096 n_inner=14336 parallel=zero1 n_gpu=2 tensor_parallel=2 "
               "sequence_parallel=true");
    set_all(v, words);
    set_all(v, gpu);
    assert_int_equal(vram_run(v), VRAM_OK);
    return vram_result(v)->peak_reserved.bytes;
}

static void test_late_gathering(void **state)
{
#define TEN "pipeline_parallel=2 pipeline_first_layers=10 pipeline_stage=first "
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t layer = 4 * UINT64_C(4096) * 4096 + 3 * UINT64_C(14336) * 4096,
             part = (10 * layer + UINT64_C(131072) * 4096) / 2;
    (void)state;
    uint64_t late = gathering(v, TEN "gradient_accumulation_steps=8", "gpu=H100_SXM"),
             early = gathering(v, TEN "gradient_accumulation_steps=8", "gpu=B200");
    assert_in_range(late - early, 2 * part, 5 * part);
    assert_int_equal(gathering(v, "n_layer=30", "gpu=H100_SXM"),
                     gathering(v, "n_layer=30", "gpu=B200"));
    close_vram(v, &h);
}

// A full card gets the cache back: what is reserved in the end is less than the peak. Where none is
// full nothing comes back.
static void test_reserved_end(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r =
        run(v, "tensor_parallel=8 sequence_parallel=true batch_size=8 gpu=L4");
    assert_int_equal(r->alloc_retries, 1);
    assert_true(r->reserved_end_bytes < r->peak_reserved.bytes);
    assert_true(r->reserved_end_bytes > r->steady_end_bytes);
    r = run(v, "tensor_parallel=8 sequence_parallel=true batch_size=8");
    assert_int_equal(r->alloc_retries, 0);
    assert_int_equal(r->reserved_end_bytes, r->peak_reserved.bytes);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_what_a_layer_saves),
        cmocka_unit_test(test_gathered_weights),
        cmocka_unit_test(test_logits),
        cmocka_unit_test(test_embedding_gradient),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_late_blocks),
        cmocka_unit_test(test_late_gathering),
        cmocka_unit_test(test_reserved_end),
    };
    return cmocka_run_group_tests_name("calc_nanotron", tests, NULL, NULL);
}
