// Owns what a key that is none is answered with: what its writer means by it, or the nearest name.
#include "calc/base/err.h"
#include "calc/base/text.h"
#include "calc/model/config.h"

#ifndef VRAM_SMALL  // it has no room for them
static bool config_is_idle(const char *key, size_t len)
{
    return text_has_word(
        "lr learning_rate min_lr weight_decay beta1 beta2 adam_beta1 adam_beta2 "
        "adam_epsilon lr_scheduler lr_scheduler_type scheduler decay_lr warmup "
        "warmup_steps warmup_ratio warmup_iters epochs num_epochs num_train_epochs "
        "steps max_steps max_iters seed lora_alpha alpha dataset output_dir out_dir "
        "temperature top_p top_k logging_steps save_steps report_to",
        key, len);
}

// What a word means to those who write it; NULL: nothing that is known.
static const char *config_meant(const char *key, size_t len)
{
    static const struct {
        const char *words, *write;
    } rows[] = {
#define MEANT(words, write) {words, write},
#include "calc/model/meant.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_has_word(rows[i].words, key, len))
            return rows[i].write;
    return NULL;
}
#else
#define config_is_idle(key, len) false
#define config_meant(key, len) NULL
#endif

static const char *config_nearest(const char *key, size_t len)
{
    const char *names[CONFIG_FIELD_COUNT + 2];
    for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
        names[i] = vram_field_at(i)->key;
    names[CONFIG_FIELD_COUNT] = "preset";
    names[CONFIG_FIELD_COUNT + 1] = "gpu";
    return vram_nearest(key, len, names, CONFIG_FIELD_COUNT + 2);
}

int config_unknown(struct message *e, struct err_pos pos, const char *key, size_t len)
{
    struct arg name = arg_part("key", key, len);
    const char *near = config_meant(key, len);
    if (config_is_idle(key, len))
        return err_set(e, MESSAGE_key_idle, pos, NO_FIELD, ARGS(name));
    if (!near)
        near = config_nearest(key, len);
    if (near)
        return err_set(e, MESSAGE_unknown_key_near, pos, NO_FIELD,
                       ARGS(name, arg_text("near", near)));
    return err_set(e, MESSAGE_unknown_key, pos, NO_FIELD, ARGS(name));
}
