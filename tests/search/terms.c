// Prints the terms of each line of the standard input as the generator has them, folded, joined
// words left out: for search_terms.sh.
#include <stdio.h>
#include <string.h>

#include "gen/text/terms.h"

struct printing {
    struct terms_folds *folds;
    buf line;
};

static void print(void *ctx, str term)
{
    struct printing *p = ctx;
    buf *line = &p->line, folded = BUF_INIT;
    terms_fold(p->folds, term, &folded);
    if (line->len && !terms_is_letter(buf_view(&folded)))
        buf_char(line, ' ');
    if (!terms_is_letter(buf_view(&folded)))
        buf_str(line, buf_view(&folded));
    buf_free(&folded);
}

int main(void)
{
    static struct terms *t;
    static struct printing p;
    t = terms_new();
    p = (struct printing){terms_folds_new(), BUF_INIT};
    buf text = BUF_INIT;
    char bytes[4096];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, stdin)) > 0;)
        buf_put(&text, bytes, n);
    str rest = buf_view(&text), line;
    while (str_line(&rest, &line)) {
        buf_clear(&p.line);
        terms_scan(t, line, print, &p);
        puts(p.line.ptr);
    }
    buf_free(&text), buf_free(&p.line);
    return 0;
}
