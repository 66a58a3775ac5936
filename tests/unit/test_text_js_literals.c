// Literals out of the text of a configuration in JavaScript: values by key, names that stand for
// them, and what is passed over.
#include "gen/text/js_literals.h"
#include "tests/unit/base_fixture.h"

static void values(void **state)
{
    static const struct {
        const char *text, *key, *want;
    } rows[] = {
        {"export default {title: 'One', base: '/b/'}", "title", "One"},
        {"const title = 'Two'\nexport default {title}", "title", "Two"},
        {"let title\nvar title = 'Three'\nexport default {title}", "title", "Three"},
        {"function title() { return 'Four' }\nexport default {title}", "title", "Four"},
        {"const to /* not this */ = 1\nexport default {title: name}\nconst name = 'Five'", "title",
         "Five"},
        // Patterns: a quote or a bracket in one begins nothing.
        {"export default {match: [/[\"'({]/, 1], title: 'Six'}", "title", "Six"},
        {"const a = {b: f(/\"/g), title: 'Seven'}\nexport default {...a}", "title", "Seven"},
        {"export default {ratio: 6 / 2, title: 'Eight'}", "title", "Eight"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena a = ARENA_INIT;
        struct js_text js = {.text = str_c(rows[i].text), .a = &a};
        const struct yaml_node *n = js_value(&js, str_c(rows[i].key));
        print_message("# %s\n", rows[i].text);
        assert_non_null(n);
        assert_str(n->text, rows[i].want);
        arena_free(&a);
    }
}

// Of the exported object, after what is no literal.
static void passes_over_patterns(void **state)
{
    arena a = ARENA_INIT;
    struct js_text js = {.text = STR("export default {match: f(1, /[\"'({]/), title: 'T'}"),
                         .a = &a};
    const struct yaml_node *n = js_exported(&js);
    (void)state;
    assert_non_null(n);
    assert_int_equal(n->count, 2);
    assert_str(n->pairs[1].key->text, "title");
    assert_str(n->pairs[1].value->text, "T");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(passes_over_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
