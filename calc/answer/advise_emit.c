// vram_advise: the ranked changes as text or JSON, and the configuration to paste.

#include "calc/answer/advise.h"
#include "calc/answer/emit.h"
#include "calc/base/text.h"
#include "calc/model/gpus.h"

enum { WORTH = 200 }; // less than this part of the whole is not worth a line of text

static const char *const effect_names[] = {"same", "close", "different"};
static const char *const effect_heads[] = {
    "The result stays the same",
    "The same model and data, another arithmetic",
    "Another model, or other data in a step",
};

static void put_cost(struct writer *w, int64_t permille)
{
    uint64_t n = (uint64_t)(permille < 0 ? -permille : permille);
    if (n < 5)
        writer_str(w, "no time");
    else
        writer_f(w, "about %u %% %s", (n + 5) / 10, permille < 0 ? "faster" : "slower");
}

static void put_row(struct writer *w, const struct advice *a)
{
    if (a->refused) {
        writer_f(w, "     refused  %s\n               %s\n", a->what, a->refusal);
        return;
    }
    if (a->saved) {
        writer_char(w, '-');
        emit_mib_right(w, a->saved, 11);
    } else {
        writer_str(w, "     nothing");
    }
    writer_f(w, "  %s%s\n               ", a->what, a->fits ? "   <- fits" : "");
    if (a->predicted) {
        put_cost(w, a->cost_permille);
        writer_f(w, " (%s)", a->cost_why);
    } else {
        writer_f(w, "time %s", a->cost_why[0] ? a->cost_why : "not predicted");
    }
    writer_f(w, "\n               %s\n", a->effect_text);
    if (a->how)
        writer_f(w, "               in the code: %s\n", a->how);
}

// The edits that a plan needs beside its settings.
static void put_edits(struct writer *w, const struct advice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->used[i] && list->row[i].how)
            writer_f(w, "# %s, in the code: %s\n", list->row[i].what, list->row[i].how);
}

static void put_plan(struct writer *w, struct vram *v, const struct advice_list *list)
{
    writer_f(w, list->found ? "Do this: it then takes " : "Even all of it together is too much: ");
    emit_mib_round(w, list->best_process);
    writer_str(w, " of ");
    emit_mib_round(w, list->gpu_bytes);
    writer_str(w, " MiB");
    if (v->config.task == TASK_TRAIN) {
        writer_str(w, " (");
        put_cost(w, list->best_cost_permille);
        writer_char(w, ')');
    }
    writer_str(w, list->found && list->tight_only
                      ? "; the margin is smaller than the error bound\n\n"
                      : "\n\n");
    put_edits(w, list);
    emit_config_text(w, &list->best);
}

static void put_text(struct writer *w, struct vram *v, const struct advice_list *list)
{
    writer_str(w, "Now: ");
    emit_mib_round(w, list->process);
    writer_str(w, " MiB");
    if (list->gpu_bytes) {
        writer_f(w, ", which %s in the %s (", list->fits ? "fits" : "does not fit",
                 gpu_name(&v->config));
        emit_mib_round(w, list->gpu_bytes);
        writer_str(w, " MiB)");
    }
    writer_str(w, "\n\n");
    for (unsigned e = 0; e < 3; e++) {
        bool any = false;
        for (size_t i = 0; i < list->count; i++) {
            if (list->row[i].effect != e ||
                (list->row[i].saved < list->process / WORTH && !list->row[i].refused))
                continue;
            if (!any)
                writer_f(w, "%s. Saves, MiB; what is enough alone first, settings before code:\n", effect_heads[e]);
            any = true;
            put_row(w, &list->row[i]);
        }
        if (any)
            writer_char(w, '\n');
    }
    if (list->gpu_bytes && !list->fits)
        put_plan(w, v, list);
    else if (!list->gpu_bytes)
        writer_str(w, "Name a card with --gpu to get a configuration that fits it.\n");
}

static void json_config(struct json *j, const char *key, struct vram *v,
                        const struct vram_config *c)
{
    struct vram_config own = v->config;
    json_open(j, key, '{');
    v->config = *c;
    emit_config_json(j, v);
    v->config = own;
    json_close(j, '}');
}

