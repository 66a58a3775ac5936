"""Training steps of the trainers that compile and checkpoint each block by itself: torchtitan and torchtune."""
import contextlib
import importlib
import inspect
import os
import sys
import types

import torch

import models
import oracle
import trainers


def titan_package(family):
    """Where torchtitan has the family, and its code that wraps it."""
    name = {"llama": "llama3", "qwen3": "qwen3"}[models.WIDTHS[family]["model_type"]]
    return [importlib.import_module(f"torchtitan.models.{name}.{part}")
            for part in ("model.args", "model.model", "infra.parallelize")]


def titan_model(family, layers, seq):
    """torchtitan's Llama 3 or Qwen3 in the family's widths."""
    args, module, _ = titan_package(family)
    w = models.WIDTHS[family]
    inner = w["intermediate_size"]
    words = dict(dim=w["hidden_size"], n_layers=layers, n_heads=w["num_attention_heads"],
                 n_kv_heads=w["num_key_value_heads"], vocab_size=w["vocab_size"], max_seq_len=seq)
    without_cudnn()
    with torch.device("cuda"):
        if w["model_type"] == "qwen3":
            model = module.Qwen3Model(args.Qwen3ModelArgs(head_dim=w["head_dim"], hidden_dim=inner,
                                                          enable_weight_tying=w["tie_word_embeddings"], **words))
            model.angles = "rope_cache"
        else:
            model = module.Transformer(args.TransformerModelArgs(multiple_of=inner, ffn_dim_multiplier=1.0, **words))
            model.angles = "freqs_cis"
    return model


def without_cudnn(latent=False):
    """torchtitan asks for cuDNN's attention first, which the null CUDA does not have. Heads of values that are narrower than those of
    keys (latent) go to cuDNN or, by the flavors of DeepSeek V3, to flex_attention; the memory-efficient kernel stands in."""
    from torch.nn.attention import SDPBackend
    from torchtitan.models import attention
    attention.ScaledDotProductAttentionWrapper.sdpa_backends = [
        SDPBackend.EFFICIENT_ATTENTION if latent else SDPBackend.FLASH_ATTENTION]


def titan_checkpoint(model, mode, compiled, parallelize):
    """apply_ac as parallelize_llama calls it: full, op (its list, every second product), or a number of layers."""
    from torchtitan.config.job_config import ActivationCheckpoint
    from torchtitan.distributed.activation_checkpoint import apply_ac
    words = dict(mode="full") if mode == "full" else dict(mode="selective", selective_ac_option=str(mode))
    apply_ac(model, ActivationCheckpoint(**words), model_compile_enabled=compiled,
             op_sac_save_list=parallelize._op_sac_save_list)


