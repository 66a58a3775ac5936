// Builds the policy of a page from the hosts that it names.
#include "gen/text/policy.h"

#include <string.h>

static void put_hosts(str hosts, buf *out)
{
    if (hosts.len)
        buf_char(out, ' ');
    buf_str(out, hosts);
}

void policy_write(str hosts, bool media, buf *out)
{
    buf_lit(out, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' "
                 "blob:; style-src 'self'; "
                 "img-src 'self' data:");
    put_hosts(hosts, out);
    if (media) {
        buf_lit(out, "; media-src 'self'");
        put_hosts(hosts, out);
    }
    buf_lit(out, "; connect-src 'self'; base-uri 'none'; form-action 'none'");
}

// A host is letters, digits, dots and hyphens, and a port: anything else could say more than a
// host.
str policy_host(str address)
{
    static const str schemes[] = {STR("https://"), STR("http://")};
    for (size_t i = 0; i < 2; i++) {
        if (!str_starts(address, schemes[i]))
            continue;
        size_t end = schemes[i].len;
        while (end < address.len && !strchr("/?#", address.ptr[end])) {
            char c = (char)(address.ptr[end] | 32);
            bool plain = ascii_is_lower(c) || ascii_is_digit(address.ptr[end]) ||
                         strchr(".-:", address.ptr[end]);
            if (!plain)
                return STR_NONE;
            end++;
        }
        return end > schemes[i].len ? str_slice(address, 0, end) : STR_NONE;
    }
    return STR_NONE;
}

bool policy_has(str hosts, str host)
{
    str one;
    while (str_cut(&hosts, ' ', &one))
        if (str_eq(one, host))
            return true;
    return false;
}
