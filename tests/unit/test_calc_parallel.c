// Schemes over several GPUs against the closed forms of their papers: what one GPU keeps, and how
// far the peak moves.

#include "tests/unit/calc_fixture.h"

static void test_ddp(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    uint64_t one = run_gpt2(v, "")->peak_live.bytes, p = vram_result(v)->params;
    assert_int_equal(run_gpt2(v, "parallel=ddp n_gpu=1")->peak_live.bytes, one);
    assert_int_equal(run_gpt2(v, "parallel=ddp n_gpu=8")->peak_live.bytes, one + 4 * p);
    // Gradients that are views of the buckets cost nothing more at a peak at which all gradients
    // are there anyway.
    assert_int_equal(run_gpt2(v, "parallel=ddp n_gpu=8 bucket_view=true")->peak_live.bytes, one);
    assert_int_equal(vram_result(v)->grad_bytes, 4 * p);
    close_vram(v, &h);
}

// What is on the host is not on the card, on one GPU too: 12 bytes a weight of copies and moments
// and four of gradients under ZeRO, two copies beside the moments of torchao's optimizer. SRC:
// DeepSpeed runtime/zero/stage_1_and_2.py, torchao optim/cpu_offload.py; the traces llama_*_offload
// and llama_cpu_adamw of tests/calc/truth/frameworks hold the peaks.
static uint64_t on_host_mib(const struct vram_result *r)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (!strcmp(r->notes[i].id, "offloaded"))
            return r->notes[i].args[0].number;
    return 0;
}

static void test_offload(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r =
        run_gpt2(v, "dtype=bfloat16_deepspeed parallel=zero2 offload_optimizer=true");
    uint64_t p = r->params;
    assert_int_equal(r->param_bytes, 2 * p);
    assert_int_equal(r->grad_bytes,
                     0 + 2 * UINT64_C(50304) * 768);  // what comes back from the host
    assert_int_equal(r->optim_bytes, 0);
    assert_int_equal(on_host_mib(r), (16 * p + 524288) >> 20);
    assert_int_equal(r->regime, VRAM_REGIME_OFFLOADED);
    r = run_gpt2(v, "parallel=fsdp2 dtype=bfloat16_fsdp offload_params=true n_gpu=4");
    assert_int_equal(r->param_bytes + r->optim_bytes, 0);
    assert_in_range(on_host_mib(r), (16 * p / 4) >> 20, ((16 * p / 4) >> 20) + 1);
    r = run_gpt2(v, "dtype=bfloat16_pure offload_optimizer=true");
    assert_int_equal(r->grad_bytes, 2 * p);
    assert_in_range(r->optim_bytes, 1, 4 * 12 * 4 * 768 * 2);  // norms stay
    assert_in_range(on_host_mib(r), (8 * p >> 20) - 1, (8 * p >> 20) + 1);
    set_all(v, "parallel=ddp n_gpu=2");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    set_all(v, "parallel=zero2 offload_params=true");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    close_vram(v, &h);
}

// Before accelerate 1.11 each micro-step of FSDP2 divides its gradients; since then whole ones are
// kept to the last.
static void test_accelerates_fully_shard(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    set_all(
        v,
        "preset=llama-3.2-1b seq_len=512 batch_size=1 gradient_accumulation_steps=2 evaluation=0 "
        "dtype=bfloat16_accelerate parallel=fsdp2 n_gpu=8 transformers=4.56");
    assert_int_equal(vram_run(v), VRAM_OK);
    uint64_t divided = vram_result(v)->peak_live.bytes;
    set_all(v, "transformers=4.57");
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_true(vram_result(v)->peak_live.bytes > divided + vram_result(v)->params);
    close_vram(v, &h);
}

// Gathered weights: the root for the whole pass, two layers with fsdp1; zero3 keeps 500 million and
// one layer. fsdp2 copies them out, and the root's is there until the first layer's is copied.
struct gathered {
    uint64_t now, most;
};

static int gathered_event(void *ctx, const struct vram_event *e)
{
    struct gathered *g = ctx;
    if (strcmp(e->op, "all_gather"))
        return 0;
    g->now += e->is_free ? 0 - e->bytes : e->bytes;
    g->most = g->now > g->most ? g->now : g->most;
    return 0;
}

