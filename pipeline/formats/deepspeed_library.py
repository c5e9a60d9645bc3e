"""DeepSpeed, the lines of library and launcher: they stand in the output of every program that uses it.

None of them names a file: Megatron-DeepSpeed, GPT-NeoX, the trainers of Hugging Face and others print them
between lines of their own. What only a program without a step line of its own is read by is in `deepspeed`.
"""

from __future__ import annotations

from pipeline.formats._deepspeed_checkpoints import CHECKPOINTS
from pipeline.formats._deepspeed_comms import COMMUNICATION
from pipeline.formats._deepspeed_launch import LAUNCH, START
from pipeline.formats._deepspeed_runtime import REPORT, RUNTIME
from pipeline.formats.format import Format, Head

FORMAT = Format(
    name="deepspeed_library",
    title="DeepSpeed, library and launcher",
    link="https://github.com/deepspeedai/DeepSpeed/blob/master/deepspeed/runtime/engine.py",
    role="any",
    primary=False,
    unrendered="The invented logs of programs on DeepSpeed hold its lines; no log is named after it.",
    patterns=(*CHECKPOINTS, *LAUNCH, *START, *RUNTIME, *COMMUNICATION, *REPORT),
    versions="0.3 to 0.18",
    # Without a level it is a stamp of Megatron.
    heads=(Head(r"\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] \[[A-Z]+\] ", "twin"),),
)
