// Files beneath a folder: what is made, moved and removed there, and that no path and no link leads
// out. tests/escape.sh runs it again where the kernel refuses openat2.
#include "tests/unit/base_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/fs.h"

static int root;  // of "in", beside which "out" lies with a file that must not change

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/vramdoc-test-beneath.XXXXXX");
    *state = folder;
    if (!folder || !mkdtemp(folder) || chdir(folder) < 0 || fs_mkdirs("in/deep") < 0 ||
        fs_mkdirs("out") < 0)
        return -1;
    if (fs_write("out/canary", STR("sings")) < 0 || symlink("../out", "in/link") < 0)
        return -1;
    if (symlink("../out/canary", "in/file") < 0 || symlink("deep", "in/inner") < 0)
        return -1;
    root = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
    close(root);
    int rc = chdir("/") == 0 && fs_remove_tree(*state) == 0 ? 0 : -1;
    free(*state);
    return rc;
}

static void put(const char *path, const char *text)
{
    int fd = beneath_create(root, str_c(path));
    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, str_c(text)), 0);
    close(fd);
}

static void assert_holds(const char *path, const char *text)
{
    buf b = BUF_INIT;
    assert_int_equal(fs_read(path, 0, &b), 0);
    assert_string_equal(b.ptr, text);
    buf_free(&b);
}

static void folders_are_opened_and_made(void **state)
{
    (void)state;
    assert_int_equal(beneath_folder(root, STR("a/b/c"), false), -1);
    assert_int_equal(errno, ENOENT);
    for (int again = 0; again < 2; again++) {
        int fd = beneath_folder(root, STR("a/b/c"), true);
        assert_true(fd >= 0);
        close(fd);
    }
    struct fs_stat st;
    assert_int_equal(fs_stat("in/a/b/c", &st), 0);
    assert_true(st.is_dir);
    int fd = beneath_folder(root, STR_NONE, false);
    assert_true(fd >= 0);
    close(fd);
}

static void files_are_written_moved_and_removed(void **state)
{
    (void)state;
    int fd = beneath_folder(root, STR("x"), true);
    close(fd);
    put("x/one", "1");
    put("x/one", "2");
    assert_holds("in/x/one", "2");
    assert_true(beneath_exists(root, STR("x/one")));
    assert_int_equal(beneath_move(root, STR("x/one"), root, STR("y/z/two")), 0);
    assert_false(beneath_exists(root, STR("x/one")));
    assert_int_equal(errno, ENOENT);
    assert_holds("in/y/z/two", "2");
    put("y/kept", "3");
    assert_int_equal(beneath_remove(root, STR("y/z/two")), 0);
    assert_int_not_equal(access("in/y/z", F_OK), 0);  // its folder was empty, the one above is not
    assert_holds("in/y/kept", "3");
    assert_int_equal(beneath_remove(root, STR("y/none")), -1);
}

// Each would leave the folder, or is no path below one.
static const char *const hostile[] = {
    "",
    "/",
    ".",
    "..",
    "../out/canary",
    "deep/../../out/canary",
    "/etc/passwd",
    "//out/canary",
    "deep/..",
    "deep//x",
    "deep/./x",
    "deep/",
    "link/canary",
    "link/new",
    "link/deeper/new",
    "deep/../../out/new",
};

static void nothing_leads_out(void **state)
{
    (void)state;
    put("own", "own");
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        str path = str_c(hostile[i]);
        assert_int_equal(beneath_create(root, path), -1);
        assert_int_equal(beneath_move(root, STR("own"), root, path), -1);
        assert_int_equal(beneath_move(root, path, root, STR("stolen")), -1);
        assert_int_equal(beneath_remove(root, path), -1);
        assert_false(beneath_exists(root, path));
        int fd = path.len ? beneath_folder(root, path, true) : -1;
        assert_int_equal(fd, -1);
    }
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    assert_int_equal(beneath_create(root, (str){long_name, sizeof long_name}), -1);
    assert_int_equal(beneath_create(root, (str){"a\0b", 3}), -1);
    assert_holds("out/canary", "sings");
    struct fs_list list;
    arena a = ARENA_INIT;
    assert_int_equal(fs_walk("out", NULL, &a, &list, NULL), 0);
    assert_int_equal(list.count, 1);
    arena_free(&a);
    assert_holds("in/own", "own");
}

// A link that is where a file is to be is never written through; it is replaced or removed itself.
static void links_are_not_followed(void **state)
{
    (void)state;
    put("own", "own");
    assert_int_equal(beneath_create(root, STR("file")), -1);
    assert_int_equal(beneath_folder(root, STR("link"), true), -1);
    // One that stays inside: no exception.
    assert_int_equal(beneath_folder(root, STR("inner"), true), -1);
    assert_int_equal(beneath_move(root, STR("own"), root, STR("file")), 0);
    assert_holds("out/canary", "sings");
    assert_holds("in/file", "own");
    assert_int_equal(beneath_remove(root, STR("link")), 0);
    assert_holds("out/canary", "sings");
    assert_int_equal(symlink("../out", "in/link"), 0);
    assert_int_equal(symlink("../../out", "in/deep/link"), 0);
    int fd = beneath_folder(root, STR("deep"), false);
    put("deep/mark", "m");
    assert_int_equal(beneath_clear(fd, "mark"), 0);
    close(fd);
    assert_int_not_equal(access("in/deep/link", F_OK), 0);
    assert_int_not_equal(access("in/deep/mark", F_OK), 0);
    assert_holds("out/canary", "sings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_opened_and_made),
        cmocka_unit_test(files_are_written_moved_and_removed),
        cmocka_unit_test(nothing_leads_out),
        cmocka_unit_test(links_are_not_followed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
