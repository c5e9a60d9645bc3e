"""Lines of logs with the lines around them, read where the logs lie now, long after they were ingested.

A store does not hold logs: it holds what their lines said. Whoever shows a line again opens the file, asks
whether it is still what was read, and masks what was masked then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.errors import GoodputError
from pipeline.formats import registry
from pipeline.ingest.archives import is_archive, list_members
from pipeline.ingest.chunks import BrokenSourceError, chunk_digest, content_hash, read_chunks
from pipeline.ingest.discover import root_names
from pipeline.ingest.lines import BOM, read_lines
from pipeline.ingest.secrets import mask_text
from pipeline.places import FilePlace, ObjectPlace, Place, SlicePlace, is_url, open_store, refusals

#: Characters of a line that are looked at; a secret that begins among those that are shown ends among these.
_LOOKED_AT = 4096

#: Characters of a line that are shown; as many as the store keeps of a line.
_SHOWN = 500

#: Files up to this size are read to their end to learn whether they changed; of larger ones the line tells.
_MOST_HASHED = 1 << 30

#: Shapes of files whose line numbers are those of an editor.
_LINE_SHAPES = frozenset({"lines", "records", "table", "columns"})

#: What became of a file since it was read.
SAME, GROWN, CHANGED, GONE, NO_LINES = "same", "grown", "changed", "gone", "no_lines"
WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a store, the numbers of its lines that are wanted, and what the store knows of it.

    Attributes:
        path: its name in the store.
        bytes: its size when it was read.
        content_hash: hash of its content then; empty where it could not be read.
        format: what it was taken for.
        numbers: lines that are wanted, from 1; those that do not exist are left out of the answer.
        texts: number of a line to what the store kept of it, by which it is recognised in a changed file.
    """

    path: str
    bytes: int
    content_hash: str
    format: str
    numbers: frozenset[int]
    texts: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Around:
    """What lies around the wanted lines of a file.

    Attributes:
        state: ``same``, ``grown`` (what was read is still its beginning), ``changed`` (lines are given around
            those only that still read as the store kept them), ``gone``, ``no_lines`` (a document: its
            records are no lines), or ``withheld`` (it names users, whom the configuration hides).
        why: in words what became of it; empty for ``same``.
        lines: number of a line to its text, secrets masked.
    """

    state: str
    why: str
    lines: Mapping[int, str]


def withheld() -> Around:
    """Return what is told of a file that names users, where the configuration does not let them be seen."""
    return Around(WITHHELD, "it names users, whom `[privacy]` hides", {})


class Logs:
    """The logs of a store where they lie now."""

    def __init__(self, roots: Sequence[str], local: Mapping[str, Sequence[int]]) -> None:
        """Take the roots in the order in which they were ingested.

        Args:
            roots: absolute paths and URLs.
            local: file name to what its place said of it when it was read.
        """
        places = [root if is_url(root) else Path(root) for root in roots]
        prefixes = [f"{name}/" if len(roots) > 1 else "" for name in root_names(places)]
        self._roots = list(zip(places, prefixes, strict=True))
        self._local = local

    def around(self, wanted: Wanted) -> Around:
        """Return the lines around those that are wanted of one file."""
        if getattr(registry().get(wanted.format), "shape", "lines") not in _LINE_SHAPES:
            return Around(NO_LINES, "a document: its records are no lines", {})
        if not self._roots:
            return Around(GONE, "the store does not know where the logs lie", {})
        with tempfile.TemporaryDirectory(prefix="goodput-") as scratch:
            try:
                place = self._find(wanted.path, Path(scratch))
                if place is None:
                    return Around(GONE, "it no longer lies where it was read", {})
                return self._read(place, wanted)
            except (OSError, GoodputError, BrokenSourceError) as error:
                return Around(GONE, f"it cannot be read: {_reason(error)}", {})

    def _find(self, name: str, scratch: Path) -> Place | None:
        """Return the place of the file that was ingested under a name, or None."""
        for root, prefix in self._roots:
            if name.startswith(prefix):
                below = name[len(prefix) :]
                place = _in_store(root, below) if isinstance(root, str) else _in_folder(root, below, scratch)
                if place is not None:
                    return place
        return None

    def _read(self, place: Place, wanted: Wanted) -> Around:
        """Return the lines of a place, and whether it is still what was read."""
        state = self._state(place, wanted)
        lines = _read_numbered(place, wanted.numbers)
        if state != CHANGED:
            return Around(state, "it has grown since it was read" if state == GROWN else "", lines)
        # Lines that still stand where they stood are good evidence, with what is around them.
        good = {n for n, text in wanted.texts.items() if _reads_as(lines.get(n), text)}
        kept = {
            n: text
            for n, text in lines.items()
            if min(wanted.texts, key=lambda known: (abs(known - n), known), default=0) in good
        }
        return Around(CHANGED, "it has changed since it was read", kept)

    def _state(self, place: Place, wanted: Wanted) -> str:
        """Return whether a place holds what was read, that with more behind it, or something else."""
        if list(self._local.get(wanted.path, ())) == place.stamp():
            return SAME
        if place.size > _MOST_HASHED:
            return CHANGED
        if place.size == wanted.bytes or place.sequential:
            return SAME if _hash(place) == wanted.content_hash else CHANGED
        if place.size > wanted.bytes and _hash(SlicePlace(place, 0, wanted.bytes)) == wanted.content_hash:
            return GROWN
        # The same content may be stored in another form, as it is after a rotation.
        return SAME if _hash(place) == wanted.content_hash else CHANGED


