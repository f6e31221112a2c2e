"""Fixtures that every test may use, and how Hypothesis runs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT_ROOT = Path(__file__).resolve().parent.parent

# No deadline: how long an example takes depends on the machine, not on the code.
settings.register_profile("local", deadline=None)
# In CI the same examples every time, and few enough that the suite stays quick.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("ci" if os.environ.get("CI") else "local")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts into the background deaf to interrupts, and so would be what tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout: the folder that holds ``pyproject.toml``."""
    return PROJECT_ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The handed specifications and corpus: ``$DSH_LAKE_SHARED``, else ``../shared`` beside the checkout.

    They are not part of the project, so a test that needs them is skipped where they are absent.
    """
    root = Path(os.environ.get("DSH_LAKE_SHARED") or PROJECT_ROOT.parent / "shared")
    if not (root / "corpus").is_dir():
        pytest.skip("needs ../shared: the corpus of session archives is not beside this checkout")
    return root
