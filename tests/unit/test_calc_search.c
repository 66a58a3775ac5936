// Searches: what they find fits, the next value does not, and the tables hold.

#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"

static bool fits_with(const char *config, const char *field, uint64_t value)
{
    struct heap h = {0};
    bool fits = false;
    vram *v = open_vram(&h);
    set_all(v, config);
    assert_int_equal(vram_set_u64(v, field, value), VRAM_OK);
    if (write_fit(v, &fits, VRAM_FORMAT_TEXT) != VRAM_OK)
        fail_msg("%s %s=%llu: %s", config, field, (unsigned long long)value, vram_error(v)->text);
    close_vram(v, &h);
    return fits;
}

// A field, a configuration, the distance of two values; and whether memory is what ends it.
static const struct row {
    const char *field, *config;
    uint64_t step;
    bool by_memory;
} ROWS[] = {
    {"batch_size", "preset=gpt2 gpu=RTX_4070", 1, true},
    {"seq_len",
     "preset=llama-3.1-8b lora_rank=16 quantization=nf4 checkpointing=block gpu=RTX_4090", 1, true},
    {"seq_len", "preset=gpt2 batch_size=1 gpu=RTX_4090", 1, false},
    {"n_layer", "preset=gpt2 gpu=RTX_4070", 1, true},
    {"n_embd", "preset=gpt2 batch_size=2 gpu=RTX_4070", 12, true},
    {"lora_rank", "preset=llama-3.2-1b batch_size=1 gpu=RTX_4090", 1, true},
    {"vocab_size", "preset=nanogpt-30m gpu=RTX_4070", 1, true},
    {"max_new_tokens", "preset=llama-3.1-8b task=inference seq_len=1024 batch_size=16 gpu=RTX_4090",
     1, true},
    {"n_gpu", "preset=llama-3.1-8b parallel=fsdp2 checkpointing=block gpu=RTX_4090", 1, true},
    {"other_memory", "preset=nanogpt-30m gpu=RTX_4070", 1, true},
};

static void test_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct row *r = &ROWS[i];
        struct heap h = {0};
        const struct vram_solution *s;
        vram *v = open_vram(&h);
        set_all(v, r->config);
        if (vram_solve(v, r->field, &s) != VRAM_OK)
            fail_msg("%s of %s: %s", r->field, r->config, vram_error(v)->text);
        if (!s->found || s->tried < 2)
            fail_msg("%s of %s: nothing found", r->field, r->config);
        uint64_t found = s->value,
                 beyond = s->goal == VRAM_GOAL_LARGEST ? found + r->step : found - r->step;
        if (!fits_with(r->config, r->field, found))
            fail_msg("%s=%llu of %s does not fit", r->field, (unsigned long long)found, r->config);
        if (r->by_memory && fits_with(r->config, r->field, beyond))
            fail_msg("%s=%llu of %s fits, too", r->field, (unsigned long long)beyond, r->config);
        assert_int_equal(!s->limit, r->by_memory);
        if (s->safe_found && s->goal == VRAM_GOAL_LARGEST)
            assert_true(s->safe_value <= found);
        close_vram(v, &h);
    }
}

// The largest batch is one search, whoever asks.
static void test_batch_is_max_batch(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_solution *s;
    uint64_t batch;
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2-medium gpu=A100_80GB");
    assert_int_equal(write_max_batch(v, &batch, VRAM_FORMAT_JSON), VRAM_OK);
    assert_int_equal(vram_solve(v, "bs", &s), VRAM_OK);  // by another of its names
    assert_int_equal(s->value, batch);
    assert_string_equal(s->field, "batch_size");
    close_vram(v, &h);
}

