// Plans: those of advice fit, and have no row too many.

#include "calc/answer/advice_list.h"
#include "calc/answer/advise_changes.h"
#include "calc/answer/answers.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"
#include "calc/replay/report.h"
#include "calc/replay/run.h"
#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"

// What saves nothing alone can be what makes a plan fit.
static void test_plan_of_adapters(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_advice *a;
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.1-8b gpu=RTX_4090");
    assert_int_equal(vram_advise(v, &a), VRAM_OK);
    assert_true(a->plan_found && !a->fits);
    assert_string_equal(a->framework, "transformers");
    bool checkpoints = false, adapts = false;
    for (size_t i = 0; i < a->change_count; i++) {
        checkpoints |= a->changes[i].in_plan && strcmp(a->changes[i].id, "checkpoint") == 0;
        adapts |= a->changes[i].in_plan && strstr(a->changes[i].id, "lora");
    }
    assert_true(checkpoints && adapts);
    close_vram(v, &h);
}

// The configuration that advice prints, pasted, fits.
static void test_plans(void **state)
{
    (void)state;
    struct heap h = {0};
    static const char *const cases[] = {"preset=oom-gpt2",
                                        "preset=oom-gpt2 compile=none",
                                        "preset=gpt2-xl batch_size=4 gpu=A100",
                                        "preset=gpt2 batch_size=64 gpu=3060",
                                        "preset=llama-3.2-1b batch_size=4 gpu=4090",
                                        "preset=gpt2 batch_size=1 block_size=32768 gpu=RTX_4070",
                                        "preset=gpt2-medium batch_size=1 block_size=1536 "
                                        "gpu=RTX_5060"};
    size_t narrow = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vram *v = open_vram(&h), *pasted = open_vram(&h);
        set_all(v, cases[i]);
        assert_int_equal(write_advice(v, VRAM_FORMAT_TEXT), VRAM_OK);
        const char *at = strstr(vram_text(v, NULL), "Do this: ");
        if (!at)
            fail_msg("no plan for %s", cases[i]);
        const char *remark = strstr(at, "; the margin is smaller"), *head = at;
        at = strstr(at, "\n\n");
        bool said = remark && remark < at;
        assert_int_equal(parse_text(pasted, VRAM_KIND_FLAT, at, strlen(at), "pasted"), VRAM_OK);
        bool fits = false;
        assert_int_equal(write_fit(pasted, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
        if (!fits)
            fail_msg("%s: the plan does not fit", cases[i]);
        const struct vram_fit *fit;
        assert_int_equal(vram_fit(pasted, &fit), VRAM_OK);
        if (said != (fit->verdict == VRAM_VERDICT_TIGHT))
            fail_msg("%s: how much room there is: %.80s", cases[i], head);
        narrow += said;
        vram_free(pasted);
        close_vram(v, &h);
    }
    assert_true(narrow > 0);
}

// The plan of a list but for one of its rows, or all of it: how it fits the card.
static uint32_t verdict_without(const vram *v, const struct advice_list *list, size_t row)
{
    struct heap h = {0};
    vram *probe = open_vram(&h);
    struct text_line what;
    struct message refusal;
    const struct vram_fit *fit;
    vram_copy(probe, v);
    for (size_t k = 0; k < list->out.change_count; k++) {
        const struct advice *a = &list->row[list->order[k]];
        if (list->order[k] != row && a->out.in_plan)
            advice_apply(a->number, &probe->config, &what, &refusal);
    }
    int rc = vram_fit(probe, &fit);
    uint32_t verdict = rc == VRAM_OK ? fit->verdict : VRAM_VERDICT_COUNT;
    close_vram(probe, &h);
    return verdict;
}

// Rows that a plan needs, or a failure for one that it does not.
static size_t needed_rows(const vram *v, const struct vram_advice *a, const char *name)
{
    const struct advice_list *list = answers_made(v)->advice;
    uint32_t wanted = a->plan_tight ? VRAM_VERDICT_TIGHT : VRAM_VERDICT_FITS;
    size_t rows = 0;
    if (verdict_without(v, list, ADVICE_MAX) != wanted)
        fail_msg("%s on %s: the plan does not fit so", name, a->gpu_name);
    for (size_t i = 0; i < list->count; i++) {
        const struct vram_change *c = &list->row[i].out;
        if (!c->in_plan || c->cost_permille < 0)
            continue;
        uint32_t rest = verdict_without(v, list, i);
        if (rest == VRAM_VERDICT_FITS || rest == wanted)
            fail_msg("%s on %s: %s is not needed", name, a->gpu_name, c->id);
        rows++;
    }
    return rows;
}

// Whatever is tried first, a plan fits, surely where it says so, and does not without any of its
// rows but those that make it faster.
static void test_plans_need_their_rows(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_preset *preset;
    size_t rows = 0, plans = 0, tight = 0;
    static const char *const cards[] = {"RTX_4090", "H100_SXM", "RTX_4070"};
    for (size_t n = 0; (preset = vram_preset_at(n)); n++) {
        vram *v = open_vram(&h);
        const struct vram_advice *a;
        assert_int_equal(vram_set(v, "preset", preset->name), VRAM_OK);
        assert_int_equal(vram_set(v, "gpu", cards[n % 3]), VRAM_OK);
        assert_int_equal(vram_advise(v, &a), VRAM_OK);
        rows += a->plan_found ? needed_rows(v, a, preset->name) : 0;
        plans += a->plan_found;
        tight += a->plan_found && a->plan_tight;
        close_vram(v, &h);
    }
    printf("%zu plans of %zu rows, %zu narrow\n", plans, rows, tight);
    assert_true(plans > 50 && rows > plans && tight > 0);
}

// A row that makes the plan fit surely, and take more than it did, is no step: paged states are
// known better than those on the card, which takes more with them.
static void test_plans_take_less_with_each_row(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_advice *a;
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-2-13b gpu=H100_NVL");
    assert_int_equal(vram_advise(v, &a), VRAM_OK);
    uint64_t paged = 0, four = 0;
    for (size_t i = 0; i < a->change_count; i++) {
        const struct vram_change *c = &a->changes[i];
        paged += strcmp(c->id, "adam_8bit_paged") == 0 && c->fits_surely && !c->in_plan;
        four += strcmp(c->id, "adam_4bit") == 0 && c->fits_surely && c->in_plan;
    }
    assert_true(a->plan_found && paged && four);
    close_vram(v, &h);
}

// What a plan is pruned by: from report_unsure on no process is surely within the card, and a
// few kilobytes below it every one is.
static void test_the_bound_of_a_sure_fit(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_preset *preset;
    size_t count = 0;
    static const char *const cards[] = {"RTX_4070", "RTX_4090", "H100_SXM"};
    for (; (preset = vram_preset_at(count)); count++) {
        vram *v = open_vram(&h);
        uint64_t least;
        struct vram_figure context, f;
        struct accuracy seen[ACCURACY_COUNT];
        assert_int_equal(vram_set(v, "preset", preset->name), VRAM_OK);
        assert_int_equal(vram_set(v, "gpu", cards[count % 3]), VRAM_OK);
        assert_int_equal(run_process_least(v, &least), VRAM_OK);
        const struct engine *e = v->parts[HANDLE_ENGINE].ptr;
        uint64_t room = capacity_left(&v->config), unsure = report_unsure(v);
        context_figure(&v->config, &context);
        accuracies_of(&v->config, seen);
        uint64_t reserved = unsure - context.bytes - e->state.paged_bytes;
        report_process(seen, reserved, e->state.paged_bytes, &context, &f);
        assert_int_equal(f.bytes, unsure);
        assert_int_equal(report_verdict(&f, room, 0), VRAM_VERDICT_TIGHT);
        report_process(seen, reserved - 4096, e->state.paged_bytes, &context, &f);
        assert_int_equal(report_verdict(&f, room, 0), VRAM_VERDICT_FITS);
        close_vram(v, &h);
    }
    assert_true(count > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_of_adapters),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_plans_need_their_rows),
        cmocka_unit_test(test_plans_take_less_with_each_row),
        cmocka_unit_test(test_the_bound_of_a_sure_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
