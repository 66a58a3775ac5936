// Owns the placing of layers by device_map="auto": each card but the last one gets the model's
// bytes by the number of cards and a quarter more than a block; the first one keeps room for the
// largest part. Cards have all they are given free here. SRC: accelerate utils/modeling.py
// (get_balanced_memory, infer_auto_device_map); litgpt generate/sequentially.py (layer_to_device):
// blocks in equal numbers, embedding, norm and head on the first.

#include "calc/model/device_map.h"

#include "calc/model/framework.h"
#include "calc/model/layout.h"
#include "calc/model/quantization.h"

static uint64_t device_map_bytes(const struct model *m, const struct layout_param *list,
                                 unsigned count, bool block)
{
    struct quantization_tensor stored[QUANTIZATION_TENSORS];
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t n = list[i].rows * (list[i].cols ? list[i].cols : 1);
        unsigned parts =
            quantization_of(m, &list[i], block)
                ? quantization_tensors(&m->c, false, list[i].rows, list[i].cols, stored)
                : 0;
        for (unsigned k = 0; k < parts; k++)
            sum += stored[k].bytes;
        sum += parts ? 0 : n << dtype_shift(quantization_format(m, &list[i]));
    }
    return sum;
}

// Blocks on a card by accelerate's rule; each card has one at least.
static uint64_t device_map_layers(const struct model *m, uint64_t card)
{
    struct layout l;
    layout_make(&l, m);
    uint64_t cards = m->c.device_map, left = m->c.n_layer, mine = 0;
    uint64_t block = device_map_bytes(m, l.block, l.block_count, true);
    uint64_t before = device_map_bytes(m, l.before, l.before_count, false),
             after = device_map_bytes(m, l.after, l.after_count, false);
    uint64_t ends = before > after ? before : after, largest = ends > block ? ends : block;
    uint64_t room = (before + after + block * left) / cards + block + block / 4;
    for (uint64_t i = 0; i <= card; i++) {
        uint64_t taken = i ? 0 : before + largest, most = left - (cards - 1 - i);
        mine = room > taken ? (room - taken) / (block ? block : 1) : 1;
        mine = i + 1 == cards ? left : mine < 1 ? 1 : mine;
        mine = mine < most ? mine : most;
        left -= mine;
    }
    return mine;
}

void device_map_narrow(struct model *m, uint64_t card)
{
    bool even = framework_goes(&m->c, BY_EVEN_LAYERS);
    uint64_t cards = m->c.device_map, all = m->c.n_layer, each = (all + cards - 1) / cards;
    uint64_t begun = each * card < all ? each * card : all - 1;
    uint64_t mine = !even ? device_map_layers(m, card) : all - begun < each ? all - begun : each;
    for (uint64_t i = 0, before = 0; i < card && !even; i++, begun = before)
        before += device_map_layers(m, i);
    m->c.first_k_dense_replace -=
        begun < m->c.first_k_dense_replace ? begun : m->c.first_k_dense_replace;
    m->buffer_bytes = m->buffer_bytes / all * mine;
    m->c.n_layer = mine;
    m->first = card == 0;
    m->last = even || m->c.tie_embeddings ? card == 0 : card + 1 == cards;
}
