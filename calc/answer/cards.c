// Owns vram_cards: every card of the table, and every number of it, that a run fits.

#include "calc/answer/answers.h"
#include "calc/answer/probe.h"
#include "calc/base/size.h"
#include "calc/base/text.h"
#include "calc/model/capacities.h"
#include "calc/model/framework.h"
#include "calc/model/model_make.h"
#include "calc/model/resolve.h"
#include "calc/replay/run.h"

// One number of cards: what the configuration becomes.
struct share {
    struct vram_config config;
    const char *change;  // NULL: as it is
    bool possible;
};

struct cards_search {
    struct vram *probe;
    struct mem_arena *arena;
    struct vram_card *rows;
    size_t count;
    uint64_t tried;
    struct share share[VRAM_CARDS_MOST];
};

// On one GPU "auto" can mean narrower formats than on several, which is another training: it has
// those of before.
static void keep_formats(struct vram_config *c, uint64_t before, struct text_line *line)
{
    struct vram_config one = *c, several = *c;
    several.n_gpu = before;
    resolve_auto(&one);
    resolve_auto(&several);
    if (one.dtype == several.dtype)
        return;
    c->dtype = several.dtype;
    config_append(line, c, FIELD_dtype);
}

// Sets what `count` cards are used by: the scheme of the configuration; without one fully_shard, or
// what nanoGPT has. A generation divides each layer. What is divided already takes a multiple of
// that.
static bool divide(struct vram_config *c, uint64_t count, struct text_line *line)
{
    uint64_t group = c->tensor_parallel * c->pipeline_parallel * c->context_parallel;
    uint64_t before = c->n_gpu;
    if (c->task == TASK_INFERENCE) {
        c->tensor_parallel = count;
        if (count > 1)
            config_append(line, c, FIELD_tensor_parallel);
        return true;
    }
    if (count % group)
        return false;
    c->n_gpu = count / group;
    if (c->parallel == PARALLEL_NONE && c->n_gpu > 1) {
        c->parallel = framework_goes(c, BY_DDP_ALONE) || group > 1 ? PARALLEL_DDP : PARALLEL_FSDP;
        config_append(line, c, FIELD_parallel);
    }
    if (c->n_gpu > 1 || before > 1)
        config_append(line, c, FIELD_n_gpu);
    if (c->n_gpu == 1 && before > 1)
        keep_formats(c, before, line);
    return true;
}

static const char *keep(struct mem_arena *arena, const struct text_line *line)
{
    char *text = mem_arena_new(arena, line->len + 1, 1);
    if (text)
        mem_copy(text, line->text, line->len);
    return text;
}

static int make_shares(struct cards_search *s, const struct vram_config *base)
{
    for (uint64_t count = 1; count <= VRAM_CARDS_MOST; count++) {
        struct share *share = &s->share[count - 1];
        struct text_line line = {{0}, 0};
        struct model m;
        struct message none;
        message_clear(&none);
        share->config = *base;
        share->config.gpu_memory = share->config.cuda_memory = 0;
        share->possible = divide(&share->config, count, &line) &&
                          model_make(&m, &share->config, &none) == VRAM_OK;
        share->change = line.len ? keep(s->arena, &line) : NULL;
        if (line.len && !share->change)
            return VRAM_ENOMEM;
    }
    return VRAM_OK;
}

// A row if the run fits `count` cards of number `gpu`.
static int try_card(struct cards_search *s, int32_t gpu, uint64_t count)
{
    struct vram *probe = s->probe;
    const struct share *share = &s->share[count - 1];
    struct probe_answer answer;
    uint64_t least;
    probe->config = share->config;
    probe->config.gpu = gpu;
    probe->has_result = false;
    uint64_t room = capacity_left(&probe->config);
    s->tried++;
    int rc = run_process_least(probe, &least);
    if (rc == VRAM_OK)
        rc = least > room ? VRAM_ENOFIT : probe_try(probe, room + 1, &answer);
    message_clear(&probe->err);
    if (rc != VRAM_OK)
        return rc == VRAM_ENOMEM ? rc : VRAM_OK;
    const struct vram_gpu *g = vram_gpu_at((size_t)gpu);
    s->rows[s->count++] = (struct vram_card){.gpu_name = g->name,
                                             .count = count,
                                             .change = share->change,
                                             .total_bytes = count * g->memory_bytes,
                                             .gpu_bytes = room,
                                             .process_bytes = answer.process,
                                             .margin_bytes = room - answer.process,
                                             .surely = answer.surely};
    return VRAM_OK;
}

static bool is_before(const struct vram_card *a, const struct vram_card *b)
{
    return a->total_bytes != b->total_bytes ? a->total_bytes < b->total_bytes : a->count < b->count;
}

static void sort(struct vram_card *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct vram_card row = rows[i];
        size_t k = i;
        for (; k > 0 && is_before(&row, &rows[k - 1]); k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

static int search(struct cards_search *s, const struct vram_config *base)
{
    size_t cards = 0;
    while (vram_gpu_at(cards))
        cards++;
    s->rows = mem_arena_new(s->arena, cards * VRAM_CARDS_MOST, sizeof *s->rows);
    int rc = s->rows ? make_shares(s, base) : VRAM_ENOMEM;
    for (size_t i = 0; i < cards; i++)
        for (uint64_t count = 1; count <= VRAM_CARDS_MOST && rc == VRAM_OK; count++)
            if (s->share[count - 1].possible)
                rc = try_card(s, (int32_t)i, count);
    sort(s->rows, s->count);
    return rc;
}

static void fill(struct answers *a, const struct cards_search *s, const struct vram_config *c)
{
    struct vram_cards *out = &a->cards;
    *out = (struct vram_cards){.cards = s->rows, .card_count = s->count, .tried = s->tried};
    if (c->task == TASK_TRAIN)
        out->note = MESSAGE_cards_share;
    if (s->count)
        return;
    message_set(&a->cards_refusal, MESSAGE_cards_none, NO_FIELD,
                ARGS(arg_u64("most", VRAM_CARDS_MOST)));
    out->refusal = &a->cards_refusal.out;
}

int vram_cards(vram *v, const struct vram_cards **out)
{
    message_clear(&v->err);
    struct answers *a = vram_check(v) == VRAM_OK ? answers_of(v) : NULL;
    struct vram *probe = a ? probe_new(v) : NULL;
    if (!probe)
        return v->err.out.code;
    mem_arena_free(&a->cards_arena);
    a->has_cards = false;
    struct cards_search s = {.probe = probe, .arena = &a->cards_arena};
    int rc = search(&s, &v->config);
    vram_free(probe);
    if (rc != VRAM_OK)
        return handle_no_memory(v);
    fill(a, &s, &v->config);
    rc = answers_note(a, VRAM_ANSWER_CARDS, v, &a->cards);
    a->has_cards = rc == VRAM_OK;
    *out = &a->cards;
    return rc;
}