// Where no order is known every value is tried.
static void test_scan(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_solution *s;
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-2-70b task=inference seq_len=2048 gpu=A100_80GB");
    assert_int_equal(vram_solve(v, "tensor_parallel", &s), VRAM_OK);
    assert_int_equal(s->method, VRAM_METHOD_SCAN);
    assert_int_equal(s->value, 2);  // 138 GB of weights, 81 each; 64 heads
    set_all(v, "task=train batch_size=1 checkpointing=block gpu=H200");
    assert_int_equal(vram_solve(v, "tensor_parallel", &s), VRAM_OK);
    assert_int_equal(s->value % 2, 0);  // 3, 5, 6, 7 do not divide the heads
    close_vram(v, &h);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *field;
        int code;
    } rows[] = {
        {"preset=gpt2 gpu=T4", "batch_sise", VRAM_EKEY},
        {"preset=gpt2 gpu=T4", "dtype", VRAM_EVALUE},
        {"preset=gpt2 gpu=T4", "grad_clip", VRAM_EVALUE},
        {"preset=gpt2", "batch_size", VRAM_EGPU},
        {"preset=gpt2 gpu=T4", "n_gpu", VRAM_EMODEL},
        {"preset=gpt2 gpu=T4 compile=2.5 attention=math", "batch_size", VRAM_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = {0};
        const struct vram_solution *s;
        vram *v = open_vram(&h);
        set_all(v, rows[i].config);
        assert_int_equal(vram_solve(v, rows[i].field, &s), rows[i].code);
        close_vram(v, &h);
    }
}

// Each row fits where a plain question says so, and no other number of the card does; smallest
// first.
static void test_cards(void **state)
{
    (void)state;
    static const char *const configs[] = {"preset=gpt2-xl batch_size=4 checkpointing=block",
                                          "preset=llama-3.1-8b checkpointing=block",
                                          "preset=llama-3.1-8b task=inference seq_len=4096"};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct heap h = {0};
        const struct vram_cards *c;
        vram *v = open_vram(&h);
        set_all(v, configs[i]);
        assert_int_equal(vram_cards(v, &c), VRAM_OK);
        assert_true(c->card_count > 40 && c->tried > c->card_count);
        for (size_t k = 0; k < c->card_count; k += 7) {
            const struct vram_card *row = &c->cards[k];
            vram *one = open_vram(&h);
            bool fits = false;
            set_all(one, configs[i]);
            if (row->change)
                set_all(one, row->change);
            assert_int_equal(vram_set(one, "gpu", row->gpu_name), VRAM_OK);
            assert_int_equal(write_fit(one, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
            const struct vram_result *r = vram_result(one);
            assert_true(fits);
            assert_int_equal(r->process.bytes, row->process_bytes);
            assert_int_equal(r->gpu_bytes - r->process.bytes, row->margin_bytes);
            if (k)
                assert_true(row->total_bytes >= c->cards[k - 1].total_bytes);
            vram_free(one);
        }
        close_vram(v, &h);
    }
}

static void test_no_card(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_cards *c;
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.1-405b batch_size=64");
    assert_int_equal(vram_cards(v, &c), VRAM_OK);
    assert_true(c->card_count == 0 && c->refusal);
    set_all(v, "n_head=7");
    assert_int_equal(vram_cards(v, &c), VRAM_EMODEL);
    close_vram(v, &h);
}

// Memory that is refused anywhere is an error and nothing is lost.
static void test_memory(void **state)
{
    (void)state;
    for (size_t fail = 1; fail < 60; fail++) {
        struct heap h = {.fail_at = fail};
        const struct vram_solution *s;
        const struct vram_cards *c;
        vram *v = open_vram(&h);
        if (!v)
            continue;
        vram_set(v, "n_layer", "1");
        vram_set(v, "gpu", "T4");
        int solved = vram_solve(v, "batch_size", &s);
        int carded = solved ? solved : vram_cards(v, &c);
        assert_true(carded == VRAM_OK || carded == VRAM_ENOMEM);
        close_vram(v, &h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),  cmocka_unit_test(test_batch_is_max_batch),
        cmocka_unit_test(test_scan),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cards),  cmocka_unit_test(test_no_card),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
