// Owns how far a card runs behind the program.

#include "calc/replay/pace.h"

#include "calc/model/cost.h"
#include "calc/model/framework.h"
#include "calc/replay/player.h"

bool pace_lags(const struct vram_config *c)
{
    return framework_goes(c, BY_NANOTRON) && c->tensor_parallel > 1 && c->sequence_parallel &&
           (MODEL_IS_WHOLE || c->pipeline_parallel == 1);
}

#ifndef VRAM_SMALL
// A launcher of nanotron for several nodes has PyTorch check each collective: the program waits for
// all of the group before it launches one, and longer the larger the group is. By then the card is
// past the one before, unless the layer takes it longer than the checks. That the published runs
// were launched so is inferred: in pipelines over several nodes a micro-batch of one sequence and
// one of many take the same time, by their tokens a second 2.4 to 3.3 ms a layer for each GPU of a
// group of 8 or 16, 2.6 in the median; on one node, and without a pipeline, not. SRC: nanotron
// examples/mamba/run_multinode.sh at 77f54c10 (TORCH_DISTRIBUTED_DEBUG=DETAIL), pytorch
// torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp (runCollectiveChecks: monitoredBarrier,
// CollectiveFingerPrint::verify).
enum { PACE_NODE = 8 };                    // GPUs
static const double PACE_CHECKS = 0.0026;  // seconds a layer and micro-batch, for each of a group

// Without checks the program takes as long as this for a layer and micro-batch: on one node one
// sequence takes 4.4 to 4.6 ms in groups of 4 and 8, with 1B and 8B alike, by the tokens a second
// of the same runs.
static const double PACE_PROGRAM = 0.0044;

uint64_t pace_queue(const struct model *m)
{
    const struct vram_config *c = &m->c;
    uint64_t gpus = c->n_gpu * c->tensor_parallel * c->pipeline_parallel;
    bool checked = c->pipeline_parallel > 1 && gpus > PACE_NODE &&
                   cost_layer_seconds(m) < PACE_CHECKS * (double)c->tensor_parallel;
    return checked ? PLAYER_NEXT : PLAYER_QUEUE;
}

bool pace_is_the_cards(const struct model *m)
{
    return pace_queue(m) == PLAYER_QUEUE && cost_layer_seconds(m) > PACE_PROGRAM;
}
#endif