static uint64_t gathered_most(vram *v, const char *config)
{
    struct gathered g = {0};
    run_gpt2(v, config);
    assert_int_equal(vram_trace(v, gathered_event, &g), VRAM_OK);
    assert_int_equal(g.now, 0);
    return g.most;
}

static void test_gathered(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t c = 768, layer = 12 * c * c + 2 * c, root = (50304 + 1024 + 1) * c;
    (void)state;
    assert_int_equal(gathered_most(v, "parallel=zero3 n_gpu=4"), 2 * (root + 13 * layer));
    assert_int_equal(gathered_most(v, "parallel=fsdp1 n_gpu=4"), 2 * (root + 2 * layer));
    assert_int_equal(gathered_most(v, "parallel=fsdp1 n_gpu=4 dtype=float32"),
                     4 * (root + 2 * layer));
    assert_int_equal(gathered_most(v, "parallel=fsdp2 n_gpu=4"), 2 * (2 * root + layer));
    assert_int_equal(gathered_most(v, "parallel=zero2 n_gpu=4"), 0);
    close_vram(v, &h);
}

static uint64_t titan_live(vram *v, const char *words)
{
    vram_clear(v);
    set_all(v,
            "preset=llama-3.1-8b framework=torchtitan n_layer=4 batch_size=1 dtype=bfloat16_fsdp "
            "parallel=fsdp2 gradient_accumulation_steps=1 evaluation=0");
    set_all(v, words);
    run_vram(v);
    return vram_result(v)->peak_live.bytes;
}

// Four GPUs for each sequence take what eight ways of a quarter of its length take, but for the
// table of complex angles, 64 of eight bytes a token, and the keys and values of all four, which
// each compiled block keeps since PyTorch 2.8 (tests/calc/truth/frameworks/titan_cp_full_L4_new).
static void test_context_parallel(void **state)
{
    static const char here[] = "checkpointing=block compile=2.5 n_gpu=2 context_parallel=4 "
                               "seq_len=32768 torch=",
                      there[] = "checkpointing=block compile=2.5 n_gpu=8 seq_len=8192 torch=";
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t angles = 64 * 8 * (32768 - 8192), kept = 4 * UINT64_C(2) * 4 * 8192 * 1024 * 2;
    char words[2][128];
    (void)state;
    snprintf(words[0], sizeof words[0], "%s2.15", here);
    snprintf(words[1], sizeof words[1], "%s2.15", there);
    assert_int_equal(titan_live(v, words[0]), titan_live(v, words[1]) + angles + kept);
    snprintf(words[0], sizeof words[0], "%s2.7", here);
    snprintf(words[1], sizeof words[1], "%s2.7", there);
    assert_int_equal(titan_live(v, words[0]), titan_live(v, words[1]) + angles + 64 * 8 * 32768);
    vram_clear(v);
    set_all(v, "preset=llama-3.1-8b context_parallel=2 parallel=ddp");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    vram_clear(v);
    set_all(v, "preset=llama-3.1-8b framework=torchtitan dtype=bfloat16_fsdp parallel=fsdp2 "
               "context_parallel=4 seq_len=1020");
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    close_vram(v, &h);
}

// What a unit's gradients go through, as in tests/calc/truth/frameworks/llama_fsdp1_L4_new and
// llama_fsdp2_L4_new: 218,112,000 weights a layer. fsdp1 makes them one tensor and casts it to
// float32; fsdp2 writes them into one in float32, which is there until the next unit's is made.
struct buffers {
    uint64_t now, most, flat, wide, wide_now, wide_most;
};

enum { LAYER_8B = 218112000 };
#define ROOT_8B ((2 * UINT64_C(128256) + 1) * 4096)

static int buffers_event(void *ctx, const struct vram_event *e)
{
    struct buffers *b = ctx;
    if (strcmp(e->name, "data parallel buckets"))
        return 0;
    b->now += e->is_free ? 0 - e->bytes : e->bytes;
    b->most = b->now > b->most ? b->now : b->most;
    if (e->bytes == UINT64_C(4) * LAYER_8B)
        b->wide_now += e->is_free ? -1 : 1;
    b->wide_most = b->wide_now > b->wide_most ? b->wide_now : b->wide_most;
    b->flat += !e->is_free && e->bytes == UINT64_C(2) * LAYER_8B;
    b->wide += !e->is_free && e->bytes == UINT64_C(4) * LAYER_8B;
    return 0;
}

