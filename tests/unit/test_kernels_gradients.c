// The CPU reference: its gradients against finite differences in double precision, its two modes
// against each other.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/step/gpt.h"
#include "kernels/step/gpt_ref.h"

static void batch_of(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    const struct gpt_config *c = ctx;
    uint64_t state = (uint64_t)n * 7919 + 17;
    for (int64_t i = 0; i < gpt_tokens(c); i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        tokens[i] = (int64_t)((state >> 33) % (uint64_t)c->vocab_size);
        targets[i] = (tokens[i] * 5 + 3) % c->vocab_size;  // something that can be learned
    }
}

static void one_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    (void)n;
    batch_of(ctx, 0, tokens, targets);
}

static struct gpt_config tiny(void)
{
    return (struct gpt_config){.batch_size = 2,
                               .block_size = 6,
                               .seq_len = 5,
                               .n_layer = 2,
                               .n_head = 2,
                               .n_embd = 8,
                               .vocab_size = 11,
                               .accumulation = 1,
                               .dtype = DTYPE_F64,
                               .bias = true,
                               .lr = 1e-2,
                               .weight_decay = 0.1,
                               .seed = 42};
}

struct run {
    struct caching_allocator *allocator;
    struct gpt g;
    struct gpt_config c;
};

static void run_open(struct run *r, struct gpt_config c)
{
    r->c = c;
    r->allocator = caching_new(host_device_memory());
    assert_non_null(r->allocator);
    assert_int_equal(gpt_open(&r->g, &c, gpt_ref_ops(), r->allocator, (struct pool_watcher){0}),
                     GPT_OK);
}

static void run_close(struct run *r)
{
    gpt_close(&r->g);
    assert_int_equal(caching_stats(r->allocator)->allocated, 0);
    caching_delete(r->allocator);
}

// Weights large enough that every path through the model matters to the loss.
static void shake(struct gpt *g)
{
    uint64_t state = 99;
    for (int slot = 0; slot < g->slots; slot++)
        for (int64_t i = 0; g->weights[slot] && i < g->weights[slot]->count; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            ref_set(g->weights[slot], i,
                    ref_get(g->weights[slot], i) + ((double)(state >> 40) / (1 << 24) - 0.5) * 0.6);
        }
}

// Loss of the batch that comes first, with dropout as a training pass has it; leaves the gradients
// when asked.
static double loss_of(struct run *r, bool with_gradients)
{
    struct gpt *g = &r->g;
    g->micro_number = 0;
    if (setjmp(g->out_of_memory))
        fail_msg("out of memory");
    if (!g->tokens) {
        g->tokens = tensor_new(&g->pool, DTYPE_I64, gpt_tokens(&r->c), CATEGORY_DATA);
        g->targets = tensor_new(&g->pool, DTYPE_I64, gpt_tokens(&r->c), CATEGORY_DATA);
    }
    batch_of(&r->c, 0, g->tokens->data, g->targets->data);
    g->recording = true;
    gpt_forward(g);
    double loss = ref_get(g->loss, 0);
    gpt_backward(g);
    for (int slot = 0; !with_gradients && slot < g->slots; slot++)
        tensor_drop(&g->pool, &g->gradients[slot]);
    return loss;
}

