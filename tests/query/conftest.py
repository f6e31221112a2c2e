"""One lake of the demo home for all tests of this folder; none of them may change it."""

from __future__ import annotations

import pytest

from demo_lake import DemoLake, make


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    """The demo home and its lake."""
    return make(tmp_path_factory.mktemp("demo"))
