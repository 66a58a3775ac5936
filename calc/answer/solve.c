// Owns the search for the largest or smallest value that fits: vram_solve, and what vram_max_batch
// looks for.

#include "calc/answer/solve.h"

#include "calc/answer/answers.h"
#include "calc/answer/probe.h"
#include "calc/base/text.h"
#include "calc/model/capacities.h"
#include "calc/model/gpus.h"
#include "calc/model/resolve.h"
#include "calc/replay/run.h"

// ---- the table -------------------------------------------------------------------------------

enum solve_bound {
    ONE,
    OF_FIELD,        // the field's own maximum
    POSITIONS,       // that the model knows
    POSITIONS_LEFT,  // behind the prompt
    STAGES,          // of the pipeline
    TENSOR_GPUS,
    HEADS,  // a width for each head, and pairs of numbers for rotary positions
    QUERY_HEADS,
    LAYERS,
    ACTIVE_EXPERTS,
    CARD  // MiB
};

static const struct solve_row ROWS[] = {
#define SOLVE(field, goal, method, from, step, most) \
    {FIELD_##field, VRAM_GOAL_##goal, VRAM_METHOD_##method, from, step, most},
#include "calc/answer/solve.def"
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static uint64_t positions_left(const struct vram_config *c)
{
    uint64_t prompt = config_longest(c);
    return c->block_size > prompt ? c->block_size - prompt
                                  : vram_field_at(FIELD_max_new_tokens)->max;
}

// A length that is configured beyond the model's positions is one that its positions are stretched
// to.
static uint64_t bound(uint8_t which, uint32_t field, const struct vram_config *c)
{
    switch ((enum solve_bound)which) {
    case OF_FIELD: return vram_field_at(field)->max;
    case POSITIONS: return c->seq_len > c->block_size ? vram_field_at(field)->max : c->block_size;
    case POSITIONS_LEFT: return positions_left(c);
    case STAGES: return c->pipeline_parallel;
    case TENSOR_GPUS: return c->tensor_parallel;
    case HEADS: return c->head_dim ? 1 : c->family == FAMILY_GPT2 ? c->n_head : 2 * c->n_head;
    case QUERY_HEADS: return c->n_head;
    case LAYERS: return c->n_layer;
    case ACTIVE_EXPERTS: return c->n_expert_active;
    case CARD: return (capacity_left(c) >> 20) + c->other_memory;
    case ONE: break;
    }
    return 1;
}

const struct solve_row *solve_row_of(uint32_t field)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].field == field)
            return &ROWS[i];
    return NULL;
}

const char *vram_solvable_at(size_t index)
{
    return index < ROW_COUNT ? vram_field_at(ROWS[index].field)->key : NULL;
}

// ---- trying ----------------------------------------------------------------------------------

struct search {
    struct vram *probe;
    const struct solve_row *row;
    uint64_t from, step, last;  // values are from + k * step, for k up to last
    bool surely;                // with the whole error bound
    uint32_t tried;
    struct message
        *limit;  // why the last value that does not fit is no possible model; clear where it is one
};

static uint64_t value_at(const struct search *s, uint64_t k)
{
    return s->from + k * s->step;
}

// Does value k fit? What is no possible model does not, nor does what is so large that its sizes
// overflow; no run takes less than its tensors.
static int try_value(struct search *s, uint64_t k, bool *fits)
{
    struct probe_answer answer = {0};
    struct vram *probe = s->probe;
    uint64_t least, room;
    *fits = false;
    config_put(&probe->config, s->row->field, value_at(s, k));
    probe->has_result = false;
    room = capacity_left(&probe->config);
    s->tried++;
    int rc = run_process_least(probe, &least);
    if (rc == VRAM_OK && least <= room)
        rc = probe_try(probe, room + 1, &answer);
    *fits = rc == VRAM_OK && (s->surely ? answer.surely : answer.fits);
    if (rc == VRAM_ENOMEM)
        return rc;
    if (rc == VRAM_EMODEL || rc == VRAM_EUNSUPPORTED)
        message_copy(s->limit, &probe->err.out);
    else if (!*fits || s->row->method == VRAM_METHOD_SCAN)
        message_clear(s->limit);
    message_clear(&probe->err);
    return VRAM_OK;
}

