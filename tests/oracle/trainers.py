"""Training steps as the frameworks run them; each function is a trainer of cases.tsv."""
import contextlib
import gc
import os
import tempfile

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

import models
import oracle

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Steps:
    """Gives the phases their names, whoever calls backward and step: fwd:itN, bwd:itN, step:itN."""

    def __init__(self, model, optimizer=None):
        self.model, self.optimizer, self.count, self.micro, self.evals = model, optimizer, 0, 0, 0
        true_backward = torch.Tensor.backward

        def backward(tensor, *args, **kwargs):
            oracle.phase(f"bwd:it{self.count}.m{self.micro}")
            self.mark()
            out = true_backward(tensor, *args, **kwargs)
            self.mark()
            self.micro += 1
            oracle.phase(f"step:it{self.count}")
            return out

        only = optimizer  # optimizers that run inside of backward are not the step

        def before(opt, args, kwargs):
            if only is not None and opt is not only:
                return
            self.optimizer = opt
            oracle.phase(f"step:it{self.count}")

        def after(opt, args, kwargs):
            if only is not None and opt is not only:
                return
            self.mark()
            self.count, self.micro = self.count + 1, 0
            oracle.phase(f"fwd:it{self.count}.m0")

        torch.Tensor.backward = backward
        register_optimizer_step_pre_hook(before)
        register_optimizer_step_post_hook(after)
        model.register_forward_pre_hook(self.on_forward, with_kwargs=True)
        self.mark()
        oracle.phase("fwd:it0.m0")

    def on_forward(self, module, args, kwargs):
        oracle.phase(f"fwd:it{self.count}.m{self.micro}" if module.training else f"eval:{self.evals}")
        self.evals += not module.training
        oracle.mark(args, "input")
        oracle.mark(kwargs.values(), "input")

    def mark(self):
        opt = self.optimizer
        oracle.mark_model(self.model, getattr(opt, "optimizer", opt))


def tokens(family, batch, seq):
    vocab = models.WIDTHS[family]["vocab_size"]
    return torch.randint(vocab, (batch, seq))


def name_logits(model):
    """Marks what the head returns."""
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    if head is not None:
        head.register_forward_hook(lambda m, a, out: oracle.mark([out], "logits"))


def prepare(family, layers, dtype="fp32", attention="sdpa", checkpoint="", lora="", kbit="", liger=False, dropout=0,
            host=False, fused="", cache=False, watch=True, **more):
    """The model as a user prepares it: patched, quantized, with adapters, with checkpointing. watch: with the recorder's hooks,
    each of which would end a compiled graph."""
    if fused:
        kernels = fuse(family, fused)
    if attention == "flash_attention_2":
        import standins
        standins.flash_attention()
    if liger:
        import liger_kernel.transformers as lk
        getattr(lk, f"apply_liger_kernel_to_{models.WIDTHS[family]['model_type']}")()
    model = models.build(family, layers, DTYPES[dtype], attention, **more)
    model.config.use_cache = bool(cache)
    if kbit:
        import peft
        quantize(model, kbit)
        if kbit.endswith("_prepared"):
            model = peft.prepare_model_for_kbit_training(
                model, use_gradient_checkpointing=bool(checkpoint),
                gradient_checkpointing_kwargs={"use_reentrant": checkpoint == "reentrant"})
    if checkpoint and not kbit.endswith("_prepared"):
        checkpoint_blocks(model, checkpoint, host)
    if lora:
        model = adapters(model, lora, checkpoint)
    if fused:
        kernels.apply_lora_kernel_patches(model, Named(kernels.words))
    if watch:
        oracle.watch_modules(model)
        name_logits(model)
    return model


def checkpoint_blocks(model, kind, host):
    """kind: reentrant, nonreentrant; attention: TRL's selective checkpointing; every-N: transformers' every_n_layers."""
    more = {"offload": True} if host else {}
    if kind.startswith("every-"):
        more["every_n_layers"] = int(kind.removeprefix("every-"))
    if kind == "attention":
        from trl.models import enable_selective_activation_checkpointing
        enable_selective_activation_checkpointing(model)
    enable = model.activation_checkpointing_enable if more else model.gradient_checkpointing_enable
    enable({"use_reentrant": kind == "reentrant"}, **more)


class Named(dict):
    """A dictionary whose keys are members, as axolotl's configuration is; what is not there is None."""
    __getattr__ = dict.get


