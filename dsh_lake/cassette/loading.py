"""A cassette file, verified: its summary, its records, or everything that is wrong with it.

The rule: what the original tool says of one file is its first fault, that with the least (line, rank);
lines come in order, so reading may stop there.

Source: spec/cassette.md sections 1, 4 and 7.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import msgspec

from dsh_lake.canonical import JsonValue
from dsh_lake.cassette.across import AcrossLines
from dsh_lake.errors import CassetteError, CassetteFormatError, CassetteTypeError
from dsh_lake.records.cassette import EMPTY_CASSETTE, CassetteLine, read_cassette
from dsh_lake.records.cassette_facts import Fault, Header, Interaction


class Cassette(msgspec.Struct):
    """A verified cassette in memory; ``interactions`` in file order, ``records`` beside them.

    ``records[i]`` is the parsed record of ``interactions[i]``, kept only when asked for.
    """

    path: str
    header: Header
    interactions: list[Interaction]
    header_record: dict[str, JsonValue]
    records: list[dict[str, JsonValue]]


def load(path: str | os.PathLike[str], *, keep_records: bool = True) -> Cassette:
    """The verified cassette at ``path``.

    Memory: without records about 1.5 kB an interaction, with them a multiple of the file.

    Raises:
        CassetteFormatError: the file cannot be read or fails a check; the message is the original's.
        CassetteTypeError: the same, where the original fails with a plain TypeError.
    """
    header = Header()
    header_record: dict[str, JsonValue] = {}
    interactions: list[Interaction] = []
    records: list[dict[str, JsonValue]] = []
    for line in verified_lines(path):
        if isinstance(line.facts, Interaction):
            interactions.append(line.facts)
            if keep_records:
                records.append(_as_object(line.record()))
        elif line.facts is not None:
            header, header_record = line.facts, _as_object(line.record())
    return Cassette(absolute_path(path), header, interactions, header_record, records)


def _as_object(record: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(record, dict)  # a verified line is an object
    return record


def verified_lines(path: str | os.PathLike[str], across: AcrossLines | None = None) -> Iterator[CassetteLine]:
    """The lines of a cassette, each handed out once it passed every check, the last ones at the end.

    ``across`` is given by a caller who wants to read its counts afterwards. Memory: one line and the
    state of the checks across lines.

    Raises:
        CassetteFormatError, CassetteTypeError: at the first fault, as ``load``.
    """
    across = AcrossLines() if across is None else across
    with _opened(path) as file:
        for line in read_cassette(file):
            _raise_first(line.faults + across.add(line))
            yield line
    _raise_first(across.end() if across.last_line else [EMPTY_CASSETTE])


def find_faults(path: str | os.PathLike[str]) -> list[Fault]:
    """Every fault of the file at ``path``, by line and rank; empty for a sound cassette.

    Raises:
        CassetteFormatError: the file cannot be read.
    """
    across = AcrossLines()
    faults: list[Fault] = []
    with _opened(path) as file:
        for line in read_cassette(file):
            faults += line.faults
            faults += across.add(line)
    if not across.last_line:
        return [EMPTY_CASSETTE]
    return sorted(faults or across.end(), key=_place)


def _place(fault: Fault) -> tuple[int, int]:
    return fault.line, fault.rank


def _raise_first(faults: list[Fault]) -> None:
    if faults:
        raise as_error(min(faults, key=_place))


def as_error(fault: Fault) -> CassetteError | CassetteTypeError:
    """The error that the original throws for ``fault``."""
    return (CassetteTypeError if fault.is_type_error else CassetteFormatError)(fault.message)


def absolute_path(path: str | os.PathLike[str]) -> str:
    """``path`` made absolute textually: links are not followed, an empty path is the current folder."""
    absolute = os.path.abspath(path)
    return "/" + absolute.lstrip("/") if absolute.startswith("//") else absolute


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    absolute = absolute_path(path)
    try:
        file = open(absolute, "rb", buffering=1 << 20)  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise CassetteFormatError(f'cannot read cassette "{absolute}"') from error
    with file:
        try:
            yield file
        except OSError as error:
            raise CassetteFormatError(f'cannot read cassette "{absolute}"') from error
