"""The names that the package exports are what they say, whatever was imported before."""

from __future__ import annotations

import importlib
import subprocess
import sys

import dsh_lake

GROUPS = {"cassette"}
"""Public modules that gather the functions of a command group."""


def test_a_submodule_does_not_take_the_place_of_a_function_of_its_name() -> None:
    for name, home in dsh_lake._HOMES.items():
        importlib.import_module(home)
        assert getattr(dsh_lake, name) is getattr(sys.modules[home], name)
        assert callable(getattr(dsh_lake, name))


def test_functions_are_imported_from_the_package_in_a_fresh_interpreter() -> None:
    names = ", ".join(dsh_lake._HOMES)
    program = f"from dsh_lake import {names}\nassert all(map(callable, ({names})))"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_every_export_is_listed_once_and_sorted() -> None:
    assert dsh_lake.__all__ == sorted({*dsh_lake._HOMES, *GROUPS})
    assert all(hasattr(dsh_lake, name) for name in dsh_lake.__all__)
