// Whether a record is what vramprobe.schema.json says: the same rules, for machines without a JSON Schema tool.
#include <math.h>
#include <string.h>

#include "kernels/record/record.h"

enum wanted { TEXT, WHOLE, WHOLE_OR_NULL, NUMBER, BOOL_OR_NULL, TEXT_OR_NULL, LIST, GROUP, UTC, SHA256, ID };

struct rule {
    const char *key;
    enum wanted wanted;
    bool required;
};

static const struct rule record_rules[] = {
    {"schema", TEXT, true},  {"id", ID, true},      {"status", TEXT, true},    {"created_utc", UTC, true},
    {"tool", GROUP, true},   {"code", GROUP, true}, {"host", GROUP, true},     {"device", GROUP, false},
    {"software", GROUP, false}, {"results", LIST, true}, {0}};
static const struct rule tool_rules[] = {{"name", TEXT, true}, {"version", TEXT, true}, {"sources_sha256", SHA256, true},
                                         {"protocols", GROUP, true}, {"command", LIST, true}, {0}};
static const struct rule code_rules[] = {{"commit", TEXT_OR_NULL, true}, {"dirty", BOOL_OR_NULL, true}, {0}};
static const struct rule host_rules[] = {{"os", TEXT, true}, {"kernel", TEXT, false}, {"machine", TEXT, false}, {0}};
static const struct rule device_rules[] = {
    {"name", TEXT, true}, {"compute_capability", TEXT, true}, {"sm_count", WHOLE, true}, {"l2_bytes", WHOLE, false},
    {"memory_total_bytes", WHOLE, true}, {"memory_reserved_bytes", WHOLE_OR_NULL, false},
    {"memory_usable_bytes", WHOLE, false}, {"pci_bus_id", TEXT_OR_NULL, false}, {"ecc", BOOL_OR_NULL, false},
    {"sm_clock_max_mhz", WHOLE_OR_NULL, false}, {"memory_clock_max_mhz", WHOLE_OR_NULL, false},
    {"power_limit_mw", WHOLE_OR_NULL, false}, {"uuid_sha256", TEXT_OR_NULL, false},
    {"other_processes", WHOLE_OR_NULL, false}, {0}};
static const struct rule result_rules[] = {
    {"experiment", TEXT, true}, {"engine", TEXT, true}, {"protocol", WHOLE, true}, {"config", GROUP, true},
    {"status", TEXT, true}, {"message", TEXT, false}, {"finished_utc", UTC, false}, {"values", GROUP, true}, {0}};

static const char *const units[] = {"B", "B/s", "FLOP/s", "s", "tokens/s", "count", "ratio", "text", NULL};
static const char *const engines[] = {"vramprobe", "torch-eager", "torch-compile", NULL};
static const char *const statuses[] = {"ok", "oom", "skipped", "failed", NULL};

struct check {
    const char *file;
    FILE *out;
    int wrong;
    char where[160];
};

static void wrong(struct check *c, const char *key, const char *what)
{
    fprintf(c->out, "%s: error: %s%s%s: %s\n", c->file, c->where, *c->where ? "." : "", key, what);
    c->wrong++;
}

static bool one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

static bool all_of(const char *text, size_t length, const char *letters)
{
    return strlen(text) == length && strspn(text, letters) == length;
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
    size_t n = strlen(t);
    return n >= 1 && n <= 128 && strspn(t, "abcdefghijklmnopqrstuvwxyz0123456789._-") == n && !strchr("._-", t[0]);
}

// NULL when j is what is wanted, else what is wanted.
static const char *misses(const struct json *j, enum wanted wanted)
{
    bool null = j->kind == JSON_NULL, whole = j->kind == JSON_INT && j->integer >= 0, text = j->kind == JSON_STRING;
    switch (wanted) {
    case TEXT: return text ? NULL : "a text is wanted";
    case TEXT_OR_NULL: return text || null ? NULL : "a text or null is wanted";
    case WHOLE: return whole ? NULL : "a whole number from 0 on is wanted";
    case WHOLE_OR_NULL: return whole || null ? NULL : "a whole number from 0 on or null is wanted";
    case NUMBER: return isfinite(json_number(j)) ? NULL : "a number is wanted";
    case BOOL_OR_NULL: return j->kind == JSON_BOOL || null ? NULL : "true, false or null is wanted";
    case LIST: return j->kind == JSON_ARRAY ? NULL : "a list is wanted";
    case GROUP: return j->kind == JSON_OBJECT ? NULL : "an object is wanted";
    case UTC: return is_utc(json_text(j)) ? NULL : "a time such as 2026-01-31T12:00:00Z is wanted";
    case SHA256: return all_of(json_text(j), 64, "0123456789abcdef") ? NULL : "64 hexadecimal digits are wanted";
    default: return is_id(json_text(j)) ? NULL : "an id of 1 to 128 of a-z 0-9 . _ - is wanted";
    }
}

