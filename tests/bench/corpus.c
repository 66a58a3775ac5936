// Makes a folder of Markdown to measure with: corpus DOCUMENTS LANGUAGES BYTES FOLDER.
// FOLDER/content/<lang>/s<NN>/d<N>.md: front matter, headings, paragraphs, lists, a table, code and
// links, about BYTES long; the same bytes each time. The same folder is read by vramdoc and by hugo
// (FOLDER/hugo.toml, FOLDER/layouts).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/fs.h"

// CLDR knows all of them.
static const char *const tags[] = {
    "en", "es", "de", "fr", "hi", "it", "pt", "nl", "sv", "da", "pl", "cs", "ru", "uk",
    "el", "tr", "ar", "he", "fa", "ja", "ko", "zh", "vi", "th", "id", "fi", "nb", "hu",
    "ro", "bg", "sk", "hr", "sr", "sl", "lt", "lv", "et", "ca", "bn", "ta",
};
enum { TAGS = sizeof tags / sizeof *tags, PER_SECTION = 50 };

static const char *const words[] = {
    "memory",    "tensor", "gradient", "step",  "batch", "the",    "of",   "and",       "a",
    "optimizer", "state",  "block",    "cache", "in",    "to",     "is",   "allocator", "peak",
    "each",      "layer",  "weights",  "fits",  "card",  "kernel", "that", "with",
};
enum { WORDS = sizeof words / sizeof *words };

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    return (uint32_t)(*seed >> 33);
}

static void put_words(buf *b, uint64_t *seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *word = words[draw(seed) % WORDS];
        uint32_t how = draw(seed) % 40;
        buf_printf(b,
                   how == 0   ? "%s**%s**"
                   : how == 1 ? "%s`%s`"
                   : how == 2 ? "%s*%s*"
                              : "%s%s",
                   i ? " " : "", word);
    }
    buf_lit(b, ".\n");
}

// One of the kinds of blocks that documents are made of.
static void put_block(buf *b, uint64_t *seed, size_t number, size_t document, size_t documents)
{
    switch (draw(seed) % 8) {
    case 0:
        buf_printf(b, "\n## Part %zu of it\n\n", number);
        put_words(b, seed, 30);
        break;
    case 1:
        buf_char(b, '\n');
        for (int i = 0; i < 4; i++) {
            buf_lit(b, "- ");
            put_words(b, seed, 8);
        }
        break;
    case 2:
        buf_lit(b, "\n| what | how much |\n| --- | ---: |\n");
        for (int i = 0; i < 4; i++)
            buf_printf(b, "| %s | %u |\n", words[draw(seed) % WORDS], draw(seed) % 10000);
        break;
    case 3:
        buf_printf(b, "\n```python\nx = model(batch_%u)\nloss = x.sum()\nloss.backward()\n```\n",
                   draw(seed) % 100);
        break;
    case 4: {
        // Links stay in the section, where the neighbour surely is.
        size_t first = document / PER_SECTION * PER_SECTION, rest = documents - first;
        size_t target = first + draw(seed) % (rest < PER_SECTION ? rest : PER_SECTION);
        buf_printf(b, "\nSee [the other one](d%zu.md) and ", target);
        put_words(b, seed, 20);
        break;
    }
    default: buf_char(b, '\n'); put_words(b, seed, 60);
    }
}

static void put_page(buf *b, size_t document, size_t documents, const char *tag, size_t bytes)
{
    uint64_t seed = document * 977 + 13;
    buf_clear(b);
    buf_printf(b, "---\ntitle: Document %zu (%s)\ndescription: What document %zu says\n---\n\n",
               document, tag, document);
    put_words(b, &seed, bytes < 1000 ? 20 : 50);
    for (size_t n = 1; b->len + 120 < bytes; n++)
        put_block(b, &seed, n, document, documents);
}

static void must(int rc, const char *path)
{
    if (rc >= 0)
        return;
    buf b = BUF_INIT;
    buf_printf(&b, "corpus: %s: %s\n", path, strerror(errno));
    fputs(b.ptr, stderr);
    exit(3);
}

static void put_file(const char *folder, const char *name, str bytes)
{
    buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", folder, name);
    must(fs_write(path.ptr, bytes), path.ptr);
    buf_free(&path);
}

// Hugo with an equal page: title, language switcher, body.
static void put_hugo(const char *folder, size_t languages)
{
    buf b = BUF_INIT;
    buf_lit(&b, "baseURL = 'https://bench.example/'\ndefaultContentLanguage = "
                "'en'\ndefaultContentLanguageInSubdir = true\n"
                "disableKinds = ['taxonomy', 'term', 'RSS', 'sitemap', 'section', 'home', '404', "
                "'robotsTXT']\n"
                "uglyURLs = true\n[markup.goldmark.renderer]\nunsafe = "
                "false\n[markup.highlight]\nnoClasses = false\n");
    for (size_t l = 0; l < languages; l++)
        buf_printf(&b, "[languages.%s]\ncontentDir = 'content/%s'\nweight = %zu\n", tags[l],
                   tags[l], l + 1);
    put_file(folder, "hugo.toml", buf_view(&b));
    buf_clear(&b);
    buf_lit(&b, "<!DOCTYPE html>\n<html lang=\"{{ .Lang }}\">\n<head><meta "
                "charset=\"utf-8\"><title>{{ .Title }}</title></head>\n"
                "<body><nav><ul>{{ range .AllTranslations }}<li><a href=\"{{ .RelPermalink }}\" "
                "lang=\"{{ .Lang }}\">"
                "{{ .Lang }}</a></li>{{ end }}</ul></nav>\n<main><h1>{{ .Title }}</h1>\n{{ "
                ".Content }}</main></body></html>\n");
    buf path = BUF_INIT;
    buf_printf(&path, "%s/layouts/_default", folder);
    must(fs_mkdirs(path.ptr), path.ptr);
    put_file(path.ptr, "single.html", buf_view(&b));
    buf_free(&path);
    buf_free(&b);
}

int main(int argc, char **argv)
{
    uint64_t documents, languages, bytes;
    if (argc < 5 || !str_u64(str_c(argv[1]), &documents) || !str_u64(str_c(argv[2]), &languages) ||
        !str_u64(str_c(argv[3]), &bytes) || languages < 1 || languages > TAGS) {
        fputs("usage: corpus DOCUMENTS LANGUAGES BYTES FOLDER\n", stderr);
        return 2;
    }
    buf path = BUF_INIT, page = BUF_INIT;
    for (size_t l = 0; l < languages; l++)
        for (size_t d = 0; d < documents; d++) {
            buf_clear(&path);
            buf_printf(&path, "%s/content/%s/s%02zu", argv[4], tags[l], d / PER_SECTION);
            if (d % PER_SECTION == 0)
                must(fs_mkdirs(path.ptr), path.ptr);
            buf_printf(&path, "/d%zu.md", d);
            put_page(&page, d, documents, tags[l], bytes);
            must(fs_write(path.ptr, buf_view(&page)), path.ptr);
        }
    put_hugo(argv[4], languages);
    buf_clear(&page);
    buf_lit(&page, "title: Bench\nsource_language: en\n");
    put_file(argv[4], "site.yaml", buf_view(&page));
    buf_free(&path);
    buf_free(&page);
    return 0;
}
