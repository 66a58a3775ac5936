// Checks a record against vramprobe.schema.json: the one implementation, for the probe and for the
// generator, which builds pages of records. A test holds it against the schema, key by key.
#include <math.h>
#include <string.h>

#include "kernels/record/record.h"

enum wanted {
    TEXT,
    TEXT_OR_NULL,
    WHOLE,
    WHOLE_OR_NULL,
    WHOLE_OR_NULL_SIGNED,
    POSITIVE,
    NUMBER,
    BOOL_OR_NULL,
    LIST,
    GROUP,
    VALUE,
    UTC,
    SHA256,
    SHA256_OR_NULL,
    ID,
    COMMIT,
    CAPABILITY,
    NAME,
    SCHEMA,
    RECORD_STATUS,
    TOOL,
    ENGINE,
    STATUS,
    UNIT,
};

struct rule {
    const char *key;
    enum wanted wanted;
    bool required;
};

static const struct rule record_rules[] = {{"schema", SCHEMA, true},
                                           {"id", ID, true},
                                           {"status", RECORD_STATUS, true},
                                           {"created_utc", UTC, true},
                                           {"tool", GROUP, true},
                                           {"code", GROUP, true},
                                           {"host", GROUP, true},
                                           {"device", GROUP, false},
                                           {"software", GROUP, false},
                                           {"results", LIST, true},
                                           {0}};
static const struct rule tool_rules[] = {
    {"name", TOOL, true},       {"version", TEXT, true}, {"sources_sha256", SHA256, true},
    {"protocols", GROUP, true}, {"command", LIST, true}, {0}};
static const struct rule code_rules[] = {
    {"commit", COMMIT, true}, {"dirty", BOOL_OR_NULL, true}, {0}};
static const struct rule host_rules[] = {
    {"os", TEXT, true}, {"kernel", TEXT, false}, {"machine", TEXT, false}, {0}};
static const struct rule device_rules[] = {{"name", TEXT, true},
                                           {"compute_capability", CAPABILITY, true},
                                           {"sm_count", POSITIVE, true},
                                           {"l2_bytes", WHOLE, false},
                                           {"memory_total_bytes", WHOLE, true},
                                           {"memory_reserved_bytes", WHOLE_OR_NULL, false},
                                           {"memory_usable_bytes", WHOLE, false},
                                           {"pci_bus_id", TEXT_OR_NULL, false},
                                           {"ecc", BOOL_OR_NULL, false},
                                           {"sm_clock_max_mhz", WHOLE_OR_NULL_SIGNED, false},
                                           {"memory_clock_max_mhz", WHOLE_OR_NULL_SIGNED, false},
                                           {"power_limit_mw", WHOLE_OR_NULL_SIGNED, false},
                                           {"uuid_sha256", SHA256_OR_NULL, false},
                                           {"other_processes", WHOLE_OR_NULL, false},
                                           {0}};
static const struct rule result_rules[] = {
    {"experiment", NAME, true},   {"engine", ENGINE, true}, {"protocol", POSITIVE, true},
    {"config", GROUP, true},      {"status", STATUS, true}, {"message", TEXT, false},
    {"finished_utc", UTC, false}, {"values", GROUP, true},  {0}};
static const struct rule value_rules[] = {{"unit", UNIT, true},
                                          {"value", VALUE, true},
                                          {"min", NUMBER, false},
                                          {"max", NUMBER, false},
                                          {"mad", NUMBER, false},
                                          {"samples", LIST, false},
                                          {0}};

static const char *const tools[] = {"vramprobe", "torch_record.py", "vram", NULL};
static const char *const units[] = {"B",     "B/s",   "FLOP/s", "s", "tokens/s",
                                    "count", "ratio", "text",   NULL};
static const char *const engines[] = {"vramprobe", "torch-eager", "torch-compile", NULL};
static const char *const statuses[] = {"ok", "oom", "skipped", "failed", NULL};
static const char *const record_statuses[] = {"ok", "no-device", NULL};

struct check {
    record_say *say;
    void *ctx;
    int wrong;
    char where[200];
};

