"""A provider's usage export: tokens by day and model, from a CSV file.

The rule: a figure is taken for what the name of its column says, and for nothing else. Names are compared
without regard to case, spaces and signs. Only ``input`` needs more: it is all tokens of the prompt where a
column of cache misses stands beside it, or where the total says so (``total = input + output``), or where
there is no column of the cache at all; else it is what was not read from the cache.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from dsh_lake.errors import UnreadableSource

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "day": ("date", "day", "utc_date", "usage_date"),
    "model": ("model", "model_name"),
    "input": ("input", "input_tokens"),
    "prompt": ("prompt", "prompt_tokens"),
    "cache_miss": (
        "cache_miss",
        "cache_miss_tokens",
        "input_cache_miss",
        "input_cache_miss_tokens",
        "prompt_cache_miss_tokens",
    ),
    "cache_read": (
        "cache_hit",
        "cache_hit_tokens",
        "cache_read",
        "cache_read_tokens",
        "input_cache_hit",
        "input_cache_hit_tokens",
        "prompt_cache_hit_tokens",
    ),
    "cache_write": ("cache_write", "cache_write_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "total": ("total", "total_tokens"),
    "cost": ("cost",),
}
"""The names that a column of each meaning may have, once they are in lower case with ``_`` between words."""

TOKENS = ("input", "cache_read", "cache_write", "output", "prompt", "total")
"""What of tokens can be compared: ``input`` is what no cache held, ``prompt`` all before the answer."""

Figures = dict[str, Decimal]
Key = tuple[date, str | None]


@dataclass(frozen=True, slots=True)
class ProviderUsage:
    """What a provider says: figures by day and model, model None where the file names none.

    ``measures`` are those that the file has; ``ignored`` are the names of columns that are not known.
    """

    measures: tuple[str, ...]
    ignored: tuple[str, ...]
    has_model: bool
    rows: dict[Key, Figures] = field(default_factory=dict)


def read_provider_usage(path: Path) -> ProviderUsage:
    """The figures of a CSV file with a header; rows of the same day and model are added up.

    Raises:
        UnreadableSource: the file cannot be opened or is no such table; the reason names the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            return _read(csv.reader(text, strict=True))
    except OSError as error:
        raise UnreadableSource(str(path), error.strerror or str(error)) from error
    except (UnicodeDecodeError, csv.Error, _Unusable) as error:
        raise UnreadableSource(str(path), str(error)) from error


class _Unusable(Exception):
    """Why the table cannot be used."""


def _read(lines: Iterable[list[str]]) -> ProviderUsage:
    rows = [(number, cells) for number, cells in enumerate(lines, 1) if any(cell.strip() for cell in cells)]
    if not rows:
        raise _Unusable("there is nothing in it")
    meanings = _meanings(rows[0][1])
    known = [meaning for meaning in meanings if meaning in COLUMNS]
    if "day" not in known or not set(known) - {"day", "model"}:
        raise _Unusable(
            "the first line has to name a column date or day, and figures such as input and output"
        )
    if len(set(known)) < len(known):
        raise _Unusable("two columns have the same meaning")
    parsed = [_row(number, meanings, cells) for number, cells in rows[1:]]
    is_prompt = _is_prompt(known, [figures for _, figures in parsed])
    found: dict[Key, Figures] = {}
    for key, figures in parsed:
        into = found.setdefault(key, {})
        for name, figure in _measures(figures, is_prompt).items():
            into[name] = into.get(name, Decimal(0)) + figure
    measures = {name for figures in found.values() for name in figures}
    return ProviderUsage(
        measures=tuple(name for name in (*TOKENS, "cost") if name in measures),
        ignored=tuple(meaning for meaning in meanings if meaning not in COLUMNS),
        has_model="model" in known,
        rows=found,
    )


def _meanings(header: Iterable[str]) -> list[str]:
    names = [re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_") for name in header]
    by_name = {name: meaning for meaning, synonyms in COLUMNS.items() for name in synonyms}
    return [by_name.get(name, name) for name in names]


def _row(number: int, meanings: list[str], cells: list[str]) -> tuple[Key, Figures]:
    if len(cells) != len(meanings):
        raise _Unusable(
            f"line {number} has {len(cells)} values, the first line names {len(meanings)} columns"
        )
    given = {meaning: cell.strip() for meaning, cell in zip(meanings, cells, strict=True)}
    figures = {
        name: _figure(number, name, given[name])
        for name in COLUMNS
        if name not in ("day", "model") and given.get(name)
    }
    return (_day(number, given["day"]), given.get("model") or None), figures


def _day(number: int, text: str) -> date:
    match = re.fullmatch(r"(\d{4})[-/]?(\d{2})[-/]?(\d{2})", text)
    try:
        if match:
            return date(*map(int, match.groups()))
    except ValueError:
        pass
    raise _Unusable(f"line {number}: {text!r} is no day such as 2026-11-30")


def _figure(number: int, name: str, text: str) -> Decimal:
    plain = text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text) else text
    try:
        figure = Decimal(plain)
    except InvalidOperation:
        figure = Decimal(-1)
    if not figure.is_finite() or figure < 0 or (name != "cost" and figure != int(figure)):
        raise _Unusable(f"line {number}: {name} is {text!r}, which is no count")
    return figure


def _is_prompt(known: list[str], rows: list[Figures]) -> bool:
    """Whether ``input`` is the whole prompt."""
    if "cache_miss" in known or not {"cache_read", "cache_write"} & set(known):
        return True
    if "total" not in known:
        return False
    whole = [row for row in rows if {"input", "output", "total"} <= row.keys()]
    return bool(whole) and all(row["total"] == row["input"] + row["output"] for row in whole)


def _measures(figures: Figures, is_prompt: bool) -> Figures:
    """The figures by the names of :data:`TOKENS`."""
    found = {name: figure for name, figure in figures.items() if name not in ("input", "cache_miss")}
    if "cache_miss" in figures:
        found["input"] = figures["cache_miss"]
    if "input" in figures:
        found["prompt" if is_prompt else "input"] = figures["input"]
    return found
