"""The answers of libvram as dataclasses: the structs of vram.h, member by member, with the same names.

Bytes are integers. What C keeps as a number of an enumeration is its name here ("fits", "exact rule", "logits"). An array
and its count are one tuple. A dataclass holds copies: it stays valid after the library's own storage is gone.
"""

from __future__ import annotations

import dataclasses
from typing import Any

MIB = 1 << 20


def _array(count: str) -> Any:
    """A tuple that C keeps as a pointer, with its length in the member `count`."""
    return dataclasses.field(metadata={"count": count})


def _word(enumeration: str) -> Any:
    """A name that C keeps as a number; vram_ENUMERATION_name() tells it."""
    return dataclasses.field(metadata={"enum": enumeration})


@dataclasses.dataclass(frozen=True)
class Message:
    """An error, a note or a reason: its id, its place in the text that was read, and its sentence in English."""

    id: str
    code: str = _word("code")  # "ok" for what is no error
    field: str | None  # the field that it is about
    text: str
    file: str | None
    line: int  # from 1; 0 without a text
    col: int
    args: dict[str, int | str] = _array("arg_count")  # what the sentence's placeholders stand for

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.col}: " if self.file and self.line else ""
        return place + self.text


@dataclasses.dataclass(frozen=True)
class Figure:
    """A number of bytes with its error bound and what it rests on."""

    bytes: int
    low: int
    high: int
    basis: str = _word("basis")  # "exact rule", "model" or "range"
    tolerance_permille: int  # 0 for an exact figure
    measurements: int  # public measurements of such runs, 90 % of which are within the tolerance
    wider: str  # what these have in common where few are of such runs: a wider kind
    why: Message | None

    @property
    def mib(self) -> float:
        """The bytes in MiB, the unit of nvidia-smi."""
        return self.bytes / MIB


@dataclasses.dataclass(frozen=True)
class Capacity:
    """The two totals of a card's memory."""

    total_bytes: int  # as nvidia-smi prints it; 0 where only cuda_memory is known
    cuda_bytes: int  # what processes can have: torch.cuda.mem_get_info()[1]
    cuda_low_bytes: int
    cuda_high_bytes: int
    basis: str = _word("capacity")  # "observed", "rule", "total", "given" or "none"
    seen: int  # observations behind it


@dataclasses.dataclass(frozen=True)
class Line:
    """Tensors of the same name, summed over the layers."""

    name: str
    op: str  # that allocates it
    dtype: str  # "" where formats are mixed
    category: str = _word("category")
    count: int  # storages
    bytes: int  # of all of them together


