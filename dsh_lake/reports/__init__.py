"""Findings as the texts that other programs read: test reports, annotations, code scanning."""

from __future__ import annotations

from dsh_lake.reports.checked import checked_lake
from dsh_lake.reports.github import github
from dsh_lake.reports.junit import junit
from dsh_lake.reports.sarif import sarif
from dsh_lake.reports.secrets import secrets_found

REPORTS = {"junit": junit, "github": github, "sarif": sarif}
"""The texts of a report, by the name of their format."""

__all__ = ["REPORTS", "checked_lake", "github", "junit", "sarif", "secrets_found"]
