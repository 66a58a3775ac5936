// Answers requests with libmicrohttpd in the caller's own loop: files, server-sent events, and
// pages that reload.
#include "gen/serve_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/serve_library.h"
#include "gen/base/escape.h"

#define OWN "/.vramdoc/"  // no page can be there: hidden names are left out of a site

enum { HEARTBEAT = 1, RELOAD = 2 };

// An open event stream.
struct listener {
    struct http *http;
    struct listener *next;
    struct MHD_Connection *connection;
    unsigned pending;  // HEARTBEAT, RELOAD
    bool suspended;
};

struct http {
    struct serve_library mhd;
    struct MHD_Daemon *daemon;
    char *folder;
    uint16_t port;
    buf base;
    buf problems;
    struct listener *listeners;
    bool closing;
};

// A page that differs in its <main> only, and has nothing there that a script may hold on to,
// changes in place: that is on screen in a third of the time of a reload, and the reader stays
// where they were.
static const char reload_script[] =
    "(function () {\n"
    "  var source = new EventSource('" OWN "events'), lost = false, shown = null;\n"
    "  function get() {\n"
    "    return fetch(location.href, { cache: 'no-store' }).then(function (r) { return r.text(); "
    "});\n"
    "  }\n"
    "  function parts(text) {\n"
    "    var page = new DOMParser().parseFromString(text, 'text/html'), main = "
    "page.querySelector('main'), head = '';\n"
    "    if (!main || main.querySelector('script,form,input,button,select,textarea,canvas')) "
    "return null;\n"
    "    page.querySelectorAll('head link[rel=stylesheet],head script').forEach(function (e) {\n"
    "      if (e.type !== 'application/ld+json') head += e.outerHTML;\n"
    "    });\n"
    "    main.remove();\n"
    "    return { main: main, title: page.title, rest: head + page.body.outerHTML };\n"
    "  }\n"
    "  function swap(text) {\n"
    "    var before = shown && parts(shown), after = parts(text), main = "
    "document.querySelector('main');\n"
    "    if (!before || !after || !main || before.rest !== after.rest) return false;\n"
    "    main.replaceWith(document.adoptNode(after.main));\n"
    "    document.title = after.title;\n"
    "    return true;\n"
    "  }\n"
    "  get().then(function (text) { shown = text; });\n"
    "  source.addEventListener('reload', function () {\n"
    "    get().then(function (text) {\n"
    "      if (text === shown) return;\n"
    "      if (swap(text)) shown = text; else location.reload();\n"
    "    }, function () { location.reload(); });\n"
    "  });\n"
    "  source.onerror = function () { lost = true; };\n"
    "  source.onopen = function () { if (lost) location.reload(); };\n"
    "  addEventListener('pagehide', function () { source.close(); });\n"
    "})();\n";

static const char problem_style[] =
    "#vramdoc-problems{position:fixed;inset:auto 0 0 "
    "0;z-index:1000;max-height:60vh;overflow:auto;margin:0;"
    "padding:1rem 1.25rem;background:#2b1111;color:#ffe9e6;border-top:4px solid "
    "#ff6b57;direction:ltr;"
    "text-align:left;font:14px/1.5 ui-monospace,monospace}"
    "#vramdoc-problems "
    "pre{margin:0;background:none;color:inherit;white-space:pre-wrap;font:inherit}";

static const struct {
    const char *end, *type;
} types[] = {
#define X(end, type) {end, type},
#include "gen/media_types.def"
#undef X
};

static const char *type_of(const char *path)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_ends(str_c(path), str_c(types[i].end)))
            return types[i].type;
    return "application/octet-stream";
}

static enum MHD_Result send_response(const struct http *h, struct MHD_Connection *c,
                                     unsigned status, struct MHD_Response *r, const char *type)
{
    if (!r)
        return MHD_NO;
    h->mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    h->mhd.add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    h->mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
    enum MHD_Result rc = h->mhd.queue_response(c, status, r);
    h->mhd.destroy_response(r);
    return rc;
}

