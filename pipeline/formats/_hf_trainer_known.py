"""Hugging Face libraries: lines that are known and tell nothing about time."""

from __future__ import annotations

from pipeline.formats._hf_trainer_head import HEAD
from pipeline.formats.format import known_line

#: What stands between a label and the end of a progress bar.
_BAR = r"\s*\d+%\|[^|]*\| "

KNOWN = (
    known_line(
        "bar_begin",
        ("it/s",),
        r"^\s*0%\|[^|]*\| 0/\d+ \[00:00<\?, \?it/s\]\s*$",
        note="A bar that was just drawn: of the training, or of an evaluation.",
    ),
    known_line(
        "eval_bar",
        ("it/s][A", "s/it][A"),
        r"^\s*\d+%\|[^|]*\| [1-9]\d*/\d+ \[.*\]\[A$",
        note="An evaluation inside the training draws its bar below that of the training, and then sends the "
        "cursor up again: that is how the two differ.",
    ),
    known_line(
        "labelled_bar",
        (
            "Loading checkpoint shards:",
            "Loading weights:",
            "Fetching ",
            "Map",
            "Filter",
            "Generating ",
            "Tokenizing ",
            "Running tokenizer ",
            "Grouping texts",
            "Packing ",
            "Truncating ",
            "Applying chat template",
            "Converting format of dataset",
            "Writing model shards:",
        ),
        rf"^(?:Loading (?:checkpoint shards|weights)|Fetching|Map|Filter|Generating|Tokenizing"
        rf"|Running tokenizer|Grouping texts|Packing|Truncating|Applying chat template"
        rf"|Converting format of dataset|Writing model shards)[^|]*:{_BAR}",
    ),
    known_line(
        "head_number",
        (
            "Num examples = ",
            "Num Epochs = ",
            "Num update steps per epoch = ",
            "Batch size = ",
            "Num examples: ",
        ),
        HEAD
        + r"(?:Num examples|Num Epochs|Num update steps per epoch|Batch size)(?: =|:) [\d,.]+(?:e\+\d+)?$",
    ),
    known_line(
        "resume_detail",
        ("Continuing training from ", "Will skip the first ", "Fast-forwarding the dataloader past "),
        HEAD + r"(?:Continuing training from (?:checkpoint|epoch)|Will skip the first \d+ "
        r"|Fast-forwarding the dataloader)",
        note="Batches that were trained on before are read and thrown away: the first step holds that time.",
    ),
    known_line(
        "best_model",
        ("Loading best model from ",),
        HEAD + r"Loading best model from \S+ \(score: ",
        note="After the loop: no restart.",
    ),
    known_line(
        "parts_saved",
        (
            "Configuration saved in ",
            "odel weights saved in ",
            " state saved in ",
            "okenizer config file saved in ",
            "pecial tokens file saved in ",
            "hat template saved in ",
            "Saving FSDP ",
            "FSDP ",
            "Saving DeepSpeed Model and Optimizer",
            "DeepSpeed Model and Optimizer saved to output dir ",
            "Model successfully saved to ",
        ),
        HEAD + r"(?:Configuration saved in |Model weights saved in "
        r"|(?:Optimizer|Scheduler|Sampler|Gradient scaler|GradScaler|DataLoaderWrapper|Dataloader) state"
        r"(?: for dataloader \d+)? saved in "
        r"|[Tt]okenizer config file saved in |[Ss]pecial tokens file saved in |[Cc]hat template saved in "
        r"|Saving FSDP |FSDP (?:Model|Optimizer) (?:saved to|loaded from) "
        r"|Saving DeepSpeed Model and Optimizer|DeepSpeed Model and Optimizer saved to output dir "
        r"|Model successfully saved to )",
        note="Parts of a checkpoint.",
    ),
    known_line(
        "state_loaded",
        (" loaded successfully", "Loading FSDP ", "states loaded"),
        HEAD + r"(?:All (?:model weights|optimizer states|scheduler states|dataloader sampler states) loaded "
        r"successfully|GradScaler state loaded successfully|Loading FSDP )",
    ),
    known_line(
        "loading_file",
        (
            "loading configuration file ",
            "loading file ",
            "loading weights file ",
            "Model config ",
            "Generate config ",
            "All model checkpoint weights were used when ",
            "All the weights of ",
            "Offline mode: forcing local_files_only=True",
        ),
        HEAD + r"(?:loading (?:configuration file|file|weights file) |(?:Model|Generate) config \w+ \{$"
        r"|All model checkpoint weights were used when |All the weights of \w+ were initialized "
        r"|Offline mode: forcing local_files_only=True)",
        note="Also printed in the middle of a training, when adapters are saved.",
    ),
    known_line(
        "data_set",
        (
            "Loading cached ",
            "Using the latest cached version of ",
            "Reusing dataset ",
            "Found cached dataset ",
            "Overwrite dataset info from restored data version",
        ),
        HEAD + r"(?:Loading cached (?:processed|shuffled|split|sorted)|Using the latest cached version of "
        r"|Reusing dataset |Found cached dataset |Overwrite dataset info from restored data version)",
    ),
    known_line(
        "script",
        (
            "Training/evaluation parameters ",
            "You are instantiating a new config instance from scratch",
            "Overriding config: ",
            "Training new model from scratch",
            "Can't load following files from cache: ",
        ),
        HEAD + r"(?:Training/evaluation parameters |You are instantiating a new config instance from scratch"
        r"|Overriding config: |Training new model from scratch|Can't load following files from cache: )",
    ),
    known_line(
        "empty_message",
        ("[INFO|trainer.py:",),
        r"^\[INFO\|trainer\.py:\d+\] [\d-]+ [\d:,]+ >>\s*$",
        note="The text follows in the next lines.",
    ),
    known_line(
        "metrics_block",
        ("***** ", " = "),
        HEAD + r"(?:\*{5} (?:train|eval|test|predict) metrics \*{5}$"
        r"|(?:train|eval|test|predict)_\w+ +=  *[\d.:e+-]+$|epoch +=  *[\d.]+$)",
    ),
)
