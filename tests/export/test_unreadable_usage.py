"""An export of a provider that cannot be opened is said in a sentence, its name once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsh_lake.errors import UnreadableSource
from dsh_lake.provider_usage import read_provider_usage


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    with pytest.raises(UnreadableSource) as raised:
        read_provider_usage(path)
    assert str(raised.value) == f"{path}: No such file or directory"
