"""How a value of any type is spelled as text and in JSON: the one place, whatever the format around it.

The rule: instants are ISO 8601 with all digits that their type has (``2026-11-30T12:00:00.000000Z``, without
Z where no zone is known), intervals are ISO 8601 durations, bytes hexadecimal; nested values are JSON. What
JSON cannot say is null in it: NaN and the infinities of floating point numbers.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import msgspec
    import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DAY_S = 86_400
_CYCLE_DAYS = 146_097
"""The Gregorian calendar repeats after 400 years."""
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999, as days since 1970: what the library spells right."""


def text_column(array: pa.Array) -> list[str | None]:
    """Each value as text; null stays None."""
    texts: list[str | None] = text_array(array).to_pylist()
    return texts


def text_array(array: pa.Array) -> pa.Array:
    """The values as text with 64-bit offsets; null stays null."""
    import pyarrow as pa

    plain = _plain(array)
    if not pa.types.is_nested(plain.type):
        return plain.cast(pa.large_string())
    encode = json_encoder().encode
    texts = [None if value is None else encode(value).decode() for value in _values(plain)]
    return pa.array(texts, pa.large_string())


def json_columns(batch: pa.RecordBatch) -> list[list[Any]]:
    """The columns of a batch, each value as :func:`json_encoder` takes it."""
    return [_values(_plain(column)) for column in batch.columns]


@cache
def json_encoder() -> msgspec.json.Encoder:
    """Encodes values of :func:`json_columns`: decimals are numbers, NaN and infinities null."""
    import msgspec

    return msgspec.json.Encoder(decimal_format="number")


def _values(plain: pa.Array) -> list[Any]:
    values: list[Any] = plain.to_pylist(maps_as_pydicts="lossy")
    return values


def _plain(array: pa.Array) -> pa.Array:
    """The array with every type that JSON lacks, at any depth, spelled as text."""
    import pyarrow as pa

    kind, types = array.type, pa.types
    if array.offset and types.is_nested(kind):
        array = array.take(pa.array(range(len(array))))
    if types.is_dictionary(kind):
        return array.cast(pa.large_string())
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return _temporal(array)
    if types.is_interval(kind):
        return pa.array([value and _duration(value) for value in array.to_pylist()], pa.large_string())
    if types.is_binary(kind) or types.is_large_binary(kind):
        texts = [value if value is None else value.hex() for value in array.to_pylist()]
        return pa.array(texts, pa.large_string())
    if types.is_float32(kind):
        # By way of its shortest text: 0.1 stays 0.1.
        return array.cast(pa.large_string()).cast(pa.float64())
    if types.is_null(kind):
        return array.cast(pa.large_string())
    return _plain_nested(array) if types.is_nested(kind) else array


def _plain_nested(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    kind, types, is_null = array.type, pa.types, array.is_null()
    if types.is_struct(kind):
        children = [_plain(array.field(number)) for number in range(kind.num_fields)]
        if not children:
            return array
        return pa.StructArray.from_arrays(children, [field.name for field in kind], mask=is_null)
    if types.is_map(kind):
        keys = _plain(array.keys).cast(pa.large_string())
        return pa.MapArray.from_arrays(array.offsets, keys, _plain(array.items), mask=is_null)
    values = _plain(array.values)
    if types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(values, kind.list_size, mask=is_null)
    build = pa.LargeListArray if types.is_large_list(kind) else pa.ListArray
    return build.from_arrays(array.offsets, values, mask=is_null)


# -- time --------------------------------------------------------------------------------------------------


def _temporal(array: pa.Array) -> pa.Array:
    """Dates, times and instants as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    unit = 1 if pa.types.is_date(kind) else _PER_SECOND[kind.unit]
    numbers = array.cast(pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64())
    bounds = pc.min_max(numbers).as_py()
    first, last = (0, _DAY_S * unit - 1) if pa.types.is_time(kind) else _calendar(kind, unit)
    if bounds["min"] is None or (first <= bounds["min"] and bounds["max"] <= last):
        text = array.cast(pa.large_string())
        return pc.replace_substring(text, " ", "T", max_replacements=1)
    spell = (
        _spell_time if pa.types.is_time(kind) else _spell_date if pa.types.is_date(kind) else _spell_instant
    )
    zone = "Z" if pa.types.is_timestamp(kind) and kind.tz else ""
    infinity = 2**31 - 1 if pa.types.is_date32(kind) else 2**63 - 1
    texts = [
        None
        if number is None
        else "infinity"
        if number == infinity
        else "-infinity"
        if number == -infinity
        else spell(number, unit) + zone
        for number in numbers.to_pylist()
    ]
    return pa.array(texts, pa.large_string())


def _calendar(kind: pa.DataType, unit: int) -> tuple[int, int]:
    import pyarrow as pa

    day = 1 if pa.types.is_date(kind) else _DAY_S * unit
    return _FIRST_DAY * day, (_LAST_DAY + 1) * day - 1


def _spell_date(days: int, _: int) -> str:
    """A day of the proleptic Gregorian calendar; years beyond four digits with their sign."""
    cycles, day = divmod(days, _CYCLE_DAYS)
    within = date.fromordinal(date(1970, 1, 1).toordinal() + day)
    year = within.year + 400 * cycles
    return (f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}") + within.strftime("-%m-%d")


def _spell_time(number: int, unit: int) -> str:
    seconds, fraction = divmod(number, unit)
    digits = len(str(unit)) - 1
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction:0{digits}d}" if digits else clock


def _spell_instant(number: int, unit: int) -> str:
    days, rest = divmod(number, _DAY_S * unit)
    return f"{_spell_date(days, unit)}T{_spell_time(rest, unit)}"


def instant_text(at_us: int | None) -> str | None:
    """An instant in microseconds since 1970, UTC, as a column of instants spells it."""
    return None if at_us is None else _spell_instant(at_us, _PER_SECOND["us"]) + "Z"


def _duration(interval: Any) -> str:
    """Months, days and seconds, which do not add up to one another."""
    seconds = f"{interval.nanoseconds / 1e9:.9f}".rstrip("0").rstrip(".")
    return f"P{interval.months}M{interval.days}DT{seconds}S"