static struct buffers buffers_of(vram *v, const char *words)
{
    struct buffers b = {0};
    vram_clear(v);
    set_all(v, "preset=llama-3.1-8b n_layer=4 seq_len=2048 dtype=bfloat16_fsdp n_gpu=8 "
               "gradient_accumulation_steps=1");
    set_all(v, words);
    assert_int_equal(vram_trace(v, buffers_event, &b), VRAM_OK);
    uint64_t part = (4 * (uint64_t)LAYER_8B + ROOT_8B + 7) / 8;
    assert_int_equal(b.now, strstr(words, "zero3") ? 4 * (500000000 + part) : 0);
    return b;
}

static void test_gradients_of_fsdp(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t root = ROOT_8B;
    (void)state;
    struct buffers one = buffers_of(v, "parallel=fsdp1"), two = buffers_of(v, "parallel=fsdp2");
    assert_true(one.wide >= 4 && one.wide % 4 == 0 && one.flat == one.wide);
    assert_int_equal(one.most, 6 * root);
    assert_true(two.wide >= 4 && two.wide % 4 == 0 && two.flat == 0);
    assert_true(one.wide_most == 1 && two.wide_most == 1);
    assert_int_equal(two.most, 4 * root);
    assert_int_equal(buffers_of(v, "parallel=fsdp1 dtype=bfloat16_pure").wide, 0);
    uint64_t flushed = 2 * (uint64_t)LAYER_8B + 4096 + 4096 * UINT64_C(14336);  // of 500 million
    struct buffers three = buffers_of(v, "parallel=zero3 dtype=bfloat16_fsdp");
    assert_int_equal(three.most - three.now, 4 * flushed);
    close_vram(v, &h);
}

// Micro-steps before the last divide nothing: the whole gradients of all units are there, with
// those of one unit more.
static void test_whole_gradients(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t root = (2 * UINT64_C(128256) + 1) * 4096, all = 4 * UINT64_C(218112000) + root;
    const char *two = "parallel=fsdp1 dtype=bfloat16_pure gradient_accumulation_steps=2";
    (void)state;
    assert_int_equal(buffers_of(v, two).most, 2 * (all + LAYER_8B));
    assert_int_equal(buffers_of(v, "parallel=fsdp2 gradient_accumulation_steps=2").most,
                     4 * (all + LAYER_8B));
    vram_clear(v);
    set_all(
        v,
        "preset=llama-2-7b framework=litgpt dtype=bfloat16_pure parallel=fsdp1 n_gpu=2 lora_rank=8 "
        "lora_targets=q+v adapter_dtype=base checkpointing=block use_reentrant=false batch_size=1 "
        "seq_len=1304 "
        "gradient_accumulation_steps=128 keep_logits=no");
    run_vram(v);
    // lit-gpt's table of November 2023: 22.18 GB, of which 20.2 GB are half of the weights and
    // whole gradients.
    assert_in_range(vram_result(v)->peak_allocated.bytes, UINT64_C(21800000000),
                    UINT64_C(23000000000));
    assert_int_equal(
        buffers_of(
            v,
            "parallel=fsdp1 framework=torchtune dtype=bfloat16_pure gradient_accumulation_steps=2")
            .most,
        2 * root);
    close_vram(v, &h);
}

// With adapters in units of their own, and the checkpoint around FSDP's unit, the gradients of all
// blocks' inputs are there at the end of the backward pass: (L - 2) of them more than in one
// block's. SRC: traces llama_fsdp1_lora_ckpt_*_old; none in
// *_new, where the checkpoint is inside.
static uint64_t adapters_peak(vram *v, const char *layers, const char *words)
{
    vram_clear(v);
    set_all(v,
            "preset=llama-3.1-8b seq_len=4096 batch_size=4 dtype=bfloat16_pure lora_rank=16 "
            "adapter_dtype=base "
            "checkpointing=block parallel=fsdp1 n_gpu=2 cross_entropy=chunked transformers=4.48");
    set_all(v, layers);
    set_all(v, words);
    run_vram(v);
    return vram_result(v)->peak_live.bytes - vram_result(v)->param_bytes;
}