def fuse(family, names):
    """axolotl's fused LoRA kernels (names: mlp;qkv;o): the attention class is rewritten before the model is made, as
    axolotl's patch manager does. Its package of callbacks, of which the names of classes are used, imports trackers."""
    import importlib.util
    import sys
    import types
    callbacks = types.ModuleType("axolotl.utils.callbacks")
    callbacks.__path__ = [importlib.util.find_spec("axolotl").submodule_search_locations[0] + "/utils/callbacks"]
    sys.modules[callbacks.__name__] = callbacks
    import axolotl.monkeypatch.lora_kernels as kernels
    kernels.words = {f"lora_{name}_kernel": True for name in names.split(";")}
    if set(names.split(";")) & {"qkv", "o"}:
        module = importlib.import_module(type(models.config(family, 1)).__module__.replace("configuration_", "modeling_"))
        found = next(v for k, v in vars(module).items() if k.endswith("Attention"))
        kernels.get_attention_cls_from_config = lambda cfg: found
        kernels.patch_self_attn_lora(Named(kernels.words))
    return kernels


class Quantizer:
    """What transformers asks of a quantized model's quantizer when it is trained."""

    def __init__(self, config):
        self.quantization_config = config
        self.is_trainable = self.is_qat_trainable = True

    def __getattr__(self, name):
        return False


def quantize(model, kind):
    """Every Linear but the head as bitsandbytes' Linear4bit, packed on the device as its loader leaves it."""
    import bitsandbytes as bnb
    from transformers import BitsAndBytesConfig
    from transformers.utils.quantization_config import QuantizationMethod
    double = "dq" in kind
    compute = next(model.parameters()).dtype
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is not torch.nn.Linear or child is model.get_output_embeddings():
                continue
            new = bnb.nn.Linear4bit(child.in_features, child.out_features, bias=child.bias is not None,
                                    compute_dtype=compute, compress_statistics=double, quant_type="nf4", device="meta")
            weight = bnb.nn.Params4bit(torch.empty_like(child.weight, device="cpu"), requires_grad=False,
                                       compress_statistics=double, quant_type="nf4", module=new)
            new.weight = weight
            if child.bias is not None:
                new.bias = child.bias
            setattr(parent, name, None)
            del child
            new.weight = weight.to("cuda")
            setattr(parent, name, new)
    for p in model.parameters():
        p.requires_grad_(False)
    model.is_loaded_in_4bit = model.is_quantized = True
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    model.config.quantization_config = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_use_double_quant=double, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute)
    model.hf_quantizer = Quantizer(model.config.quantization_config)


def adapters(model, kind, checkpoint):
    import peft
    rank, _, rest = kind.partition(":")
    words = dict(w.split("+") for w in rest.split(",") if w)
    targets = words.get("targets", "q_proj;k_proj;v_proj;o_proj").split(";")
    task = "CAUSAL_LM" if hasattr(model, "prepare_inputs_for_generation") else None
    if rank == "ia3":
        cfg = peft.IA3Config(task_type=task)
    else:
        cfg = peft.LoraConfig(task_type=task, r=int(rank), lora_alpha=int(words.get("alpha", 16)),
                              lora_dropout=float(words.get("dropout", 0)),
                              target_modules=targets[0] if targets == ["all-linear"] else targets,
                              use_dora="dora" in words,
                              target_parameters=words["parameters"].split(";") if "parameters" in words else None,
                              modules_to_save=words["save"].split(";") if "save" in words else None)
    if checkpoint and hasattr(model, "enable_input_require_grads"):
        model.enable_input_require_grads()
    return peft.get_peft_model(model, cfg, **({"autocast_adapter_dtype": False} if "raw" in words else {}))


def optimizer_of(model, kind):
    params = [p for p in model.parameters() if p.requires_grad]
    library, _, name = kind.partition("_")
    if library == "bnb":
        import bitsandbytes as bnb
        return getattr(bnb.optim, name)(params, lr=1e-4)
    if library == "torchao" and name.startswith("CPUOffload"):
        from torchao.optim import CPUOffloadOptimizer
        return CPUOffloadOptimizer(params, torch.optim.AdamW, lr=1e-4, offload_gradients=name.endswith(":gradients"))
    if library == "torchao":
        import torchao.optim
        return getattr(torchao.optim, name)(params, lr=1e-4)
    if library == "hf":  # as Trainer makes it
        import transformers
        return getattr(transformers, name)(params, lr=1e-4, scale_parameter=False, relative_step=False)
    if library == "torch":
        name, _, momentum = name.partition(":")
        return getattr(torch.optim, name)(params, lr=1e-4, **({"momentum": 0.9} if momentum else {}))
    words = {"foreach": dict(foreach=True), "fused": dict(fused=True), "default": {}}[kind]
    return torch.optim.AdamW(params, lr=1e-4, **words)


