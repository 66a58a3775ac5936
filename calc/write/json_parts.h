// Parts of more than one answer as JSON.

#ifndef CALC_JSON_PARTS_H
#define CALC_JSON_PARTS_H

#include "calc/model/handle.h"
#include "calc/write/json.h"

// Writes what vram_visit names. config: what a member that is a configuration is.
struct json_visit {
    struct json j;
    const struct vram_config *config;
};
extern const struct vram_visitor json_visitor;

void json_message(struct json *j, const char *key, const struct vram_message *m);  // null for NULL

// Every field of a configuration, and the card, as an object.
void json_fields(struct json *j, const char *key, const struct vram_config *c);
void json_field_value(struct json *j, const struct vram_config *c, size_t field);
void json_set(struct json *j, const char *key, const struct vram_field *f, uint64_t n);

#endif
