"""Groups of calls that cannot be told apart although they ended differently.

The rule: a group is all calls with equal parent, parent context and request; it is ambiguous when its
members have more than one distinct outcome, the whole outcome counting.

Source: spec/cassette.md section 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dsh_lake.records.cassette_facts import Interaction


class Group(NamedTuple):
    """What the members of a group share."""

    parent_key: str
    parent_context_fingerprint: str
    request_fingerprint: str


def group_of(facts: Interaction) -> Group:
    """The group of a verified interaction."""
    return Group(
        facts.parent_key or "", facts.parent_context_fingerprint or "", facts.request_fingerprint or ""
    )


def ambiguous_groups(interactions: Iterable[Interaction]) -> dict[Group, list[Interaction]]:
    """The ambiguous groups with their members, both in the order of ``interactions``."""
    groups: dict[Group, list[Interaction]] = {}
    for facts in interactions:
        groups.setdefault(group_of(facts), []).append(facts)
    return {
        group: members
        for group, members in groups.items()
        if len({member.outcome_fingerprint for member in members}) > 1
    }