def in_backward(model, kind):
    """An optimizer for each parameter, run when its gradient is there: torchtune's OptimizerInBackwardWrapper."""
    each = {p: type(optimizer_of(model, kind))([p], lr=1e-4, **({"fused": True} if kind == "fused" else {}))
            for p in model.parameters() if p.requires_grad}

    def step(p):
        each[p].step()
        each[p].zero_grad(set_to_none=True)
        oracle.mark((v for v in each[p].state[p].values()), "optim")

    for p in each:
        p.register_post_accumulate_grad_hook(step)


def unlike(rows, ids):
    """What a collator hands over beside tokens and labels."""
    if rows == "padded":
        return {"attention_mask": torch.ones_like(ids)}
    return {"position_ids": torch.arange(ids.shape[1], device="cuda").expand(ids.shape)} if rows == "packed" else {}


def prepared(features):
    """LLaMA-Factory's collator for neat_packing: a mask of numbers for each row, in bfloat16."""
    batch = {k: torch.stack([f[k] for f in features]) for k in ("input_ids", "labels")}
    rows, length = batch["input_ids"].shape
    return batch | {"attention_mask": torch.zeros(rows, 1, length, length, dtype=torch.bfloat16)}


def plain(family, layers, batch, seq, autocast="", optimizer="default", clip=0, steps=2, micro=1, compile=False, inside=False,
          stash=False, ema=False, rows="", **more):
    """A loop as in the tutorials: forward with labels, backward, clipping, step, gradients to None. Rows: padded, or
    several sequences packed into each."""
    oracle.answer_unlike(rows)
    model = prepare(family, layers, **more)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999)) if ema else None
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)]) if inside else optimizer_of(model, optimizer)
    if inside:
        in_backward(model, optimizer)
    held = contextlib.nullcontext()
    if stash:  # what TRL wraps its training step in
        from trl.models.activation_offloading import get_act_offloading_ctx_manager
        held = get_act_offloading_ctx_manager(model)
    Steps(model, opt)
    for _ in range(steps):
        for _ in range(micro):
            ids = tokens(family, batch, seq).cuda()
            with held:
                with torch.autocast("cuda", DTYPES[autocast]) if autocast else contextlib.nullcontext():
                    out = model(input_ids=ids, labels=ids, **unlike(rows, ids))
                out.loss.backward()
            del out
        if clip:
            torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        opt.step()
        if average:
            average.update_parameters(model)
        opt.zero_grad(set_to_none=True)


class Rows(torch.utils.data.Dataset):
    def __init__(self, family, seq, count=64):
        self.vocab, self.seq, self.count = models.WIDTHS[family]["vocab_size"], seq, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        ids = torch.randint(self.vocab, (self.seq,))
        return dict(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids)


def collect():
    """What compiling has left in cycles, as Python's collector would sooner or later."""
    register_optimizer_step_post_hook(lambda *_: gc.collect() and None)


def evaluation(steps, evals, eval_batch):
    return dict(eval_strategy="steps", eval_steps=steps, per_device_eval_batch_size=eval_batch) if evals else {}


def many(world, fsdp, regional):
    """Trainer on one rank of world: arguments for FSDP (its version), else DDP; regional: accelerate compiles block by block."""
    import lonely
    lonely.join(0, world)
    os.environ["ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION"] = str(bool(regional))
    return dict(fsdp=True, fsdp_config={"version": fsdp}) if fsdp else {}