// The number of values from the first on of which `want` holds: doubles until it does not, then
// halves the gap. What the answer says has been tried; the allocator's slack can put it a little
// off the true edge.
static int count_while(struct search *s, bool want, uint64_t *count)
{
    uint64_t good = 0, bad = s->last + 2, next = 1;  // as counts: value k is number k + 1
    while (good + 1 < bad) {
        bool fits;
        int rc = try_value(s, next - 1, &fits);
        if (rc != VRAM_OK)
            return rc;
        if (fits == want)
            good = next;
        else
            bad = next;
        next = bad <= s->last + 1    ? good + (bad - good) / 2
               : good <= s->last / 2 ? good * 2
                                     : s->last + 1;
    }
    *count = good;
    return VRAM_OK;
}

static int bisect(struct search *s, bool *any, uint64_t *k)
{
    uint64_t count = 0;
    bool largest = s->row->goal == VRAM_GOAL_LARGEST;
    int rc = count_while(s, largest, &count);
    *any = largest ? count > 0 : count <= s->last;
    *k = largest ? count - 1 : count;
    return rc;
}

static int scan(struct search *s, bool *any, uint64_t *k)
{
    int rc = VRAM_OK;
    *any = false;
    for (uint64_t i = 0; i <= s->last && rc == VRAM_OK; i++) {
        bool fits;
        rc = try_value(s, i, &fits);
        if (!fits)
            continue;
        *any = true;
        *k = i;
        if (s->row->goal == VRAM_GOAL_SMALLEST)
            break;
    }
    return rc;
}

static int look(struct search *s, bool *any, uint64_t *value)
{
    uint64_t k = 0;
    int rc = s->row->method == VRAM_METHOD_SCAN ? scan(s, any, &k) : bisect(s, any, &k);
    *value = rc == VRAM_OK && *any ? value_at(s, k) : 0;
    return rc;
}

// The first value is one that the configuration can have: an error there is the configuration's.
static int check_first(struct search *s)
{
    config_put(&s->probe->config, s->row->field, s->from);
    int rc = vram_check(s->probe);
    return s->row->method == VRAM_METHOD_SCAN ? VRAM_OK : rc;
}

// What keeps a value from being larger, where it is not memory: clear, or no possible model, or the
// end of the values.
static void say_limit(const struct search *s, const struct solve_found *f)
{
    const char *field = vram_field_at(s->row->field)->key;
    if (s->row->goal != VRAM_GOAL_LARGEST)
        message_clear(s->limit);
    else if (f->value == value_at(s, s->last))
        message_set(s->limit, MESSAGE_solve_ends, ABOUT(field),
                    ARGS(arg_text("field", field), arg_u64("most", f->value)));
}

// What the value takes, and the value that fits with the whole error bound.
static int look_again(struct search *s, struct solve_found *found)
{
    struct probe_answer answer = {0};
    struct message limit;
    config_put(&s->probe->config, s->row->field, found->value);
    int rc = probe_try(s->probe, 0, &answer);
    found->process_bytes = answer.process;
    if (s->row->goal == VRAM_GOAL_LARGEST)
        s->last = (found->value - s->from) / s->step;
    s->limit = &limit;
    s->surely = true;
    return rc == VRAM_OK ? look(s, &found->surely, &found->safe_value) : rc;
}

// On one GPU "auto" can mean narrower formats than on several, which is another training: fewer
// GPUs have those of several.
static void keep_formats(struct vram_config *c)
{
    struct vram_config several = *c;
    if (several.n_gpu < 2)
        several.n_gpu = 2;
    resolve_auto(&several);
    c->dtype = several.dtype;
}

