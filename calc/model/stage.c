// Owns what one card has of a model that several divide by layers: a pipeline's stage, or a card of
// device_map.

#include "calc/model/stage.h"

#include "calc/model/device_map.h"
#include "calc/model/framework.h"

uint64_t stage_count(const struct vram_config *c)
{
    return c->task == TASK_INFERENCE ? c->device_map : c->pipeline_parallel;
}

uint64_t stage_layer_products(const struct vram_config *c)
{
    return 4 * c->n_head * c->head_dim * c->n_embd + 3 * c->n_inner * c->n_embd;
}

// A stage gets layers until its share of all matrix products is passed; the head counts as what it
// costs. Where the head alone is the last share, a stage is left with no layer: it counts as one
// here. SRC: nanotron src/nanotron/models/base.py (build_model), models/llama.py
// (get_block_compute_costs).
static uint64_t stage_costly_layers(const struct vram_config *c, uint64_t stage)
{
    uint64_t layer = stage_layer_products(c), all = layer * c->n_layer + c->vocab_size * c->n_embd;
    uint64_t mine = 0, rank = 0;
    for (uint64_t i = 1; i <= c->n_layer; i++) {
        mine += rank == stage;
        if (layer * i * c->pipeline_parallel > all * (rank + 1) && rank + 1 < c->pipeline_parallel)
            rank++;
    }
    return mine ? mine : 1;
}

static uint64_t stage_layers(const struct vram_config *c, uint64_t stage)
{
    uint64_t stages = c->pipeline_parallel, layers = c->n_layer, first = c->pipeline_first_layers;
    if (first && !stage)
        return first;
    if (!first && framework_goes(c, BY_STAGES_OF_COST))
        return stage_costly_layers(c, stage);
    stage -= first != 0;
    stages -= first != 0;
    layers -= first;
    return layers / stages + (stage < layers % stages);
}

// One forward, one backward: a stage has begun as many micro-batches as there are stages behind it,
// itself included, before the first comes back. SRC: PipeDream-Flush (arXiv 2006.09503),
// Megatron-LM schedules.py.
void stage_narrow(struct model *m, uint64_t stage)
{
    uint64_t stages = stage_count(&m->c), layers = m->c.n_layer;
    uint64_t ahead = stages - stage, begun = m->c.gradient_accumulation_steps;
    if (stages == 1)
        return;
    if (m->c.task == TASK_INFERENCE) {
        device_map_narrow(m, stage);
        return;
    }
    uint64_t before = 0;
    for (uint64_t i = 0; i < stage; i++)
        before += stage_layers(&m->c, i);
    m->c.first_k_dense_replace -=
        before < m->c.first_k_dense_replace ? before : m->c.first_k_dense_replace;
    m->buffer_bytes /= layers;
    m->c.n_layer = stage_layers(&m->c, stage);
    m->buffer_bytes *= m->c.n_layer;
    m->first = stage == 0;
    m->last = stage + 1 == stages;
    if (m->c.pipeline_schedule == PIPELINE_SCHEDULE_AFAB)
        ahead = begun;
    m->in_flight = ahead < begun ? ahead : begun;
}
