"""The names that the package exports are what they say, whatever was imported before."""

from __future__ import annotations

import importlib
import subprocess
import sys

import dsh_lake


def test_a_submodule_does_not_take_the_place_of_a_function_of_its_name() -> None:
    for name in dsh_lake.__all__:
        home = dsh_lake._HOMES[name]
        importlib.import_module(home)
        assert getattr(dsh_lake, name) is getattr(sys.modules[home], name)
        assert callable(getattr(dsh_lake, name))


def test_functions_are_imported_from_the_package_in_a_fresh_interpreter() -> None:
    names = ", ".join(dsh_lake.__all__)
    program = f"from dsh_lake import {names}\nassert all(map(callable, ({names})))"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_every_export_is_listed_once_and_sorted() -> None:
    assert sorted(dsh_lake._HOMES) == sorted(dsh_lake.__all__) == dsh_lake.__all__