static void test_inputs_of_frozen_units(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t stream = UINT64_C(2) * 4 * 4096 * 4096, adapters = UINT64_C(1) << 27;
    (void)state;
    uint64_t few = adapters_peak(v, "n_layer=16", ""), many = adapters_peak(v, "n_layer=32", "");
    assert_in_range(many - few, 2 * 16 * stream, 2 * 16 * stream + adapters);
    few = adapters_peak(v, "n_layer=16", "transformers=5.23");
    many = adapters_peak(v, "n_layer=32", "transformers=5.23");
    assert_in_range(many - few, 16 * stream, 16 * stream + adapters);
    many = adapters_peak(v, "n_layer=32", "use_reentrant=false") -
           adapters_peak(v, "n_layer=16", "use_reentrant=false");
    assert_in_range(many, 16 * stream, 16 * stream + adapters);
    close_vram(v, &h);
}

static void test_tensor_parallel(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r = run_gpt2(v, "tensor_parallel=4");
    uint64_t c = 768, t = 4;
    uint64_t mine = up(50304, t) * c + 1024 * c + 12 * (12 * c * c / t + 2 * c) + c;
    assert_int_equal(r->param_bytes, 4 * mine);
    assert_int_equal(r->params, 124373760);
    uint64_t whole = r->saved_bytes;
    r = run_gpt2(v, "tensor_parallel=4 sequence_parallel=true");
    // Without it, each GPU keeps in every layer both residuals (4 U each) and the copies of the
    // norms' results (2 U each).
    uint64_t u = 2 * 1024 * c;
    assert_int_equal(whole - r->saved_bytes, (12 * 12 + 6) * (u - u / t));
    close_vram(v, &h);
}

static void test_pipeline(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r = run_gpt2(v, "pipeline_parallel=4 gradient_accumulation_steps=8");
    assert_true(r->pipeline_stage == 0 || r->pipeline_stage == 3);
    // A small vocabulary: the first stage, with three layers of four micro-batches, takes most.
    r = run_gpt2(v,
                 "vocab_size=256 pipeline_parallel=4 gradient_accumulation_steps=8 batch_size=8");
    assert_int_equal(r->pipeline_stage, 0);
    uint64_t eight = r->peak_live.bytes, saved = r->saved_bytes;
    r = run_gpt2(v,
                 "vocab_size=256 pipeline_parallel=4 gradient_accumulation_steps=2 batch_size=8");
    assert_in_range(eight - r->peak_live.bytes, saved * 2 - saved / 20, saved * 2 + saved / 4);
    // A large one: the last, which holds one micro-batch and the logits.
    r = run_gpt2(v, "pipeline_parallel=2 gradient_accumulation_steps=1 batch_size=8");
    assert_int_equal(r->pipeline_stage, 1);
    close_vram(v, &h);
}

// One forward, one backward: how many micro-batches are under way, and how many there were.
struct under_way {
    char phase[32];
    unsigned now, most, all;
};

static int under_way_event(void *ctx, const struct vram_event *e)
{
    struct under_way *w = ctx;
    if (!strcmp(w->phase, e->phase) || strncmp(e->phase + 1, "wd:it0.", 7) != 0)
        return 0;
    snprintf(w->phase, sizeof w->phase, "%s", e->phase);
    bool forward = e->phase[0] == 'f';
    w->now += forward ? 1U : -1U;
    w->all += forward;
    w->most = w->now > w->most ? w->now : w->most;
    return 0;
}

// Micro-batches go on after those that a stage holds at once: the later ones find the gradients of
// the first, and no more are under way. What is reserved has to stay for sixteen rounds.
static void test_pipeline_rounds(void **state)
{
    static const struct {
        const char *words;
        unsigned held, least, most;
    } rows[] = {
        {"gradient_accumulation_steps=4", 4, 4, 4},
        {"gradient_accumulation_steps=5", 4, 5, 5},
        {"gradient_accumulation_steps=512", 4, 64, 256},
        {"gradient_accumulation_steps=512 pipeline_stage=last", 1, 16, 64},
        {"gradient_accumulation_steps=6 pipeline_schedule=afab", 6, 6, 6},
    };
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    uint64_t peaks[5];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct under_way w = {0};
        vram_clear(v);
        set_all(v, "preset=gpt2 vocab_size=256 batch_size=8 pipeline_parallel=4 "
                   "pipeline_stage=first");
        set_all(v, rows[i].words);
        assert_int_equal(vram_run(v), VRAM_OK);
        peaks[i] = vram_result(v)->peak_live.bytes;
        assert_int_equal(vram_trace(v, under_way_event, &w), VRAM_OK);
        assert_int_equal(w.now, 0);
        assert_int_equal(w.most, rows[i].held);
        assert_in_range(w.all, rows[i].least, rows[i].most);
    }
    // Gradients of three layers and the embedding are there while four micro-batches are.
    assert_true(peaks[1] > peaks[0] + vram_result(v)->grad_bytes * 9 / 10);
    assert_int_equal(peaks[2], peaks[1]);
    close_vram(v, &h);
}