static const struct rule *rule_for(const struct rule *rules, const char *key)
{
    for (; rules->key; rules++)
        if (strcmp(rules->key, key) == 0)
            return rules;
    return NULL;
}

static void check_group(struct check *c, const struct json *group, const struct rule *rules)
{
    if (!group || group->kind != JSON_OBJECT)
        return;  // said where it stands in its own group
    for (const struct rule *r = rules; r->key; r++)
        if (r->required && !json_get(group, r->key))
            wrong(c, r->key, "is missing");
    for (const struct json *j = group->first; j; j = j->next) {
        const struct rule *r = rule_for(rules, j->key);
        const char *what = r ? misses(j, r->wanted) : "no such key in this schema";
        if (what)
            wrong(c, j->key, what);
    }
}

static void check_value(struct check *c, const struct json *v)
{
    const char *unit = json_text(json_get(v, "unit"));
    const struct json *value = json_get(v, "value"), *samples = json_get(v, "samples");
    bool bytes = strcmp(unit, "B") == 0 || strcmp(unit, "count") == 0;
    if (!one_of(unit, units))
        wrong(c, v->key, "a unit of B, B/s, FLOP/s, s, tokens/s, count, ratio or text is wanted");
    else if (strcmp(unit, "text") == 0 ? !value || value->kind != JSON_STRING : !isfinite(json_number(value)))
        wrong(c, v->key, "a value of its unit is wanted");
    else if (bytes && value->kind != JSON_INT)
        wrong(c, v->key, "bytes and counts are whole numbers");
    for (const struct json *s = samples ? samples->first : NULL; s; s = s->next)
        if (!isfinite(json_number(s)))
            wrong(c, v->key, "a sample that is no number");
}

static void check_result(struct check *c, const struct json *r, int number)
{
    snprintf(c->where, sizeof c->where, "results[%d]", number);
    if (r->kind != JSON_OBJECT) {
        wrong(c, "", "an object is wanted");
        return;
    }
    check_group(c, r, result_rules);
    if (!one_of(json_text(json_get(r, "engine")), engines))
        wrong(c, "engine", "one of vramprobe, torch-eager, torch-compile is wanted");
    if (!one_of(json_text(json_get(r, "status")), statuses))
        wrong(c, "status", "one of ok, oom, skipped, failed is wanted");
    const struct json *config = json_get(r, "config"), *values = json_get(r, "values");
    for (const struct json *j = config ? config->first : NULL; j; j = j->next)
        if (j->kind == JSON_NULL || j->kind >= JSON_ARRAY)
            wrong(c, j->key, "a config holds texts, numbers, true and false");
    for (const struct json *j = values ? values->first : NULL; j; j = j->next)
        check_value(c, j);
}

int record_check(const struct json *record, const char *file, FILE *out)
{
    struct check c = {.file = file, .out = out};
    if (record->kind != JSON_OBJECT) {
        wrong(&c, "record", "an object is wanted");
        return c.wrong;
    }
    check_group(&c, record, record_rules);
    const char *status = json_text(json_get(record, "status"));
    if (strcmp(json_text(json_get(record, "schema")), "vramprobe/1") != 0)
        wrong(&c, "schema", "vramprobe/1 is wanted");
    if (strcmp(status, "ok") != 0 && strcmp(status, "no-device") != 0)
        wrong(&c, "status", "ok or no-device is wanted");
    if (strcmp(status, "ok") == 0 && (!json_get(record, "device") || !json_get(record, "software")))
        wrong(&c, "device", "device and software are missing");
    static const struct { const char *key; const struct rule *rules; } groups[] = {
        {"tool", tool_rules}, {"code", code_rules}, {"host", host_rules}, {"device", device_rules}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(c.where, sizeof c.where, "%s", groups[i].key);
        check_group(&c, json_get(record, groups[i].key), groups[i].rules);
    }
    int number = 0;
    const struct json *results = json_get(record, "results");
    for (const struct json *r = results ? results->first : NULL; r; r = r->next)
        check_result(&c, r, number++);
    return c.wrong;
}
