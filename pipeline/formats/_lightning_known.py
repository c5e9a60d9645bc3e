"""Lightning: lines that are known and tell nothing about time."""

from __future__ import annotations

from pipeline.formats.format import known_line

KNOWN = (
    known_line(
        "other_bar",
        ("Sanity Checking", "Validation: ", "Validation DataLoader ", "Testing", "Predicting", "Epoch "),
        r"^\s*(?:(?:Sanity Checking|Validation|Testing|Predicting)(?: DataLoader \d+)?:\s+"
        r"(?:[1-9]\d*%|\d+it \[|\|  )|(?:Sanity Checking|Testing|Predicting) DataLoader \d+:\s+0%"
        r"|Epoch \d+:\s+0%\|[^|]*\| 0/\d+ \[|(?:Epoch \d+|Sanity Checking|Validation): +\| )",
    ),
    known_line(
        "hardware",
        ("TPU available: ", "IPU available: ", "HPU available: ", "LOCAL_RANK: ", "GPU available: False"),
        r"^(?:[TIH]PU available: |GPU available: False|LOCAL_RANK: \d+ - CUDA_VISIBLE_DEVICES: )",
    ),
    known_line("backend", ("distributed_backend=",), r"^distributed_backend=\w+$"),
    known_line("seed", ("eed set to ",), r"^(?:\[rank: \d+\] )?(?:Global seed|Seed) set to \d+$"),
    known_line(
        "weights_loaded",
        ("Loaded model weights from the checkpoint at ",),
        r"Loaded model weights from the checkpoint at ",
    ),
    known_line(
        "not_in_top",
        ("was not in top ",),
        r"Epoch \d+, global step \d+: '?[\w/.-]+'? was not in top \d+$",
    ),
    known_line(
        "slurm",
        ("SLURM auto-requeueing ", "Bypassing SIGTERM: "),
        r"SLURM auto-requeueing (?:enabled|disabled)|Bypassing SIGTERM: ",
    ),
    known_line(
        "summary",
        ("Non-trainable params", "Total estimated model params size (MB)", "Modules in "),
        r"^[\d.]+ +[KMBT]? *Non-trainable params$|Total estimated model params size "
        r"\(MB\)"
        r"|^\d+ +Modules in (?:train|eval) mode$",
    ),
)