static void wrong(struct check *c, const struct rjson *at, const char *key, const char *what)
{
    char place[sizeof c->where + 132];
    snprintf(place, sizeof place, "%s%s%.128s", c->where, *c->where && *key ? "." : "",
             *key || *c->where ? key : "\"\"");
    for (char *p = place; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    c->say(c->ctx, at, place, what);
    c->wrong++;
}

static bool one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

static bool all_of(const char *text, size_t least, size_t most, const char *letters)
{
    size_t n = strlen(text);
    return n >= least && n <= most && strspn(text, letters) == n;
}

static bool is_utc(const char *t)
{
    const char *form = "dddd-dd-ddTdd:dd:ddZ";
    if (strlen(t) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? t[i] < '0' || t[i] > '9' : t[i] != form[i])
            return false;
    return true;
}

static bool is_id(const char *t)
{
    return all_of(t, 1, 128, "abcdefghijklmnopqrstuvwxyz0123456789._-") && !strchr("._-", t[0]);
}

static bool is_name(const char *t)
{
    return all_of(t, 1, SIZE_MAX, "abcdefghijklmnopqrstuvwxyz0123456789_") && t[0] >= 'a';
}

static bool is_capability(const char *t)
{
    const char *dot = strchr(t, '.');
    return dot && dot > t && dot[1] && strspn(t, "0123456789") == (size_t)(dot - t) &&
           strspn(dot + 1, "0123456789") == strlen(dot + 1);
}

#define HEX "0123456789abcdef"

// Returns NULL when j is what is wanted, else a description of what is wanted.
static const char *misses(const struct rjson *j, enum wanted wanted)
{
    bool null = j->kind == RJSON_NULL, integer = j->kind == RJSON_INT,
         whole = integer && j->integer >= 0;
    bool text = j->kind == RJSON_STRING, number = isfinite(rjson_number(j));
    const char *t = rjson_text(j);
    switch (wanted) {
    case TEXT: return text ? NULL : "a text is wanted";
    case TEXT_OR_NULL: return text || null ? NULL : "a text or null is wanted";
    case WHOLE: return whole ? NULL : "a whole number from 0 on is wanted";
    case WHOLE_OR_NULL: return whole || null ? NULL : "a whole number from 0 on or null is wanted";
    case WHOLE_OR_NULL_SIGNED: return integer || null ? NULL : "a whole number or null is wanted";
    case POSITIVE: return whole && j->integer ? NULL : "a whole number from 1 on is wanted";
    case NUMBER: return number ? NULL : "a number is wanted";
    case BOOL_OR_NULL:
        return j->kind == RJSON_BOOL || null ? NULL : "true, false or null is wanted";
    case LIST: return j->kind == RJSON_ARRAY ? NULL : "a list is wanted";
    case GROUP: return j->kind == RJSON_OBJECT ? NULL : "an object is wanted";
    case VALUE: return text || number ? NULL : "a number or a text is wanted";
    case UTC: return is_utc(t) ? NULL : "a time such as 2026-01-31T12:00:00Z is wanted";
    case SHA256: return all_of(t, 64, 64, HEX) ? NULL : "64 hexadecimal digits are wanted";
    case SHA256_OR_NULL:
        return null || all_of(t, 64, 64, HEX) ? NULL : "64 hexadecimal digits or null are wanted";
    case ID: return is_id(t) ? NULL : "an id of 1 to 128 of a-z 0-9 . _ - is wanted";
    case COMMIT:
        return null || all_of(t, 7, 64, HEX) ? NULL
                                             : "7 to 64 hexadecimal digits or null are wanted";
    case CAPABILITY: return is_capability(t) ? NULL : "two numbers such as 8.9 are wanted";
    case NAME: return is_name(t) ? NULL : "a name of a-z 0-9 _ is wanted";
    case SCHEMA: return strcmp(t, RECORD_SCHEMA) == 0 ? NULL : RECORD_SCHEMA " is wanted";
    case RECORD_STATUS: return one_of(t, record_statuses) ? NULL : "ok or no-device is wanted";
    case TOOL: return one_of(t, tools) ? NULL : "vramprobe, torch_record.py or vram is wanted";
    case ENGINE:
        return one_of(t, engines) ? NULL : "one of vramprobe, torch-eager, torch-compile is wanted";
    case STATUS: return one_of(t, statuses) ? NULL : "one of ok, oom, skipped, failed is wanted";
    case UNIT:
        return one_of(t, units)
                   ? NULL
                   : "a unit of B, B/s, FLOP/s, s, tokens/s, count, ratio or text is wanted";
    }
    return NULL;
}

static const struct rule *rule_for(const struct rule *rules, const char *key)
{
    for (; rules->key; rules++)
        if (strcmp(rules->key, key) == 0)
            return rules;
    return NULL;
}

static void check_group(struct check *c, const struct rjson *group, const struct rule *rules)
{
    if (!group || group->kind != RJSON_OBJECT)
        return;  // reported in its own group
    for (const struct rule *r = rules; r->key; r++)
        if (r->required && !rjson_get(group, r->key))
            wrong(c, group, r->key, "is missing");
    for (const struct rjson *j = group->first; j; j = j->next) {
        const struct rule *r = rule_for(rules, j->key);
        const char *what = r ? misses(j, r->wanted) : "no such key in this schema";
        if (what)
            wrong(c, j, j->key, what);
    }
}

// Checks every member of a group or list whose names are not fixed.
static void check_all(struct check *c, const struct rjson *group, const char *name,
                      enum wanted wanted)
{
    for (const struct rjson *j = group ? group->first : NULL; j; j = j->next) {
        const char *what = misses(j, wanted);
        if (what)
            wrong(c, j, j->key ? j->key : name, what);
    }
}

static void check_value(struct check *c, const struct rjson *v)
{
    const char *unit = rjson_text(rjson_get(v, "unit"));
    const struct rjson *value = rjson_get(v, "value");
    bool counted = strcmp(unit, "B") == 0 || strcmp(unit, "count") == 0,
         text = strcmp(unit, "text") == 0;
    if (v->kind != RJSON_OBJECT) {
        wrong(c, v, v->key, "an object is wanted");
        return;
    }
    check_group(c, v, value_rules);
    if (value && text != (value->kind == RJSON_STRING))
        wrong(c, v, v->key, "a value of its unit is wanted");
    else if (value && counted && value->kind != RJSON_INT)
        wrong(c, v, v->key, "bytes and counts are whole numbers");
    check_all(c, rjson_get(v, "samples"), "samples", NUMBER);
}

static void check_result(struct check *c, const struct rjson *r, int number)
{
    snprintf(c->where, sizeof c->where, "results[%d]", number);
    if (r->kind != RJSON_OBJECT) {
        wrong(c, r, "", "an object is wanted");
        return;
    }
    check_group(c, r, result_rules);
    const struct rjson *config = rjson_get(r, "config"), *values = rjson_get(r, "values");
    for (const struct rjson *j = config ? config->first : NULL; j; j = j->next)
        if (j->kind == RJSON_NULL || j->kind >= RJSON_ARRAY)
            wrong(c, j, j->key ? j->key : "config",
                  "a config holds texts, numbers, true and false");
    for (const struct rjson *j = values && values->kind == RJSON_OBJECT ? values->first : NULL; j;
         j = j->next) {
        snprintf(c->where, sizeof c->where, "results[%d].values", number);
        check_value(c, j);
    }
}

static void check_groups(struct check *c, const struct rjson *record)
{
    static const struct {
        const char *key;
        const struct rule *rules;
    } groups[] = {
        {"tool", tool_rules}, {"code", code_rules}, {"host", host_rules}, {"device", device_rules}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(c->where, sizeof c->where, "%s", groups[i].key);
        check_group(c, rjson_get(record, groups[i].key), groups[i].rules);
    }
    snprintf(c->where, sizeof c->where, "tool.protocols");
    check_all(c, rjson_get(rjson_get(record, "tool"), "protocols"), "", POSITIVE);
    snprintf(c->where, sizeof c->where, "tool.command");
    check_all(c, rjson_get(rjson_get(record, "tool"), "command"), "", TEXT);
    snprintf(c->where, sizeof c->where, "software");
    check_all(c, rjson_get(record, "software"), "", TEXT_OR_NULL);
}

int record_check(const struct rjson *record, record_say *say, void *ctx)
{
    struct check c = {.say = say, .ctx = ctx};
    if (record->kind != RJSON_OBJECT) {
        wrong(&c, record, "record", "an object is wanted");
        return c.wrong;
    }
    const struct rjson *schema = rjson_get(record, "schema");
    if (strcmp(rjson_text(schema), RECORD_SCHEMA) != 0) {
        wrong(&c, schema ? schema : record, "schema", RECORD_SCHEMA " is wanted");
        return c.wrong;
    }
    check_group(&c, record, record_rules);
    bool ok = strcmp(rjson_text(rjson_get(record, "status")), "ok") == 0;
    if (ok && (!rjson_get(record, "device") || !rjson_get(record, "software")))
        wrong(&c, record, "device", "device and software are missing");
    check_groups(&c, record);
    int number = 0;
    const struct rjson *results = rjson_get(record, "results");
    for (const struct rjson *r = results ? results->first : NULL; r; r = r->next)
        check_result(&c, r, number++);
    return c.wrong;
}