static enum MHD_Result send_text(const struct http *h, struct MHD_Connection *c, unsigned status,
                                 const char *type, str body)
{
    // The library's older interface takes a pointer that it only reads.
    struct MHD_Response *r = h->mhd.create_response_from_buffer(
        body.len, (void *)(uintptr_t)body.ptr, MHD_RESPMEM_MUST_COPY);
    return send_response(h, c, status, r, type);
}

// The headers that the site's own _headers file wants for every page, the content policy above all.
static void add_site_headers(const struct http *h, struct MHD_Response *r)
{
    buf path = BUF_INIT, text = BUF_INIT;
    buf_printf(&path, "%s/_headers", h->folder);
    str rest, line;
    bool for_all = false;
    if (fs_read(path.ptr, 1 << 20, &text) == 0) {
        rest = buf_view(&text);
        while (str_line(&rest, &line)) {
            str word = str_trim(line);
            size_t colon = str_find(word, ':');
            if (line.len && line.ptr[0] != ' ' && line.ptr[0] != '\t')
                for_all = str_eq(word, STR("/*"));
            else if (for_all && colon < word.len &&
                     !str_eq_nocase(str_slice(word, 0, colon), STR("cache-control"))) {
                char *name = strndup(word.ptr, colon);
                str value = str_trim(str_slice(word, colon + 1, word.len));
                char *content = strndup(value.ptr, value.len);
                if (name && content)
                    h->mhd.add_response_header(r, name, content);
                free(name);
                free(content);
            }
        }
    }
    buf_free(&path);
    buf_free(&text);
}

static void put_problems(const struct http *h, buf *out)
{
    if (h->problems.len == 0)
        return;
    buf_lit(out, "<link rel=\"stylesheet\" href=\"" OWN "problems.css\">"
                 "<section id=\"vramdoc-problems\" role=\"alert\" lang=\"en\"><pre>");
    escape_text(out, buf_view(&h->problems));
    buf_lit(out, "</pre></section>");
}

// A page with the script and what is wrong in front of its end.
static enum MHD_Result send_page(const struct http *h, struct MHD_Connection *c, unsigned status,
                                 str html)
{
    str end = STR("</body>");
    size_t at = html.len, found;
    for (size_t from = 0;
         (found = str_search(str_slice(html, from, html.len), end)) < html.len - from;
         from = at + 1)
        at = from + found;
    buf out = BUF_INIT;
    buf_reserve(&out, html.len + 512);
    buf_str(&out, str_slice(html, 0, at));
    put_problems(h, &out);
    buf_lit(&out, "<script src=\"" OWN "reload.js\"></script>");
    buf_str(&out, str_slice(html, at, html.len));
    struct MHD_Response *r =
        h->mhd.create_response_from_buffer(out.len, out.ptr, MHD_RESPMEM_MUST_COPY);
    buf_free(&out);
    if (r)
        add_site_headers(h, r);
    return send_response(h, c, status, r, "text/html; charset=utf-8");
}

static enum MHD_Result send_missing(const struct http *h, struct MHD_Connection *c, str path)
{
    // The 404 page of the path's language, else the site's, else one line.
    buf name = BUF_INIT, html = BUF_INIT;
    str first = str_slice(path, 0, str_find(path, '/'));
    buf_printf(&name, "%s/%.*s/404.html", h->folder, STR_ARG(first));
    bool found = fs_read(name.ptr, 1 << 24, &html) == 0;
    if (!found) {
        buf_clear(&name);
        buf_printf(&name, "%s/404.html", h->folder);
        found = fs_read(name.ptr, 1 << 24, &html) == 0;
    }
    if (!found)
        buf_lit(&html, "<!DOCTYPE html><html lang=\"en\"><title>Not found</title><body><h1>Not "
                       "found</h1></body></html>");
    enum MHD_Result rc = send_page(h, c, MHD_HTTP_NOT_FOUND, buf_view(&html));
    buf_free(&name);
    buf_free(&html);
    return rc;
}

