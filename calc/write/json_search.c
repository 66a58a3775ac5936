// Owns the answers of searches as JSON: a solved field, the cards that fit, what a server has room for.

#include "calc/answer/answers.h"
#include "calc/write/json_parts.h"
#include "calc/write/write_json.h"

static void number(struct json *j, const char *key, bool there, uint64_t n)
{
    if (there)
        json_u64(j, key, n);
    else
        json_null(j, key);
}

void json_solution(struct vram *v)
{
    const struct vram_solution *s = &answers_made(v)->solution;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_str(&j, "field", s->field);
    json_str(&j, "goal", vram_goal_name(s->goal));
    json_str(&j, "method", vram_method_name(s->method));
    json_u64(&j, "tried", s->tried);
    json_u64(&j, "configured", s->configured);
    number(&j, "value", s->found, s->value);
    number(&j, "safe_value", s->safe_found, s->safe_value);
    number(&j, "process_bytes", s->found, s->process_bytes);
    json_str(&j, "gpu", s->gpu_name);
    json_u64(&j, "gpu_bytes", s->gpu_bytes);
    json_capacity(&j, &s->capacity);
    json_message(&j, "limit", s->limit);
    json_message(&j, "refusal", s->refusal);
    json_close(&j, '}');
    json_end(&j);
}

static void card(struct json *j, const struct vram_card *c)
{
    json_open(j, NULL, '{');
    json_str(j, "gpu", c->gpu_name);
    json_u64(j, "count", c->count);
    json_str(j, "change", c->change);
    json_u64(j, "total_bytes", c->total_bytes);
    json_u64(j, "gpu_bytes", c->gpu_bytes);
    json_u64(j, "process_bytes", c->process_bytes);
    json_u64(j, "margin_bytes", c->margin_bytes);
    json_bool(j, "surely", c->surely);
    json_close(j, '}');
}

void json_cards(struct vram *v)
{
    const struct vram_cards *c = &answers_made(v)->cards;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_open(&j, "cards", '[');
    for (size_t i = 0; i < c->card_count; i++)
        card(&j, &c->cards[i]);
    json_close(&j, ']');
    json_u64(&j, "tried", c->tried);
    json_message(&j, "note", c->note);
    json_message(&j, "refusal", c->refusal);
    json_close(&j, '}');
    json_end(&j);
}

void json_serving(struct vram *v)
{
    const struct vram_serving *s = &answers_made(v)->serving;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_str(&j, "server", s->server);
    json_u64(&j, "params", s->params);
    json_u64(&j, "weights_bytes", s->weights_bytes);
    json_u64(&j, "work_bytes", s->work_bytes);
    json_u64(&j, "context_bytes", s->context_bytes);
    json_u64(&j, "pool_bytes", s->pool_bytes);
    json_u64(&j, "token_bytes", s->token_bytes);
    json_u64(&j, "block_tokens", s->block_tokens);
    json_u64(&j, "blocks", s->blocks);
    json_u64(&j, "tokens", s->tokens);
    number(&j, "batched_tokens", s->batched_tokens, s->batched_tokens);
    number(&j, "most_sequences", s->most_sequences, s->most_sequences);
    json_u64(&j, "length", s->length);
    json_u64(&j, "sequences", s->sequences);
    json_u64(&j, "longest", s->longest);
    json_str(&j, "gpu", s->gpu_name);
    json_u64(&j, "gpu_bytes", s->gpu_bytes);
    json_capacity(&j, &s->capacity);
    json_message(&j, "note", s->note);
    json_message(&j, "refusal", s->refusal);
    json_close(&j, '}');
    json_end(&j);
}
