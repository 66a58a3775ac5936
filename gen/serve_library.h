// libmicrohttpd, loaded by serve alone: it brings a TLS library along, and loading both takes 1.6
// ms, 30 % of a build of 1,600 pages in which nothing has changed.
#ifndef GEN_SERVE_LIBRARY_H
#define GEN_SERVE_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

#define SERVE_FUNCTIONS(X) \
    X(start_daemon) \
    X(stop_daemon) \
    X(run) \
    X(get_timeout) \
    X(get_daemon_info) \
    X(suspend_connection) \
    X(resume_connection) \
    X(queue_response) \
    X(create_response_from_buffer) \
    X(create_response_from_fd64) \
    X(create_response_from_callback) \
    X(destroy_response) X(add_response_header) X(get_connection_values)

// Its functions by the names that they have behind MHD_.
struct serve_library {
#define X(name) __typeof__(MHD_##name) *name;
    SERVE_FUNCTIONS(X)
#undef X
};

// False with errno (ENOENT without the library, ENOSYS when it lacks a function).
bool serve_library_load(struct serve_library *out);

#endif