def hf(family, layers, batch, seq, steps=2, arguments="", evals=0, eval_batch=0, metrics=False, world=0, fsdp=0,
       regional=False, rows="", **more):
    """transformers.Trainer, as it is; with evals an evaluation of so many batches behind the last step, of which metrics
    keep the logits; on one rank of world. Rows: given, with the mask that a collator makes."""
    from transformers import Trainer, TrainingArguments
    shared = many(world, fsdp, regional) if world else {}
    words = dict(w.split(":") for w in arguments.split(",") if w)
    words = {k: {"true": True, "false": False}.get(v, v) for k, v in words.items()}
    words = {k: int(v) if isinstance(v, str) and v.isdigit() else v for k, v in words.items()}
    model = prepare(family, layers, watch=not words.get("torch_compile"), **more)
    args = TrainingArguments(tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps, report_to=[],
                             save_strategy="no", dataloader_pin_memory=False, **words, **shared,
                             **evaluation(steps, evals, eval_batch))
    Steps(model)
    if words.get("torch_compile"):
        collect()
    Trainer(model, args, train_dataset=Rows(family, seq), data_collator=prepared if rows == "given" else None,
            eval_dataset=Rows(family, seq, evals * eval_batch),
            compute_metrics=(lambda results: {}) if metrics else None).train()


def evaluate(family, layers, batch, seq, autocast="", **more):
    """A step of evaluation: no gradients, the loss taken."""
    model = prepare(family, layers, **more).eval()
    oracle.mark_model(model)
    oracle.phase("eval")
    for _ in range(2):
        ids = tokens(family, batch, seq).cuda()
        with torch.no_grad(), torch.autocast("cuda", DTYPES[autocast]) if autocast else contextlib.nullcontext():
            out = model(input_ids=ids, labels=ids)
        del out


def decode(family, layers, batch, seq, tokens_out=3, **more):
    """Prefill of the prompt, then single tokens, with transformers' own DynamicCache."""
    model = prepare(family, layers, **more).eval()
    model.config.use_cache = True
    oracle.mark_model(model)
    ids = tokens(family, batch, seq).cuda()
    with torch.no_grad():
        oracle.phase("prefill")
        out = model(input_ids=ids, use_cache=True, **keep_last(model))
        for i in range(tokens_out):
            oracle.phase(f"decode:{i}")
            out = model(input_ids=torch.zeros(batch, 1, dtype=torch.long).cuda(), past_key_values=out.past_key_values,
                        use_cache=True)


def keep_last(model):
    """generate() asks for the last position's logits where the model can do so, under the name of its version."""
    import inspect
    names = inspect.signature(model.forward).parameters
    return {n: 1 for n in ("logits_to_keep", "num_logits_to_keep") if n in names}


def blocks_of(model):
    """The class of the decoder's layers, which everybody wraps."""
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module):
            return type(module[0])
    raise ValueError("no layers")


def wrapping(layer, wrap, lora):
    """What is a unit of FSDP1 by itself: layers, or with wrap=NO_WRAP nothing, or by a number of parameters as accelerate does."""
    import functools
    from torch.distributed.fsdp.wrap import (_or_policy, lambda_auto_wrap_policy, size_based_auto_wrap_policy,
                                             transformer_auto_wrap_policy)
    if wrap == "NO_WRAP":
        return None
    if wrap != "layers":
        return functools.partial(size_based_auto_wrap_policy, min_num_params=wrap)
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={layer})
    if not lora:
        return policy
    # SRC: peft/utils/other.py fsdp_auto_wrap_policy: layers, and leaves with trainable weights
    leaves = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda m: not list(m.named_children()) and
                               getattr(m, "weight", None) is not None and m.weight.requires_grad)
    return functools.partial(_or_policy, policies=[leaves, policy])


