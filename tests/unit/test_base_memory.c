// buf, arena and map: pointers that stay valid, zeroed memory, marks, growth, and order of
// insertion.
#include "tests/unit/base_fixture.h"

#include "gen/base/fs.h"
#include "gen/base/heap.h"
#include "gen/base/map.h"

// What the system notes of the mapping that p is in: "rd wr mr ... hg", the last for large pages.
static bool has_flag(const void *p, str flag)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    char text[512];
    bool inside = false, found = false;
    while (fgets(text, sizeof text, maps)) {
        unsigned long long from, to;
        str line = str_c(text), word;
        if (sscanf(text, "%llx-%llx ", &from, &to) == 2)
            inside = from <= (uintptr_t)p && (uintptr_t)p < to;
        while (inside && str_starts(str_c(text), STR("VmFlags:")) && str_cut(&line, ' ', &word))
            found = found || str_eq(word, flag);
    }
    fclose(maps);
    return found;
}

static void the_heap_comes_in_large_pages(void **state)
{
    (void)state;
    str pages = STR("/sys/kernel/mm/transparent_hugepage/enabled");
    struct fs_stat st;
#if defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    if (fs_stat(pages.ptr, &st) < 0)
        skip();
    heap_prepare();
    char *middle = malloc(32 << 20), *below_limit = malloc(60 << 20);
    assert_true(has_flag(middle + (16 << 20), STR("hg")));
    assert_true(has_flag(below_limit + (16 << 20), STR("hg")));
    free(middle), free(below_limit);
    // What was freed stays where it was.
    assert_ptr_equal(malloc(32 << 20), middle);
}

static void buffers_are_always_strings(void **state)
{
    (void)state;
    buf b = BUF_INIT;
    assert_string_equal(b.ptr, "");
    buf_put(&b, NULL, 0);
    buf_clear(&b);
    assert_string_equal(b.ptr, "");
    buf_lit(&b, "ab");
    buf_char(&b, 'c');
    buf_u64(&b, 0);
    buf_u64(&b, UINT64_MAX);
    buf_printf(&b, "-%s-%d", "long enough to grow the buffer once more", 42);
    assert_string_equal(b.ptr,
                        "abc018446744073709551615-long enough to grow the buffer once more-42");
    assert_int_equal(strlen(b.ptr), b.len);
    buf_free(&b);
}

static void code_points_are_written_as_utf8(void **state)
{
    (void)state;
    buf b = BUF_INIT;
    buf_utf8(&b, 'a');
    buf_utf8(&b, 0xe9);
    buf_utf8(&b, 0x939);
    buf_utf8(&b, 0x1f600);
    buf_utf8(&b, 0xd800);
    buf_utf8(&b, 0x110000);
    assert_string_equal(b.ptr, "a\xc3\xa9\xe0\xa4\xb9\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd");
    buf_free(&b);
}

static bool all_zero(const char *p, size_t n)
{
    while (n--)
        if (*p++)
            return false;
    return true;
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    for (int round = 0; round < 3; round++) {
        for (size_t n = 0; n < 5000; n += 37) {
            char *p = arena_alloc(&a, n, 3);
            assert_true(all_zero(p, n * 3));
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            memset(p, 0xff, n * 3);
        }
        arena_reset(&a);
        assert_int_equal(a.total, 0);
    }
    arena_free(&a);
}

static void a_rewind_takes_back_what_came_later(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    arena_mark empty = arena_save(&a);
    char *kept = arena_c(&a, STR("kept"));
    arena_mark m = arena_save(&a);
    char *first = arena_alloc(&a, 10, 1);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 1000, 7);
    arena_rewind(&a, m);
    assert_string_equal(kept, "kept");
    assert_true(a.total == m.total);
#ifndef BASE_HOSTILE
    assert_ptr_equal(arena_alloc(&a, 10, 1), first);
#endif
    (void)first;
    assert_str(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    arena_rewind(&a, empty);
    assert_int_equal(a.total, 0);
    arena_free(&a);
}

