// The floor: what any generator on cmark-gfm has to pay. Reads every .md below IN in two processes,
// parses and renders it with GitHub's extensions, and writes as many files of the same sizes as a
// finished site has: floor IN SITE OUT. The bytes written are the page rendered here, repeated or
// cut to the size that the site's file has.
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/base/map.h"

enum { PROCESSES = 2 };

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(3);
}

// No comparison, no rename. 0, or -1 with errno.
static int write_new(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc = fd < 0 ? -1 : fs_write_all(fd, bytes);
    return fd < 0 || close(fd) < 0 ? -1 : rc;
}

static bool is_not_markdown(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return !is_dir && !str_ends(path, STR(".md"));
}

static char *render(str markdown, size_t *len)
{
    static const char *const names[] = {"table", "strikethrough", "autolink", "tasklist"};
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_FOOTNOTES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(names[i]));
    cmark_parser_feed(parser, markdown.ptr, markdown.len);
    cmark_node *root = cmark_parser_finish(parser);
    char *html =
        cmark_render_html(root, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser));
    *len = strlen(html);
    cmark_node_free(root);
    cmark_parser_free(parser);
    return html;
}

static void make_folders(const char *out, const struct fs_list *site)
{
    buf path = BUF_INIT;
    str last = STR_NONE;
    for (size_t i = 0; i < site->count; i++) {
        str p = site->items[i].path,
            folder = str_slice(p, 0, str_rfind(p, '/') < p.len ? str_rfind(p, '/') : 0);
        if (i && str_eq(folder, last))
            continue;
        last = folder;
        buf_clear(&path);
        buf_printf(&path, "%s/%.*s", out, STR_ARG(folder));
        if (fs_mkdirs(path.ptr) < 0)
            give_up(path.ptr);
    }
    buf_free(&path);
}

// Every PROCESSES-th file, from own on. What is written is made of the page read last.
static void work(char **argv, const struct fs_list *in, const struct fs_list *site, size_t own)
{
    buf path = BUF_INIT, text = BUF_INIT, bytes = BUF_INIT;
    char *html = NULL;
    size_t len = 0, most = in->count > site->count ? in->count : site->count;
    for (size_t i = own; i < most; i += PROCESSES) {
        if (i < in->count) {
            buf_clear(&path);
            buf_clear(&text);
            buf_printf(&path, "%s/%s", argv[1], in->items[i].path.ptr);
            if (fs_read(path.ptr, 0, &text) < 0)
                give_up(path.ptr);
            free(html);
            html = render(buf_view(&text), &len);
        }
        if (i >= site->count)
            continue;
        size_t size = site->items[i].stat.size;
        buf_clear(&bytes);
        buf_reserve(&bytes, size);
        while (bytes.len < size && len)
            buf_put(&bytes, html, len < size - bytes.len ? len : size - bytes.len);
        buf_clear(&path);
        buf_printf(&path, "%s/%s", argv[3], site->items[i].path.ptr);
        if (write_new(path.ptr, buf_view(&bytes)) < 0)
            give_up(path.ptr);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: floor IN SITE OUT\n", stderr);
        return 2;
    }
    arena a = ARENA_INIT;
    struct fs_list in, site;
    if (fs_walk(argv[1], &(struct fs_rules){.skip = is_not_markdown}, &a, &in, NULL) < 0)
        give_up(argv[1]);
    if (fs_walk(argv[2], NULL, &a, &site, NULL) < 0)
        give_up(argv[2]);
    cmark_gfm_core_extensions_ensure_registered();
    make_folders(argv[3], &site);
    for (size_t own = 0; own < PROCESSES; own++) {
        pid_t pid = fork();
        if (pid < 0)
            give_up("fork");
        if (pid == 0) {
            work(argv, &in, &site, own);
            _exit(0);
        }
    }
    int rc = 0, status;
    while (wait(&status) > 0)
        if (status)
            rc = 3;
    arena_free(&a);
    return rc;
}
