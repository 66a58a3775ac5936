// The two forms of torch.utils.checkpoint. use_reentrant=True is compared with reference values
// elsewhere; here is what sets the other apart, by the rules of torch/utils/checkpoint.py:
// recomputation stops once everything is saved, so a block's last product is not run again and its
// output not held twice.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

struct seen {
    uint64_t gradients, gradient_bytes;  // of weights
    uint64_t again;                      // allocations of the watched tensor in backward
    const char *watch, *op;
};

static int look(void *ctx, const struct vram_event *e)
{
    struct seen *s = ctx;
    if (e->is_free)
        return 0;
    if (e->category == VRAM_CAT_GRAD) {
        s->gradients++;
        s->gradient_bytes += e->bytes;
    }
    bool backward = strncmp(e->phase, "bwd:it1", 7) == 0;
    s->again += backward && strcmp(e->name, s->watch) == 0 && strcmp(e->op, s->op) == 0;
    return 0;
}

struct both {
    uint64_t peak[2], saved[2];
    struct seen seen[2];
};

static struct both both_forms(const char *pairs, const char *watch, const char *op)
{
    struct both b = {0};
    for (int reentrant = 0; reentrant < 2; reentrant++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, pairs);
        set_all(v, reentrant ? "use_reentrant=true" : "use_reentrant=false");
        b.seen[reentrant].watch = watch;
        b.seen[reentrant].op = op;
        if (vram_trace(v, look, &b.seen[reentrant]) != VRAM_OK)
            fail_msg("%s: %s", pairs, vram_error(v)->text);
        b.peak[reentrant] = vram_result(v)->peak_live.bytes;
        b.saved[reentrant] = vram_result(v)->saved_bytes;
        close_vram(v, &h);
    }
    return b;
}

// Small vocabulary: the peak lies in a block that is recomputed.
static void test_output_is_not_held_twice(void **state)
{
    (void)state;
    struct both b =
        both_forms("preset=gpt2 batch_size=32 vocab_size=256 mode=reference checkpointing=block",
                   "block.mlp.c_proj output", "mm");
    assert_int_equal(b.peak[1] - b.peak[0], 4 * 32 * 1024 * 768);
    assert_int_equal(b.saved[1], b.saved[0]);   // the block's input either way
    assert_int_equal(b.seen[1].again, 12 * 2);  // layers x micro-steps
    assert_int_equal(b.seen[0].again, 0);
    assert_int_equal(b.seen[1].gradients, b.seen[0].gradients);
    assert_int_equal(b.seen[1].gradient_bytes, b.seen[0].gradient_bytes);
}

// Dropout saves its mask, which it makes: it is run again, and the product before it, too.
static void test_stops_after_what_saves_its_result(void **state)
{
    (void)state;
    struct both b =
        both_forms("preset=gpt2 batch_size=4 dropout=0.1 mode=reference checkpointing=block",
                   "block.mlp.c_proj output", "mm");
    assert_int_equal(b.seen[0].again, b.seen[1].again);
    b = both_forms("preset=gpt2 batch_size=4 dropout=0.1 mode=reference checkpointing=block",
                   "block.mlp residual", "add.Tensor");
    assert_int_equal(b.seen[0].again, 0);
}

// Where the logits are the peak, both forms take the same.
static void test_same_where_logits_decide(void **state)
{
    (void)state;
    static const char *const configs[] = {
        "preset=gpt2 batch_size=16", "preset=gpt2 batch_size=8 dtype=float32",
        "preset=gpt2 batch_size=8 checkpointing=every checkpoint_every=3"};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        char pairs[200];
        snprintf(pairs, sizeof pairs, "checkpointing=block %s mode=reference", configs[i]);
        struct both b = both_forms(pairs, "", "");
        assert_int_equal(b.peak[0], b.peak[1]);
        assert_int_equal(b.saved[0], b.saved[1]);
        assert_int_equal(b.seen[0].gradient_bytes, b.seen[1].gradient_bytes);
    }
}

// Every family: not more than the reentrant form, and the same gradients. With adapters the
// recomputation begins later, at the first node that saved something, when one gradient more of the
// residual stream is there.
static void test_families(void **state)
{
    (void)state;
    static const char *const families[] = {"gpt2",
                                           "gpt_neox",
                                           "llama",
                                           "mistral",
                                           "qwen2",
                                           "qwen3",
                                           "gemma",
                                           "gemma2",
                                           "gemma3",
                                           "mixtral n_expert=4 lora_targets=q+k+v+o",
                                           "qwen3_moe n_expert=4 lora_targets=q+k+v+o"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (int lora = 0; lora < 2; lora++) {
            char pairs[200];
            snprintf(pairs, sizeof pairs,
                     "family=%s n_layer=6 n_embd=256 n_head=4 vocab_size=64 block_size=512 "
                     "lora_rank=%d checkpointing=block",
                     families[i], lora * 8);
            struct both b = both_forms(pairs, "", "");
            if (b.peak[0] > b.peak[1] + (uint64_t)lora * 4 * 12 * 512 * 256)
                fail_msg("%s: %llu, reentrant %llu", pairs, (unsigned long long)b.peak[0],
                         (unsigned long long)b.peak[1]);
            assert_int_equal(b.seen[0].gradient_bytes, b.seen[1].gradient_bytes);
        }
}

static uint64_t look_at(const char *pairs, const char *form, struct seen *seen)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, pairs);
    set_all(v, form);
    if (vram_trace(v, look, seen) != VRAM_OK)
        fail_msg("%s %s: %s", pairs, form, vram_error(v)->text);
    uint64_t saved = vram_result(v)->saved_bytes;
    close_vram(v, &h);
    return saved;
}

