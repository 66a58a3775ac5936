// Does it fit in what CUDA offers of a card: decisions at the boundary, by system, and where the
// two totals are told apart.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

#define MIB UINT64_C(1048576)

static bool fits(vram *v)
{
    const struct vram_fit *f;
    assert_int_equal(vram_fit(v, &f), VRAM_OK);
    return vram_verdict_fits(f->verdict);
}

// Makes the process take exactly `mib`: the context is what is left beside reserved memory.
static void take(vram *v, uint64_t mib)
{
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(
        vram_set_u64(v, "context_mib", mib - vram_result(v)->peak_reserved.bytes / MIB), VRAM_OK);
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(vram_result(v)->process.bytes, mib * MIB);
}

// Every card: a process of just what CUDA offers fits, one of a MiB more does not; on Windows the
// line is the card's total.
static void test_boundary_of_every_card(void **state)
{
    static const char *const systems[] = {"linux", "windows"};
    struct heap h = {0};
    const struct vram_gpu *card;
    struct vram_capacity c;
    size_t less = 0;
    (void)state;
    vram *v = open_vram(&h);
    set_all(v, "n_layer=1 n_embd=8 n_head=1 vocab_size=64 block_size=16 batch_size=1");
    for (size_t i = 0; (card = vram_gpu_at(i)) != NULL; i++)
        for (size_t s = 0; s < 2; s++) {
            assert_int_equal(vram_set(v, "gpu", card->name), VRAM_OK);
            assert_int_equal(vram_set(v, "system", systems[s]), VRAM_OK);
            assert_true(vram_gpu_capacity(card, systems[s], &c));
            assert_true(c.total_bytes == card->memory_bytes && c.cuda_bytes <= c.total_bytes);
            assert_true(c.cuda_low_bytes <= c.cuda_bytes && c.cuda_bytes <= c.cuda_high_bytes);
            assert_true(s == 0 || c.cuda_bytes == c.total_bytes);
            less += c.cuda_bytes < c.total_bytes;
            uint64_t mib = c.cuda_bytes / MIB, most = 65536;
            if (mib > most)  // the context's field ends there: others hold the rest
                assert_int_equal(vram_set_u64(v, "other_memory", mib - most), VRAM_OK);
            mib = mib > most ? most : mib;
            take(v, mib);
            assert_int_equal(vram_result(v)->gpu_bytes, mib * MIB);
            assert_true(fits(v));
            take(v, mib + 1);
            assert_false(fits(v));
            assert_int_equal(vram_set_u64(v, "other_memory", 0), VRAM_OK);
        }
    assert_true(less > 90);
    close_vram(v, &h);
}

// 11,874 MiB on Linux and 12,282 on Windows: between them lies a run that the card's name alone
// would let through.
static void test_rtx_4070(void **state)
{
    struct heap h = {0};
    (void)state;
    vram *v = open_vram(&h);
    set_all(v, "preset=tinyllama-1.1b gpu=4070");
    take(v, 12008);
    assert_false(fits(v));
    assert_int_equal(vram_result(v)->gpu_bytes, 11874 * MIB);
    assert_int_equal(vram_result(v)->capacity.total_bytes, 12282 * MIB);
    assert_int_equal(vram_result(v)->capacity.basis, VRAM_CAPACITY_OBSERVED);
    set_all(v, "system=wsl2");
    assert_true(fits(v));
    assert_int_equal(vram_result(v)->gpu_bytes, 12282 * MIB);
    assert_int_equal(vram_result(v)->capacity.basis, VRAM_CAPACITY_TOTAL);
    set_all(v, "system=linux preset=gpt2");  // a preset is a model, not a machine
    set_all(v, "system=windows preset=gpt2");
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(vram_result(v)->capacity.cuda_bytes, 12282 * MIB);
    close_vram(v, &h);
}

// What the card is said to be in other ways: its size, what CUDA says of it, another size of a card
// that is listed.
static void test_given_sizes(void **state)
{
    static const struct {
        const char *words;
        uint64_t total, cuda, left;
        uint32_t basis;
    } rows[] = {
        // RTX 3080 Ti 378, 3060 379, 3080 12GB 171.
        {"gpu=none gpu_memory=12288", 12288, 11910, 11910, VRAM_CAPACITY_RULE},
        {"gpu=none gpu_memory=0 cuda_memory=11000", 0, 11000, 11000, VRAM_CAPACITY_GIVEN},
        {"gpu=4070 cuda_memory=12002", 12282, 12002, 12002, VRAM_CAPACITY_GIVEN},
        {"gpu=4070 cuda_memory=12002 other_memory=1002", 12282, 12002, 11000, VRAM_CAPACITY_GIVEN},
        {"gpu=4070 cuda_memory=0 other_memory=874", 12282, 11874, 11000, VRAM_CAPACITY_OBSERVED},
        {"gpu=T4 gpu_memory=15360 other_memory=0", 15360, 14912, 14912, VRAM_CAPACITY_OBSERVED},
        {"gpu=T4 gpu_memory=8192 system=windows", 8192, 8192, 8192, VRAM_CAPACITY_TOTAL},
        {"gpu=MI300X gpu_memory=0 system=linux", 196592, 196592, 196592, VRAM_CAPACITY_TOTAL},
        {"gpu=L40", 46068, 45462, 45462, VRAM_CAPACITY_RULE},
    };
    struct heap h = {0};
    (void)state;
    vram *v = open_vram(&h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_all(v, rows[i].words);
        assert_int_equal(vram_run(v), VRAM_OK);
        const struct vram_result *r = vram_result(v);
        if (r->capacity.total_bytes != rows[i].total * MIB ||
            r->capacity.cuda_bytes != rows[i].cuda * MIB || r->gpu_bytes != rows[i].left * MIB ||
            r->capacity.basis != rows[i].basis)
            fail_msg("%s: %llu of %llu, %llu left, %s", rows[i].words,
                     (unsigned long long)(r->capacity.cuda_bytes / MIB),
                     (unsigned long long)(r->capacity.total_bytes / MIB),
                     (unsigned long long)(r->gpu_bytes / MIB),
                     vram_capacity_name(r->capacity.basis));
    }
    set_all(v, "gpu=none");
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(vram_result(v)->capacity.basis, VRAM_CAPACITY_NONE);
    close_vram(v, &h);
}

