"""The values of a configuration: frozen, with defaults that mean "nothing was said"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from pipeline.globs import glob_pattern

LAYERS = ("productive", "infrastructure", "framework", "planned", "unknown")
RESTARTS = ("continue", "from_scratch", "new_run")
CLASSES = ("production", "debug", "interactive", "evaluation")
USER_RULES = ("keep", "hash", "drop")
PAPERS = ("a4", "letter")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """A run: which sources and jobs are its own, its size, and the bounds of its life.

    Attributes:
        run_id: name of the run.
        logs: globs of paths below the log folder.
        jobs: job names (globs) or job ids.
        gpus: nominal number of accelerators.
        gpu_model: device name as in the device table; for a mixed fleet the models joined by ``+``.
        fleet: (device name, number) of a mixed fleet; empty where all are alike.
        peak_flops: peak FLOP/s of one accelerator.
        parameters: parameters of the model.
        flops_per_token: model FLOPs of one token, forward and backward.
        start, end: bounds of the run's life in UTC.
        restart: how a counter that goes back is meant: continue, from_scratch or new_run.
    """

    run_id: str
    logs: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    gpus: int | None = None
    gpu_model: str | None = None
    fleet: tuple[tuple[str, int], ...] = ()
    peak_flops: float | None = None
    parameters: float | None = None
    flops_per_token: float | None = None
    start: datetime | None = None
    end: datetime | None = None
    restart: str | None = None


@dataclass(frozen=True, slots=True)
class ZoneRule:
    """The zone of stamps without one, in files whose path the glob matches."""

    glob: str
    zone: str

    @property
    def pattern(self) -> str:
        """The glob as a regular expression over the whole path."""
        return glob_pattern(self.glob)


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What is true of files whose path the glob matches, whatever was recognised or inferred."""

    glob: str
    format: str | None = None
    host: str | None = None
    cluster: str | None = None

    @property
    def pattern(self) -> str:
        """The glob as a regular expression over the whole path."""
        return glob_pattern(self.glob)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A declared maintenance.

    Attributes:
        declared: between which moments it was announced, where that is known: a time is both of them, and of
            a day they are its begin and its end.
    """

    start: datetime
    end: datetime
    declared: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What one GPU-hour costs."""

    gpu_hour: float
    currency: str = ""


@dataclass(frozen=True, slots=True)
class ClassRule:
    """Jobs that count as one class: all conditions must hold; globs for texts, bounds for GPUs."""

    name: str
    partition: str | None = None
    qos: str | None = None
    account: str | None = None
    user: str | None = None
    job: str | None = None
    min_gpus: int | None = None
    max_gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Privacy:
    """What becomes of user names: keep, hash or drop."""

    users: str = "keep"


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """Length of a window, and paper of the PDF."""

    window: str = "24h"
    paper: str = "a4"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A person's answer to what caused an incident; ``role`` is the role, never a name."""

    incident_id: str
    cause: str
    owner: str = ""
    reason: str = ""
    date: date | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An action carried over from an earlier review."""

    action_id: str
    action: str
    owner: str = ""
    opened: date | None = None
    state: str = "open"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that was configured; the defaults are what no configuration means.

    Attributes:
        zones: first match wins; the last is the default with glob ``**``, or absent when nothing was said.
        policy: category to layer, and ``first_queue_wait`` to whether it counts.
        owners: layer or cause domain to team.
        targets: figure to the value aimed at, 0 to 1.
        texts: name of each file that was read, and what it says.
        text_hash: hash of their text; empty for no configuration.
    """

    runs: tuple[RunConfig, ...] = ()
    zones: tuple[ZoneRule, ...] = ()
    sources: tuple[SourceRule, ...] = ()
    policy: Mapping[str, str | bool] = field(default_factory=dict)
    maintenance: tuple[Maintenance, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    price: Price | None = None
    targets: Mapping[str, float] = field(default_factory=dict)
    privacy: Privacy = Privacy()
    classes: tuple[ClassRule, ...] = ()
    report: ReportConfig = ReportConfig()
    verdicts: tuple[Verdict, ...] = ()
    actions: tuple[Action, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)
    text_hash: str = ""


#: What no configuration means.
EMPTY_CONFIG = Config()