// By operations: beside the block's input the results of attention and of every second product are
// kept, the last one's, too, which no one needs. Neither is made again, the products between are.
static void test_selective(void **state)
{
    (void)state;
    enum { TOKENS = 2 * 512, WIDTH = 256, KEYS = 128, INNER = 768, HEADS = 4, LAYERS = 6 };
    const char *pairs = "family=llama n_layer=6 n_embd=256 n_head=4 n_kv_head=2 n_inner=768 "
                        "vocab_size=64 batch_size=2 seq_len=512 dtype=bfloat16_pure torch=2.5 "
                        "gradient_accumulation_steps=2";
    struct seen block = {.watch = "block.q_proj output", .op = "mm"},
                chosen = {.watch = "block.q_proj output", .op = "mm"},
                between = {.watch = "block.k_proj output", .op = "mm"},
                last = {.watch = "block.mlp.c_proj output", .op = "mm"};
    uint64_t plain = look_at(pairs, "checkpointing=block", &block);
    uint64_t saved = look_at(pairs, "checkpointing=selective", &chosen);
    look_at(pairs, "checkpointing=selective", &between);
    look_at(pairs, "checkpointing=selective", &last);
    // query, value, attention and its sums, gate, down
    uint64_t kept = 2 * (3 * WIDTH + KEYS + INNER) + 4 * HEADS;
    assert_int_equal(saved - plain, LAYERS * TOKENS * kept);
    assert_int_equal(block.again, 2 * LAYERS);
    assert_int_equal(chosen.again, 0);
    assert_int_equal(between.again, 2 * LAYERS);
    assert_int_equal(last.again, 0);
    assert_int_equal(chosen.gradient_bytes, block.gradient_bytes);
}

static void test_selective_is_refused(void **state)
{
    struct heap h = {0};
    (void)state;
    vram *v = open_vram(&h);
    set_all(v, "preset=mixtral-8x7b checkpointing=selective");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    set_all(v, "preset=gpt2 checkpointing=selective compile=2.5");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    set_all(v, "compile=none use_reentrant=true");  // which it cannot be
    assert_int_equal(vram_run(v), VRAM_OK);
    close_vram(v, &h);
}

static uint64_t peak_of(const char *pairs, const char *more)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, pairs);
    set_all(v, more);
    if (vram_run(v) != VRAM_OK)
        fail_msg("%s %s: %s", pairs, more, vram_error(v)->text);
    uint64_t peak = vram_result(v)->peak_live.bytes;
    close_vram(v, &h);
    return peak;
}

// Where nothing is said the form is that of the framework's version.
static void test_default(void **state)
{
    static const struct {
        const char *words;
        bool reentrant;
    } cases[] = {
        {"framework=transformers", false},
        {"framework=transformers transformers=5.0", false},
        {"framework=transformers transformers=4.57", true},
        {"framework=torchtune", false},
        {"framework=torchtitan", false},
        {"framework=litgpt", false},
        {"framework=nanogpt", true},
        {"framework=transformers mode=reference", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char pairs[256];
        snprintf(pairs, sizeof pairs,
                 "preset=llama-3.2-1b batch_size=8 vocab_size=256 checkpointing=block "
                 "attention=flash dtype=bfloat16_pure %s",
                 cases[i].words);
        uint64_t peaks[] = {peak_of(pairs, "use_reentrant=false"),
                            peak_of(pairs, "use_reentrant=true")};
        assert_true(peaks[0] < peaks[1]);
        assert_int_equal(peak_of(pairs, "use_reentrant=auto"), peaks[cases[i].reentrant]);
    }
}

static void test_refused_in_stages(void **state)
{
    struct heap h = {0};
    (void)state;
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2 framework=transformers checkpointing=block use_reentrant=false "
               "pipeline_parallel=2");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    set_all(v, "use_reentrant=true");
    assert_int_equal(vram_run(v), VRAM_OK);
    set_all(v, "use_reentrant=auto");  // of which the other form is modelled alone
    assert_int_equal(vram_run(v), VRAM_OK);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_is_not_held_twice),
        cmocka_unit_test(test_stops_after_what_saves_its_result),
        cmocka_unit_test(test_same_where_logits_decide),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_selective),
        cmocka_unit_test(test_selective_is_refused),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_refused_in_stages),
    };
    return cmocka_run_group_tests_name("calc_checkpoint", tests, NULL, NULL);
}