def _in_folder(root: Path, below: str, scratch: Path) -> Place | None:
    """Return the place of a file below a root, in an archive perhaps, or None; never one outside of it."""
    parts = below.split("/")
    if ".." in parts or not root.exists():
        return None
    base, top = (root, 0) if root.is_dir() else (root.parent, 1)
    if top and parts[0] != root.name:
        return None
    for length in range(1, len(parts) + 1):
        path = base.joinpath(*parts[:length])
        if not path.is_file():
            continue
        if not path.resolve().is_relative_to(base.resolve()):
            return None
        if length == len(parts):
            return _only_member(path, scratch) if is_archive(path.name) else FilePlace(path)
        member = "/".join(parts[length:])
        found = list_members(path.name, FilePlace(path), scratch) if is_archive(path.name) else ()
        return next((one.place for one in found if one.name == member), None)
    # Who rotates logs compresses them.
    packed = (base.joinpath(*parts[:-1], parts[-1] + ending) for ending in (".gz", ".zst", ".xz", ".bz2"))
    return next((FilePlace(path) for path in packed if path.is_file() and not path.is_symlink()), None)


def _only_member(path: Path, scratch: Path) -> Place | None:
    """Return the place of an archive that was read as one file because its members could not be."""
    return next(
        (one.place for one in list_members(path.name, FilePlace(path), scratch) if not one.name), None
    )


def _in_store(url: str, below: str) -> Place | None:
    """Return the place of an object below a URL, or None."""
    files, root = open_store(url)
    whole = root.rstrip("/").rpartition("/")[2] == below
    for path in (f"{root.rstrip('/')}/{below}", *((root,) if whole else ())):
        with refusals(path):
            if files.isfile(path):
                return ObjectPlace(files, path, int(files.size(path)))
    return None


def _read_numbered(place: Place, numbers: frozenset[int]) -> dict[int, str]:
    """Return the lines of a place with some numbers, masked and cut; nothing behind the last is read."""
    found: dict[int, str] = {}
    last, first = max(numbers, default=0), 1
    for content in _contents(place):
        ends = content.count(b"\n")
        here = sorted(n for n in numbers if first <= n <= first + ends)
        if here:
            lines = read_lines(content if first > 1 else content.removeprefix(BOM))
            chosen = pl.Series([lines[n - first] for n in here if n - first < len(lines)], dtype=pl.String)
            # A line that two chunks share begins in the first of them.
            for number, text in zip(here, _masked(chosen), strict=False):
                found.setdefault(number, text)
        first += ends
        if first > last:
            break
    return found


def _masked(lines: pl.Series) -> Iterator[str]:
    """Yield lines as they may be shown: secrets masked as in the store, long ones cut."""
    looked = lines.str.slice(0, _LOOKED_AT)
    for text in mask_text(looked):
        yield text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _contents(place: Place) -> Iterator[bytes]:
    """Yield the contents of the chunks of a place up to where it is damaged."""
    try:
        for chunk in read_chunks(place):
            yield chunk.load()
    except BrokenSourceError:
        return


def _hash(place: Place) -> str:
    """Return the hash of the content of a place, of a damaged one up to the damage."""
    return content_hash([chunk_digest(content) for content in _contents(place)])


def _reads_as(line: str | None, text: str) -> bool:
    """Return whether a line is the one of which the store kept a text."""
    kept = " ".join(text.split()).rstrip("…")[:200]
    return bool(kept) and line is not None and kept in " ".join(line.split())


def _reason(error: Exception) -> str:
    """Return why something cannot be read."""
    if isinstance(error, GoodputError):
        return error.why or error.what
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error)
