"""One lake of the demo home for all tests of this folder."""

from __future__ import annotations

import pytest

from demo_lake import DemoLake, make


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    """The demo home and its lake. What is saved in it is removed again."""
    return make(tmp_path_factory.mktemp("demo"))
