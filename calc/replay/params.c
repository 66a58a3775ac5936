// Owns the public calls on a model that need no run: its parameters, a step's time.

#include "calc/model/cost.h"
#include "calc/model/model_make.h"
#include "calc/model/precision.h"
#include "calc/replay/engine.h"

int vram_step_seconds(struct vram *v, double *seconds)
{
    struct model m;
    struct cost cost;
    message_clear(&v->err);
    int code = vram_check(v);
    if (code == VRAM_OK && v->config.task != TASK_TRAIN)
        code = err_set(&v->err, MESSAGE_inference_has_no_step, NO_POS, ABOUT("task"), NO_ARGS);
    if (code == VRAM_OK)
        code = model_make(&m, &v->config, &v->err);
    if (code != VRAM_OK)
        return code;
    cost_of(&cost, &m);
    *seconds = cost_seconds(&cost, &v->config);
    return VRAM_OK;
}

int vram_param_at(struct vram *v, uint64_t index, struct vram_param *out)
{
    struct model_param p;
    message_clear(&v->err);
    struct engine *e = engine_of(v);
    if (!e)
        return VRAM_ENOMEM;
    int rc = model_make(&e->model, &v->config, &v->err);
    e->has_run = false;
    if (rc != VRAM_OK)
        return rc;
    if (!model_param_at(&e->model, index, &p))
        return err_set(&v->err, MESSAGE_no_such_param, NO_POS, NO_FIELD,
                       ARGS(arg_u64("index", index)));
    const char *name = engine_name(e, p.name);
    if (!name)
        return handle_no_memory(v);
    const struct precision *precision = precision_of(&e->model.c);
    uint64_t width = UINT64_C(1) << dtype_shift(p.trained ? precision->weight : precision->frozen);
    *out = (struct vram_param){
        name,       p.block,  p.rows, p.cols, width * p.rows * (p.cols ? p.cols : 1),
        p.cols > 0, p.trained};
    return VRAM_OK;
}
