// Owns the walk over all parameter tensors of a model, each by its number.

#include "calc/model/layout.h"
#include "calc/model/model_make.h"

static bool model_param_from(const struct layout_param *p, int32_t block, struct model_param *out)
{
    *out = (struct model_param){(uint16_t)(p->role << 6 | p->part), block, p->rows, p->cols,
                                p->trained};
    return true;
}

bool model_param_at(const struct model *m, uint64_t index, struct model_param *out)
{
    struct layout l;
    layout_make(&l, m);
    if (index < l.before_count)
        return model_param_from(&l.before[index], -1, out);
    index -= l.before_count;
    for (uint64_t layer = 0; layer < m->c.n_layer; layer++)
        for (unsigned i = 0; i < l.block_count; i++)
            if (layout_here(&l.block[i], m, layer) && index-- == 0)
                return model_param_from(&l.block[i], (int32_t)layer, out);
    return index < l.after_count && model_param_from(&l.after[index], -1, out);
}
