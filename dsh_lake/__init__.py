"""dsh-lake: what DeepSeek Harness agents did, what it cost, what broke, what drifted.

    import dsh_lake

    dsh_lake.scan("~/.dsh", lake="my-lake")        # bring a lake up to date; returns the summary
    con = dsh_lake.connect("my-lake")              # DuckDB with every table and view
    con.sql("from usage_by_day").pl()
    dsh_lake.read_session("session.v4.jsonl.zstd") # Arrow tables of one file, no lake needed

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dsh_lake.version import __version__ as __version__

if TYPE_CHECKING:
    from dsh_lake import cassette as cassette
    from dsh_lake.baseline import baseline as baseline
    from dsh_lake.checks import check as check
    from dsh_lake.compact import compact as compact
    from dsh_lake.connection import connect as connect
    from dsh_lake.connection import read_session as read_session
    from dsh_lake.doctor import doctor as doctor
    from dsh_lake.drift.verdict import fixtures_drift as fixtures_drift
    from dsh_lake.errors import DshLakeError as DshLakeError
    from dsh_lake.export import export as export
    from dsh_lake.fixtures.guards import fixtures_check as fixtures_check
    from dsh_lake.fixtures.log_files import fixtures_normalize as fixtures_normalize
    from dsh_lake.query import sql as sql
    from dsh_lake.query import view as view
    from dsh_lake.query import views as views
    from dsh_lake.reconcile import reconcile as reconcile
    from dsh_lake.redact_check import redact_check as redact_check
    from dsh_lake.reports.drift import report_drift as report_drift
    from dsh_lake.reports.usage import report_usage as report_usage
    from dsh_lake.scan import scan as scan
    from dsh_lake.sessions import sessions as sessions
    from dsh_lake.show import show as show

_HOMES = {
    "DshLakeError": "dsh_lake.errors",
    "baseline": "dsh_lake.baseline",
    "check": "dsh_lake.checks",
    "compact": "dsh_lake.compact",
    "connect": "dsh_lake.connection",
    "doctor": "dsh_lake.doctor",
    "export": "dsh_lake.export",
    "fixtures_check": "dsh_lake.fixtures.guards",
    "fixtures_drift": "dsh_lake.drift.verdict",
    "fixtures_normalize": "dsh_lake.fixtures.log_files",
    "read_session": "dsh_lake.connection",
    "reconcile": "dsh_lake.reconcile",
    "redact_check": "dsh_lake.redact_check",
    "report_drift": "dsh_lake.reports.drift",
    "report_usage": "dsh_lake.reports.usage",
    "scan": "dsh_lake.scan",
    "sessions": "dsh_lake.sessions",
    "show": "dsh_lake.show",
    "sql": "dsh_lake.query",
    "view": "dsh_lake.query",
    "views": "dsh_lake.query",
}

__all__ = [
    "DshLakeError",
    "baseline",
    "cassette",
    "check",
    "compact",
    "connect",
    "doctor",
    "export",
    "fixtures_check",
    "fixtures_drift",
    "fixtures_normalize",
    "read_session",
    "reconcile",
    "redact_check",
    "report_drift",
    "report_usage",
    "scan",
    "sessions",
    "show",
    "sql",
    "view",
    "views",
]


def __getattr__(name: str) -> Any:
    if name == "cassette":
        return import_module("dsh_lake.cassette")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


class _Package(ModuleType):
    """A package whose public names stay what they are when a submodule of the same name is imported.

    The import system binds a submodule to its package under its name, which would put the module
    ``dsh_lake.scan`` in the place of the function ``dsh_lake.scan``.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
