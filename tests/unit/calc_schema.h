// A validator for the keywords that the schemas of the estimator use.

#ifndef TESTS_UNIT_CALC_SCHEMA_H
#define TESTS_UNIT_CALC_SCHEMA_H

#include <stdio.h>
#include <string.h>

#include "tests/unit/calc_fixture.h"

static const json_t *root_schema;

static bool valid(const json_t *value, const json_t *schema, const char *path);

static bool type_is(const json_t *value, const char *type)
{
    switch (type[0]) {
    case 'o': return json_is_object(value);
    case 'a': return json_is_array(value);
    case 's': return json_is_string(value);
    case 'b': return json_is_boolean(value);
    case 'i': return json_is_integer(value);
    default: return type[2] == 'l' ? json_is_null(value) : json_is_number(value);
    }
}

static bool has_type(const json_t *value, const json_t *type)
{
    size_t i;
    json_t *one;
    if (json_is_string(type))
        return type_is(value, json_string_value(type));
    json_array_foreach(type, i, one) if (type_is(value, json_string_value(one))) return true;
    return !type;
}

static bool in_list(const json_t *value, const json_t *list)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) if (json_equal(value, one)) return true;
    return !list;
}

static bool complain(const char *path, const char *what)
{
    printf("%s: %s\n", path, what);
    return false;
}

static bool valid_object(const json_t *value, const json_t *schema, const char *path)
{
    const json_t *properties = json_object_get(schema, "properties"),
                 *more = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *item;
    size_t i;
    char below[512];
    json_array_foreach(
        json_object_get(schema, "required"), i,
        item) if (!json_object_get(value,
                                   json_string_value(
                                       item))) return complain(path, json_string_value(item));
    json_object_foreach((json_t *)(void *)value, key, item)
    {
        const json_t *sub = json_object_get(properties, key);
        snprintf(below, sizeof below, "%s.%s", path, key);
        if (!sub && json_is_false(more))
            return complain(below, "is not in the schema");
        if (!sub)
            sub = more;
        if (json_is_object(sub) && !valid(item, sub, below))
            return false;
    }
    return true;
}

static bool valid(const json_t *value, const json_t *schema, const char *path)
{
    const char *ref = json_text(schema, "$ref");
    char below[512];
    size_t i;
    json_t *item;
    if (ref)
        return valid(
            value, json_object_get(json_object_get(root_schema, "$defs"), ref + strlen("#/$defs/")),
            path);
    if (!has_type(value, json_object_get(schema, "type")))
        return complain(path, "has another type");
    if (!in_list(value, json_object_get(schema, "enum")))
        return complain(path, "is none of the values");
    const json_t *constant = json_object_get(schema, "const");
    if (constant && !json_equal(value, constant))
        return complain(path, "is another constant");
    const json_t *least = json_object_get(schema, "minimum"),
                 *most = json_object_get(schema, "maximum");
    if (json_is_number(value) && least && json_number_value(value) < json_number_value(least))
        return complain(path, "is too small");
    if (json_is_number(value) && most && json_number_value(value) > json_number_value(most))
        return complain(path, "is too large");
    const json_t *items = json_object_get(schema, "items");
    json_array_foreach(value, i, item)
    {
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        if (items && !valid(item, items, below))
            return false;
    }
    return !json_is_object(value) || valid_object(value, schema, path);
}

static json_t *schema_file(void)
{
    json_error_t error;
    json_t *j = json_load_file("calc/vramcalc.schema.json", 0, &error);
    if (!j)
        fail_msg("calc/vramcalc.schema.json:%d: %s", error.line, error.text);
    return j;
}

// The schema of an answer, by the name of its command; the file is root_schema.
static inline const json_t *schema_of(const char *answer)
{
    const json_t *schema = json_object_get(json_object_get(root_schema, "$defs"), answer);
    if (!schema)
        fail_msg("calc/vramcalc.schema.json has no %s", answer);
    return schema;
}

#endif