// Central differences on a few elements of every weight.
static void gradients_agree(struct gpt_config c)
{
    struct run r;
    run_open(&r, c);
    shake(&r.g);
    loss_of(&r, true);
    tensor **gradients = calloc((size_t)r.g.slots, sizeof *gradients);
    for (int slot = 0; slot < r.g.slots; slot++) {
        gradients[slot] = r.g.gradients[slot];
        r.g.gradients[slot] = NULL;
    }
    const double h = 1e-5;
    for (int slot = 0; slot < r.g.slots; slot++) {
        tensor *w = r.g.weights[slot];
        for (int64_t i = 0; w && i < w->count; i += 1 + w->count / 5) {
            double before = ref_get(w, i);
            ref_set(w, i, before + h);
            double above = loss_of(&r, false);
            ref_set(w, i, before - h);
            double below = loss_of(&r, false);
            ref_set(w, i, before);
            double wanted = (above - below) / (2 * h), got = ref_get(gradients[slot], i);
            if (fabs(got - wanted) > 1e-7 + 1e-5 * fabs(wanted))
                fail_msg("slot %d element %ld: %.10g, by differences %.10g", slot, (long)i, got,
                         wanted);
        }
    }
    for (int slot = 0; slot < r.g.slots; slot++)
        tensor_drop(&r.g.pool, &gradients[slot]);
    free(gradients);
    run_close(&r);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        struct gpt_config c = tiny();
        c.mode = i & 1 ? GPT_LEAN : GPT_FRAMEWORK;
        c.attention = i & 2 ? GPT_MATRIX : GPT_TILED;
        c.checkpointing = i & 4;
        c.dropout = i & 8 ? 0.3 : 0;
        c.bias = !(i & 4);
        if (c.mode == GPT_LEAN && c.attention == GPT_MATRIX && c.checkpointing)
            c.n_layer = 1;
        gradients_agree(c);
    }
}

static void losses_of(struct gpt_config c, int steps, double *out)
{
    struct run r;
    run_open(&r, c);
    for (int i = 0; i < steps; i++)
        assert_int_equal(gpt_train_step(&r.g, batch_of, &r.c, &out[i]), GPT_OK);
    run_close(&r);
}

// Both modes, both kinds of attention, checkpointed or not, with any division of the batch: the
// same training.
static void modes_train_alike(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    double first[STEPS], other[STEPS];
    struct gpt_config c = tiny();
    c.accumulation = 2;
    losses_of(c, STEPS, first);
    assert_true(first[STEPS - 1] < first[0]);
    for (int i = 1; i < 8; i++) {
        c.mode = i & 1 ? GPT_LEAN : GPT_FRAMEWORK;
        c.attention = i & 2 ? GPT_MATRIX : GPT_TILED;
        c.checkpointing = i & 4;
        losses_of(c, STEPS, other);
        for (int s = 0; s < STEPS; s++)
            if (fabs(first[s] - other[s]) > 1e-9)
                fail_msg("variant %d, step %d: %.12g against %.12g", i, s, other[s], first[s]);
    }
}

// In lower precision the curve stays close to the one in fp64; the loss scaler and clipping do not
// move it far.
static void low_precision_stays_close(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    double wanted[STEPS], got[STEPS];
    struct gpt_config c = tiny();
    c.train_loop = true;
    losses_of(c, STEPS, wanted);
    const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    const double allowed[] = {1e-4, 2e-3, 5e-2};
    for (int t = 0; t < 3; t++)
        for (int mode = 0; mode < 2; mode++) {
            c.dtype = types[t];
            c.mode = mode;
            losses_of(c, STEPS, got);
            for (int s = 0; s < STEPS; s++)
                if (!(fabs(got[s] - wanted[s]) <= allowed[t]))
                    fail_msg("%s mode %d step %d: %.8g against %.8g", dtype_name(types[t]), mode, s,
                             got[s], wanted[s]);
        }
}

// A gradient that is not finite leaves the step out and halves the scale; the next step is made.
static void overflow_leaves_a_step_out(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct gpt_config c = tiny();
        c.dtype = DTYPE_F16;
        c.train_loop = true;
        c.mode = variant & 1 ? GPT_LEAN : GPT_FRAMEWORK;
        c.split_adamw = variant & 2;
        struct run r;
        run_open(&r, c);
        assert_int_equal(gpt_train_step(&r.g, batch_of, &r.c, NULL), GPT_OK);
        assert_true(ref_get(r.g.scale, 0) == 65536);
        ref_set(r.g.scale, 0, 0x1p40);  // beyond fp16
        double before = ref_get(r.g.weights[SLOT_WTE], 3);
        assert_int_equal(gpt_train_step(&r.g, batch_of, &r.c, NULL), GPT_OK);
        assert_true(ref_get(r.g.scale, 0) == 0x1p39);
        assert_true(ref_get(r.g.growth, 0) == 0);
        assert_true(ref_get(r.g.weights[SLOT_WTE], 3) == before);
        ref_set(r.g.scale, 0, 1024);
        assert_int_equal(gpt_train_step(&r.g, batch_of, &r.c, NULL), GPT_OK);
        assert_true(ref_get(r.g.weights[SLOT_WTE], 3) != before);
        assert_true(ref_get(r.g.growth, 0) == 1);
        if (!c.split_adamw)
            // The one that was left out does not count.
            assert_true(ref_get(r.g.steps[SLOT_WTE], 0) == 2);
        run_close(&r);
    }
}

