"""OLMo-core: what its start reveals of the configuration, metrics, and lines that carry nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._olmo_head import head, told
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "1.0.0 to 2.5.0"
_DATA = head(r"olmo_core\.data\.[\w.]+")
_ANY = head(r"olmo_core\.[\w.]+")
_VALUE = Value(group="value")


def _fact(key: str, value: Value = _VALUE) -> Mapping[str, Value]:
    """Return the columns of a line that reveals one value."""
    return told(key=Value(const=key), value=value)


_MESH: Mapping[str, str] = {
    "pp": "pipeline_parallel",
    "dp": "data_parallel_shard",
    "dp_replicate": "data_parallel_replicate",
    "dp_shard": "data_parallel_shard",
    "cp": "context_parallel",
    "tp": "tensor_parallel",
    "ep": "expert_parallel",
}

FACTS = (
    Pattern(
        name="device",
        table="facts",
        versions="2.0.0 to 2.5.0",
        literals=(", Device peak Flops/s: ",),
        regex=head(r"olmo_core\.train\.callbacks\.speed_monitor") + "Device: .+, Device peak Flops/s: ",
        each=r"(?P<device>Device): (?P<name>[^\t]+), Device peak|(?P<peak>Flops/s): (?P<flops>\d+)",
        columns=told(
            key=Value(
                group=("device", "peak"), mapping={"Device": "gpu_model", "Flops/s": "peak_flops_per_gpu"}
            ),
            value=Value(group=("name", "flops")),
        ),
        note="A table by device name: 1979e12 for an H100 NVL up to 2.0.0 is a figure for sparse matrices, "
        "and what the table does not know counts as an A100 (312e12).",
    ),
    Pattern(
        name="params",
        table="facts",
        versions="1.8.0 to 2.5.0",
        literals=("Total parameters: ",),
        regex=r"^Total parameters:\s+(?P<value>[\d,]+)",
        columns={"key": Value(const="params"), "value": Value(group="value", kind="int")},
    ),
    Pattern(
        name="steps_to_do",
        table="facts",
        versions=_ALL,
        literals=("Training for ",),
        regex=head(r"olmo_core\.train\.trainer") + r"Training for (?P<value>[\d,]+) steps",
        columns=_fact("train_iters", Value(group="value", kind="int")),
    ),
    Pattern(
        name="data_parallel",
        table="facts",
        versions="2.0.0 to 2.5.0",
        literals=("Data parallel world size = ",),
        regex=_ANY + r"Data parallel world size = (?P<value>[\d,]+)",
        columns=_fact("data_parallel", Value(group="value", kind="int")),
    ),
    Pattern(
        name="mesh",
        table="facts",
        versions="1.8.0 to 2.5.0",
        literals=("D device mesh with shape (",),
        regex=_ANY + r"Built \d+D device mesh with shape \(",
        each=rf"[( ](?P<key>{'|'.join(_MESH)})=(?P<value>\d+)",
        columns=told(key=Value(group="key", mapping=_MESH), value=_VALUE),
        note="The product of all but the experts is the world size.",
    ),
    Pattern(
        name="batch",
        table="facts",
        versions="2.0.0 to 2.5.0",
        literals=(" based on batch size of ",),
        regex=_DATA
        + r"Data loader will resume from batch .* based on batch size of (?P<value>[\d,]+) tokens",
        columns=_fact("tokens_per_step", Value(group="value", kind="int")),
    ),
    Pattern(
        name="batch_change",
        table="facts",
        versions="2.0.0 to 2.5.0",
        literals=("Changing global batch size to ",),
        regex=_ANY + r"Changing global batch size to (?P<value>[\d,]+)\.\.\.",
        columns=_fact("tokens_per_step", Value(group="value", kind="int")),
        note="From the next step on.",
    ),
)

METRICS = (
    Pattern(
        name="metric_time",
        table="timers",
        versions=_ALL,
        literals=(" (s)=", "_duration_s="),
        regex=r"^    (?P<name>throughput/device/data loading \(s\)|throughput/in-loop eval time \(s\)"
        r"|checkpoint/save_(?:async_)?duration_s)=(?P<value>[\d.,E+-]+)$",
        columns={"component": Value(group="name"), "max_s": Value(group="value", kind="float")},
        note="The largest over all ranks, of the step in the line above the metrics. An asynchronous save "
        "is told of with the step at which it was over.",
    ),
    known_line(
        "metric",
        (
            "    throughput/",
            "    train/",
            "    optim/",
            "    gpu_memory/",
            "    system/",
            "/CE loss=",
            "/PPL=",
            "accuracy)=",
            "BPB)=",
            " (+variants): ",
            "Total evaluation time: ",
        ),
        r"^    (?:throughput/(?:total|chinchilla|in-loop eval batches|device/(?:TPS|BPS|MFU|flopsPS|data "
        r"loading \(%\)))[^=]*|(?:train|optim|gpu_memory|system)/[^=]*|[\w.-]+/(?:CE loss|PPL)|\w.* "
        r"\((?:[\w-]+ )?(?:accuracy|BPB)\))=\S+$|^    .*\(\+variants\): [\d.,]+ sec \(|^    Total "
        r"evaluation time: [\d.,]+ seconds",
        _ALL,
        "Of the step, or of the evaluation, in a line above: they name neither.",
    ),
)

KNOWN = (
    known_line(
        "evaluation_texts",
        ("[eval=", "Evaluation speed:", "Building downstream eval task dataset"),
        head(r"olmo_core\.train\.callbacks\.evaluator_callback")
        + r"(?:\[eval=.*,step=\d+(?:/\d+)?\]|Evaluation speed:|Building downstream eval task dataset)",
        "1.8.0 to 2.5.0",
    ),
    known_line(
        "trainer_texts",
        (
            "Callback order:",
            "  - Callback ",
            "Epoch complete",
            "Creating new process group for ",
            "All bookkeeping ops complete",
            "Detected inconsistent metrics ",
            "Running in Beaker workload ",
            "Automatic GC disabled for training",
            " received",
        ),
        _ANY + r"(?:Callback order:|  - Callback \d+: |Epoch complete|Creating new process group for "
        r"|All bookkeeping ops complete|Detected inconsistent metrics |Running in Beaker workload "
        r"|Automatic GC disabled for training|SIG(?:TERM|INT) received)",
        _ALL,
        "A signal makes the run cancel itself: see `canceled`.",
    ),
    known_line(
        "setup_texts",
        (
            "\tApplied ",
            "] Applied ",
            "Initializing model weights...",
            "Data loader will resume from batch ",
            "global data order indices ",
            "global indices file ",
            "Using attention backend ",
            "Compiling loss function",
            "Found existing ephemeral checkpoint ",
            "Saving config to ",
        ),
        _ANY + r"(?:Applied |Initializing model weights|Data loader will resume from batch [\d,]+/[\d,]+$"
        r"|Saving global data order indices |Global data order indices saved |Using existing global indices "
        r"file |Using attention backend |Compiling loss function|Found existing ephemeral checkpoint "
        r"|Saving config to )",
        _ALL,
    ),
)

SETUP = (*FACTS, *METRICS, *KNOWN)
