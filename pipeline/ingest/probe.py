"""A first look at every source: what it is, who wrote it, whether it must be read at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path

import polars as pl

import pipeline
from pipeline.config import Config
from pipeline.errors import GoodputError, nearest
from pipeline.formats import registry
from pipeline.globs import glob_matches
from pipeline.ingest.chunks import HEAD_BYTES, BrokenSourceError, chunk_digest, content_hash, read_chunks
from pipeline.ingest.clock import CTIME, GLOG, ISO, SYSLOG
from pipeline.ingest.detect import UNKNOWN, Detection, detect_all, forced
from pipeline.ingest.discover import Source
from pipeline.ingest.jobs import find_job_ids
from pipeline.ingest.sample import lines_of, read_samples
from pipeline.ingest.signals import CATALOGUE
from pipeline.ingest.store import Entry
from pipeline.ingest.work import Workers, cut_batches
from pipeline.places import Place

#: Bytes of a file that nobody writes twice by chance.
_SURELY_DISTINCT = 64 << 10

#: Bytes of the heads of files that are looked at together.
_LOOKED_AT = 32 << 20

#: A time as logs print it, with a date or as milliseconds since 1970.
_A_TIME = rf"{ISO}|{CTIME}|{SYSLOG}|[IWEF]{GLOG}|\b1[0-9]{{12}}\b"


@dataclass(frozen=True, slots=True)
class Probe:
    """What a first look tells of a source.

    Attributes:
        known: entry of the store that still holds, or None where the source must be read.
        head_hash: hash of its first bytes, which copies share; empty where the same content proves nothing.
        options: what the configuration says that its rows depend on.
        label: expression for the bare names that label its lines; empty where none does.
    """

    source: Source
    detection: Detection
    job_id: str | None
    head_hash: str
    options: str
    label: str = ""
    known: Entry | None = None
    error: str = ""


@cache
def parser_version() -> str:
    """Return a hash of everything that decides what a line becomes: code, patterns, tables, catalogue."""
    package = Path(pipeline.__file__).parent
    files = [*package.glob("ingest/*.py"), *package.glob("formats/*.py"), package / "tables.py", CATALOGUE]
    digest = blake2b(digest_size=8)
    for path in sorted(files):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def unread_content(
    sources: Iterable[Source], known: Mapping[str, Entry], local: Mapping[str, list[int]]
) -> int:
    """Return about how many bytes of content lie on this machine and have to be read, by a mere glance."""
    return sum(
        source.weight
        for source in sources
        if not source.error
        and source.place.local
        and (source.name not in known or local.get(source.name) != source.place.stamp())
    )


def probe_all(
    sources: Sequence[Source],
    config: Config,
    known: Mapping[str, Entry],
    local: Mapping[str, list[int]],
    pool: Workers,
) -> list[Probe]:
    """Return what a first look at each source tells; several are asked together, which costs little more."""
    batches = list(cut_batches(sources, lambda source: min(source.weight, HEAD_BYTES), _LOOKED_AT))
    told = [
        (batch, *({one.name: of[one.name] for one in batch if one.name in of} for of in (known, local)))
        for batch in batches
    ]
    # A few looks are done before another process is ready.
    few = len(batches) <= 2 * pool.count
    look_at_all = pool.map if few else pool.map_over(source.place for source in sources)
    return [found for batch in look_at_all(partial(_look, config=config), told) for found in batch]


def _look(
    told: tuple[Sequence[Source], Mapping[str, Entry], Mapping[str, list[int]]], config: Config
) -> list[Probe]:
    """Return what a first look at a batch of sources tells, with what is known of them."""
    return probe_batch(told[0], config, told[1], told[2])


def probe_batch(
    batch: Sequence[Source], config: Config, known: Mapping[str, Entry], local: Mapping[str, list[int]]
) -> list[Probe]:
    """Return what a first look at each source tells; one that has not changed is not opened."""
    known_ones = [_probe_known(source, config, known, local) for source in batch]
    todo = [source for source, found in zip(batch, known_ones, strict=True) if found is None]
    looked = iter(_probe_new(todo, config))
    return [next(looked) if found is None else found for found in known_ones]


def _probe_known(
    source: Source, config: Config, known: Mapping[str, Entry], local: Mapping[str, list[int]]
) -> Probe | None:
    """Return what is known of a source without looking into it, or None."""
    if source.error:
        return _unreadable(source, config, source.error)
    entry, options = known.get(source.name), _options(source, config)
    if entry is None or entry.row["parser_version"] != parser_version() or entry.options != options:
        return None
    same = local.get(source.name) == source.place.stamp()
    if not same and entry.row["bytes"] == source.bytes:
        same = hash_content(source.place) == entry.row["content_hash"]
    if not same:
        return None
    row = entry.row
    detection = Detection(row["format"], row["format_score"], row["runner_up"] or "", row["role"])
    return Probe(source, detection, row["job_id"], entry.head_hash, options, entry.label, entry)


def _probe_new(sources: Sequence[Source], config: Config) -> list[Probe]:
    """Return what a look at each source tells."""
    seen = read_samples(source.place for source in sources)
    samples = [sample for sample in seen if not isinstance(sample, OSError)]
    lines = lines_of([sample.lines for sample in samples])
    dated = set(lines.filter(pl.col("text").str.contains(_A_TIME))["file"])
    readable = [
        source for source, sample in zip(sources, seen, strict=True) if not isinstance(sample, OSError)
    ]
    jobs = find_job_ids([source.name for source in readable], lines)
    found: list[Probe] = []
    for file, detection in enumerate(detect_all(samples)):
        source, name = readable[file], forced_format(readable[file], config)
        # Two jobs may well fail with the same few words, so short ones count only with a time in them.
        is_one_of_its_kind = source.bytes >= _SURELY_DISTINCT or file in dated
        found.append(
            Probe(
                source,
                detection if name is None else forced(name, detection),
                jobs[file],
                samples[file].head_hash if is_one_of_its_kind else "",
                _options(source, config),
                samples[file].label,
            )
        )
    good = iter(found)
    return [
        _unreadable(source, config, (sample.strerror or str(sample)).lower())
        if isinstance(sample, OSError)
        else next(good)
        for source, sample in zip(sources, seen, strict=True)
    ]


def _unreadable(source: Source, config: Config, error: str) -> Probe:
    """Return a source that cannot be read."""
    return Probe(
        source, Detection(UNKNOWN, 0.0, "", UNKNOWN), None, "", _options(source, config), error=error
    )


def _options(source: Source, config: Config) -> str:
    """Return what the configuration says that the rows of a source depend on."""
    return f"{forced_format(source, config) or ''}|{config.privacy.users}"


def forced_format(source: Source, config: Config) -> str | None:
    """Return the format that the configuration names for a source, or None.

    Raises:
        GoodputError: no such format exists.
    """
    for rule in config.sources:
        if rule.format is not None and glob_matches(rule.glob, source.name):
            if rule.format not in registry():
                raise GoodputError(
                    f"no format is called `{rule.format}`",
                    where=f'goodput.toml, [sources."{rule.glob}"]',
                    now=nearest(rule.format, registry()) or "see `goodput formats`",
                )
            return rule.format
    return None


def hash_content(place: Place) -> str:
    """Return the hash of the decompressed bytes of a file; of a damaged one up to the damage."""
    digests = []
    try:
        for chunk in read_chunks(place):
            digests.append(chunk_digest(chunk.load()))
    except BrokenSourceError:
        pass
    return content_hash(digests)
