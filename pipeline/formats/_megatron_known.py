"""Megatron-LM: lines whose meaning is known and which a ledger does not need."""

from __future__ import annotations

from pipeline.formats.format import Pattern

#: Modules of the library that log about themselves; the state machine that repeats steps is not among them.
_LOGGERS = (
    r"core\.(?:datasets|dist_checkpointing|distributed|fp8_utils|models|num_microbatches_calculator|optimizer"
    r"|optimizer_param_scheduler|parallel_state|pipeline_parallel|tensor_parallel|timers|transformer|utils)"
    r"|training"
)

KNOWN = (
    Pattern(
        name="arguments_rule",
        table="",
        versions="1.0 to core 0.19",
        literals=(" arguments --------", " end of arguments --------"),
        regex=r"^\s*-{10,} (?:end of )?arguments -{10,}",
    ),
    Pattern(
        name="start_texts",
        table="",
        versions="1.0 to core 0.19",
        literals=(
            "> initializ",
            "> setting ",
            "> compiling ",
            "> building ",
            "> finished creating ",
            "> datasets target sizes",
            "> learning rate decay style",
            "> data supports ",
            "done with setup",
            "building GPT model ...",
            "training ...",
            "setting training iterations to ",
            " data start iteration to ",
            "setting number of micro",
            "accumulate and all-reduce gradients in fp32 ",
            "Number of virtual stages per pipeline stage: ",
            "Overwriting rerun_state_machine.current_iteration from ",
            "Params for bucket ",
            "\tmodule.",
        ),
        regex=r"^\s*(?:>+ (?:initializ(?:ing|ed) |setting |compiling |building |finished creating "
        r"|datasets target sizes|learning rate decay style|data supports )|done with setups? \.\.\."
        r"|building GPT model \.\.\.|training \.\.\.|setting training iterations to \d"
        r"|setting (?:training|validation) data start iteration to \d"
        r"|setting number of micro-?batches to "
        r"|accumulate and all-reduce gradients in fp32 |Number of virtual stages per pipeline stage: "
        r"|Overwriting rerun_state_machine\.current_iteration from |Params for bucket \d)|^\tmodule\.\w",
    ),
    Pattern(
        name="checkpoint_texts",
        table="",
        versions="1.0 to core 0.19",
        literals=(
            "could not find the metadata file ",
            "will not load any non-persistent checkpoint",
            "checkpoint version ",
            "Unfinalized async checkpoint saves.",
            "Starting a checkpoint save before previous has finished.",
            "skipping deleting checkpoint ",
            "Non-persistent checkpoints scheduled for removal: ",
            "Storing distributed optimizer sharded state of type ",
            "sharded_state_dict metadata loaded from the checkpoint: ",
            "Failed to inspect checkpoint in ",
        ),
        regex=r"^\s*(?:WARNING: could not find the metadata file |will not load any non-persistent checkpoint"
        r"|checkpoint version \d|Unfinalized async checkpoint saves\. "
        r"|WARNING: Starting a checkpoint save before previous has finished\. |skipping deleting checkpoint "
        r"|Non-persistent checkpoints scheduled for removal: "
        r"|Storing distributed optimizer sharded state of type "
        r"|sharded_state_dict metadata loaded from the checkpoint: |Failed to inspect checkpoint in )",
    ),
    Pattern(
        name="evaluation_texts",
        table="",
        versions="1.0 to core 0.19",
        literals=(
            "Evaluating on ",
            "Evaluating iter ",
            "Exiting during evaluation, ",
            "--------------------",
        ),
        regex=r"^\s*(?:Evaluating on \d+ samples|Evaluating iter \d+/\d+|Exiting during evaluation, "
        r"|-{40,}\s*$)",
    ),
    Pattern(
        name="memory",
        table="",
        versions="1.0 to core 0.19",
        literals=(
            "memory (MB) | allocated: ",
            "Theoretical memory footprints: ",
            "parameters in ",
            "Activation memory footprint ",
        ),
        regex=r"\((?:after \d+ iterations|(?:before|after) save_checkpoint for iteration \d+)\) "
        r"memory \(MB\) \| |^\s*(?:after \d+ iterations memory \(MB\) \| |Theoretical memory footprints: "
        r"|Activation memory footprint per transformer "
        r"|Number of (?:active )?parameters in [\w ]+ in billions: )",
        note="Printed after the first steps of a process, and around saves.",
    ),
    Pattern(
        name="library_loggers",
        table="",
        versions="core 0.6 to 0.19",
        literals=("INFO:megatron.", "WARNING:megatron."),
        regex=rf"^\s*(?:INFO|WARNING):megatron\.(?:{_LOGGERS})[\w.]*:",
    ),
    Pattern(
        name="rerun_texts",
        table="",
        versions="core 0.10 to 0.19",
        literals=("megatron.core.rerun_state_machine:",),
        regex=r"^\s*(?:INFO|WARNING):megatron\.core\.rerun_state_machine:"
        r"(?:RerunStateMachine initialized in mode |Result validation \w+|Need to rerun step )",
        note="What it finds in a step that it repeats is for the catalogue.",
    ),
)