def distributed(family, layers, batch, seq, how="fsdp2", world=8, dtype="fp32", autocast="", optimizer="default",
                clip=0, steps=2, reshard="default", bucket_view=False, prefetch="BACKWARD_PRE", ahead=False, wrap="layers",
                strategy="FULL_SHARD", param="bf16", reduce="fp32", offload=False, evals=0, eval_batch=0, **more):
    """One rank of many: DDP, FSDP1 (as accelerate wraps: units are layers, the root holds the rest) or FSDP2; with evals as many
    batches of an evaluation behind the last step."""
    import lonely
    lonely.join(0, world)
    model = prepare(family, layers, dtype=dtype, **more)
    layer = blocks_of(model)
    if how == "ddp":
        run = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=bucket_view)
    elif how == "fsdp1":
        from torch.distributed.fsdp import (BackwardPrefetch, CPUOffload, FullyShardedDataParallel, MixedPrecision,
                                            ShardingStrategy)
        mixed = MixedPrecision(param_dtype=DTYPES[param], reduce_dtype=DTYPES[reduce], buffer_dtype=DTYPES[param])
        mesh = None
        if strategy.startswith("HYBRID"):  # machines of eight cards
            from torch.distributed.device_mesh import init_device_mesh
            mesh = init_device_mesh("cuda", (world // 8, 8), mesh_dim_names=("replicate", "shard"))
        run = FullyShardedDataParallel(model, auto_wrap_policy=wrapping(layer, wrap, more.get("lora")), device_id=0,
                                       use_orig_params=True, cpu_offload=CPUOffload(offload_params=True) if offload else None,
                                       mixed_precision=mixed if param != dtype else None,
                                       sharding_strategy=ShardingStrategy[strategy], device_mesh=mesh, forward_prefetch=ahead,
                                       backward_prefetch=BackwardPrefetch[prefetch] if prefetch != "NO_PREFETCH" else None)
    else:
        from torch.distributed.device_mesh import init_device_mesh
        try:
            from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        except ImportError:
            from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard
        words = dict(mesh=init_device_mesh("cuda", (world,)),
                     mp_policy=MixedPrecisionPolicy(param_dtype=DTYPES[param], reduce_dtype=DTYPES[reduce]))
        if offload:
            from torch.distributed.fsdp import CPUOffloadPolicy
            words["offload_policy"] = CPUOffloadPolicy()
        found = [m for m in model.modules() if isinstance(m, layer)]
        for i, m in enumerate(found):  # SRC: torchtitan parallelize_llama.apply_fsdp: the last layer keeps its weights
            fully_shard(m, reshard_after_forward={"default": i < len(found) - 1, "no": False, "all": True}[reshard], **words)
        fully_shard(model, reshard_after_forward=reshard != "no", **words)
        run = model
    opt = optimizer_of(run, optimizer)
    Steps(run, opt)
    for _ in range(steps):
        ids = tokens(family, batch, seq).cuda()
        with torch.autocast("cuda", DTYPES[autocast]) if autocast else contextlib.nullcontext():
            out = run(input_ids=ids, labels=ids)
        out.loss.backward()
        del out
        if clip:
            run.clip_grad_norm_(1.0) if how == "fsdp1" else torch.nn.utils.clip_grad_norm_(run.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
    look(run, family, evals, eval_batch, seq, autocast)


def look(run, family, evals, batch, seq, autocast=""):
    """Batches of Trainer's evaluation on a wrapped model."""
    run.eval()
    for i in range(evals):
        ids = tokens(family, batch, seq).cuda()
        oracle.phase(f"eval:{i}")
        with torch.no_grad(), torch.autocast("cuda", DTYPES[autocast]) if autocast else contextlib.nullcontext():
            out = run(input_ids=ids, labels=ids)
        del out, ids


def zero(family, layers, batch, seq, stage=2, world=1, offload="optimizer", bucket=500000000, steps=2, micro=1,
         dtype="bf16", clip=1, evals=0, eval_batch=0, overlap=False, **more):
    """DeepSpeed's engine with its state, and at offload=param its weights, on the host."""
    import lonely
    lonely.join(0, world)
    import deepspeed
    model = prepare(family, layers, dtype=dtype, **more)
    host = {"device": "cpu", "pin_memory": True}
    words = {"stage": stage, "reduce_bucket_size": bucket, **({"overlap_comm": True} if overlap else {})}
    words.update({f"offload_{name}": host for name in ("optimizer", "param") if offload == "param" or offload == name})
    engine, opt, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
        "train_micro_batch_size_per_gpu": batch, "gradient_accumulation_steps": micro, "gradient_clipping": float(clip),
        "zero_optimization": words, "bf16": {"enabled": dtype == "bf16"}, "zero_force_ds_cpu_optimizer": False,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}})
    oracle.mark_model(model)
    overflows = opt.has_overflow
    opt.has_overflow = lambda *args, **kwargs: overflows(*args, **kwargs) and False  # what nobody computed would skip steps
    for i in range(steps):
        for m in range(micro):
            ids = tokens(family, batch, seq).cuda()
            oracle.phase(f"fwd:it{i}.m{m}")
            out = engine(input_ids=ids, labels=ids)
            oracle.phase(f"bwd:it{i}.m{m}")
            engine.backward(out.loss)
            del out
            oracle.phase(f"step:it{i}")
            engine.step()
    look(engine, family, evals, eval_batch, seq)


