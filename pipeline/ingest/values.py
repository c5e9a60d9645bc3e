"""How a column is filled: texts of named fields → typed values, column-wise. The unreadable becomes null."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import polars as pl

from pipeline.formats import group_names
from pipeline.formats.format import Value
from pipeline.ingest.clock import TS, read_stamps
from pipeline.ingest.hostlist import expand_hostlist, expand_slots
from pipeline.tables import Type

#: Column types of the event tables as polars names them.
POLARS_TYPES: dict[Type, pl.DataType] = {
    "string": pl.String(),
    "int64": pl.Int64(),
    "int32": pl.Int32(),
    "double": pl.Float64(),
    "bool": pl.Boolean(),
    "timestamp": TS,
    "strings": pl.List(pl.String()),
}

#: Kinds whose texts are lists of hosts.
HOST_LISTS = ("hostlist", "slots")
#: Units behind a number; two programs mean the same by G and B.
_THOUSANDS = {"K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}

_BOOLS = {"true": "1", "1": "1", "yes": "1", "false": "0", "0": "0", "no": "0"}


def text_of(fields: pl.DataFrame, value: Value) -> pl.Series:
    """Return the text that a value reads: the first named field that is not empty, mapped; else null."""
    found = pl.Series("text", [None], dtype=pl.String).new_from_index(0, fields.height)
    for name in group_names(value.group):
        if name not in fields.columns:
            continue
        text = fields[name]
        if text.dtype == pl.String and (text == "").any():
            text = text.set(text == "", None)
        found = text if found.null_count() == fields.height else found.zip_with(found.is_not_null(), text)
        if not found.null_count():
            break
    return _mapped(found, value.mapping) if value.mapping else found


def plain_numbers(values: Iterable[Value]) -> set[str]:
    """Return the fields that values read as plain numbers alone, so that numbers can stand in them."""
    numbers: set[str] = set()
    texts: set[str] = set()
    for value in values:
        groups = group_names(value.group)
        plain = value.kind in ("int", "float") and not value.every and not value.mapping and len(groups) == 1
        (numbers if plain else texts).update(groups)
        (numbers if value.kind in ("int", "float") else texts).update(group_names(value.less))
        numbers.update((*group_names(value.times), *(value.plus or ())))
        texts.update(group_names(value.index))
    return numbers - texts


def read_value(fields: pl.DataFrame, value: Value, dtype: pl.DataType) -> pl.Series:
    """Return the column that a value fills, one row per row of ``fields``, in the type of the event table."""
    if value.const is not None:
        return pl.Series("value", [value.const]).cast(dtype).new_from_index(0, fields.height)
    text = text_of(fields, value)
    if value.every:
        found = _all_matches(text, value.every)
        if value.kind in ("int", "float"):
            return _scaled(found.list.len(), value, dtype)
        text = found.list.join(",")
    if value.kind == "stamp":
        ts = read_stamps(text, value.stamp or "iso")[0]
        if not value.less:
            return ts
        since = read_stamps(text_of(fields, replace(value, group=value.less)), value.stamp or "iso")[0]
        return ((ts - since).dt.total_microseconds() / 1_000_000).cast(dtype)
    if value.kind in ("int", "float", "human", "seconds", "per_second"):
        numbers = _READERS[value.kind](text)
        if value.times:
            numbers = numbers * _read_float(text_of(fields, Value(value.times)))
        for name in group_names(value.less):
            # No program prints more than microseconds: what binary fractions leave beyond them is noise.
            numbers = (numbers - _read_float(text_of(fields, Value(name))).fill_null(0.0)).round(6)
        if value.plus is not None:
            first, second = (_read_int(fields[name]) for name in value.plus)
            numbers = numbers + first * second
        return _scaled(numbers, value, dtype)
    if value.index:
        index = _read_int(text_of(fields, Value(value.index)))
        text = text.zip_with((index > 0).fill_null(False).not_(), text + "[" + index.cast(pl.String) + "]")
    return _READERS[value.kind](text).cast(dtype, strict=False)


def _all_matches(text: pl.Series, regex: str) -> pl.Series:
    """Return the list of all matches of an expression, or of its group ``v``, in each text."""
    found = text.str.extract_all(regex)
    if "(?P<v>" in regex:
        found = found.list.eval(pl.element().str.extract(regex, 1))
    return found


def _mapped(text: pl.Series, mapping: Mapping[str, str]) -> pl.Series:
    """Return texts replaced by a mapping; ``"*"`` is what an unlisted text becomes."""
    listed = {key: new for key, new in mapping.items() if key != "*"}
    if "*" not in mapping:
        return text.replace(listed)
    new = text.replace_strict(listed, default=mapping["*"], return_dtype=pl.String)
    return new.set(text.is_null(), None)


def _scaled(numbers: pl.Series, value: Value, dtype: pl.DataType) -> pl.Series:
    """Return numbers times a factor and shifted, in the type asked for; an integer has no fraction left."""
    if value.scale != 1.0:
        numbers = numbers.cast(pl.Float64) * value.scale
    if value.offset:
        numbers = numbers + value.offset
    if dtype.is_integer() and numbers.dtype.is_float():
        # 1e-3-like factors leave 2.9999999996 where 3 is meant; infinities and NaN have no integer.
        numbers = numbers.set(~numbers.is_finite(), None).round(6)
    return numbers.cast(dtype, strict=False)


def _read_float(text: pl.Series) -> pl.Series:
    """Return numbers; thousands separators, blanks, ``nan`` and ``inf`` are understood.

    What was read where it was cut is a number already.
    """
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        cleaned = text.str.strip_chars().str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
        numbers = numbers.zip_with(numbers.is_not_null(), cleaned)
    return numbers


def _read_human(text: pl.Series) -> pl.Series:
    """Return numbers with a unit of a thousand, a million, … behind them, or without one."""
    parts = text.str.extract_groups(r"^\s*(?P<number>.*?\d)\s?(?P<unit>[KkMGBTPE])\s*$").struct.unnest()
    scaled = _read_float(parts["number"]) * parts["unit"].replace_strict(
        _THOUSANDS, default=None, return_dtype=pl.Float64
    )
    plain = _read_float(text)
    return plain.zip_with(plain.is_not_null(), scaled)


def _read_int(text: pl.Series) -> pl.Series:
    """Return integers; texts such as ``1,200`` and ``1200.0`` are understood, others are null."""
    if text.dtype.is_float():
        # A number that was read where it was cut, and that has a point.
        return text.set(text != text.round(0), None).cast(pl.Int64, strict=False)
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() > text.null_count():
        other = _read_float(text)
        whole = other.set(~other.is_finite() | (other != other.round(0)), None).cast(pl.Int64, strict=False)
        numbers = numbers.zip_with(numbers.is_not_null(), whole)
    return numbers


def _read_seconds(text: pl.Series) -> pl.Series:
    """Return seconds of ``[D-]HH:MM:SS[.f]``, ``D days, H:MM:SS``, ``MM:SS[.f]`` or a plain number."""
    numbers = _read_float(text)
    if numbers.null_count() == text.null_count():
        return numbers
    shape = r"^\s*(?:(?:(?P<d>\d+)(?:-| days?, ))?(?P<h>\d+):)?(?P<m>\d+):(?P<s>\d+(?:\.\d+)?)\s*$"
    parts = text.str.extract_groups(shape).struct.unnest()
    total = pl.lit(0.0)
    for name, unit in (("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)):
        part = pl.col(name).cast(pl.Float64)
        total = total + unit * (part if name == "s" else part.fill_null(0.0))
    clocks = parts.select(total=total)["total"]
    return numbers.zip_with(numbers.is_not_null(), clocks)


def _read_inverse(text: pl.Series) -> pl.Series:
    """Return the reciprocals of numbers; that of 0 is null."""
    numbers = 1.0 / _read_float(text)
    return numbers.set(~numbers.is_finite(), None)


def _read_bool(text: pl.Series) -> pl.Series:
    """Return truth of true/false/1/0/yes/no in any case."""
    return text.str.to_lowercase().replace_strict(_BOOLS, default=None, return_dtype=pl.String) == "1"


def _read_gpus(text: pl.Series) -> pl.Series:
    """Return the GPUs of trackable-resources texts; typed entries count only where no untyped one is.

    Such a list may also be JSON, as accounting writes it: an object for each resource, its keys sorted.
    """
    if text.str.contains(r"^\s*\[").any():
        # {"count":8,"id":1001,"name":"gpu:h100","type":"gres"} → gres/gpu:h100=8
        entry = r'\{"count":(\d+)(?:,"id":\d+)?,"name":"([^"]+)","type":"gres"\}'
        text = text.str.replace_all(entry, "gres/$2=$1").str.strip_chars("[] ")
    # What a narrow column cut ends in a plus: its last entry is not whole, and there may have been more.
    cut = text.str.ends_with("+").fill_null(False)
    text = text.str.replace(r"(?:^|,)[^,]*\+$", "")
    untyped = text.str.extract(r"(?:^|,)gres/gpu=(\d+)").cast(pl.Int64, strict=False)
    typed = (
        text.str.extract_all(r"(?:^|,)gres/gpu:[^=,]+=\d+")
        .list.eval(pl.element().str.extract(r"=(\d+)$").cast(pl.Int64, strict=False))
        .list.sum()
    )
    # A text without any entry of the kind does not say 0: the resource may not be tracked.
    typed = typed.set(~text.str.contains("gres/gpu:", literal=True).fill_null(False) | cut, None)
    return untyped.zip_with(untyped.is_not_null(), typed)


def _read_spec(text: pl.Series) -> pl.Series:
    """Return the GPUs of what PBS or Torque was asked for or gave: terms with a count or a host, and a sum.

    ``2:ncpus=8:ngpus=4+1:ngpus=1`` are nine, ``(gx1:ngpus=8)+(gx2:ngpus=8)`` sixteen; the name of the
    resource may stand in front. A text without any does not say 0.
    """
    terms = pl.DataFrame({"text": text}).with_row_index("row").with_columns(pl.col("text").str.split("+"))
    terms = terms.explode("text", empty_as_null=True, keep_nulls=True)
    count = terms["text"].str.extract(r"^(?:[A-Za-z_.]+=)?\(?([0-9]+):").cast(pl.Int64, strict=False)
    each = terms["text"].str.extract(r"(?:^|[:.])n?gpus=([0-9]+)").cast(pl.Int64, strict=False)
    terms = terms.with_columns(gpus=count.fill_null(1) * each)
    sums = terms.group_by("row", maintain_order=True).agg(
        pl.when(pl.col("gpus").count() > 0).then(pl.col("gpus").sum())
    )
    return sums["gpus"]


def _read_pci(text: pl.Series) -> pl.Series:
    """Return PCI addresses as ``domain:bus:device``: four digits of domain, lower case, no function."""
    parts = (
        text.str.to_lowercase()
        .str.extract_groups(r"(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2}):(?P<dev>[0-9a-f]{2})")
        .struct.unnest()
    )
    domain = pl.col("domain").str.tail(4).fill_null("0000")
    return parts.select(pci=pl.concat_str(domain, "bus", "dev", separator=":"))["pci"]


def _read_hosts(text: pl.Series, expand: Callable[[str], list[str] | None] = expand_hostlist) -> pl.Series:
    """Return the hosts of host lists; each distinct text is expanded once."""
    distinct = text.drop_nulls().unique(maintain_order=True)
    lists = [expand(item) for item in distinct.to_list()]
    table = pl.DataFrame({"text": distinct, "hosts": pl.Series(lists, dtype=pl.List(pl.String))})
    return pl.DataFrame({"text": text}).join(table, on="text", how="left", maintain_order="left")["hosts"]


def _read_text(text: pl.Series) -> pl.Series:
    """Return texts without blanks around them; empty ones are null."""
    stripped = text.str.strip_chars()
    return stripped.set(stripped == "", None)


_READERS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "text": _read_text,
    "int": _read_int,
    "float": _read_float,
    "human": _read_human,
    "seconds": _read_seconds,
    "per_second": _read_inverse,
    "bool": _read_bool,
    "hostlist": _read_hosts,
    "slots": lambda text: _read_hosts(text, expand_slots),
    "tres_gpus": _read_gpus,
    "spec_gpus": _read_spec,
    "pci": _read_pci,
    "lower": lambda text: _read_text(text).str.to_lowercase(),
}
