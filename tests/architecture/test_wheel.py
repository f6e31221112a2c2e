"""What is shipped: the package and every query that git tracks, byte for byte, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


def tracked(project_root: Path, folder: str) -> dict[str, bytes]:
    """Files of a folder that git tracks: their paths inside it, and what is in them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", folder], cwd=project_root, check=True, capture_output=True, text=True
    ).stdout
    paths = [project_root / name for name in listed.split("\0") if name]
    return {path.relative_to(project_root / folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built with what is installed: without isolation no network is needed."""
    if not (project_root / ".git").exists():
        pytest.skip("needs a git checkout: what has to be shipped is what git tracks")
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    subprocess.run(build, cwd=project_root, check=True, capture_output=True)
    (path,) = out.iterdir()
    return zipfile.ZipFile(path)


def shipped(wheel: zipfile.ZipFile, folder: str) -> dict[str, bytes]:
    names = [name for name in wheel.namelist() if name.startswith(f"{folder}/")]
    return {name.removeprefix(f"{folder}/"): wheel.read(name) for name in names}


def test_the_wheel_holds_the_queries_that_git_tracks(wheel: zipfile.ZipFile, project_root: Path) -> None:
    queries = tracked(project_root, "queries")
    assert queries
    assert shipped(wheel, "dsh_lake/queries") == queries


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile, project_root: Path) -> None:
    package = shipped(wheel, "dsh_lake")
    code = {name: content for name, content in package.items() if not name.startswith("queries/")}
    assert code == tracked(project_root, "dsh_lake")
    others = {name.split("/")[0] for name in wheel.namelist()} - {"dsh_lake"}
    assert all(name.endswith(".dist-info") for name in others)


def test_an_unpacked_wheel_finds_its_queries(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    asked = "from dsh_lake import sqlassets; print(sqlassets.root())"
    # -P: not the checkout, in which the tests run, but the unpacked wheel.
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {asked}"]
    root = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()
    assert Path(root) == tmp_path / "dsh_lake" / "queries"
