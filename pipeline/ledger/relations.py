"""SQL files as relations: one SELECT per file, its comments, what it reads, and the order to build in.

The folder of a file is its schema and its stem the name of the relation. The comment block at its head says
what one row is, how not to sum it, and, in lines of the form ``-- column: meaning``, what columns mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb

from pipeline.errors import GoodputError, nearest

#: Schemas that are built from SQL files, in the direction of the flow.
BUILT_SCHEMAS = ("staging", "ledger", "claims", "marts")

#: Schema of which every file is one kind of claim; their union is generated, never kept by hand.
CLAIMS = "claims"
UNITED = "united"

#: How the line of a header begins that makes a relation a view.
VIEW = "a view:"

#: What the files of a schema may read; a name with a dot is one relation, the rest are whole schemas.
MAY_READ: Mapping[str, frozenset[str]] = {
    "staging": frozenset({"events", "seeds", "config", "staging"}),
    "ledger": frozenset({"events", "staging", "ledger", "claims", "seeds", "config"}),
    "claims": frozenset({"events", "staging", "ledger", "claims", "seeds", "config"}),
    # Data quality and reconciliation are about the input itself: they go around the ledger on purpose.
    "marts": frozenset(
        {
            *("ledger", "marts", "seeds", "config"),
            *(
                "staging.sources",
                "staging.stream",
                "staging.step_lines",
                "staging.allocations",
                "events.sources",
                "events.templates",
            ),
        }
    ),
    "checks": frozenset({"events", "seeds", "config", "staging", "ledger", "claims", "marts"}),
}

_COLUMN_LINE = re.compile(r"^([a-z][a-z0-9_]*): (\S.*)$")


@dataclass(frozen=True, slots=True)
class Relation:
    """One SELECT file.

    Attributes:
        schema: its folder.
        name: its stem.
        path: the file.
        sql: its text.
        header: the lines of its leading comment block, without dashes.
        reads: the qualified relations that it names, sorted.
    """

    schema: str
    name: str
    path: Path
    sql: str
    header: tuple[str, ...]
    reads: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """Schema and name with a dot."""
        return f"{self.schema}.{self.name}"

    @property
    def grain(self) -> str:
        """First comment line: what one row is."""
        return self.header[0] if self.header else ""

    @property
    def is_view(self) -> bool:
        """Whether it is computed as it is read; a million rows take longer to store than to compute."""
        return any(line.startswith(VIEW) for line in self.header)

    def comment(self, columns: Iterable[str]) -> str:
        """Return the header as one text, without the lines that document one of ``columns``."""
        own = self.column_meanings(columns)
        lines = (row for row in self.header if (row.partition(":")[0] not in own))
        return " ".join(lines)

    def column_meanings(self, columns: Iterable[str]) -> dict[str, str]:
        """Return column to meaning for those of ``columns`` that the header documents."""
        known = set(columns)
        found = (_COLUMN_LINE.match(row) for row in self.header)
        return {m[1]: m[2] for m in found if m and m[1] in known}


def read_relations(folder: Path, schemas: Iterable[str] = BUILT_SCHEMAS) -> list[Relation]:
    """Read every ``<folder>/<schema>/*.sql``, and add the union of the claims where one is read.

    Raises:
        GoodputError: a file is not a single SELECT, has no grain, or names a relation without a schema.
    """
    relations = [
        read_relation(path) for schema in schemas for path in sorted((folder / schema).glob("*.sql"))
    ]
    claims = [r for r in relations if r.schema == CLAIMS]
    wanted = any(f"{CLAIMS}.{UNITED}" in r.reads for r in relations)
    return [*relations, _unite(claims)] if claims and wanted else relations


def _unite(claims: list[Relation]) -> Relation:
    """The union of all kinds of claim; column ``claim`` names the kind."""
    return Relation(
        schema=CLAIMS,
        name=UNITED,
        path=claims[0].path.parent,
        sql="\nunion all by name\n".join(f"select '{c.name}' as claim, * from {c.full_name}" for c in claims),
        header=(
            "one row per claim of any kind: what one piece of evidence says that a span of time was spent on",
            "do not sum: claims overlap and contradict each other; ledger.intervals is what they come to",
            "claim: kind of claim, the file that made it",
        ),
        reads=tuple(c.full_name for c in claims),
    )


def read_relation(path: Path) -> Relation:
    """Read one SELECT file."""
    sql = path.read_text(encoding="utf-8")
    header = tuple(_header(sql))
    if not header:
        raise GoodputError(
            f"`{path.parent.name}.{path.stem}` does not say what one row is",
            where=str(path),
            now="begin the file with a comment: -- one row per …",
        )
    reads = _references(sql, path)
    return Relation(path.parent.name, path.stem, path, sql, header, reads)


def needed(relations: Sequence[Relation], wanted: Iterable[str]) -> list[Relation]:
    """Return those of the relations, which are in order, that the wanted ones are made from, and these."""
    names = set(wanted)
    for relation in reversed(relations):
        if relation.full_name in names:
            names.update(relation.reads)
    return [relation for relation in relations if relation.full_name in names]


def following(relations: Sequence[Relation], given: str) -> list[Relation]:
    """Return those of the relations, which are in order, that are made from a table, directly or not."""
    names = {given}
    for relation in relations:
        if not names.isdisjoint(relation.reads):
            names.add(relation.full_name)
    return [relation for relation in relations if relation.full_name in names]


def order_relations(relations: Iterable[Relation], given: Iterable[str]) -> list[Relation]:
    """Return ``relations`` so that each comes after what it reads.

    Args:
        relations: SELECT files.
        given: qualified names that exist already: event tables, seeds and configuration.

    Raises:
        GoodputError: a cycle, an unknown relation or a broken layer rule; names the file.
    """
    by_name = {r.full_name: r for r in relations}
    known = {*by_name, *given}
    for relation in by_name.values():
        for name in relation.reads:
            _refuse_wrong_read(relation, name, known)
    graph = {r.full_name: [n for n in r.reads if n in by_name] for r in by_name.values()}
    try:
        ordered = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        # graphlib lists a cycle from the relation that is read to the one that reads it.
        cycle = list(reversed(error.args[1]))
        raise GoodputError(
            "relations read each other in a circle",
            where=str(by_name[cycle[0]].path),
            why=" → ".join(cycle),
            now="take the common part into a relation of its own",
        ) from error
    return [by_name[name] for name in ordered]


def _refuse_wrong_read(relation: Relation, name: str, known: set[str]) -> None:
    allowed = MAY_READ[relation.schema]
    schema = name.partition(".")[0]
    if not {schema, name} & allowed:
        raise GoodputError(
            f"`{relation.full_name}` must not read `{name}`",
            where=str(relation.path),
            why=f"{relation.schema} reads only {', '.join(sorted(allowed))}",
            now="take it from a relation of those",
        )
    if name not in known:
        raise GoodputError(
            f"`{relation.full_name}` reads `{name}`, which does not exist",
            where=str(relation.path),
            now=nearest(name, known) or f"add sql/{name.replace('.', '/')}.sql",
        )


def _header(sql: str) -> Iterator[str]:
    for row in sql.splitlines():
        if not row.startswith("--"):
            return
        yield row.removeprefix("--").strip()


def walk_syntax(sql: str, each: Callable[[dict[str, Any]], None]) -> None:
    """Give every object of DuckDB's own syntax tree of a SELECT, unbound, to ``each``, innermost first.

    Raises:
        GoodputError: the text is not exactly one SELECT; names the line.
    """

    def seen(node: dict[str, Any]) -> dict[str, Any]:
        each(node)
        return node

    row = _parser().execute("select json_serialize_sql(?, skip_null := true)", [sql]).fetchone()
    tree: dict[str, Any] = json.loads(row[0], object_hook=seen) if row else {"error": True}
    if tree["error"]:
        place = tree.get("position")
        raise GoodputError(
            "this is not a SELECT that can be read",
            where=f"line {sql[: int(place)].count(chr(10)) + 1}" if place else "",
            why=str(tree.get("error_message", "")),
        )
    if len(tree["statements"]) != 1:
        raise GoodputError(
            f"one SELECT is expected here, not {len(tree['statements'])}", now="split the file"
        )


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return the connection that reads SQL; to open one takes longer than to read a file."""
    return duckdb.connect(":memory:")


@cache
def _tables(sql: str) -> frozenset[tuple[str, str]]:
    """Return schema and name of each table that a SELECT names, without its own steps."""
    steps: set[str] = set()
    tables: set[tuple[str, str]] = set()

    def look_at(node: dict[str, Any]) -> None:
        steps.update(entry["key"] for entry in node.get("cte_map", {}).get("map", ()))
        if node.get("type") == "BASE_TABLE":
            tables.add((node.get("schema_name", ""), node["table_name"]))

    walk_syntax(sql, look_at)
    return frozenset((schema, name) for schema, name in tables if schema or name not in steps)


def _references(sql: str, path: Path) -> tuple[str, ...]:
    try:
        tables = _tables(sql)
    except GoodputError as error:
        where = ", ".join(filter(None, (str(path), error.where)))
        raise GoodputError(error.what, where=where, why=error.why, now=error.now) from error
    loose = sorted(name for schema, name in tables if not schema)
    if loose:
        raise GoodputError(
            f"`{loose[0]}` has no schema",
            where=str(path),
            why="relations are always schema-qualified; only steps of the same file are not",
            now=f"write <schema>.{loose[0]}, or add the step",
        )
    return tuple(sorted(f"{schema}.{name}" for schema, name in tables))