@dataclasses.dataclass(frozen=True)
class Phase:
    """The largest sum of live bytes inside one phase of the step."""

    name: str  # "fwd:it1.m0"
    peak_live_bytes: int


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Parameter tensors of the same name, those of all layers together."""

    name: str
    count: int
    rows: int
    cols: int  # 0 for a vector
    elements: int  # of all of them together
    decayed: bool  # two or more dimensions
    trained: bool  # False for frozen weights


@dataclasses.dataclass(frozen=True)
class Result:
    """Everything that an estimate says."""

    params: int  # unique elements, tied tensors once
    reported_params: int  # as nanoGPT's log counts them
    decayed_params: int
    decayed_tensors: int
    nodecay_params: int
    nodecay_tensors: int
    trained_params: int
    tensors: int
    param_bytes: int
    grad_bytes: int
    optim_bytes: int
    buffer_bytes: int
    saved_bytes: int  # saved for backward at the end of a forward pass
    peak_live: Figure  # tensors alone
    peak_allocated: Figure  # as torch.cuda.max_memory_allocated()
    peak_reserved: Figure  # as torch.cuda.max_memory_reserved()
    context: Figure  # CUDA context, outside the allocator
    process: Figure  # as nvidia-smi shows it
    needed: Figure  # what has to fit: without the cache of a generation that a full card gets back
    peak_requested_bytes: int
    first_step_peak_bytes: int
    steady_end_bytes: int
    reserved_end_bytes: int  # reserved then: less than the peak where a full card got the cache back
    eval_peak_bytes: int
    cards_allocated_bytes: int  # peak_allocated of every card of device_map, together
    segments: int
    events: int
    alloc_retries: int  # as num_alloc_retries: the card was full, and the cache went back to it
    iterations: int
    pipeline_stage: int
    gpu_bytes: int  # what CUDA offers of the card less other_memory; 0 without a card
    gpu_name: str | None
    verdict: str = _word("verdict")  # "fits", "tight", "nearly", "too big" or "no card"
    regime: str = _word("regime")
    kind: str  # what tells of the run which measurements are of such
    peak_phase: str | None
    peak_op: str | None
    peak_block: int  # layer number, or -1
    by_category: dict[str, int] = _array("category_count")  # live bytes at the peak
    at_peak: tuple[Line, ...] = _array("at_peak_count")  # largest first
    saved: tuple[Line, ...] = _array("saved_count")
    phases: tuple[Phase, ...] = _array("phase_count")
    parameters: tuple[Tensor, ...] = _array("parameter_count")
    notes: tuple[Message, ...] = _array("note_count")
    capacity: Capacity

    @property
    def fits(self) -> bool:
        """Whether what is needed fits the card by its figure; False without a card."""
        return self.verdict in ("fits", "tight")


@dataclasses.dataclass(frozen=True)
class Fit:
    """Does the process fit the card?"""

    verdict: str = _word("verdict")
    alloc_retries: int
    process: Figure  # what has to fit: needed of the estimate
    gpu_bytes: int
    gpu_name: str | None
    capacity: Capacity
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class MaxBatch:
    """The largest batch_size that fits."""

    batch_size: int  # 0: not even 1 does
    safe_batch_size: int  # with the whole error bound
    gradient_accumulation_steps: int  # with batch_size: keeps the sequences of a step
    sequences: int
    process_bytes: int
    gpu_bytes: int
    gpu_name: str | None
    refusal: Message | None
    capacity: Capacity
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class Solution:
    """The largest or smallest value of a field that fits."""

    field: str
    goal: str = _word("goal")  # "largest" or "smallest"
    method: str = _word("method")  # "bisection" or "scan"
    found: bool
    safe_found: bool  # with the whole error bound
    tried: int  # configurations
    configured: int
    value: int  # where found
    safe_value: int  # where safe_found
    process_bytes: int
    gpu_bytes: int
    gpu_name: str | None
    limit: Message | None  # where it is not memory: why there is no larger value
    refusal: Message | None
    capacity: Capacity
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class Card:
    """A number of cards of one kind that a run fits."""

    gpu_name: str
    count: int
    change: str | None  # what several take: "parallel=fsdp2 n_gpu=4"
    total_bytes: int  # of all of them
    gpu_bytes: int  # that one has for the process
    process_bytes: int
    margin_bytes: int
    surely: bool  # with the whole error bound


@dataclasses.dataclass(frozen=True)
class Cards:
    """The cards that a run fits, smallest total memory first."""

    cards: tuple[Card, ...] = _array("card_count")
    tried: int
    note: Message | None
    refusal: Message | None
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class Serving:
    """What vLLM, or llama.cpp with its types, has room for."""

    server: str
    params: int
    weights_bytes: int
    work_bytes: int
    context_bytes: int
    pool_bytes: int  # for the cache
    token_bytes: int  # of the cache
    block_tokens: int
    blocks: int
    tokens: int
    batched_tokens: int  # of a step of vLLM
    most_sequences: int
    length: int  # tokens of a sequence
    sequences: int  # at once
    longest: int  # context of one
    gpu_bytes: int
    gpu_name: str | None
    note: Message | None
    refusal: Message | None
    capacity: Capacity


@dataclasses.dataclass(frozen=True)
class Block:
    """A piece of a segment: handed out to a tensor, free, or still used by another stream."""

    bytes: int
    requested: int  # by the tensor; 0 where it is not handed out
    state: str = _word("block_state")  # "free", "used" or "pending"
    category: str = _word("category")  # of a used block, as what follows
    layer: int
    name: str | None


@dataclasses.dataclass(frozen=True)
class Segment:
    """What one cudaMalloc gave."""

    bytes: int
    used_bytes: int
    largest_free_bytes: int
    small: bool  # for requests of at most 1 MiB
    stream: int
    blocks: tuple[Block, ...] = _array("block_count")  # in order of address


@dataclasses.dataclass(frozen=True)
class Segments:
    """The allocator after an event of the run."""

    moment: str = _word("moment")  # "peak", "growth", "end" or "event"
    event: int
    events: int
    event_bytes: int
    event_is_free: bool
    name: str
    op: str
    phase: str
    reserved_bytes: int
    allocated_bytes: int
    requested_bytes: int
    pending_bytes: int
    free_blocks: int
    largest_free_bytes: int
    segments: tuple[Segment, ...] = _array("segment_count")  # in order of address


@dataclasses.dataclass(frozen=True)
class Change:
    """One thing to change, with what the whole run takes then."""

    id: str
    what: str  # "batch_size=8 gradient_accumulation_steps=4"
    effect: str = _word("effect")  # "same", "close" or "different"
    result: Message | None
    how: Message | None  # the code to edit, where it is no setting
    refusal: Message | None
    cost_basis: Message | None
    cost_predicted: bool
    cost_permille: int  # of a step's time, per token
    process_bytes: int
    saved_bytes: int
    fits: bool
    fits_surely: bool
    in_plan: bool
    line: str | None  # what to write in the framework: "gradient_checkpointing=True"
    by_tensors: bool  # these alone are more than the card has: the bytes are not those of a whole estimate


@dataclasses.dataclass(frozen=True)
class Advice:
    """What to change, and the smallest set of changes that fits."""

    process_bytes: int
    gpu_bytes: int
    gpu_name: str | None
    fits: bool
    changes: tuple[Change, ...] = _array("change_count")
    plan_found: bool
    plan_tight: bool
    plan_process_bytes: int
    plan_cost_permille: int
    capacity: Capacity
    framework: str  # whose lines the changes have
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class Formula:
    """The same run by somebody else's formula."""

    id: str
    name: str
    too_large: bool
    bytes: int
    difference_permille: int
    because: Message | None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The peak of live bytes beside other formulas."""

    peak_live_bytes: int
    formulas: tuple[Formula, ...] = _array("formula_count")
    notes: tuple[Message, ...] = _array("note_count")


@dataclasses.dataclass(frozen=True)
class Size:
    """A size as a message rounds it."""

    bytes: int
    low: int
    high: int
    present: bool


@dataclasses.dataclass(frozen=True)
class Shape:
    """A product of dimensions."""

    dim: tuple[int, ...] = _array("dims")
    name: tuple[str | None, ...] = _array("dims")
    element_bytes: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Suspect:
    """A tensor of the step that asks for as much as the message says."""

    name: str
    op: str
    phase: str
    category: str = _word("category")
    block: int
    bytes: int
    live_bytes: int  # before it
    shape: Shape


@dataclasses.dataclass(frozen=True)
class Oom:
    """What an out-of-memory message says, and which tensor it is about."""

    tried: Size
    total: Size
    free: Size
    allocated: Size
    reserved: Size
    unallocated: Size
    in_use: Size
    driver: bool  # the driver, a library or a server says it, not PyTorch's allocator
    has_config: bool
    compile: str | None
    compile_as_asked: str | None
    tensors: tuple[Suspect, ...] = _array("tensor_count")
    shapes: tuple[Shape, ...] = _array("shape_count")
    hints: tuple[Message, ...] = _array("hint_count")
    advice: Advice | None
    source: str  # "pytorch", "cuda", "nccl", "xla", "llama.cpp", "vllm", ...
    about: Message | None  # what it is where no tensor of PyTorch's is meant


@dataclasses.dataclass(frozen=True)
class SnapshotBlock:
    """Blocks of one size from one line of a program, or tensors of one name that were expected."""

    bytes: int  # of one, as it was asked for
    count: int
    category: str | None  # None: not known
    file: str | None  # the innermost frame outside of PyTorch
    name: str | None
    line: int


@dataclasses.dataclass(frozen=True)
class SnapshotSegment:
    """A piece of memory that the allocator took from CUDA."""

    address: int
    bytes: int
    allocated_bytes: int
    largest_free_bytes: int
    stream: int
    blocks: int
    small: bool
    expandable: bool


@dataclasses.dataclass(frozen=True)
class SnapshotRow:
    """A category's bytes: now, at the peak, and as estimated at the estimate's peak."""

    category: str
    now_bytes: int
    peak_bytes: int
    estimated_bytes: int


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What a memory snapshot of PyTorch says, of the device that has the most memory in it."""

    device: int
    devices: int
    reserved_bytes: int
    allocated_bytes: int
    requested_bytes: int
    pending_bytes: int
    free_bytes: int
    largest_free_bytes: int
    settings: str | None  # PYTORCH_CUDA_ALLOC_CONF
    has_frames: bool
    has_trace: bool  # with the history of allocations; without it the peak is not known
    events: int
    peak_requested_bytes: int
    peak_reserved_bytes: int
    has_oom: bool
    oom_bytes: int
    oom_free_bytes: int
    oom_site: SnapshotBlock
    has_config: bool
    estimated_requested_bytes: int
    estimated_reserved_bytes: int
    matched_bytes: int  # in blocks of which the estimate has a tensor of the same size
    unmatched_bytes: int
    missing_bytes: int
    rows: tuple[SnapshotRow, ...] = _array("row_count")
    blocks: tuple[SnapshotBlock, ...] = _array("block_count")
    missing: tuple[SnapshotBlock, ...] = _array("missing_count")
    segments: tuple[SnapshotSegment, ...] = _array("segment_count")