static enum MHD_Result redirect(const struct http *h, struct MHD_Connection *c, const char *url,
                                const char *behind)
{
    struct MHD_Response *r =
        h->mhd.create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    buf to = BUF_INIT;
    while (url[0] == '/' && url[1] == '/')
        url++;  // or the address would begin with another host
    buf_str(&to, buf_view(&h->base));
    escape_part(&to, str_c(url), "/");  // the library has decoded it
    buf_str(&to, str_c(behind));
    if (r)
        h->mhd.add_response_header(r, MHD_HTTP_HEADER_LOCATION, to.ptr);
    buf_free(&to);
    return send_response(h, c, MHD_HTTP_FOUND, r, "text/plain");
}

static enum MHD_Result send_open_file(const struct http *h, struct MHD_Connection *c,
                                      const char *path, int fd, size_t size)
{
    const char *type = type_of(path);
    if (strncmp(type, "text/html", 9))
        return send_response(h, c, MHD_HTTP_OK, h->mhd.create_response_from_fd64(size, fd), type);
    buf html = BUF_INIT;
    int rc = fs_read_fd(fd, 1 << 28, &html);
    close(fd);
    enum MHD_Result result =
        rc < 0 ? send_missing(h, c, STR("")) : send_page(h, c, MHD_HTTP_OK, buf_view(&html));
    buf_free(&html);
    return result;
}

// url: as it was asked for, below the site's base path.
static enum MHD_Result send_file(const struct http *h, struct MHD_Connection *c, const char *url)
{
    buf path = BUF_INIT;
    buf_printf(&path, "%s/", h->folder);
    size_t root = path.len;
    enum MHD_Result rc;
    bool inside = fs_normalize(str_c(url), &path);
    if (inside && str_ends(str_c(url), STR("/")))
        buf_printf(&path, "%sindex.html", path.len > root ? "/" : "");
    str below = str_slice(buf_view(&path), root, path.len);
    struct stat st;
    int fd = inside ? open(path.ptr, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        rc = send_open_file(h, c, path.ptr, fd, (size_t)st.st_size);
    } else {
        bool is_folder = fd >= 0 && S_ISDIR(st.st_mode);
        if (fd >= 0)
            close(fd);
        rc = is_folder ? redirect(h, c, url, "/") : send_missing(h, c, below);
    }
    buf_free(&path);
    return rc;
}

static ssize_t next_event(void *ctx, uint64_t at, char *out, size_t room)
{
    struct listener *l = ctx;
    (void)at;
    if (l->http->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    str event = l->pending & RELOAD ? STR("event: reload\ndata: 1\n\n") : STR(": here\n\n");
    if (!l->pending || event.len > room) {
        l->suspended = true;
        l->http->mhd.suspend_connection(l->connection);
        return 0;
    }
    l->pending = 0;
    memcpy(out, event.ptr, event.len);
    return (ssize_t)event.len;
}

static void forget_listener(void *ctx)
{
    struct listener *l = ctx, **at = &l->http->listeners;
    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
    free(l);
}

static enum MHD_Result send_events(struct http *h, struct MHD_Connection *c)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l)
        buf_no_memory();
    *l = (struct listener){h, h->listeners, c, HEARTBEAT, false};
    h->listeners = l;
    struct MHD_Response *r = h->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 1024,
                                                                  next_event, l, forget_listener);
    if (!r)
        forget_listener(l);
    return send_response(h, c, MHD_HTTP_OK, r, "text/event-stream");
}

struct hosts {
    const char *last;
    unsigned count;
};

static enum MHD_Result note_host(void *ctx, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    struct hosts *hosts = ctx;
    (void)kind;
    if (str_eq_nocase(str_c(key), STR("Host"))) {
        hosts->last = value;
        hosts->count++;
    }
    return MHD_YES;
}

// A port is digits; it may be another than ours, since a tunnel may lead here.
static bool is_port(str s)
{
    uint64_t port;
    return str_u64(s, &port) && port > 0 && port < 65536;
}

