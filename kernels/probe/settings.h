// A config as key=value pairs.
#ifndef KERNELS_SETTINGS_H
#define KERNELS_SETTINGS_H

#include "kernels/record/rjson.h"
#include "kernels/step/gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_SETTINGS = 24 };

// "batch_size=16 dtype=float16 ...": the input of one run of an experiment, as its record shows it.
struct settings {
    struct {
        char key[40], value[40];
    } pairs[MOST_SETTINGS];
    int count;
    // File of tokens to train on; empty for generated ones. The config shows only whether there was
    // one.
    char tokens[1024];
};

// Returns false with the reason in error.
bool settings_parse(struct settings *s, const char *text, char *error, size_t size);
const char *settings_text(const struct settings *s, const char *key, const char *otherwise);
int64_t settings_int(const struct settings *s, const char *key, int64_t otherwise);
// The pairs as settings_parse reads them.
void settings_write(const struct settings *s, char *out, size_t size);
// Adds or replaces.
void settings_put(struct settings *s, const char *key, const char *value);
void settings_to_json(const struct settings *s, struct rjson *config);
// Returns NULL, or the reason why it cannot be run. Keys that a training run does not know are left
// to the experiment.
const char *settings_gpt(const struct settings *s, struct gpt_config *out);

#ifdef __cplusplus
}
#endif

#endif
