"""Folders and files → sources, in a fixed order. What cannot be read is named, and the rest goes on."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pipeline.config import CONFIG_FILES
from pipeline.errors import GoodputError
from pipeline.ingest.archives import is_archive, list_members
from pipeline.places import FilePlace, ObjectPlace, Place, first_line, is_url, open_store

#: Files beside the logs that say something about them and are never read as logs.
NOT_SOURCES = frozenset((*CONFIG_FILES, "expected.json", "STORY.md"))


#: Endings of compressed files, and about how much longer a log is than its compressed form.
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
_EXPANSION = 12


@dataclass(frozen=True, slots=True)
class Source:
    """One input file.

    Attributes:
        name: posix path below the log folder; the identity of the file, wherever the folder lies.
        place: where its bytes are now.
        bytes: size on disk, or in the store or archive that it lies in.
        error: why it cannot be read, or empty.
    """

    name: str
    place: Place
    bytes: int
    error: str = ""

    @property
    def weight(self) -> int:
        """About how many bytes its content has."""
        packed = self.place.sequential or self.name.endswith(_COMPRESSED)
        return self.bytes * (_EXPANSION if packed else 1)

    @property
    def source_id(self) -> str:
        """Key of the source: ``s`` and 12 hexadecimal digits of its name's hash."""
        return "s" + blake2b(self.name.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class Discovery:
    """All sources in order of their names, and the name of the logs as a whole."""

    sources: tuple[Source, ...]
    logs_name: str


def discover(logs: Sequence[str | Path], scratch: Path, exclude: Path | None = None) -> Discovery:
    """Return the files of one or more logs: files, folders, archives, or URLs of a store.

    Hidden files, our own configuration and everything below ``exclude`` are left out. Of several roots each
    name begins with the name of its root. A link that leads out of its root is named and not followed. The
    members of an archive have names below that of the archive.

    Args:
        logs: roots.
        scratch: folder of ours that must last as long as the sources are read.
        exclude: folder that is not looked into.

    Raises:
        GoodputError: a root does not exist, or nothing is left to read.
    """
    roots = [str(log) if is_url(str(log)) else Path(os.path.abspath(log)) for log in logs]
    names = root_names(roots)
    found: dict[str, Source] = {}
    for root, name in zip(roots, names, strict=True):
        prefix = f"{name}/" if len(roots) > 1 else ""
        if isinstance(root, str):
            sources = _walk_store(root, prefix)
        elif root.exists():
            sources = _walk(root, prefix, exclude.resolve() if exclude else None)
        else:
            raise GoodputError(
                f"no logs at `{root.name or root}`", where=str(root), now="check the path, or quote a glob"
            )
        for source in sources:
            for one in _unpacked(source, scratch / f"{len(found):08d}"):
                found[one.name] = one
    if not found:
        raise GoodputError(
            "no log files found",
            where=", ".join(str(root) for root in roots),
            why="folders are empty, or hold only hidden files and configuration",
            now="name the folder that the jobs write into",
        )
    # Surrogates stand for bytes of a name that are not UTF-8; no file format of ours could hold them.
    return Discovery(tuple(found[name] for name in sorted(found)), names[0])


def _unpacked(source: Source, scratch: Path) -> Iterator[Source]:
    """Yield a source, or the members of the archive that it is."""
    if source.error or not is_archive(source.name):
        yield source
        return
    for member in list_members(source.name, source.place, scratch):
        name = f"{source.name}/{member.name}" if member.name else source.name
        error, base = member.error, member.name.rpartition("/")[2]
        if any(part.startswith(".") for part in member.name.split("/")):
            continue
        if base in CONFIG_FILES:
            error = "a configuration inside of an archive; name it with `--config`"
        elif base in NOT_SOURCES:
            continue
        elif member.name and is_archive(base):
            error = "an archive inside of an archive; unpack the outer one"
        if member.place is None or error:
            yield Source(name, source.place, 0, error)
        else:
            yield Source(name, member.place, member.place.size)


def _walk_store(url: str, prefix: str) -> Iterator[Source]:
    """Yield the objects below a URL."""
    files, root = open_store(url)
    try:
        objects = files.find(root, detail=True)
    except Exception as error:  # each driver raises errors of its own
        raise GoodputError("the store cannot be read", where=url, why=first_line(error)) from error
    if not objects:
        raise GoodputError(f"no logs at `{url}`", where=url, now="check the bucket and the path")
    for path, told in sorted(objects.items()):
        below = path[len(root) :].strip("/") if path != root else path.rpartition("/")[2]
        hidden = any(part.startswith(".") for part in below.split("/"))
        if not hidden and below.rpartition("/")[2] not in NOT_SOURCES:
            size = int(told.get("size") or 0)
            yield Source(prefix + below, ObjectPlace(files, path, size), size)


def root_names(roots: Sequence[Path | str]) -> list[str]:
    """Return a name for each root: its last component without the endings of a file; numbered if needed."""
    names: list[str] = []
    for root in roots:
        last = root.rstrip("/").rpartition("/")[2] if isinstance(root, str) else root.name
        folder = "." not in last if isinstance(root, str) else root.is_dir()
        base = (last if folder else last.split(".")[0]) or "logs"
        number = names.count(base) + sum(name.startswith(f"{base}~") for name in names)
        names.append(f"{base}~{number + 1}" if number else base)
    return names


def _walk(root: Path, prefix: str, exclude: Path | None) -> Iterator[Source]:
    """Yield the sources of one root."""
    if not root.is_dir():
        yield _source(root, prefix + root.name, root.parent)
        return
    errors: list[OSError] = []
    for folder, subfolders, files in os.walk(root, onerror=errors.append):
        here = Path(folder)
        below = prefix + "".join(f"{part}/" for part in here.relative_to(root).parts)
        kept = []
        for name in sorted(subfolders):
            path = here / name
            if name.startswith(".") or (exclude is not None and path.resolve() == exclude):
                continue
            if path.is_symlink():
                if not path.resolve().is_relative_to(root.resolve()):
                    yield _failed(path, _shown(below + name), "a link that leads out of the log folder")
                continue
            kept.append(name)
        subfolders[:] = kept
        for name in sorted(files):
            if not name.startswith(".") and name not in NOT_SOURCES:
                yield _source(here / name, _shown(below + name), root)
    for error in errors:
        path = Path(str(error.filename))
        yield _failed(path, _shown(prefix + path.relative_to(root).as_posix()), _reason(error))


def _shown(name: str) -> str:
    """Return the name of a file; bytes that are not UTF-8 become visible."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _source(path: Path, name: str, root: Path) -> Source:
    """Return a file as a source, with the reason where it is none that can be read."""
    try:
        status = path.stat()
    except OSError as error:
        return _failed(path, name, "a link that leads nowhere" if path.is_symlink() else _reason(error))
    if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
        return _failed(path, name, "a link that leads out of the log folder")
    if not stat.S_ISREG(status.st_mode):
        return _failed(path, name, "not a regular file")
    if not os.access(path, os.R_OK):
        return Source(name, FilePlace(path), status.st_size, "permission denied")
    return Source(name, FilePlace(path), status.st_size)


def _failed(path: Path, name: str, error: str) -> Source:
    """Return a source that cannot be read."""
    return Source(name, FilePlace(path), 0, error)


def _reason(error: OSError) -> str:
    """Return why the file system refused, in our words."""
    return (error.strerror or str(error)).lower()
