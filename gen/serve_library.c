// Loads libmicrohttpd and finds its functions. It stays loaded until the program ends.
#include "gen/serve_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

bool serve_library_load(struct serve_library *out)
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL),
         *found;  // .12: since 0.9.34, in 1.0 too
    if (!library)
        return errno = ENOENT, false;
    errno = ENOSYS;
#define X(name) \
    if (!(found = dlsym(library, "MHD_" #name))) \
        return false; \
    memcpy(&out->name, &found, sizeof found);
    SERVE_FUNCTIONS(X)
#undef X
    return true;
}