def titan(family, layers, batch, seq, compile=False, checkpoint="", loss="eager", world=0, dtype="bf16",
          optimizer="fused", clip=0, steps=2, float8="", offload=False, cp=0, tp=0, replicas=1, amp=False, wide=False):
    """torchtitan's train step: its model, its order of wrapping (tensor and context parallelism, checkpointing, compile,
    FSDP2 over world GPUs, tp and replicas times as many in all), its loss. wide: float8 without float8's all-gather."""
    from torchtitan.components.loss import cross_entropy_loss
    parallelize = titan_package(family)[2]
    if world:
        import lonely
        lonely.join(0, world * (tp or 1) * replicas)
    model = titan_model(family, layers, seq)
    model.to(torch.float32 if world else trainers.DTYPES[dtype])
    setattr(model, model.angles, getattr(model, f"_precompute_{model.angles}")().cuda())
    if float8:
        titan_float8(model, float8, bool(world) and not wide, checkpoint, compile)
    if tp:
        titan_tensor_parallel(model, titan_mesh("tp", world, tp), float8)
    if cp:
        titan_context_parallel(model, titan_mesh("cp", world // cp, cp))
    if checkpoint:
        titan_checkpoint(model, checkpoint, compile, parallelize)
    if compile:
        experts = {"ep_enabled": False} if "ep_enabled" in inspect.signature(parallelize.apply_compile).parameters else {}
        parallelize.apply_compile(model, types.SimpleNamespace(backend="inductor"), **experts)
    if world:
        mesh = titan_replicas(replicas, world) if replicas > 1 else titan_mesh("fsdp", world, tp or 1)
        parallelize.apply_fsdp(model, mesh, torch.bfloat16, torch.float32, False,
                               cpu_offload=offload)
    loss_fn = torch.compile(cross_entropy_loss) if loss == "compiled" else cross_entropy_loss
    opt = trainers.optimizer_of(model, optimizer)
    steps_of(model, opt, steps, clip, lambda: titan_micro(model, loss_fn, family, batch, seq, world, cp, amp))


def titan_float8(model, name, gathers, checkpoint, compile):
    """The products of the blocks in float8: torchao's recipes, or its prototype of written kernels (nocompile), whose layers under a
    checkpoint make nothing for backward ahead of it."""
    keep = dict(module_filter_fn=lambda m, path: "output" not in path)
    if name == "nocompile":
        from torchao.prototype.float8nocompile import float8nocompile_linear_utils as utils
        for i, block in enumerate(model.layers.values()):
            run_twice = checkpoint == "full" or (checkpoint and i % int(checkpoint) == int(checkpoint) - 1)
            utils.convert_to_float8_nocompile_training(block, no_precompute_for_backward=bool(run_twice), **keep)
        return
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training, float8_utils
    if not compile:  # of scales: exp2 and log2 are compiled as they run
        float8_utils._round_scale_down_to_power_of_2 = torch.floor
    config = (Float8LinearConfig(enable_fsdp_float8_all_gather=gathers) if name == "tensorwise" else
              Float8LinearConfig.from_recipe_name(name))
    convert_to_float8_training(model, config=config, **keep)


def titan_replicas(replicas, world):
    """Both dimensions of HSDP."""
    from torch.distributed.device_mesh import init_device_mesh
    return init_device_mesh("cuda", (replicas, world), mesh_dim_names=("dp_replicate", "fsdp"))


def titan_mesh(name, outer, inner):
    """One of the two dimensions of all GPUs: the last one unless it is FSDP's."""
    from torch.distributed.device_mesh import init_device_mesh
    names = ("fsdp", "tp" if name == "fsdp" else name)
    return init_device_mesh("cuda", (outer, inner), mesh_dim_names=names)[name]


def titan_tensor_parallel(model, mesh, float8):
    from torch.distributed.tensor.parallel import loss_parallel
    from torchtitan.models.llama3.infra import parallelize
    parallelize.apply_tp(model, mesh, loss_parallel=True, enable_float8_tensorwise_tp=float8 == "tensorwise")
    loss_parallel().__enter__()


def titan_context_parallel(model, mesh):
    from torchtitan.distributed.context_parallel import apply_cp_to_attention_module
    apply_cp_to_attention_module([b.attention.inner_attention for b in model.layers.values()], mesh, "sdpa")


def titan_micro(model, loss_fn, family, batch, seq, world, cp, amp=False):
    ids = trainers.tokens(family, batch, seq).cuda()
    labels = trainers.tokens(family, batch, seq).cuda()
    words = {}
    if cp:
        from torchtitan.distributed.context_parallel import prepare_context_parallel_input
        ids, labels, words = prepare_context_parallel_input(ids, labels, words, titan_mesh("cp", world // cp, cp), "cuda")
    with torch.autocast("cuda", torch.bfloat16, enabled=amp):  # SRC: torchtitan distributed/utils.py, maybe_enable_amp
        pred = model(ids, **words)
        loss = loss_fn(pred, labels) / (batch * seq)
    del pred
    return loss


def steps_of(model, opt, steps, clip, micro, clip_by=torch.nn.utils.clip_grad_norm_):
    trainers.Steps(model, opt)
    for _ in range(steps):
        loss = micro()
        loss.backward()
        if clip:
            clip_by([p for p in model.parameters() if p.requires_grad], 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)


TUNE_MODULES = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "output_proj"}


def tune_model(family, layers, lora, quantize, targets):
    """torchtune's Llama 3 in the family's widths; targets: what has adapters, "q+v", or of the last layers "mlp"."""
    from torchtune.models.llama3 import llama3, lora_llama3
    w = models.WIDTHS[family]
    words = dict(vocab_size=w["vocab_size"], num_layers=layers, num_heads=w["num_attention_heads"],
                 num_kv_heads=w["num_key_value_heads"], embed_dim=w["hidden_size"], max_seq_len=8192,
                 intermediate_dim=w["intermediate_size"])
    if not lora:
        return llama3(**words)
    names = targets.split("+")
    return lora_llama3([TUNE_MODULES[n] for n in names if n != "mlp"], apply_lora_to_mlp="mlp" in names, lora_rank=lora,
                       lora_alpha=16, quantize_base=quantize, **words)


def tune_shard(model, world, ends, host):
    """torchtune's distributed recipes; ends: custom_sharded_layers, host: fsdp_cpu_offload."""
    import functools
    from torch.distributed.device_mesh import init_device_mesh
    from torchtune import training
    names = ["tok_embeddings", "output"] if ends else None
    training.shard_model(model=model, shard_conditions=[functools.partial(training.get_shard_conditions, names_to_match=names)],
                         cpu_offload=host, dp_mesh=init_device_mesh("cuda", (world,)))


def tune_loss(model, compile, linear, chunks):
    """The loss, and what the model makes for it; linear: torchtune's main, which multiplies with the head itself."""
    from torchtune import training
    from torchtune.modules import loss
    words = dict(num_output_chunks=chunks) if chunks else {}
    loss_fn = loss.LinearCrossEntropyLoss(**words) if linear else loss.CEWithChunkedOutputLoss(**words)
    if hasattr(loss_fn, "set_model_output"):
        loss_fn.set_model_output(model)
    else:
        model.set_num_output_chunks(loss_fn.num_output_chunks)
    if compile:
        training.compile_loss(loss_fn, verbose=False)
    return loss_fn


def tune(family, layers, batch, seq, compile=False, checkpoint="", offload=False, lora=0, quantize=False, chunks=0,
         optimizer="fused", inside=False, targets="q+v+o+mlp", steps=2, world=0, ends=False, host=False, linear=False, labels=0):
    """torchtune's recipes, of one device or of world: blocks compiled in place, the checkpoint wrapper around them. labels: so many of
    a row count; the last position has none."""
    from torchtune import modules, training
    from torchtune.modules.peft import get_adapter_params, set_trainable_params
    if world:
        import lonely
        lonely.join(0, world)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = tune_model(family, layers, lora, quantize, targets)
    torch.set_default_dtype(torch.float32)
    if lora:
        set_trainable_params(model, get_adapter_params(model))
    if compile:
        training.compile_model(model, verbose=False)
    if checkpoint:
        training.set_activation_checkpointing(model, auto_wrap_policy={modules.TransformerSelfAttentionLayer})
    if world:
        tune_shard(model, world, ends, host)
    ctx = training.get_act_offloading_ctx_manager(model, offload)
    oracle.answer_labels(labels or seq - 1, batch)
    loss_fn = tune_loss(model, compile, linear, chunks)
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)]) if inside else trainers.optimizer_of(model, optimizer)
    if inside:
        trainers.in_backward(model, optimizer)

    def micro():
        ids = trainers.tokens(family, batch, seq).cuda()
        labels = trainers.tokens(family, batch, seq).cuda()
        with ctx:
            logits = model(ids)
        loss = loss_fn(logits, labels)
        del logits
        return loss

    steps_of(model, opt, steps, 0, micro)