@dataclasses.dataclass(frozen=True)
class Event:
    """One allocation or free of the step."""

    bytes: int
    live: int  # live bytes after it
    id: int
    category: str = _word("category")
    is_free: bool
    block: int
    name: str
    op: str
    phase: str


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter tensor, in the order in which the model registers it."""

    name: str
    block: int
    rows: int
    cols: int
    bytes: int
    decayed: bool
    trained: bool


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A card of the library's table."""

    name: str
    memory_bytes: int  # the total that nvidia-smi prints
    bandwidth_mb_s: int
    fp16_gflops: int
    bf16_gflops: int
    fp32_gflops: int
    compute_capability: int  # 89 for 8.9
    sm_count: int
    memory_reported: bool
    architecture: str | None
    source: str | None
    source_note: str | None
    memory_source: str | None
    memory_note: str | None


@dataclasses.dataclass(frozen=True)
class Preset:
    """A published model, or a run that the pages discuss."""

    name: str
    what: str
    fields: str
    run: str
    source: str


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a configuration."""

    key: str
    aliases: str
    group: str
    help: str
    type: int  # enum vram_type
    unit: str = _word("unit")
    initial: int
    min: int
    max: int
    values: tuple[str, ...] = dataclasses.field(metadata={"count": None})  # until NULL
    value_help: tuple[str, ...] = dataclasses.field(metadata={"count": None})


# Which dataclass a struct of vram.h is read into.
STRUCTS = {
    "vram_message": Message, "vram_figure": Figure, "vram_capacity": Capacity, "vram_line": Line, "vram_phase": Phase,
    "vram_tensor": Tensor, "vram_result": Result, "vram_fit": Fit, "vram_max_batch": MaxBatch, "vram_change": Change,
    "vram_advice": Advice, "vram_formula": Formula, "vram_comparison": Comparison, "vram_size": Size,
    "vram_shape": Shape, "vram_suspect": Suspect, "vram_oom": Oom, "vram_event": Event, "vram_param": Param,
    "vram_gpu": Gpu, "vram_preset": Preset, "vram_field": Field, "vram_solution": Solution, "vram_card": Card,
    "vram_cards": Cards, "vram_serving": Serving, "vram_block": Block, "vram_segment": Segment, "vram_segments": Segments,
    "vram_snapshot_block": SnapshotBlock, "vram_snapshot_segment": SnapshotSegment, "vram_snapshot_row": SnapshotRow,
    "vram_snapshot": Snapshot,
}