static void json_row(struct json *j, const struct advice *a)
{
    json_open(j, NULL, '{');
    json_str(j, "change", a->what);
    json_str(j, "effect", effect_names[a->effect]);
    json_str(j, "result", a->effect_text);
    json_str(j, "how", a->how);
    json_str(j, "refused", a->refused ? a->refusal : NULL);
    json_u64(j, "process_bytes", a->process);
    json_u64(j, "saved_bytes", a->saved);
    if (a->predicted)
        json_i64(j, "slowdown_permille", a->cost_permille);
    else
        json_null(j, "slowdown_permille");
    json_str(j, "slowdown_basis", a->cost_why);
    json_bool(j, "fits", a->fits);
    json_close(j, '}');
}

static void put_json(struct writer *w, struct vram *v, const struct advice_list *list)
{
    struct json j = json_of(w);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_u64(&j, "process_bytes", list->process);
    if (list->gpu_bytes)
        json_u64(&j, "gpu_bytes", list->gpu_bytes);
    else
        json_null(&j, "gpu_bytes");
    if (list->gpu_bytes)
        json_bool(&j, "fits", list->fits);
    else
        json_null(&j, "fits");
    json_open(&j, "changes", '[');
    for (size_t i = 0; i < list->count; i++)
        json_row(&j, &list->row[i]);
    json_close(&j, ']');
    if (list->found) {
        json_open(&j, "plan", '{');
        json_u64(&j, "process_bytes", list->best_process);
        json_i64(&j, "slowdown_permille", list->best_cost_permille);
        json_open(&j, "changes", '[');
        for (size_t i = 0; i < list->count; i++)
            if (list->used[i])
                json_str(&j, NULL, list->row[i].what);
        json_close(&j, ']');
        json_config(&j, "config", v, &list->best);
        json_close(&j, '}');
    } else {
        json_null(&j, "plan");
    }
    json_close(&j, '}');
    json_end(&j);
}

static void put_table(struct writer *w, const struct advice_list *list, bool md)
{
    static const char *const csv[] = {"change",      "effect",       "result", "slowdown_permille",
                                      "saved_bytes", "process_bytes"};
    static const char *const mib[] = {"change",     "effect",   "result", "slower, per mille",
                                      "saves, MiB", "then, MiB"};
    char cost[24];
    struct table t = table_of(w, md);
    table_head(&t, md ? mib : csv, 6, 3);
    for (size_t i = 0; i < list->count; i++) {
        const struct advice *a = &list->row[i];
        uint64_t n = (uint64_t)(a->cost_permille < 0 ? -a->cost_permille : a->cost_permille);
        char *at = cost + sizeof cost - 1;
        *at = 0;
        do {
            *--at = (char)('0' + n % 10);
            n /= 10;
        } while (n);
        if (a->cost_permille < 0)
            *--at = '-';
        table_str(&t, a->what);
        table_str(&t, a->refused ? "refused" : effect_names[a->effect]);
        table_str(&t, a->refused ? a->refusal : a->effect_text);
        table_str(&t, at);
        table_mib(&t, a->saved);
        table_mib(&t, a->process);
        table_end(&t);
    }
}

int vram_advise(vram *v, enum vram_format format)
{
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    struct advice_list *list = mem_alloc(&v->mem, sizeof *list);
    if (!list)
        return err_set(&v->err, VRAM_ENOMEM, (struct err_pos){0},
                       "no memory for the list of changes");
    int rc = advise_make(v, list);
    if (rc == VRAM_OK && format == VRAM_FORMAT_JSON)
        put_json(&v->text, v, list);
    else if (rc == VRAM_OK && format == VRAM_FORMAT_TEXT)
        put_text(&v->text, v, list);
    else if (rc == VRAM_OK)
        put_table(&v->text, list, format == VRAM_FORMAT_MD);
    mem_free(&v->mem, list, sizeof *list);
    return rc == VRAM_OK ? emit_done(v) : rc;
}
