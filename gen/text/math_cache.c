// A record is the length of its key, that of its value, a checksum of both, and the two.
#include "gen/text/math_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include "gen/base/fs.h"

// A million formulas of the usual size, 270 bytes; a larger file is removed.
enum { MAX_FILE = 256 << 20 };

struct head {
    uint32_t key, value;  // bytes
    uint64_t sum;
};

enum cut { CUT_WHOLE, CUT_SHORT, CUT_WRONG };

// Takes the first record off *rest.
static enum cut cut_record(str *rest, str *key, str *value)
{
    struct head h;
    if (rest->len < sizeof h)
        return CUT_SHORT;
    memcpy(&h, rest->ptr, sizeof h);
    str body = str_slice(*rest, sizeof h, rest->len);
    if (body.len < (uint64_t)h.key + h.value)
        return CUT_SHORT;
    body = str_slice(body, 0, (size_t)h.key + h.value);
    *key = str_slice(body, 0, h.key);
    *value = str_slice(body, h.key, body.len);
    *rest = str_slice(*rest, sizeof h + body.len, rest->len);
    return h.sum == str_hash(body) ? CUT_WHOLE : CUT_WRONG;
}

// A last record that is short may be one that another worker writes just now. If it is not, the
// next one behind it makes it wrong.
void math_cache_read(const char *path, buf *file, void (*found)(void *ctx, str key, str value),
                     void *ctx)
{
    str key, value;
    bool readable = fs_read(path, MAX_FILE, file) == 0;
    enum cut how = readable ? CUT_WHOLE : CUT_WRONG;
    for (str rest = buf_view(file); rest.len && how == CUT_WHOLE;) {
        how = cut_record(&rest, &key, &value);
        if (how == CUT_WHOLE)
            found(ctx, key, value);
    }
    if (how == CUT_WRONG)
        unlink(path);
}

void math_cache_put(buf *records, str key, str value)
{
    size_t start = records->len;
    struct head h = {(uint32_t)key.len, (uint32_t)value.len, 0};
    buf_put(records, &h, sizeof h);
    buf_str(records, key);
    buf_str(records, value);
    h.sum = str_hash(str_slice(buf_view(records), start + sizeof h, records->len));
    memcpy(records->ptr + start, &h, sizeof h);
}

void math_cache_append(const char *path, str records)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    (void)fs_write_all(fd, records);
    close(fd);
}
