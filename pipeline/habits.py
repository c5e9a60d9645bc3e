"""The habits of programs: what a line means beyond what it says, as the table ``formats``.

Each column but the first is a field of ``Format`` in ``pipeline/formats/format.py``. Ingest writes a row for
every format into the store, so that SQL asks for a habit and never for a name.
"""

from __future__ import annotations

from pipeline.table import Column, Table

FORMATS = Table(
    "formats",
    "one row per log format that ingest knows, with the habits of the program that writes it",
    (
        Column("format", "string", "name of the format; what `format` of the event tables holds"),
        Column(
            "ordered_by_time",
            "bool",
            "records carry their own time and arrive out of order: the time orders them, not the line",
        ),
        Column(
            "second_hand",
            "int64",
            "place among the files that repeat what a console tells and do not say when, 0 for a console: "
            "of one run the lowest counts",
        ),
        Column("elapsed_per_epoch", "bool", "the printed time since the begin starts again with each epoch"),
        Column(
            "bars_for_evaluations",
            "bool",
            "an evaluation draws the same bar as the training; what stands beside it tells them apart",
        ),
        Column(
            "results_apart",
            "bool",
            "bars go to standard error and results to standard output: two files of a folder may tell of one "
            "program",
        ),
        Column(
            "results_per_node",
            "bool",
            "each node prints the length of the same evaluation, and none says which node it is",
        ),
        Column(
            "step_time_runs_on",
            "bool",
            "the timer of the steps never stops: saves and evaluations that are timed as well lie inside of "
            "the printed step time",
        ),
        Column(
            "step_time_of_one",
            "strings",
            "patterns of which the printed step time is that of the printed step alone, and says nothing of "
            "those since the line before",
        ),
        Column(
            "step_time_of_all",
            "strings",
            "patterns of which the printed step time is the mean of all steps since their clock began: how "
            "far the clock went on tells what those since the line before took",
        ),
        Column(
            "save_end_untold",
            "bool",
            "a line tells when a save begins, and none when it is over; the steps wait for it",
        ),
        Column(
            "blocked_is_end_of_sync",
            "bool",
            "of a save that is not asynchronous the line that frees the loop is the end: it is durable then",
        ),
        Column(
            "background_told",
            "bool",
            "a line says when a save goes on in the background: a save of which none does was over before "
            "the loop went on",
        ),
        Column(
            "next_save_waits",
            "bool",
            "a save begins when the one before it is durable, which no line says",
        ),
        Column(
            "hooks_timer",
            "string",
            "timer that is printed when everything is over that follows a step, saves and evaluations among "
            "it; empty where there is none",
        ),
        Column(
            "world_size_late",
            "bool",
            "the world size stands behind the first line of its launch",
        ),
        Column(
            "degrees",
            "strings",
            "keys of facts whose product is the number of accelerators, where no world size is printed",
        ),
        Column(
            "flops_attention",
            "string",
            "how its printed TFLOP/s count attention: causal_halved, full_attention or no_attention; empty "
            "where releases differ or nobody knows",
        ),
        Column(
            "flops_recomputed",
            "bool",
            "its printed TFLOP/s count what is computed a second time in the backward pass: no model FLOPs",
        ),
        Column("start_names_run", "bool", "`detail` of a start of the process is the name of the run"),
        Column(
            "tells_requeues",
            "bool",
            "accounting that knows requeues and preemption, which other records of the same job do not",
        ),
        Column(
            "by_host_clock",
            "bool",
            "it prints by the clock of the host, also into what a container prints by its own",
        ),
    ),
    provenance=False,
)
