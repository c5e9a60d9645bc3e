"""Settings that name something the logs do not hold: a glob, a job, a run. Most are slips."""

from __future__ import annotations

import duckdb

#: Queries of one text column: what a setting names and nothing answers to.
_QUERIES = (
    """
    select concat('`logs` of run `', g.run_id, '`: no file matches `', g.glob, '`')
    from config.run_logs as g
    where not exists (select 1 from events.sources as s where regexp_full_match(s.path, g.pattern))
    order by all
    """,
    """
    select concat('`jobs` of run `', j.run_id, '`: accounting knows no job `', j.job, '`')
    from config.run_jobs as j
    where exists (select 1 from events.allocations)
        and not exists (
            select 1 from events.allocations as a
            where a.job_id = j.job or regexp_full_match(coalesce(a.name, ''), j.pattern)
        )
    order by all
    """,
    """
    select concat('run `', r.run_id, '`: the logs hold nothing of it inside its bounds')
    from config.runs as r
    where r.run_id not in (select l.run_id from ledger.runs as l)
    order by all
    """,
)


def find_unused(con: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Return a sentence for each setting that names something the built ledger does not hold."""
    return tuple(str(row[0]) for query in _QUERIES for row in con.execute(query).fetchall())
