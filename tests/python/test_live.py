"""from_model over objects of the shape of torch's: real torch and transformers are used where they are installed."""

import types

import pytest

import vram


class Dtype:
    """A torch.dtype as it prints itself."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


class Parameter:
    """A torch.nn.Parameter's size, format and whether it trains."""

    def __init__(self, count, dtype="float32", trains=True):
        self.count, self.dtype, self.requires_grad = count, Dtype(dtype), trains

    def numel(self):
        return self.count

    def is_floating_point(self):
        return True


class Config:
    """A transformers config: attributes, and to_dict() with keys of generation that no config.json has."""

    model_type = "llama"
    _attn_implementation = "sdpa"

    def to_dict(self):
        return {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
                "num_key_value_heads": 4, "intermediate_size": 5632, "vocab_size": 32000, "tie_word_embeddings": False,
                "no_such_key_of_generation": 7, "id2label": {0: "LABEL_0"}}


TINYLLAMA = 1_100_048_384


class Model:
    """A module with one parameter for all."""

    is_gradient_checkpointing = False

    def __init__(self, count=TINYLLAMA, dtype="float32", config=None):
        self.config = config or Config()
        self.all = [Parameter(count, dtype)]

    def parameters(self):
        return iter(self.all)

    def modules(self):
        return iter([self])


def adamw(fused):
    kind = type("AdamW", (), {"__module__": "torch.optim.adamw"})
    optimizer = kind()
    optimizer.param_groups = [{"fused": fused}]
    return optimizer


def test_what_is_read():
    model = Model(dtype="bfloat16")
    model.is_gradient_checkpointing = True
    model._gradient_checkpointing_func = types.SimpleNamespace(keywords={"use_reentrant": False})
    e = vram.from_model(model, adamw(True), {"input_ids": types.SimpleNamespace(shape=(3, 512))}, gpu="RTX 4090")
    got = {key: e.get(key) for key in ("batch_size", "seq_len", "dtype", "optimizer", "checkpointing", "use_reentrant",
                                       "framework", "gpu")}
    assert got == {"batch_size": "3", "seq_len": "512", "dtype": "bfloat16_pure", "optimizer": "adamw_fused",
                   "checkpointing": "block", "use_reentrant": "false", "framework": "transformers", "gpu": "RTX 4090"}
    assert e.estimate().params == TINYLLAMA


def test_autocast_and_foreach():
    e = vram.from_model(Model(), adamw(None), (1, 128), autocast=Dtype("bfloat16"))
    assert (e.get("dtype"), e.get("optimizer")) == ("bfloat16", "adamw_foreach")


def test_fields_win():
    assert vram.from_model(Model(), None, (1, 128), batch_size=9).get("batch_size") == "9"


def test_wrapped():
    outer = type("DistributedDataParallel", (), {})()
    outer.module = Model()
    compiled = type("OptimizedModule", (), {})()
    compiled._orig_mod = outer
    assert vram.from_model(compiled, None, (1, 128)).estimate().params == TINYLLAMA


def test_lora():
    model = Model(dtype="bfloat16")
    model.all[0].requires_grad = False
    rank, targets = 8, 22 * (2048 * 8 + 8 * 2048 + 2048 * 8 + 8 * 256)  # q_proj and v_proj of 22 layers
    model.all.append(Parameter(targets, "float32"))
    model.peft_config = {"default": types.SimpleNamespace(peft_type="LORA", r=rank, lora_dropout=0.05, use_dora=False,
                                                          target_modules={"q_proj", "v_proj"}, modules_to_save=None)}
    model.get_base_model = lambda: model
    e = vram.from_model(model, None, (1, 128))
    assert (e.get("lora_rank"), e.get("lora_targets")) == ("8", "q+v")
    assert e.estimate().trained_params == targets


def test_another_model_is_refused():
    with pytest.raises(vram.ModelMismatch, match="1,100,048,385"):
        vram.from_model(Model(TINYLLAMA + 1), None, (1, 128))


@pytest.mark.parametrize("change,words", [
    (lambda m: setattr(m, "config", None), "no config"),
    (lambda m: setattr(m.config, "quantization_config", {"quant_method": "hqq", "bits": 4}), "hqq"),
    (lambda m: m.all.append(Parameter(1, "float16")) or m.all.append(Parameter(1, "bfloat16")), "dtype"),
])
def test_what_is_not_read_is_said(change, words):
    model = Model()
    change(model)
    with pytest.raises(vram.ModelMismatch, match=words):
        vram.from_model(model, None, (1, 128))


def test_unknown_optimizer_is_named():
    optimizer = type("Sophia", (), {"param_groups": [{}]})()
    with pytest.raises(vram.ModelMismatch, match="Sophia"):
        vram.from_model(Model(), optimizer, (1, 128))


def test_bad_batch():
    with pytest.raises(vram.ModelMismatch, match=r"\(batch, length\)"):
        vram.from_model(Model(), None, (1, 2, 3))


def test_real_transformers():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                      intermediate_size=128, vocab_size=512)
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), fused=False)
    e = vram.from_model(model, optimizer, torch.zeros(2, 16, dtype=torch.long))
    result = e.estimate()
    assert result.params == sum(p.numel() for p in model.parameters())
    assert result.param_bytes == sum(p.numel() * p.element_size() for p in model.parameters())
    assert (e.get("batch_size"), e.get("seq_len"), e.get("dtype")) == ("2", "16", "bfloat16_pure")


def test_real_peft():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    peft = pytest.importorskip("peft")
    config = transformers.Qwen2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                      intermediate_size=128, vocab_size=512)
    lora = peft.LoraConfig(r=4, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM")
    model = peft.get_peft_model(transformers.Qwen2ForCausalLM(config).to(torch.bfloat16), lora)
    result = vram.from_model(model, None, (1, 16)).estimate()
    assert result.trained_params == sum(p.numel() for p in model.parameters() if p.requires_grad)
