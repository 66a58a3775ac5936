// Owns the looking for a model in the cache folder of the Hugging Face Hub.
// SRC: huggingface_hub constants.py (HF_HOME, HF_HUB_CACHE), file_download.py
// (models--org--name/refs, snapshots).

#include "calc/cli/cli_hub.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 1024 };

bool cli_is_hub_id(const char *word)
{
    const char *slash = strchr(word, '/');
    size_t plain =
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./");
    bool has_name = !slash || (slash > word && slash[1] && !strchr(slash + 1, '/'));
    return has_name && word[0] != '.' && word[0] != '-' && word[plain] == 0 &&
           access(word, F_OK) != 0;
}

static bool cache_folder(char *path, size_t cap)
{
    const char *cache = getenv("HF_HUB_CACHE"), *hf = getenv("HF_HOME"), *home = getenv("HOME");
    int n = cache && *cache ? snprintf(path, cap, "%s", cache)
            : hf && *hf     ? snprintf(path, cap, "%s/hub", hf)
            : home          ? snprintf(path, cap, "%s/.cache/huggingface/hub", home)
                            : -1;
    return n > 0 && (size_t)n < cap;
}

// The snapshot that refs/main names; "*" for any where there is no such file.
static void revision(const char *folder, char name[64])
{
    char path[PATH];
    snprintf(path, sizeof path, "%.900s/refs/main", folder);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(name, 1, 63, f) : 0;
    if (f)
        fclose(f);
    name[n] = 0;
    name[strcspn(name, " \r\n/")] = 0;
    if (!name[0])
        snprintf(name, 64, "*");
}

bool cli_hub_config(const char *id, char *path, size_t cap)
{
    char cache[PATH], folder[PATH], pattern[PATH + 128], name[64];
    const char *slash = strchr(id, '/');
    int org = slash ? (int)(slash - id) : 0;
    glob_t found;
    if (strchr(id, '*') || !cache_folder(cache, sizeof cache))
        return false;
    snprintf(folder, sizeof folder, "%.700s/models--%.*s%s%.200s", cache, org, id,
             slash ? "--" : "", slash ? slash + 1 : id);
    revision(folder, name);
    snprintf(pattern, sizeof pattern, "%s/snapshots/%s/config.json", folder, name);
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    snprintf(path, cap, "%s", found.gl_pathv[0]);
    globfree(&found);
    return true;
}
