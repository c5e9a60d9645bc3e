"""The store of event tables: Parquet parts and a manifest; a kill leaves nothing half-written.

A part is written under a temporary name and renamed. The manifest, written last, says which parts count;
others are leftovers and are removed. What was finished before a kill stands in a journal, so that the next
run goes on from there. Neither holds a time or an absolute path: the same logs give the same bytes anywhere.
What only this machine knows, by which unchanged files are recognised without reading them, stands apart.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import GoodputError
from pipeline.ingest.values import POLARS_TYPES
from pipeline.tables import EVENT_TABLES

#: Layout of the store; a store of another layout is built anew.
LAYOUT = 2

MANIFEST, JOURNAL, LOCAL, LOGS = "manifest.json", "ingest.journal", "local.json", "logs.json"
_TEMPORARY, _SCRATCH = ".writing", "scratch.writing"


@dataclass(frozen=True, slots=True)
class Entry:
    """One source that was read.

    Attributes:
        row: columns of the ``sources`` table that reading found.
        head_hash: hash of its first bytes.
        options: what the configuration said that its rows depend on.
        label: expression for the bare names that label its lines; empty where none does.
        parts: table to the names of its parts; empty where they are those of a bundle.
        bundle: name of that bundle, or empty.
    """

    name: str
    row: Mapping[str, Any]
    head_hash: str = ""
    options: str = ""
    label: str = ""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bundle: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what a line of the journal or the manifest holds."""
        return {
            "name": self.name,
            "row": self.row,
            "head_hash": self.head_hash,
            "options": self.options,
            "label": self.label,
            "parts": self.parts,
            "bundle": self.bundle,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Entry:
        """Return the entry that a line of the journal or the manifest holds.

        Raises:
            ValueError: it holds none.
        """
        try:
            parts = {table: tuple(names) for table, names in value["parts"].items()}
            texts = {name: value[name] for name in ("head_hash", "options", "label", "bundle")}
            entry = cls(value["name"], value["row"], parts=parts, **texts)
            missing = {column.name for column in EVENT_TABLES["sources"].columns} - entry.row.keys()
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("no entry of a store") from error
        if missing or not parts.keys() <= EVENT_TABLES.keys():
            raise ValueError("an entry of another store")
        return entry


@dataclass(frozen=True, slots=True)
class Bundle:
    """Parts that very many small sources share.

    Attributes:
        members: hash of the names of its sources.
        parts: table to the names of its parts.
    """

    members: str
    parts: Mapping[str, tuple[str, ...]]


class Store:
    """A folder of event tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events = folder / "events"

    def open(self) -> None:
        """Create the folders, and remove what a killed run left half-written.

        Raises:
            GoodputError: the folder cannot be made, or is a file.
        """
        try:
            for table in EVENT_TABLES:
                (self.events / table).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GoodputError(
                "the store cannot be written",
                where=str(self.folder),
                why=(error.strerror or str(error)).lower(),
                now="name another folder",
            ) from None
        for path in (*self.events.glob(f"*/*{_TEMPORARY}"), *self.folder.glob(f"*{_TEMPORARY}")):
            if path.is_file():
                path.unlink()

    def known(self) -> dict[str, Entry]:
        """Return by name the sources that were read before and whose parts are all there."""
        found = {entry.name: entry for entry in (*self._manifest_entries(), *self._journal_entries())}
        return {name: entry for name, entry in found.items() if self._is_whole(entry)}

    def bundles(self) -> dict[str, Bundle]:
        """Return by name the bundles whose parts are all there."""
        try:
            told = self._manifest()["bundles"]
            found = {
                name: Bundle(
                    value["members"], {table: tuple(names) for table, names in value["parts"].items()}
                )
                for name, value in told.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}
        return {name: bundle for name, bundle in found.items() if self._has(bundle.parts)}

    def local(self) -> dict[str, list[int]]:
        """Return by name the size and change time of files when they were read last, on this machine."""
        try:
            value = json.loads((self.folder / LOCAL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def logs(self) -> list[str]:
        """Return where the logs lay when they were read last, on this machine: absolute paths and URLs."""
        try:
            value = json.loads((self.folder / LOGS).read_text(encoding="utf-8"))["logs"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    def note_logs(self, logs: Iterable[str]) -> None:
        """Note where the logs lie, for whoever wants to see a line again."""
        self._write_text(LOGS, _to_json({"logs": list(logs)}) + "\n")

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a folder for what only this run needs; it is removed at the end, or by the next run."""
        folder = self.folder / _SCRATCH
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def begin_part(self, table: str, name: str, rows: pl.DataFrame) -> None:
        """Write a part under a temporary name."""
        path = self.events / table / (name + _TEMPORARY)
        try:
            rows.rechunk().write_parquet(path, compression="zstd", compression_level=1, statistics=False)
        except pl.exceptions.ComputeError as error:
            raise GoodputError(
                "the store cannot be written",
                where=str(path),
                why=str(error).strip().splitlines()[0],
                now="check the space on the disk; the same command goes on from here",
            ) from error

    def end_part(self, table: str, name: str, final: str) -> None:
        """Give a part that was written its final name."""
        os.replace(self.events / table / (name + _TEMPORARY), self.events / table / final)

    def write_part(self, table: str, name: str, rows: pl.DataFrame) -> None:
        """Write a part under a temporary name and rename it."""
        self.begin_part(table, name, rows)
        self.end_part(table, name, name)

    def note(self, entry: Entry) -> None:
        """Note in the journal that a source is done."""
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(_to_json(entry.to_json()) + "\n")

    def finish(
        self,
        entries: Iterable[Entry],
        bundles: Mapping[str, Bundle],
        whole: Mapping[str, pl.DataFrame],
        local: Mapping[str, list[int]],
        logs_name: str,
    ) -> None:
        """Write the tables of one part and the manifest, and remove everything that they do not name.

        ``whole`` holds those tables by name, such as that of sources.
        """
        entries = list(entries)
        kept: dict[str, set[str]] = {table: set() for table in EVENT_TABLES}
        for table, rows in whole.items():
            self.write_part(table, f"{table}.parquet", rows)
            kept[table].add(f"{table}.parquet")
        for parts in (*(entry.parts for entry in entries), *(bundle.parts for bundle in bundles.values())):
            for table, names in parts.items():
                kept[table].update(names)
        for table in EVENT_TABLES:
            if table not in whole:
                self._write_empty(table)
        head = {
            "layout": LAYOUT,
            "logs_name": logs_name,
            "bundles": {name: asdict(bundle) for name, bundle in sorted(bundles.items())},
        }
        # A line for each source, which is quick to write and good to read.
        lines = ",\n".join(_to_json(entry.to_json()) for entry in sorted(entries, key=lambda one: one.name))
        self._write_text(MANIFEST, f'{_to_json(head)[:-1]},"sources":[\n{lines}\n]}}\n')
        self._write_text(LOCAL, _to_json(dict(sorted(local.items()))) + "\n")
        (self.folder / JOURNAL).unlink(missing_ok=True)
        for table in EVENT_TABLES:
            for path in (self.events / table).glob("*.parquet"):
                if path.name not in kept[table] and path.name != _EMPTY:
                    path.unlink()

    def _write_empty(self, table: str) -> None:
        """Write the part without rows that gives every table its columns."""
        schema = {column.name: POLARS_TYPES[column.type] for column in EVENT_TABLES[table].columns}
        self.write_part(table, _EMPTY, pl.DataFrame(schema=schema))

    def _write_text(self, name: str, text: str) -> None:
        """Write a text file under a temporary name and rename it."""
        temporary = self.folder / (name + _TEMPORARY)
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, self.folder / name)

    def _manifest(self) -> dict[str, Any]:
        """Return the manifest; empty where there is none, or one of another layout."""
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return manifest if isinstance(manifest, dict) and manifest.get("layout") == LAYOUT else {}

    def _manifest_entries(self) -> list[Entry]:
        """Return the entries of the manifest."""
        try:
            return [Entry.from_json(value) for value in self._manifest()["sources"]]
        except (KeyError, TypeError, ValueError):
            return []

    def _journal_entries(self) -> list[Entry]:
        """Return the entries of the journal of a killed run; its last line may be torn."""
        try:
            lines = (self.folder / JOURNAL).read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        entries = []
        for line in lines:
            try:
                entries.append(Entry.from_json(json.loads(line)))
            except ValueError:
                continue
        return entries

    def _is_whole(self, entry: Entry) -> bool:
        """Return whether all parts of a source's own are there."""
        return self._has(entry.parts)

    def _has(self, parts: Mapping[str, Iterable[str]]) -> bool:
        """Return whether all of some parts are there."""
        return all((self.events / table / name).is_file() for table, names in parts.items() for name in names)


#: The part without rows of every table; its name sorts before those of all others.
_EMPTY = "empty.parquet"


def _to_json(value: object) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
