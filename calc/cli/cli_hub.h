// Models of the Hugging Face Hub that are on this machine already.

#ifndef CALC_CLI_HUB_H
#define CALC_CLI_HUB_H

#include <stdbool.h>
#include <stddef.h>

// Can it be an id of the Hub, "org/name" or "name", and is it no file?
bool cli_is_hub_id(const char *word);

// The path of its config.json in the Hub's cache folder (HF_HUB_CACHE, HF_HOME/hub,
// ~/.cache/huggingface/hub). False where it is not there. Nothing is downloaded.
bool cli_hub_config(const char *id, char *path, size_t cap);

#endif
