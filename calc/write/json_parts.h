// Parts of more than one answer as JSON.

#ifndef CALC_JSON_PARTS_H
#define CALC_JSON_PARTS_H

#include "calc/model/handle.h"
#include "calc/write/json.h"

// A sentence's id, field, text and arguments: as the content of an object, and as one; null for NULL.
void json_sentence(struct json *j, const struct vram_message *m);
void json_message(struct json *j, const char *key, const struct vram_message *m);
void json_messages(struct json *j, const char *key, const struct vram_message *m, size_t count);

// The totals of a card, as members of an object: nvidia-smi's, CUDA's with the extremes that were seen, its basis.
void json_capacity(struct json *j, const struct vram_capacity *card);

// Every field of a configuration, and the card, as an object.
void json_fields(struct json *j, const char *key, const struct vram_config *c);
void json_field_value(struct json *j, const struct vram_field *f, uint64_t n);
void json_set(struct json *j, const char *key, const struct vram_field *f, uint64_t n);

#endif