def nanogpt(family, layers, batch, seq, compile=False, checkpoint=False, autocast="bf16", micro=2, steps=2,
            vocab=50304):
    """nanoGPT's model.py (a clone in $NANOGPT) in train.py's loop; checkpointing is the change that its readers make."""
    sys.path.insert(0, os.environ["NANOGPT"])
    import model as source
    from torch.utils.checkpoint import checkpoint as run_twice
    w = models.WIDTHS[family]
    config = source.GPTConfig(block_size=w["n_positions"], vocab_size=vocab, n_layer=layers, n_head=w["n_head"],
                              n_embd=w["n_embd"], dropout=0.0, bias=False)
    model = source.GPT(config).cuda()
    if checkpoint:
        for block in model.transformer.h:
            block.forward = types.MethodType(
                lambda self, x, forward=block.forward: run_twice(forward, x, use_reentrant=False), block)
    opt = model.configure_optimizers(0.1, 1e-4, (0.9, 0.95), "cuda")
    run = torch.compile(model) if compile else model
    trainers.Steps(model, opt)

    def batch_of():
        return tuple(torch.randint(vocab, (batch, seq)).cuda() for _ in range(2))

    ids, labels = batch_of()
    for _ in range(steps):
        for _ in range(micro):
            with torch.autocast("cuda", trainers.DTYPES[autocast]) if autocast else contextlib.nullcontext():
                logits, loss = run(ids, labels)
                loss = loss / micro
            ids, labels = batch_of()
            loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
