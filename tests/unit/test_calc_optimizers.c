// What optimizers keep: sums that the frameworks' own traces hold.

#include "tests/unit/calc_words_fixture.h"

// The model of the traces llama_8bit_L2_new, llama_ao8bit_L2_new, ... of
// tests/calc/truth/frameworks.
#define TRACED \
    "family=llama n_layer=2 n_embd=2048 n_head=32 n_kv_head=8 n_inner=8192 vocab_size=128256 " \
    "tie_embeddings=1 " \
    "batch_size=2 seq_len=512 block_size=512 gradient_accumulation_steps=1 dtype=bfloat16_pure " \
    "evaluation=0 grad_clip=0 "

// Bytes born in the first step of the trace and alive at its end.
static void test_states_are_those_of_the_traces(void **state)
{
    static const struct {
        const char *words;
        uint64_t bytes;
    } traced[] = {
        {"optimizer=adamw_8bit", 780699648},
        {"optimizer=adamw_8bit_paged", 12093440},
        {"optimizer=adamw_paged", 81920},
        {"optimizer=lion", 1537253376},
        {"optimizer=lion_8bit", 390349824},
        {"optimizer=lion_paged", 40960},
        {"optimizer=lion_8bit_paged", 6046720},
        {"optimizer=ademamix", 4611760128},
        {"optimizer=ademamix_8bit", 1171048448},
        {"optimizer=ademamix_paged", 122880},
        {"optimizer=ademamix_8bit_paged", 18139136},
        {"optimizer=rmsprop", 768626688},
        {"optimizer=adagrad", 768626688},
        {"optimizer=adamw_torchao_8bit", 780687360},
        {"optimizer=adamw_torchao_4bit", 408364928},
        {"optimizer=sgd_momentum", 768626688},
        // A number of each parameter is made again in each step.
        {"optimizer=adafactor", 914432 + 20 * 4},
        {"optimizer=sgd", 0},
    };
    (void)state;
    vram *v = fixture_open(TRACED);
    for (size_t i = 0; i < sizeof traced / sizeof *traced; i++) {
        fixture_set(v, traced[i].words);
        assert_int_equal(fixture_run(v)->optim_bytes, traced[i].bytes);
    }
    vram_free(v);
}

// What is in managed memory is said, is in the process's figure and in none of PyTorch's.
static void test_paged_state_is_outside_of_the_allocator(void **state)
{
    (void)state;
    vram *v = fixture_open(TRACED "optimizer=adamw_8bit");
    const struct vram_result *r = fixture_run(v);
    uint64_t whole = r->optim_bytes, allocated = r->peak_allocated.bytes;
    fixture_set(v, "optimizer=adamw_8bit_paged");
    r = fixture_run(v);
    uint64_t paged = whole - r->optim_bytes;
    assert_true(paged > 700000000 && allocated - r->peak_allocated.bytes > paged / 2);
    assert_true(r->process.bytes >= r->peak_reserved.bytes + r->context.bytes + paged);
    bool said = false;
    for (size_t i = 0; i < r->note_count; i++)
        said = said || strstr(r->notes[i].text, "paged memory");
    assert_true(said);
    vram_free(v);
}

// Gradients go as they come; without them nothing can be accumulated.
static void test_optimizer_in_backward(void **state)
{
    (void)state;
    // The peak is the end of backward.
    vram *v = fixture_open(TRACED "optimizer=adamw_fused seq_len=16");
    const struct vram_result *r = fixture_run(v);
    uint64_t gradients = r->grad_bytes, live = r->peak_live.bytes;
    assert_true(gradients > 0);
    fixture_set(v, "optimizer_in_backward=true");
    r = fixture_run(v);
    assert_int_equal(r->grad_bytes, 0);
    assert_true(r->peak_live.bytes < live);
    assert_int_equal(vram_set(v, "gradient_accumulation_steps", "2"), VRAM_OK);
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    vram_free(v);
}

// Adafactor's step: the largest gradient four times in float32, and the roots of its sums.
static void test_step_of_adafactor(void **state)
{
    (void)state;
    uint64_t n = UINT64_C(128256) * 2048;
    vram *v = fixture_open(TRACED "optimizer=adafactor");
    const struct vram_result *r = fixture_run(v);
    uint64_t base = r->param_bytes + r->grad_bytes + r->optim_bytes;
    assert_true(r->peak_live.bytes >= base + 16 * n + 4 * (128256 + 2048));
    assert_true(r->peak_live.bytes < base + 16 * n + 4 * (128256 + 2048) + 65536);
    vram_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_are_those_of_the_traces),
        cmocka_unit_test(test_paged_state_is_outside_of_the_allocator),
        cmocka_unit_test(test_optimizer_in_backward),
        cmocka_unit_test(test_step_of_adafactor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
