"""OLMo: what its start reveals of the configuration, metrics, and lines that carry nothing."""

from __future__ import annotations

from pipeline.formats._olmo_head import head, told
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.2.4 to 2025-09"
_ANY = head(r"(?:olmo\.(?:train|util|eval|data|model)[\w.]*|train|root)")

FACTS = (
    Pattern(
        name="params",
        table="facts",
        versions=_ALL,
        literals=("Total number of parameters: ",),
        regex=head("train") + r"Total number of parameters: (?P<value>[\d,]+)",
        columns=told(key=Value(const="params"), value=Value(group="value", kind="int")),
    ),
)

KNOWN = (
    known_line(
        "metric",
        ("    train/", "    throughput/", "    System/", "    optim/", "    eval/"),
        r"^    (?:train|throughput|System|optim|eval)/[^=]*=\S+$",
        _ALL,
        "Of the step in the line above. Throughput is per device; `total_training_Gflops` over "
        "`total_tokens` are the FLOPs of a token.",
    ),
    known_line(
        "trainer_texts",
        (
            "Loading model state...",
            "Loading optimizer state...",
            "Loading trainer state...",
            "Resetting learning rate...",
            "Restoring RNG states...",
            "Data loader will start at instance index ",
            "Fast-forwarding data loader by ",
            "[eval_step=",
            "Pre-train system metrics",
            "Training epoch complete",
            "Reshuffling data loader ",
            "Starting new epoch ",
            "Trainer will not restore RNG states",
        ),
        _ANY + r"(?:Loading (?:model|optimizer|trainer) state\.\.\.|Resetting learning rate|Restoring RNG "
        r"states|Data loader will start at instance index |Fast-forwarding data loader by "
        r"|\[eval_step=\d+/\d+\]|Pre-train system metrics|Training epoch complete|Reshuffling data loader "
        r"|Starting new epoch |Trainer will not restore RNG states)",
        _ALL,
        "Instances that are skipped on the way to a restored step are passed over without being read.",
    ),
    known_line(
        "checkpoint_texts",
        ("\tolmo.checkpoint:", "[olmo.checkpoint"),
        head(r"olmo\.checkpoint")
        + r"(?:Saving |Loading |Uploading |Flattening |Unsharding |Gathering |Materializing |Copying |Done "
        r"|Starting )",
        _ALL,
        "What a save and a load do one after another.",
    ),
    known_line(
        "setup_texts",
        (
            "Configuration:",
            "Model:",
            "Number of non-embedding parameters: ",
            "Peak GPU Memory (MB) before ",
            "Wrapping model with ",
            "Saving config to ",
            "Setting load path to ",
            "Attempting to load pre-train checkpoint...",
            "Dry run complete",
            "Process group initialized",
            "Multiprocessing start method set to ",
        ),
        _ANY + r"(?:Configuration:|Model:|Number of non-embedding parameters: |Peak GPU Memory \(MB\) "
        r"before |Wrapping model with |Saving config to |Setting load path to |Attempting to load pre-train "
        r"checkpoint|Dry run complete|Process group initialized|Multiprocessing start method set to )",
        _ALL,
    ),
)

SETUP = (*FACTS, *KNOWN)
