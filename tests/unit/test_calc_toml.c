// The TOML reader's promises to whoever calls it: memory that runs out anywhere, and no text that
// costs much.

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calc/toml/toml.h"

enum { BLOCKS = 200000 };

struct heap {
    void *blocks[BLOCKS];
    size_t count, bytes, fail_at, errors;  // fail_at: this call gets nothing; 0 = none
};

static void *take(void *ctx, size_t bytes)
{
    struct heap *h = ctx;
    if (++h->count == h->fail_at || h->count > BLOCKS)
        return NULL;
    h->bytes += bytes;
    return h->blocks[h->count - 1] = calloc(1, bytes);
}

static void count_error(void *ctx, const struct toml_error *e)
{
    (void)e;
    ((struct heap *)ctx)->errors++;
}

static enum toml_status read_text(struct heap *h, const char *text, size_t len,
                                  struct toml_value **root)
{
    struct toml_host host = {take, count_error, h};
    return toml_read(text, len, &host, root);
}

static void release(struct heap *h)
{
    for (size_t i = 0; i < h->count && i < BLOCKS; i++)
        free(h->blocks[i]);
    size_t fail_at = h->fail_at;
    memset(h, 0, sizeof *h);
    h->fail_at = fail_at;
}

static struct toml_text key(const char *s)
{
    return (struct toml_text){s, strlen(s)};
}

static int setup(void **state)
{
    return !(*state = calloc(1, sizeof(struct heap)));
}

static int teardown(void **state)
{
    release(*state);
    free(*state);
    return 0;
}

static const char sample[] = "a.b = [1, {c = \"\\u00e9\"}, 1_0.0]\nd = \"\"\"x\\\n  "
                             "y\"\"\"\n[e.f]\n[[g.h]]\ni = 1\n[[g.h]]\n\"j\\t\" = 2\n";

static void reads_a_tree(void **state)
{
    struct toml_value *root;
    assert_int_equal(read_text(*state, sample, sizeof sample - 1, &root), TOML_OK);
    const struct toml_value *a = toml_get(root, key("a")),
                            *h = toml_get(toml_get(root, key("g")), key("h"));
    assert_int_equal(root->count, 4);
    assert_int_equal(toml_get(a, key("b"))->count, 3);
    assert_null(toml_get(root, key("b")));
    assert_null(toml_get(root, key("")));
    assert_null(toml_get(root, key("a.b")));
    assert_int_equal(h->kind, TOML_ARRAY);
    assert_int_equal(toml_get(h->first, key("i"))->integer, 1);
    assert_int_equal(toml_get(h->last, key("j\t"))->integer, 2);
    assert_int_equal(toml_get(root, key("d"))->offset, strchr(sample, 'd') + 4 - sample);
}

static void memory_runs_out_at_every_call(void **state)
{
    struct heap *h = *state;
    struct toml_value *root;
    enum toml_status status = TOML_NO_MEMORY;
    for (h->fail_at = 1; status == TOML_NO_MEMORY; h->fail_at++) {
        status = read_text(h, sample, sizeof sample - 1, &root);
        assert_int_equal(h->errors, 0);
        assert_true((root != NULL) == (status == TOML_OK));
        release(h);
    }
    assert_int_equal(status, TOML_OK);
    assert_true(h->fail_at > 20);
}

// n times a piece, then an end: read with at most 80 bytes a byte.
static void costs_little(struct heap *h, const char *begin, const char *piece, size_t n,
                         const char *end, enum toml_status wanted)
{
    size_t len = strlen(piece), all = strlen(begin) + n * len + strlen(end);
    char *text = malloc(all + 1), *at = text + strlen(begin);
    struct toml_value *root;
    memcpy(text, begin, strlen(begin));
    for (size_t i = 0; i < n; i++, at += len)
        memcpy(at, piece, len);
    memcpy(at, end, strlen(end) + 1);
    assert_int_equal(read_text(h, text, all, &root), wanted);
    assert_true(h->bytes <= 80 * all + 80);
    assert_true(h->errors <= TOML_MAX_ERRORS + 1);
    release(h);
    free(text);
}

static void no_text_is_slow(void **state)
{
    // A quadratic reader would be here for minutes.
    costs_little(*state, "a = ", "[", 1000000, "", TOML_INVALID);
    costs_little(*state, "a", ".a", 1000000, "", TOML_INVALID);
    costs_little(*state, "", "a=[\n", 250000, "", TOML_INVALID);
    costs_little(*state, "a=[", "[],", 100000, "]", TOML_OK);
    costs_little(*state, "a=[1 2\n", "\"x\n", 300000, "", TOML_INVALID);
    costs_little(*state, "a=[\n", "          ", 100000, "1 2]", TOML_INVALID);
    costs_little(*state, "a=\"\"\"", "\\   \n ", 200000, "\"\"\"", TOML_OK);
    costs_little(*state, "a=\"", "\\", 1000000, "", TOML_INVALID);
    costs_little(*state, "a={", "b={\n", 250000, "", TOML_INVALID);
    costs_little(*state, "", "[[a]]\n", 90000, "", TOML_OK);
    costs_little(*state, "", "\xFF\n", 500000, "", TOML_INVALID);
}

// Keys of which each is the beginning of the next: the longest ways through the index.
static void keys_that_begin_alike_are_found(void **state)
{
    enum { KEYS = 1000 };
    size_t len = 0;
    char *text = malloc(KEYS * (KEYS + 3)), name[KEYS + 1];
    struct toml_value *root;
    for (size_t i = 0; i < KEYS; i++) {
        memset(text + len, 'a', i + 1);
        memcpy(text + len + i + 1, "=1\n", 3);
        len += i + 4;
    }
    assert_int_equal(read_text(*state, text, len, &root), TOML_OK);
    assert_int_equal(root->count, KEYS);
    memset(name, 'a', KEYS + 1);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(toml_get(root, (struct toml_text){name, i + 1})->key.len, i + 1);
        name[i] = 'b';
        assert_null(toml_get(root, (struct toml_text){name, i + 1}));
        name[i] = 'a';
    }
    assert_null(toml_get(root, (struct toml_text){name, KEYS + 1}));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_runs_out_at_every_call, setup, teardown),
        cmocka_unit_test_setup_teardown(no_text_is_slow, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_that_begin_alike_are_found, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
