"""torchtitan's train step of models with experts: its model, its parallelize function as it is (tensor and expert parallelism,
checkpointing, compile, FSDP2), and a routing that is even, by a stand-in."""
import torch

import blocks
import models
import trainers

# What a flavor of torchtitan says beside the sizes, by model_type. SRC: torchtitan models/{qwen3,llama4,deepseek_v3}/__init__.py.
KINDS = {
    "qwen3_moe": dict(package="qwen3", model="Qwen3Model", args="Qwen3ModelArgs", parallelize="parallelize_qwen3",
                      experts=dict(num_shared_experts=0, score_func="softmax", route_norm=True, score_before_experts=False)),
    "llama4_text": dict(package="llama4", model="Transformer", args="TransformerModelArgs", parallelize="parallelize_llama",
                        experts={}),
    "deepseek_v2": dict(package="deepseek_v3", model="DeepSeekV3Model", args="DeepSeekV3ModelArgs", parallelize="parallelize_deepseekv3",
                        experts=dict(num_shared_experts=2, score_func="softmax", route_norm=False, score_before_experts=False)),
    "deepseek_v3": dict(package="deepseek_v3", model="DeepSeekV3Model", args="DeepSeekV3ModelArgs", parallelize="parallelize_deepseekv3",
                        experts=dict(num_shared_experts=1, num_expert_groups=8, num_limited_groups=4, score_func="sigmoid",
                                     route_norm=True, route_scale=2.5, score_before_experts=False)),
}


class Even:
    """Stand-in for the numbers of tokens that the device counts and the host reads: every GPU of the group gets as many."""

    def __init__(self):
        from torchtitan.distributed.expert_parallel import ExpertParallel
        dispatch, here = ExpertParallel._token_dispatch, self
        self.rows = self.ways = 0

        def even(style, mod, inputs, mesh):
            here.rows, here.ways = inputs[0].shape[0], mesh.size()
            return dispatch(style, mod, inputs, mesh)

        splits = property(lambda style: [here.rows // here.ways] * here.ways, lambda style, read: None)
        ExpertParallel._token_dispatch = even
        ExpertParallel.input_splits = ExpertParallel.output_splits = splits


def run_uncounted():
    """Stand-in: PyTorch 2.15 wants every operation of a block's second run to have been in its first, and FSDP2's hooks for the
    experts in it make others (they were gathered ahead then); the versions that torchtitan 0.2.2 is for look at what is kept alone."""
    from torch.utils import checkpoint
    mode = checkpoint._CachedTorchDispatchMode
    looked_up = mode.__torch_dispatch__

    def dispatch(self, func, types, args=(), kwargs=None):
        key = checkpoint._sac_storage_key(func, args)
        if self.storage.get(key, {}).get(self.func_counter[key]) is None:
            self.func_counter[key] += 1
            return func(*args, **(kwargs or {}))
        return looked_up(self, func, types, args, kwargs)

    mode.__torch_dispatch__ = dispatch


def package(family):
    import importlib
    kind = KINDS[models.WIDTHS[family]["model_type"]]
    found = [importlib.import_module(f"torchtitan.models.{kind['package']}.{part}")
             for part in ("model.args", "model.model", "infra.parallelize")]
    return kind, [getattr(found[0], kind["args"]), getattr(found[1], kind["model"]), getattr(found[2], kind["parallelize"])]


def sizes(family, layers, seq):
    """The flavor's words in the family's widths."""
    w = models.WIDTHS[family]
    if w["model_type"].startswith("deepseek"):
        return dict({name: w[name] for name in ("vocab_size", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")},
                    dim=w["hidden_size"], n_layers=layers, n_heads=w["num_attention_heads"], q_lora_rank=w["q_lora_rank"] or 0,
                    inter_dim=w["intermediate_size"], moe_inter_dim=w["moe_intermediate_size"],
                    n_dense_layers=w["first_k_dense_replace"], max_seq_len=seq)
    words = dict(dim=w["hidden_size"], n_layers=layers, n_heads=w["num_attention_heads"],
                 n_kv_heads=w["num_key_value_heads"], vocab_size=w["vocab_size"], max_seq_len=seq)
    if w["model_type"] == "qwen3_moe":
        return dict(words, head_dim=w["head_dim"], hidden_dim=w["intermediate_size"], moe_enabled=True,
                    moe_inter_dim=w["moe_intermediate_size"])
    return dict(words, ffn_dim_multiplier=1.2, multiple_of=2048, interleave_moe_layer_step=w["interleave_moe_layer_step"])


def made(family, layers, seq, make, args, kind):
    from torchtitan.models.moe import MoEArgs
    w = models.WIDTHS[family]
    experts = MoEArgs(num_experts=w.get("num_experts") or w.get("n_routed_experts") or w["num_local_experts"], top_k=w["num_experts_per_tok"],
                      **kind["experts"])
    blocks.without_cudnn(kind["package"] == "deepseek_v3")
    with torch.device("cuda"):
        said = args(moe_args=experts, **sizes(family, layers, seq))
        said.moe_impl = "standard"
        model = make(said)
    if kind["package"] == "deepseek_v3":
        return model
    name = "rope_cache" if hasattr(model, "rope_cache") else "freqs_cis"
    setattr(model, name, getattr(model, f"_precompute_{name}")().cuda())
    return model


def job(batch, seq, ways, tp, cp, ep, etp, checkpoint, compile):
    """torchtitan's configuration and its meshes."""
    from torchtitan.config import JobConfig
    from torchtitan.distributed import ParallelDims
    config = JobConfig()
    config.training.seq_len, config.training.local_batch_size = seq, batch
    config.activation_checkpoint.mode = {"": "none", "full": "full"}.get(checkpoint, "selective")
    config.activation_checkpoint.selective_ac_option = str(checkpoint or "op")
    config.compile.enable = bool(compile)
    return config, ParallelDims(dp_replicate=1, dp_shard=ways // cp, cp=cp, tp=tp, pp=1, ep=ep, etp=etp, world_size=ways * tp)


def titan_experts(family, layers, batch, seq, world=8, ep=1, tp=1, cp=1, etp=1, rank=0, checkpoint="", compile=False, loss="eager",
                  optimizer="fused", clip=0, steps=2):
    """world GPUs divide the data, cp of them a sequence, tp times as many in all."""
    import functools
    from torchtitan.components.loss import cross_entropy_loss
    from torchtitan.distributed.utils import clip_grad_norm_
    import lonely
    lonely.join(rank, world * tp)
    from torch.testing._internal.distributed import fake_pg  # noqa: F401  (the backend of meshes of one)
    Even()
    kind, (args, make, parallelize) = package(family)
    model = made(family, layers, seq, make, args, kind)
    run_uncounted()
    config, dims = job(batch, seq, world, tp, cp, ep, etp, checkpoint, compile)
    dims.build_mesh()
    parallelize(model, dims, config)
    if tp > 1:
        from torch.distributed.tensor.parallel import loss_parallel
        loss_parallel().__enter__()
    loss_fn = torch.compile(cross_entropy_loss) if loss == "compiled" else cross_entropy_loss
    opt = trainers.optimizer_of(model, optimizer)
    blocks.steps_of(model, opt, steps, clip, lambda: blocks.titan_micro(model, loss_fn, family, batch, seq, world, cp if cp > 1 else 0),
                    functools.partial(clip_grad_norm_, foreach=True, ep_enabled=ep > 1))
