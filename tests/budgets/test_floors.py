"""The floors are kept by import-linter; here each contract is seen to fail on a planted violation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_floors_are_kept(tree: Path) -> None:
    ended = _lint(tree)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout


@pytest.mark.parametrize(
    ("file", "planted", "broken"),
    [
        ("plan/markdown/source.py", "import asbuilt.cli.ui.screen", "A floor imports the floors below it"),
        ("settings/registry.py", "import asbuilt.plan.names", "A floor imports the floors below it"),
        ("plan/lint.py", "import os", "The core decides"),
        ("plan/reader.py", "import subprocess", "The core decides"),
        ("plan/markdown/blocks.py", "import click", "The core decides"),
        ("lifecycle/plan_run/next_move.py", "import sqlite3", "The core decides"),
        ("journal/events.py", "import dbos", "Only flows know the engine"),
        ("flows/run/record.py", "import asbuilt.flows.landing.move", "Folders of flows are layers"),
        (
            "lifecycle/run/facts.py",
            "import asbuilt.lifecycle.tasks.next_move",
            "Folders of lifecycle are layers",
        ),
        ("agents/sandbox/proxy.py", "import asbuilt.agents.host.main", "Folders of agents are layers"),
    ],
)
def test_a_planted_import_breaks_its_contract(tree: Path, file: str, planted: str, broken: str) -> None:
    target = tree / "src/asbuilt" / file
    target.write_text(f"{target.read_text(encoding='utf-8')}\n{planted}\n", encoding="utf-8")
    ended = _lint(tree)
    assert ended.returncode == 1
    assert [line for line in ended.stdout.splitlines() if line.startswith(broken) and line.endswith("BROKEN")]


def test_a_new_top_level_module_must_be_given_a_floor(tree: Path) -> None:
    (tree / "src/asbuilt/extra.py").write_text('"""Stands nowhere."""\n', encoding="utf-8")
    ended = _lint(tree)
    assert ended.returncode == 1
    assert "extra" in ended.stdout
