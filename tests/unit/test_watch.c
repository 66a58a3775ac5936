// The watch on folders: what counts as a change, what does not, and folders that come later.
#include "tests/unit/base_fixture.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/watch.h"

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/vramdoc-test-watch.XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) && chdir(folder) == 0 && fs_mkdirs("in/deep") == 0 &&
                   fs_mkdirs("in/out") == 0 && fs_mkdirs("other") == 0 &&
                   fs_write("other/site.yaml", STR("a")) == 1
               ? 0
               : -1;
}

static int remove_folder(void **state)
{
    int rc = chdir("/") == 0 && fs_remove_tree(*state) == 0 ? 0 : -1;
    free(*state);
    return rc;
}

static bool changed(struct watch *w)
{
    struct pollfd fd = {.fd = watch_fd(w), .events = POLLIN};
    // Events of one process are there when its call returns; the wait is only for a busy machine.
    poll(&fd, 1, 20);
    return watch_read(w);
}

static struct watch *watch_in(void)
{
    struct watch *w = watch_new();
    assert_non_null(w);
    assert_int_equal(watch_add(w, "in", "in/out"), 0);
    assert_int_equal(watch_add(w, "absent", NULL), 0);
    assert_int_equal(watch_add(w, "other/site.yaml", NULL), 0);
    assert_false(changed(w));
    return w;
}

static void saves_count(void **state)
{
    (void)state;
    struct watch *w = watch_in();
    assert_int_equal(fs_write("in/a.md", STR("x")), 1);
    assert_true(changed(w));
    assert_false(changed(w));
    assert_int_equal(fs_write("in/deep/b.md", STR("x")), 1);
    assert_true(changed(w));
    // As an editor saves: a new file, renamed over the old one.
    assert_int_equal(fs_write("in/deep/b.md", STR("y")), 1);
    assert_true(changed(w));
    assert_int_equal(unlink("in/a.md"), 0);
    assert_true(changed(w));
    assert_int_equal(symlink("deep/b.md", "in/link.md"), 0);
    assert_true(changed(w));
    watch_free(w);
}

static void noise_does_not_count(void **state)
{
    (void)state;
    static const char *const noise[] = {"in/.b.md.swp", "in/b.md~",         "in/4913",
                                        "in/#b.md#",    "in/out/page.html", "other/unrelated"};
    struct watch *w = watch_in();
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        assert_int_equal(fs_write(noise[i], STR("x")), 1);
        assert_false(changed(w));
    }
    assert_int_equal(fs_write("other/site.yaml", STR("b")), 1);
    assert_true(changed(w));
    watch_free(w);
}

static void new_folders_are_watched(void **state)
{
    (void)state;
    struct watch *w = watch_in();
    assert_int_equal(fs_mkdirs("in/new/er/est"), 0);
    assert_true(changed(w));
    assert_int_equal(fs_write("in/new/er/est/c.md", STR("x")), 1);
    assert_true(changed(w));
    assert_int_equal(rename("in/new", "in/moved"), 0);
    assert_true(changed(w));
    assert_int_equal(fs_write("in/moved/er/est/c.md", STR("y")), 1);
    assert_true(changed(w));
    assert_int_equal(fs_remove_tree("in/moved"), 0);
    assert_true(changed(w));
    // The same name again, after the old one is gone.
    assert_int_equal(fs_mkdirs("in/new"), 0);
    assert_true(changed(w));
    assert_int_equal(fs_write("in/new/d.md", STR("x")), 1);
    assert_true(changed(w));
    watch_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_count),
        cmocka_unit_test(noise_does_not_count),
        cmocka_unit_test(new_folders_are_watched),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
