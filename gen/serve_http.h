// The HTTP half of serve: files of the output folder on the loopback address, with the reload
// script put into pages.
#ifndef GEN_SERVE_HTTP_H
#define GEN_SERVE_HTTP_H

#include "gen/base/buf.h"

struct http;

// Listens on 127.0.0.1. port 0 lets the system choose. folder is served. NULL with errno.
struct http *http_open(const char *folder, uint16_t port);
void http_close(struct http *h);
uint16_t http_port(const struct http *h);
int http_fd(const struct http *h);          // readable when http_run has something to do
int http_timeout_ms(const struct http *h);  // until http_run must be called anyway; -1: no need
void http_run(struct http *h);
// The path that the site has where it is published ("/docs", "" for none): requests below it are
// served from folder, and others are sent there.
void http_set_base(struct http *h, str base);
// What is wrong with the site now, as text ("" when nothing is): shown in every page that is served
// from now on.
void http_set_problems(struct http *h, str text);
// Pages that are open in a browser load themselves again.
void http_reload(struct http *h);
// A sign of life to open pages, which also finds out who has gone.
void http_heartbeat(struct http *h);

#endif