def tokenizer():
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast
    words = {"<unk>": 0, "a": 1, "</s>": 2, "<pad>": 3}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, unk_token="<unk>")), unk_token="<unk>",
                                   eos_token="</s>", pad_token="<pad>")


def sft(family, layers, batch, seq, steps=2, arguments="", lora="", evals=0, eval_batch=0, rows="", world=0, fsdp=0, labels=0,
        **more):
    """TRL's SFTTrainer over rows of one length, with its own defaults but for what the case names; on one rank of world. labels: so
    many of a row count."""
    import datasets
    import trl
    oracle.answer_unlike(rows)
    if labels:
        oracle.answer_labels(labels, batch)
    shared = many(world, fsdp, False) if world else {}
    compiles = chosen(arguments).get("torch_compile")
    model = prepare(family, layers, watch=not compiles, **more)
    args = trl.SFTConfig(tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps, report_to=[], save_strategy="no",
                         dataloader_pin_memory=False, max_length=seq, **chosen(arguments), **shared,
                         **evaluation(steps, evals, eval_batch))
    row = {"input_ids": [1] * seq}
    if labels:
        row["labels"] = [-100] * (seq - labels) + [1] * labels
    texts, tests = (datasets.Dataset.from_list([row] * n)
                    for n in (steps * batch * max(world, 1), max(evals * eval_batch, 1)))
    trainer = trl.SFTTrainer(model=model, args=args, train_dataset=texts, eval_dataset=tests if evals else None,
                             processing_class=tokenizer(), peft_config=adapter_config(lora) if lora else None)
    Steps(trainer.model)
    if compiles:
        oracle.answer_scatter()
        collect()
    trainer.train()
    return {"options": f"{arguments} loss_type={getattr(args, 'loss_type', '-')} checkpointing={args.gradient_checkpointing}"
            f" bf16={args.bf16} optim={args.optim}"}


def chosen(words):
    """Arguments of a trainer's configuration, as a case writes them: name:value,name:value."""
    words = dict(w.split(":") for w in words.split(",") if w)
    return {k: {"true": True, "false": False}.get(v, v) for k, v in words.items()}


def adapter_config(rank):
    import peft
    return peft.LoraConfig(task_type="CAUSAL_LM", r=int(rank), target_modules="all-linear")


