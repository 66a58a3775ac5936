// Files: reading whole, writing only what differs, walking in order, loops, and paths that climb.
#include "tests/unit/base_fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/vramdoc-test-fs.XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    int rc = chdir("/") == 0 && fs_remove_tree(*state) == 0 && access(*state, F_OK) != 0 ? 0 : -1;
    free(*state);
    return rc;
}

static void only_what_differs_is_written(void **state)
{
    (void)state;
    struct fs_stat first, second;
    assert_int_equal(fs_write("a.txt", STR("one")), 1);
    assert_int_equal(fs_stat("a.txt", &first), 0);
    assert_int_equal(fs_write("a.txt", STR("one")), 0);
    assert_int_equal(fs_write("a.txt", STR("two")), 1);
    assert_int_equal(fs_stat("a.txt", &second), 0);
    assert_true(first.inode != second.inode);
    buf b = BUF_INIT;
    buf_lit(&b, "kept ");
    assert_int_equal(fs_read("a.txt", 0, &b), 0);
    assert_string_equal(b.ptr, "kept two");
    assert_int_equal(fs_read("a.txt", 2, &b), -1);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(fs_read("absent", 0, &b), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fs_read(".", 0, &b), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(fs_write("absent/a.txt", STR("x")), -1);
    buf_free(&b);
}

static void long_files_are_compared_to_their_end(void **state)
{
    (void)state;
    buf b = BUF_INIT, back = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_printf(&b, "%d\n", i);
    assert_int_equal(fs_write("long", buf_view(&b)), 1);
    assert_int_equal(fs_write("long", buf_view(&b)), 0);
    b.ptr[b.len - 2] = 'x';
    assert_int_equal(fs_write("long", buf_view(&b)), 1);
    assert_int_equal(fs_read("long", 0, &back), 0);
    assert_true(str_eq(buf_view(&b), buf_view(&back)));
    buf_free(&b);
    buf_free(&back);
}

static void folders_are_made_once(void **state)
{
    (void)state;
    assert_int_equal(fs_mkdirs("deep/er/est"), 0);
    assert_int_equal(fs_mkdirs("deep/er"), 0);
    assert_int_equal(fs_write("deep/er/page", STR("whole")), 1);
    assert_int_equal(access("deep/er/page", F_OK), 0);
    assert_int_equal(fs_mkdirs("deep/er/page/x"), -1);
    assert_int_equal(fs_remove_tree("absent"), 0);
}

static bool skip_drafts(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return is_dir ? str_ends(path, STR("drafts")) : str_ends(path, STR(".bak"));
}

static void a_walk_is_in_byte_order(void **state)
{
    (void)state;
    static const char *const made[] = {"w/a.b",     "w/a/z",   "w/a/b/c",   "w/a0",
                                       "w/.hidden", "w/x.bak", "w/drafts/d"};
    assert_int_equal(fs_mkdirs("w/a/b"), 0);
    assert_int_equal(fs_mkdirs("w/drafts"), 0);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_int_equal(fs_write(made[i], STR("x")), 1);
    assert_int_equal(symlink("a/b", "w/link"), 0);
    assert_int_equal(mkfifo("w/fifo", 0600), 0);
    arena a = ARENA_INIT;
    struct fs_list list;
    assert_int_equal(fs_walk("w", &(struct fs_rules){.skip = skip_drafts}, &a, &list, NULL), 0);
    static const char *const wanted[] = {"a.b", "a/b/c", "a/z", "a0", "link/c"};
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(list.items[i].path.ptr, wanted[i]);
    arena_free(&a);
}

// Folders enough for two threads, files between them, and in three folders something that cannot be
// walked.
static void many_folders_are_walked_as_one(void **state)
{
    enum { FOLDERS = 40, FILES = 30 };
    char path[64], wanted[64];
    (void)state;
    for (int i = 0; i < FOLDERS; i++)
        for (int k = 0; k < FILES; k++) {
            snprintf(path, sizeof path, "many/f%02d/in", i);
            assert_int_equal(fs_mkdirs(path), 0);
            snprintf(path, sizeof path, "many/f%02d/in/%02d", i, k);
            assert_int_equal(fs_write(path, STR("x")), 1);
            snprintf(path, sizeof path, "many/f%02d.b", i);
            assert_true(fs_write(path, STR("x")) >= 0);
        }
    assert_int_equal(symlink("nowhere", "many/f31/link"), 0);
    assert_int_equal(symlink("../../../many", "many/f07/in/up"), 0);
    assert_int_equal(symlink("nowhere", "many/f19/in/link"), 0);
    arena a = ARENA_INIT;
    struct fs_list list;
    assert_int_equal(fs_walk("many", &(struct fs_rules){.skip = skip_drafts}, &a, &list, NULL), -1);
    assert_int_equal(list.count, FOLDERS * (FILES + 1));
    for (int i = 0, n = 0; i < FOLDERS; i++) {
        snprintf(wanted, sizeof wanted, "f%02d.b", i);
        assert_string_equal(list.items[n++].path.ptr, wanted);
        for (int k = 0; k < FILES; k++) {
            snprintf(wanted, sizeof wanted, "f%02d/in/%02d", i, k);
            assert_string_equal(list.items[n++].path.ptr, wanted);
        }
    }
    assert_int_equal(list.bad_count, 3);
    assert_str(list.bad[0].path, "f07/in/up");
    assert_int_equal(list.bad[0].error, ELOOP);
    assert_str(list.bad[1].path, "f19/in/link");
    assert_str(list.bad[2].path, "f31/link");
    assert_int_equal(list.bad[2].error, ENOENT);
    arena_free(&a);
}

static void loops_and_dangling_links_are_named(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct fs_list list;
    str bad = STR_NONE;
    assert_int_equal(fs_mkdirs("loop/in"), 0);
    assert_int_equal(symlink("../../loop", "loop/in/up"), 0);
    assert_int_equal(fs_walk("loop", NULL, &a, &list, &bad), -1);
    assert_int_equal(errno, ELOOP);
    assert_str(bad, "in/up");
    assert_int_equal(fs_mkdirs("dangling"), 0);
    assert_int_equal(symlink("nowhere", "dangling/link"), 0);
    assert_int_equal(fs_walk("dangling", NULL, &a, &list, &bad), -1);
    assert_int_equal(errno, ENOENT);
    assert_str(bad, "link");
    assert_int_equal(fs_mkdirs("loop/z"), 0);
    assert_int_equal(fs_write("loop/z/file", STR("x")), 1);
    assert_int_equal(symlink("nowhere", "loop/z/link"), 0);
    // All of it is named, the rest is walked.
    assert_int_equal(fs_walk("loop", NULL, &a, &list, &bad), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(list.bad_count, 2);
    assert_str(list.bad[1].path, "z/link");
    assert_int_equal(list.bad[1].error, ENOENT);
    assert_int_equal(list.count, 1);
    assert_str(list.items[0].path, "z/file");
    assert_int_equal(fs_walk("absent", NULL, &a, &list, &bad), -1);
    arena_free(&a);
}

static void removing_does_not_follow_links(void **state)
{
    (void)state;
    assert_int_equal(fs_mkdirs("keep"), 0);
    assert_int_equal(fs_write("keep/file", STR("x")), 1);
    assert_int_equal(fs_mkdirs("gone/deep"), 0);
    assert_int_equal(symlink("../../keep", "gone/deep/link"), 0);
    assert_int_equal(fs_remove_tree("gone"), 0);
    assert_int_not_equal(access("gone", F_OK), 0);
    assert_int_equal(access("keep/file", F_OK), 0);
}

static void paths_are_normalised(void **state)
{
    (void)state;
    static const struct {
        const char *path, *wanted;
    } cases[] = {
        {"a/../b", "b"},
        {"/a//b/./c/", "a/b/c"},
        {"a/b/../../c", "c"},
        {"", ""},
        {".", ""},
        {"a/..", ""},
        {"..", NULL},
        {"a/../../b", NULL},
        {"...", "..."},
        {"a/b/..", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf b = BUF_INIT;
        buf_lit(&b, "x/");
        bool ok = fs_normalize(str_c(cases[i].path), &b);
        assert_true(ok == (cases[i].wanted != NULL));
        if (ok)
            assert_str(str_slice(buf_view(&b), 2, b.len), cases[i].wanted);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_differs_is_written),
        cmocka_unit_test(long_files_are_compared_to_their_end),
        cmocka_unit_test(folders_are_made_once),
        cmocka_unit_test(a_walk_is_in_byte_order),
        cmocka_unit_test(many_folders_are_walked_as_one),
        cmocka_unit_test(loops_and_dangling_links_are_named),
        cmocka_unit_test(removing_does_not_follow_links),
        cmocka_unit_test(paths_are_normalised),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