static void test_questions_about_cards(void **state)
{
    struct vram_capacity c;
    struct vram_gpu own = {.name = "RTX 4070"};
    (void)state;
    assert_true(vram_gpu_capacity(vram_gpu_find("RTX 4070"), NULL, &c));
    assert_true(c.cuda_bytes == 11874 * MIB && c.seen == 4 && c.cuda_low_bytes == 11866 * MIB &&
                c.cuda_high_bytes == 12002 * MIB);
    assert_false(vram_gpu_capacity(vram_gpu_find("RTX 4070"), "plan9", &c));
    assert_false(vram_gpu_capacity(vram_gpu_find("RTX 4070"), NULL, NULL));
    assert_false(vram_gpu_capacity(&own, NULL, &c));
    assert_false(vram_gpu_capacity(NULL, NULL, &c));
}

static bool says(vram *v, const char *text)
{
    return strstr(vram_text(v, NULL), text) != NULL;
}

// Every answer that names the card says both totals.
static void test_both_totals_are_said(void **state)
{
    struct heap h = {0};
    bool fit;
    (void)state;
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2 gpu=4070");
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(vram_write(v, VRAM_ANSWER_REPORT, VRAM_FORMAT_TEXT, 0), VRAM_OK);
    assert_true(says(
        v,
        "RTX 4070: 12,282 MiB in nvidia-smi, of which CUDA offers 11,874 on Linux (seen 4 times"));
    assert_int_equal(write_fit(v, &fit, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_true(says(v, "12,282 MiB in nvidia-smi") && says(v, "11,874 MiB for it"));
    assert_int_equal(write_fit(v, &fit, VRAM_FORMAT_JSON), VRAM_OK);
    assert_true(says(v, "\"memory_bytes\": 12878610432") && says(v, "\"cuda_bytes\": 12450791424"));
    assert_int_equal(write_advice(v, VRAM_FORMAT_JSON), VRAM_OK);
    assert_true(says(v, "\"memory_bytes\": 12878610432") &&
                says(v, "\"cuda_basis\": \"observed\""));
    set_all(v, "gpu=L40");
    assert_int_equal(write_fit(v, &fit, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_true(says(v, "not seen"));
    close_vram(v, &h);
}

// A run that takes more than the card when nothing stops it and fits once the cache is given back:
// 78,209 MiB were measured on 80 GB (fms-acceleration, QLoRA of Mistral-7B, 32 x 4096). Where it
// does not fit, the figure is what it would take.
static void test_full_card_gets_its_cache_back(void **state)
{
    struct heap h = {0};
    const struct vram_segments *s;
    bool fit = false;
    (void)state;
    vram *v = open_vram(&h);
    set_all(v,
            "preset=mistral-7b vocab_size=32001 framework=transformers torch=2.4 transformers=4.45 "
            "dtype=bfloat16_loaded batch_size=32 seq_len=4096 gradient_accumulation_steps=1 "
            "lora_rank=16 lora_targets=q+k+v+o lora_dropout=0.1 optimizer=adamw_foreach "
            "checkpointing=block use_reentrant=true kernels=foak cross_entropy=inplace "
            "grad_clip=1 evaluation=false quantization=nf4_double attention=flash_attention_2");
    assert_int_equal(vram_run(v), VRAM_OK);
    uint64_t reserved = vram_result(v)->peak_reserved.bytes;
    assert_int_equal(vram_result(v)->alloc_retries, 0);
    set_all(v, "gpu=A100_80GB_SXM");
    assert_int_equal(vram_run(v), VRAM_OK);
    const struct vram_result *r = vram_result(v);
    assert_true(reserved > r->gpu_bytes && r->process.bytes <= r->gpu_bytes);
    assert_true(r->peak_allocated.bytes <= r->peak_reserved.bytes);
    assert_true(r->alloc_retries > 0);
    assert_int_equal(r->verdict, VRAM_VERDICT_TIGHT);
    assert_string_equal(r->notes[r->note_count - 1].id, "cache_returned");
    assert_int_equal(write_fit(v, &fit, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_true(fit && says(v, "only once PyTorch has returned its cache"));
    assert_int_equal(vram_segments(v, VRAM_MOMENT_GROWTH, 0, &s), VRAM_OK);
    r = vram_result(v);
    assert_true(s->reserved_bytes <= r->peak_reserved.bytes);
    assert_true(s->reserved_bytes > r->peak_allocated.bytes);
    set_all(v, "gpu=A100_40GB");
    assert_int_equal(vram_run(v), VRAM_OK);
    assert_int_equal(vram_result(v)->peak_reserved.bytes, reserved);
    assert_int_equal(vram_result(v)->verdict, VRAM_VERDICT_TOO_BIG);
    assert_int_equal(vram_result(v)->alloc_retries, 0);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundary_of_every_card),
        cmocka_unit_test(test_rtx_4070),
        cmocka_unit_test(test_given_sizes),
        cmocka_unit_test(test_questions_about_cards),
        cmocka_unit_test(test_both_totals_are_said),
        cmocka_unit_test(test_full_card_gets_its_cache_back),
    };
    return cmocka_run_group_tests_name("calc_capacity", tests, NULL, NULL);
}