def pairs(seq, count):
    """Rows of preference data that are one length: half of it prompt; an end of sequence is added to the rest."""
    prompt, rest = " ".join(["a"] * (seq // 2)), " " + " ".join(["a"] * (seq - seq // 2 - 1))
    return [{"prompt": prompt, "chosen": rest, "rejected": rest}] * count


def all_ones():
    """torch.nonzero of a mask whose values nobody computes: each is there."""
    true_nonzero = torch.nonzero

    def nonzero(tensor, **words):
        alone = tensor.is_cuda and tensor.dim() == 1 and not words
        return torch.arange(tensor.numel(), device=tensor.device).unsqueeze(1) if alone else true_nonzero(tensor, **words)

    torch.nonzero = nonzero


def engine(stage, world):
    """The arguments of a Trainer that DeepSpeed drives, on one card of many."""
    import lonely
    lonely.join(0, world)
    return dict(deepspeed={"zero_optimization": {"stage": stage}, "bf16": {"enabled": True}, "gradient_clipping": "auto",
                           "train_micro_batch_size_per_gpu": "auto", "zero_allow_untested_optimizer": True})


def dpo(family, layers, batch, seq, steps=2, arguments="", lora="", reference="", evals=0, eval_batch=0, stage=0, world=1, **more):
    """TRL's DPOTrainer over pairs of one length. reference=copy: a second model, as the trainer loads it by its name; without
    it the trainer makes what it makes by itself, a copy before 0.29, or takes the adapters off. stage: ZeRO's."""
    import datasets
    import trl
    from tokenizers.pre_tokenizers import WhitespaceSplit
    all_ones()
    divided = engine(stage, world) if stage else {}
    model = prepare(family, layers, **more)
    args = trl.DPOConfig(tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps, report_to=[],
                         save_strategy="no", dataloader_pin_memory=False, max_length=seq, **chosen(arguments),
                         **evaluation(steps, evals, eval_batch), **divided)
    if hasattr(args, "max_prompt_length"):
        args.max_prompt_length = seq
    ref = models.build(family, layers, DTYPES[more.get("dtype", "fp32")]).eval() if reference else None
    words = tokenizer()
    words.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    rows, tests = (datasets.Dataset.from_list(pairs(seq, n)) for n in (steps * batch, max(evals * eval_batch, 1)))
    trainer = trl.DPOTrainer(model=model, ref_model=ref, args=args, train_dataset=texts, eval_dataset=tests if evals else None,
                             processing_class=words, peft_config=adapter_config(lora) if lora else None)
    if trainer.ref_model is not None:
        oracle.mark_model(trainer.ref_model)
    Steps(trainer.model)
    trainer.train()
    return {"options": f"{arguments} checkpointing={args.gradient_checkpointing} bf16={args.bf16} optim={args.optim}"}


def reward(family, layers, batch, seq, steps=2, arguments="", lora="", dtype="fp32", evals=0, eval_batch=0, **more):
    """TRL's RewardTrainer over pairs of one length: a head of one output in place of the vocabulary's."""
    import datasets
    import trl
    from tokenizers.pre_tokenizers import WhitespaceSplit
    model = models.build(family, layers, DTYPES[dtype], score=True, **more)
    args = trl.RewardConfig(tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=steps, report_to=[],
                            save_strategy="no", dataloader_pin_memory=False, max_length=seq, **chosen(arguments),
                            **evaluation(steps, evals, eval_batch))
    words = tokenizer()
    words.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    cfg = None
    if lora:
        cfg = adapter_config(lora)
        cfg.task_type = "SEQ_CLS"
    text = " ".join(["a"] * (seq - 1))
    rows, tests = (datasets.Dataset.from_list([{"chosen": text, "rejected": text}] * n)
                   for n in (steps * batch, max(evals * eval_batch, 1)))
    trainer = trl.RewardTrainer(model=model, args=args, train_dataset=texts, eval_dataset=tests if evals else None,
                                processing_class=words, peft_config=cfg)
    oracle.watch_modules(trainer.model)
    Steps(trainer.model)
    trainer.train()
    return {"options": f"{arguments} checkpointing={args.gradient_checkpointing} bf16={args.bf16} optim={args.optim}"}


def compiled(family, layers, batch, seq, autocast="", optimizer="default", clip=0, steps=2, micro=1, checkpoint="", lora="",
             dtype="fp32", attention="sdpa", kbit="", liger=False, backend="inductor", **more):
    """torch.compile of the whole model: Inductor's own code runs, its Triton kernels do nothing."""
    if attention == "flash_attention_2":
        import standins
        standins.flash_attention()
    if liger:
        import liger_kernel.transformers as lk
        getattr(lk, f"apply_liger_kernel_to_{models.WIDTHS[family]['model_type']}")()
    model = models.build(family, layers, DTYPES[dtype], attention, **more)
    model.config.use_cache = False
    if kbit:
        quantize(model, kbit)
    if checkpoint:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    if lora:
        model = adapters(model, lora, checkpoint)
    run = torch.compile(model, backend=backend)
    opt = optimizer_of(model, optimizer)
    Steps(model, opt)
    for _ in range(steps):
        for _ in range(micro):
            ids = tokens(family, batch, seq).cuda()
            with torch.autocast("cuda", DTYPES[autocast]) if autocast else contextlib.nullcontext():
                out = run(input_ids=ids, labels=ids)
            out.loss.backward()
            del out
        opt.step()
        opt.zero_grad(set_to_none=True)
        gc.collect()  # what compiling has left in cycles, as Python's collector would sooner or later


def titan(*args, **words):
    import blocks
    return blocks.titan(*args, **words)


def tune(*args, **words):
    import blocks
    return blocks.tune(*args, **words)


def nanogpt(*args, **words):
    import blocks
    return blocks.nanogpt(*args, **words)


def titan_experts(*args, **words):
    import experts
    return experts.titan_experts(*args, **words)


def sequence(*args, **words):
    import parallel
    return parallel.sequence(*args, **words)


def spread(*args, **words):
    import spread as module
    return module.spread(*args, **words)


def fast(*args, **words):
    import fast as module
    return module.fast(*args, **words)