static void evaluation_matches_training_loss(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        struct gpt_config c = tiny();
        c.mode = mode;
        struct run r;
        run_open(&r, c);
        double evaluated, trained;
        assert_int_equal(gpt_evaluate(&r.g, 2, one_batch, &r.c, &evaluated), GPT_OK);
        assert_null(r.g.logits);  // the training loop's own variables are as before
        assert_null(r.g.loss);
        assert_non_null(r.g.tokens);
        run_close(&r);
        run_open(&r, c);
        assert_int_equal(gpt_train_step(&r.g, one_batch, &r.c, &trained), GPT_OK);
        run_close(&r);
        assert_true(fabs(evaluated - trained) < 1e-12);
    }
}

static void half_types_round_trip(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        float f = half_to_float((uint16_t)i), b = bfloat16_to_float((uint16_t)i);
        if (!isnan(f))
            assert_int_equal(float_to_half(f), i);
        if (!isnan(b))
            assert_int_equal(float_to_bfloat16(b), i);
    }
    assert_int_equal(float_to_half(65519.0f), 0x7bff);
    assert_int_equal(float_to_half(65520.0f), 0x7c00);
    assert_int_equal(float_to_half(0x1p-25f), 0);  // half of the smallest: to even
    assert_int_equal(float_to_half(0x1.8p-24f), 2);
    assert_int_equal(float_to_half(-0x1.ffcp-15f), 0x8400);    // and up into the normal ones
    assert_int_equal(float_to_half(1.0f + 0x1p-11f), 0x3c00);  // half way: to even
    assert_int_equal(float_to_half(1.0f + 0x1.8p-10f), 0x3c02);
    assert_int_equal(float_to_bfloat16(1.0f + 0x1p-8f), 0x3f80);
}

// Decay is for matrices, however small the model is.
static void only_matrices_are_decayed(void **state)
{
    (void)state;
    struct gpt_config c = tiny();
    c.n_embd = 2;
    c.n_head = 1;
    struct run r;
    run_open(&r, c);
    int matrices = 0;
    for (int slot = 0; slot < r.g.slots; slot++)
        matrices += r.g.weights[slot] && gpt_slot_is_matrix(slot);
    assert_int_equal(matrices, 2 + 4 * c.n_layer);
    assert_false(gpt_slot_is_matrix(r.g.slots - 1));
    assert_false(gpt_slot_is_matrix(r.g.slots - 2));
    run_close(&r);
}

static void impossible_configs_are_named(void **state)
{
    (void)state;
    struct gpt_config c = tiny();
    assert_null(gpt_config_error(&c));
    c.n_head = 3;
    assert_non_null(gpt_config_error(&c));
    c = tiny();
    c.seq_len = 7;
    assert_non_null(gpt_config_error(&c));
    c = tiny();
    c.dropout = NAN;
    assert_non_null(gpt_config_error(&c));
    c = tiny();
    c.n_layer = INT64_MAX;
    assert_non_null(gpt_config_error(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_types_round_trip),
        cmocka_unit_test(only_matrices_are_decayed),
        cmocka_unit_test(impossible_configs_are_named),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(modes_train_alike),
        cmocka_unit_test(low_precision_stays_close),
        cmocka_unit_test(overflow_leaves_a_step_out),
        cmocka_unit_test(evaluation_matches_training_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
