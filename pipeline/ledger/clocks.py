"""How the clock of each file is read, without a ledger: for people who wonder about times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline.config import Config
from pipeline.ledger.build import connect, sql_folder
from pipeline.ledger.events import load_events
from pipeline.ledger.relations import needed, order_relations, read_relations
from pipeline.ledger.seeds import load_seeds
from pipeline.ledger.settings import load_settings
from pipeline.ledger.unmoved import TABLE as UNMOVED
from pipeline.windows import WindowOptions

#: What is built of the ledger, with all that it reads.
_WANTED = ("staging.sources", "staging.years", "ledger.clocks")


#: A file that prints no time but in what it says of jobs begins with the first of these.
_TOLD = """
with printed as (
    select source_id, line, ts, ts_quality from events.steps
    union all
    select source_id, line, ts, ts_quality from events.phases
    union all
    select source_id, line, ts, ts_quality from events.checkpoints
    union all
    select source_id, line, ts, ts_quality from events.signals
    union all
    select source_id, line, ts, ts_quality from events.allocations where ts_quality = 'year_assumed'
),

dated as (
    select
        p.source_id,
        p.ts_quality,
        case
            when p.ts_quality = 'year_assumed' then p.ts + to_years((y.year - 1972)::integer)
            else p.ts
        end as ts,
    from printed as p
    asof left join staging.years as y on y.source_id = p.source_id and p.line >= y.line
    where p.ts_quality in ('logged', 'zone_assumed', 'year_assumed')
),

firsts as (
    select
        d.source_id,
        min(
            case when d.ts_quality = 'logged' then d.ts else timezone(s.zone, d.ts::timestamp) end
        ) as first_ts,
    from dated as d
    inner join staging.sources as s using (source_id)
    group by d.source_id
),

years as (
    select source_id, min(year) as first_year, max(year) as last_year, min(year_from) as year_from,
        min(year_near) as year_near,
    from staging.years
    group by source_id
)

select
    s.path, s.zone, s.zone_from, s.zone_told,
    coalesce(
        f.first_ts,
        case
            when year(e.first_ts) = 1972 then null
            when e.zone = 'logged' then e.first_ts
            else timezone(s.zone, e.first_ts::timestamp)
        end
    ) as first_ts,
    y.first_year, y.last_year, y.year_from, y.year_near,
    c.offset_s, c.pairs, c.moves,
from staging.sources as s
inner join events.sources as e using (source_id)
left join firsts as f using (source_id)
left join years as y using (source_id)
left join ledger.clocks as c using (source_id)
order by s.path
"""


@dataclass(frozen=True, slots=True)
class Clock:
    """How the times of a file are read.

    Attributes:
        zone: in which stamps without one are read.
        zone_from: what says so: configuration, accounting, jobs, hosts, neighbours, printed, or assumed; see
            staging.zones.
        zone_told: both in words.
        first_ts: its earliest time, in UTC; None where it has none.
        first_year, last_year: years of its stamps that print none; None where it is not known.
        year_from: what they are taken from: log, job, folder, everything, or none; None where all print one.
        year_near: the file or the job that they are taken from, where it is one.
        offset_s: by how much the clock runs ahead of that of the step lines; None where nothing tells. Of
            several hosts in one file that which is furthest off.
        pairs: steps that both clocks stamped; None where nothing tells.
        moves: whether stamps are corrected by it; None where nothing tells.
    """

    zone: str
    zone_from: str
    zone_told: str
    first_ts: datetime | None
    first_year: int | None
    last_year: int | None
    year_from: str | None
    year_near: str | None
    offset_s: float | None
    pairs: int | None
    moves: bool | None


def read_clocks(store: Path, config: Config) -> dict[str, Clock]:
    """Return how the clock of each file is read, by path.

    Args:
        store: folder that holds ``events/``; rows that tell nothing of clocks may be missing.
        config: settings of the logs.
    """
    folder = sql_folder()
    with connect(Path(":memory:")) as con:
        given = [
            *load_events(con, store),
            *load_seeds(con, folder / "seeds"),
            *load_settings(con, store, config, WindowOptions()),
        ]
        for schema in ("staging", "ledger"):
            con.execute(f"create schema {schema}")
        con.execute("set threads = 1")
        # What clocks need reads nothing of the second ledger, which `build` fills; others name it.
        for relation in needed(order_relations(read_relations(folder), [*given, UNMOVED]), _WANTED):
            con.execute(f"create table {relation.full_name} as {relation.sql}")
        rows = con.execute(_TOLD).fetchall()
    return {row[0]: Clock(*row[1:]) for row in rows}