// ---- what the process has beside the tensors
// ---------------------------------------------------------

static struct vram_segments wrapped(vram *v, const char *rank, uint64_t event)
{
    const struct vram_segments *out;
    vram_clear(v);
    set_all(v, "preset=llama-2-7b framework=transformers torch=2.1 dtype=float32 parallel=fsdp1 "
               "batch_size=1 seq_len=128 checkpointing=block");
    set_all(v, rank);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_EVENT, event, &out), VRAM_OK);
    return *out;
}

// pytorch issue 124260: a decoder layer of 202,383,360 float32 on two cards. 0.758 GiB of tensors;
// what is sent adds 0.592 GiB, the flat tensor 0.756, and then this card's half comes, which no
// segment has room for. At the end only the half is handed out.
static void test_wrapping(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const uint64_t mib = 1 << 20, layer = UINT64_C(4) * 202383360;
    struct vram_segments one = wrapped(v, "n_gpu=2 n_layer=1 fsdp_rank=first", 8);
    uint64_t sent = 606 * mib, all = layer + sent + layer + layer / 2;
    assert_in_range(one.reserved_bytes, all - 30 * mib, all + 10 * mib);
    assert_in_range(one.allocated_bytes, layer / 2, layer / 2 + mib);
    // Of the first card the next layers fit into what the one before has left, but for the halves
    // that stay. The others run ahead.
    struct vram_segments first = wrapped(v, "n_gpu=2 n_layer=8 fsdp_rank=first", 9 * 8 - 1),
                         ahead = wrapped(v, "n_gpu=2 n_layer=8", 9 * 8 - 1);
    assert_in_range(first.reserved_bytes, one.reserved_bytes + 7 * layer / 2 - sent,
                    one.reserved_bytes + 7 * layer / 2 + 30 * mib);
    assert_int_equal(first.allocated_bytes, ahead.allocated_bytes);
    assert_true(ahead.reserved_bytes > first.reserved_bytes + 4 * sent);
    close_vram(v, &h);
}

static uint64_t outside(vram *v, const char *more)
{
    return run_gpt2(v, more)->context.bytes >> 20;
}

// calc/model/contexts.def, communicators.def
static void test_communicators(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    uint64_t one = outside(v, "gpu=A100_80GB_SXM");
    assert_int_equal(one, 522);
    assert_int_equal(outside(v, "gpu=A100_80GB_SXM parallel=ddp n_gpu=2"), one + 544);
    assert_int_equal(outside(v, "gpu=A100_80GB_SXM parallel=ddp n_gpu=8"), one + 688);
    assert_int_equal(outside(v, "gpu=A100_80GB_SXM parallel=ddp n_gpu=4 tensor_parallel=2"),
                     one + 688 + 544);
    assert_int_equal(outside(v, "gpu=A100_80GB_SXM parallel=ddp n_gpu=4 context_mib=400"), 400);
    assert_int_equal(outside(v, "gpu=RTX_4070 parallel=ddp n_gpu=4"), outside(v, "gpu=RTX_4070"));
    assert_true(vram_result(v)->context.low <= vram_result(v)->context.bytes);
    assert_true(run_gpt2(v, "gpu=A100_80GB_SXM")->context.high >= vram_result(v)->context.bytes);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ddp),
        cmocka_unit_test(test_offload),
        cmocka_unit_test(test_accelerates_fully_shard),
        cmocka_unit_test(test_gathered),
        cmocka_unit_test(test_gradients_of_fsdp),
        cmocka_unit_test(test_whole_gradients),
        cmocka_unit_test(test_inputs_of_frozen_units),
        cmocka_unit_test(test_tensor_parallel),
        cmocka_unit_test(test_context_parallel),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_pipeline_rounds),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_communicators),
    };
    return cmocka_run_group_tests_name("calc_parallel", tests, NULL, NULL);
}