// A name that resolves to 127.0.0.1 elsewhere must not let a foreign page read this site: the
// request has one Host, and that is one of ours to the last byte.
static bool is_own_host(const struct http *h, struct MHD_Connection *c)
{
    static const str names[] = {STR("localhost"), STR("127.0.0.1"), STR("[::1]")};
    struct hosts hosts = {0};
    h->mhd.get_connection_values(c, MHD_HEADER_KIND, note_host, &hosts);
    if (hosts.count != 1 || !hosts.last)
        return false;
    str host = str_c(hosts.last);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        str rest = str_slice(host, names[i].len, host.len);
        if (str_eq_nocase(str_slice(host, 0, names[i].len), names[i]) &&
            (!rest.len || (rest.ptr[0] == ':' && is_port(str_slice(rest, 1, rest.len)))))
            return true;
    }
    return false;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    struct http *h = ctx;
    (void)version, (void)upload, (void)state;
    *upload_size = 0;
    if (!is_own_host(h, c))
        return send_text(h, c, MHD_HTTP_FORBIDDEN, "text/plain",
                         STR("this server answers to localhost only\n"));
    if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        return send_text(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain",
                         STR("GET and HEAD only\n"));
    if (!strcmp(url, OWN "events"))
        return send_events(h, c);
    if (!strcmp(url, OWN "reload.js"))
        return send_text(h, c, MHD_HTTP_OK, type_of(".js"), str_c(reload_script));
    if (!strcmp(url, OWN "problems.css"))
        return send_text(h, c, MHD_HTTP_OK, type_of(".css"), str_c(problem_style));
    str base = buf_view(&h->base);
    bool below = str_starts(str_c(url), base) && (!base.len || url[base.len] == '/');
    return below ? send_file(h, c, url + base.len) : redirect(h, c, url, "");
}

struct http *http_open(const char *folder, uint16_t port)
{
    struct http *h = calloc(1, sizeof *h);
    if (!h || !(h->folder = strdup(folder)))
        buf_no_memory();
    h->problems = h->base = BUF_INIT;
    if (!serve_library_load(&h->mhd)) {
        int error = errno;
        http_close(h);
        errno = error;
        return NULL;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    h->daemon =
        h->mhd.start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handle, h,
                            MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
                            MHD_OPTION_CONNECTION_TIMEOUT, 120u, MHD_OPTION_END);
    if (!h->daemon) {
        int error = errno;
        http_close(h);
        errno = error;
        return NULL;
    }
    const union MHD_DaemonInfo *info = h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    h->port = info ? info->port : port;
    return h;
}

static void wake(struct http *h, unsigned what)
{
    for (struct listener *l = h->listeners; l; l = l->next) {
        l->pending |= what;
        if (l->suspended) {
            l->suspended = false;
            h->mhd.resume_connection(l->connection);
        }
    }
}

void http_close(struct http *h)
{
    if (!h)
        return;
    if (h->daemon) {
        // The library refuses to stop while a connection is suspended.
        h->closing = true;
        wake(h, HEARTBEAT);
        h->mhd.run(h->daemon);
        h->mhd.stop_daemon(h->daemon);
    }
    buf_free(&h->problems), buf_free(&h->base);
    free(h->folder);
    free(h);
}

uint16_t http_port(const struct http *h)
{
    return h->port;
}

int http_fd(const struct http *h)
{
    return h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int http_timeout_ms(const struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (h->mhd.get_timeout(h->daemon, &ms) != MHD_YES)
        return -1;
    return ms > 60000 ? 60000 : (int)ms;
}

void http_run(struct http *h)
{
    h->mhd.run(h->daemon);
}

void http_set_base(struct http *h, str base)
{
    buf_clear(&h->base);
    buf_str(&h->base, base);
}

void http_set_problems(struct http *h, str text)
{
    buf_clear(&h->problems);
    buf_str(&h->problems, text);
}

void http_reload(struct http *h)
{
    wake(h, RELOAD);
}

void http_heartbeat(struct http *h)
{
    wake(h, HEARTBEAT);
}
