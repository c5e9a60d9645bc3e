"""What goodput would be had no clock been corrected: the ledger once more, as far as that figure needs it.

Two hosts disagree about time, and the ledger believes one of them. How much hangs on that cannot be read off
the ledger that believed it; so where a clock was corrected, a second one is built that corrects none, and
only its figure is kept. Where no clock was, there is nothing to build.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import duckdb

from pipeline.ledger.create import create_relations
from pipeline.ledger.relations import Relation, needed

#: The table of what was found, and what one row of it is.
TABLE = "ledger.unmoved"
GRAIN = "one row per run, and one with run_id (all), where a clock was corrected: goodput had none been"

#: The relation that decides which clocks are corrected, and the one that holds the figure.
_CLOCKS, _FIGURE = "staging.clock_offsets", "marts.period"


def create_unmoved(con: duckdb.DuckDBPyConnection) -> None:
    """Create the table without rows; see `fill_unmoved`."""
    con.execute("create schema if not exists ledger")
    con.execute(f"create table {TABLE} (run_id varchar, training_time_goodput double)")
    con.execute(f"comment on table {TABLE} is '{GRAIN}'")


def fill_unmoved(
    con: duckdb.DuckDBPyConnection,
    relations: Sequence[Relation],
    prepare: Callable[[], duckdb.DuckDBPyConnection],
) -> None:
    """Fill the table where a clock was corrected.

    Args:
        con: a database in which the clocks have been compared.
        relations: of the ledger, in order.
        prepare: opens a second database that holds what the relations read beside each other.
    """
    if {_CLOCKS, _FIGURE} - {relation.full_name for relation in relations}:
        return
    moved = con.execute(f"select count(*) from {_CLOCKS} where moves").fetchone()
    if not moved or not moved[0]:
        return
    with prepare() as other:
        create_relations(other, [_believed(r) for r in needed(relations, {_FIGURE})], {})
        rows = other.execute(f"select run_id, training_time_goodput from {_FIGURE}").fetchall()
    con.executemany(f"insert into {TABLE} values (?, ?)", rows)


def _believed(relation: Relation) -> Relation:
    """Return a relation as it is, and that of the clocks without any correction."""
    if relation.full_name != _CLOCKS:
        return relation
    return replace(relation, sql=f"select * replace (false as moves) from ({relation.sql}\n)")
