// When pages were last changed: one run of git log over the content folder, read until every page
// was seen.
#include "gen/site/source/git_dates.h"

#include "gen/site/source/each.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// A .git in the folder or in one above it.
static bool in_checkout(str dir)
{
    char real[4096];
    struct stat st;
    if (!realpath(dir.ptr, real))
        return false;
    str path = str_c(real);
    bool found = false;
    for (buf b = BUF_INIT; path.len && !found; path = str_slice(path, 0, str_rfind(path, '/'))) {
        buf_str(&b, path);
        buf_lit(&b, "/.git");
        found = stat(b.ptr, &st) == 0;
        buf_free(&b);
        b = BUF_INIT;
        if (str_find(path, '/') == path.len)
            break;
    }
    return found;
}

// git log of the folder: a line "\001TIME" a commit, then its files, relative to the folder.
static pid_t start_git(str dir, int *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0), dup2(ends[1], 1), dup2(nothing, 2);
        execlp("git", "git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-C",
               dir.ptr, "log", "--format=%x01%ct", "--name-only", "--relative", "--no-renames",
               "--", ".", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *out = ends[0];
    return pid;
}

static void take_line(struct site *site, str line, int64_t *when, size_t *left)
{
    uint64_t time;
    if (line.len > 1 && line.ptr[0] == 1) {
        if (str_u64(str_slice(line, 1, line.len), &time))
            *when = (int64_t)time;
        return;
    }
    struct page *p = line.len ? map_get(&site->page_by_source, line) : NULL;
    if (!p || p->updated != INT64_MIN)
        return;
    p->updated = *when;
    (*left)--;
}

static void read_log(struct site *site, int fd, size_t left)
{
    buf in = BUF_INIT;
    int64_t when = INT64_MIN;
    char part[1 << 16];
    for (ssize_t n; left && ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR));) {
        if (n < 0)
            continue;
        buf_put(&in, part, (size_t)n);
        size_t end = str_rfind(buf_view(&in), '\n');
        if (end == in.len)
            continue;
        str whole = str_slice(buf_view(&in), 0, end + 1), line;
        while (left && str_line(&whole, &line))
            take_line(site, line, &when, &left);
        buf rest = BUF_INIT;
        buf_put(&rest, in.ptr + end + 1, in.len - end - 1);
        buf_free(&in);
        in = rest;
    }
    buf_free(&in);
}

void git_dates_read(struct site *site)
{
    size_t left = 0;
    int fd, status;
    for (size_t i = 0; i < site->page_count; i++)
        left += !site->pages[i]->made && site->pages[i]->updated == INT64_MIN;
    if (!left || !site->settings.git || !in_checkout(site->settings.content_dir))
        return;
    pid_t pid = start_git(site->settings.content_dir, &fd);
    if (pid < 0)
        return;
    read_log(site, fd, left);
    close(fd);
    kill(pid, SIGTERM);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    each_share(site);
}