static void arrays_grow_and_keep_their_items(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    int *items = NULL;
    size_t cap = 0;
    for (int i = 0; i < 10000; i++) {
        items = arena_grow(&a, items, (size_t)i, &cap, (size_t)i + 1, sizeof *items);
        items[i] = i;
        if (i % 1000 == 0)
            arena_alloc(&a, 1, 1);  // is behind it: the next growth has to move
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(items[i], i);
    arena_free(&a);
}

static void maps_keep_the_order_of_insertion(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct map m = {0};
    assert_null(map_get(&m, STR("x")));
    buf key = BUF_INIT;
    for (size_t i = 0; i < 3000; i++) {
        bool is_new;
        buf_clear(&key);
        buf_printf(&key, "key%zu", i * 7919 % 3001);
        *map_put(&m, &a, buf_view(&key), &is_new) = (void *)(uintptr_t)(i + 1);
        assert_true(is_new);
    }
    bool is_new;
    *map_put(&m, &a, STR("key0"), &is_new) = (void *)(uintptr_t)99;
    assert_false(is_new);
    assert_int_equal(m.count, 3000);
    assert_int_equal((uintptr_t)map_get(&m, STR("key0")), 99);
    assert_true(map_has(&m, STR("key7919")) == false);
    for (size_t i = 1; i < m.count; i++) {
        buf_clear(&key);
        buf_printf(&key, "key%zu", i * 7919 % 3001);
        assert_str(m.entries[i].key, key.ptr);
        assert_int_equal((uintptr_t)m.entries[i].value, i + 1);
    }
    *map_put(&m, &a, STR(""), NULL) = &m;
    assert_ptr_equal(map_get(&m, STR_NONE), &m);
    buf_free(&key);
    arena_free(&a);
}

static void maps_make_room_and_keep_keys_where_they_are(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct map m = {0};
    static const char keys[] = "abcdefghijklmnopqrstuvwxyz";
    map_reserve(&m, &a, 20);
    size_t slots = m.slot_count;
    for (size_t i = 0; i < 20; i++)
        *map_put_kept(&m, &a, (str){keys + i, 3}, NULL) = (void *)(uintptr_t)(i + 1);
    assert_int_equal(m.slot_count, slots);
    for (size_t i = 0; i < 20; i++) {
        assert_ptr_equal(m.entries[i].key.ptr, keys + i);
        assert_int_equal((uintptr_t)map_get(&m, (str){keys + i, 3}), i + 1);
    }
    bool is_new = true;
    map_put(&m, &a, STR("abc"), &is_new);
    assert_false(is_new);
    arena_free(&a);
}

static void strings_are_joined(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    str s = arena_join(&a, STR("a"), STR_NONE, STR("bc"));
    assert_true(str_eq(s, STR("abc")));
    assert_int_equal(s.ptr[s.len], 0);
    s = arena_join(&a, STR_NONE, STR_NONE, STR_NONE);
    assert_int_equal(s.len, 0);
    assert_int_equal(s.ptr[0], 0);
    arena_free(&a);
}

static void large_memory_grows_and_is_given_back(void **state)
{
    (void)state;
    buf b = BUF_INIT;
    buf_reserve(&b, 3 << 20);
    assert_true(b.cap >= 3 << 20);
    for (int i = 0; i < 5 << 20; i++)
        buf_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 5 << 20);
    assert_int_equal(b.ptr[(5 << 20) - 1], 'a' + ((5 << 20) - 1) % 26);
    assert_int_equal(b.ptr[b.len], 0);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_comes_in_large_pages),  // before anything large
        cmocka_unit_test(buffers_are_always_strings),
        cmocka_unit_test(code_points_are_written_as_utf8),
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(a_rewind_takes_back_what_came_later),
        cmocka_unit_test(arrays_grow_and_keep_their_items),
        cmocka_unit_test(maps_keep_the_order_of_insertion),
        cmocka_unit_test(maps_make_room_and_keep_keys_where_they_are),
        cmocka_unit_test(strings_are_joined),
        cmocka_unit_test(large_memory_grows_and_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