int solve_search(struct vram *probe, const struct solve_row *row, struct solve_found *found,
                 struct message *limit)
{
    if (row->field == FIELD_seq_len)
        probe->config.seq_lens = 0;  // every batch has the length that is looked for
    if (row->field == FIELD_n_gpu)
        keep_formats(&probe->config);
    struct vram_config c = probe->config;
    struct search s = {.probe = probe,
                       .row = row,
                       .limit = limit,
                       .from = bound(row->from, row->field, &c),
                       .step = bound(row->step, row->field, &c)};
    uint64_t most = bound(row->most, row->field, &c);
    s.last = most > s.from ? (most - s.from) / s.step : 0;
    *found = (struct solve_found){0};
    message_clear(limit);
    int rc = check_first(&s);
    if (rc == VRAM_OK)
        rc = look(&s, &found->any, &found->value);
    if (rc == VRAM_OK && found->any) {
        say_limit(&s, found);
        rc = look_again(&s, found);
    }
    found->tried = s.tried;
    return rc;
}

// ---- the answer ------------------------------------------------------------------------------

int solve_need_card(struct vram *v)
{
    message_clear(&v->err);
    return capacity_left(&v->config)
               ? VRAM_OK
               : err_set(&v->err, MESSAGE_no_gpu, NO_POS, ABOUT("gpu"), NO_ARGS);
}

// Every field of the table, with commas.
static void list_fields(struct text_line *line)
{
    *line = (struct text_line){{0}, 0};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        text_append(line, i ? ", " : "");
        text_append(line, vram_solvable_at(i));
    }
}

static int find_row(struct vram *v, const char *field, const struct solve_row **row)
{
    struct text_line fields;
    int number = config_field(field, text_len(field));
    if (number < 0)
        return config_unknown(&v->err, NO_POS, field, text_len(field));
    *row = solve_row_of((uint32_t)number);
    if (!*row) {
        list_fields(&fields);
        return err_set(&v->err, MESSAGE_solve_not_for, NO_POS,
                       ABOUT(vram_field_at((size_t)number)->key),
                       ARGS(arg_text("field", vram_field_at((size_t)number)->key),
                            arg_text("fields", fields.text)));
    }
    if ((*row)->field == FIELD_n_gpu && v->config.parallel == PARALLEL_NONE)
        return err_set(&v->err, MESSAGE_solve_divides_nothing, NO_POS, ABOUT("n_gpu"), NO_ARGS);
    return VRAM_OK;
}

static void fill(struct answers *a, const struct vram *v, const struct solve_row *row,
                 const struct solve_found *f)
{
    const char *field = vram_field_at(row->field)->key;
    struct vram_solution *s = &a->solution;
    *s = (struct vram_solution){.field = field,
                                .goal = row->goal,
                                .method = row->method,
                                .found = f->any,
                                .safe_found = f->surely,
                                .tried = f->tried,
                                .configured = config_get(&v->config, row->field),
                                .value = f->value,
                                .safe_value = f->safe_value,
                                .process_bytes = f->process_bytes,
                                .gpu_bytes = capacity_left(&v->config),
                                .gpu_name = gpu_name(&v->config)};
    capacity_of(&v->config, &s->capacity);
    if (f->any && a->solve_limit.out.id[0])
        s->limit = &a->solve_limit.out;
    if (f->any)
        return;
    message_set(&a->solve_refusal, MESSAGE_solve_nothing_fits, ABOUT(field),
                ARGS(arg_text("field", field), arg_text("gpu", s->gpu_name)));
    s->refusal = &a->solve_refusal.out;
}

int vram_solve(vram *v, const char *field, const struct vram_solution **out)
{
    const struct solve_row *row = NULL;
    struct solve_found found;
    message_clear(&v->err);
    int rc = find_row(v, field, &row);
    if (rc == VRAM_OK)
        rc = solve_need_card(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    struct vram *probe = a ? probe_new(v) : NULL;
    if (!probe)
        return v->err.out.code;
    a->has_solution = false;
    rc = solve_search(probe, row, &found, &a->solve_limit);
    if (rc != VRAM_OK)
        probe_error(v, probe);
    vram_free(probe);
    if (rc != VRAM_OK)
        return rc;
    fill(a, v, row, &found);
    rc = answers_note(a, VRAM_ANSWER_SOLUTION, v, &a->solution);
    a->has_solution = rc == VRAM_OK;
    *out = &a->solution;
    return rc;
}
