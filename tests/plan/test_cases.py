"""Every case file is read by the command that a user types."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.plan.lint import Length
from tests.plan.cases import FOLDER, Case, differences, load_all

if TYPE_CHECKING:
    from pathlib import Path

CASES = load_all()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_plan_reads_as_its_case_file_says(case: Case, tmp_path: Path) -> None:
    files = {case.path: case.data, ".git/HEAD": b"ref: refs/heads/main\n"}
    if case.progress_document is not None:
        name, data = case.progress_document
        files[name] = data
    for folder in (".git/refs", ".git/objects"):
        (tmp_path / folder).mkdir(parents=True)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    set_by = {} if case.length is Length.CONTROL else {"ASBUILT_PLAN_LENGTH": case.length.value}
    read = subprocess.run(
        [sys.executable, "-m", "asbuilt", "plan", "show", case.path, "--json"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", **set_by},
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.stderr == ""
    assert differences(case.expected, json.loads(read.stdout)) == []


def test_there_are_at_least_sixty_case_files() -> None:
    assert len(list(FOLDER.glob("*.md"))) >= 60


def test_a_wrong_reading_is_told_with_its_place() -> None:
    expected = {"phases": [{"id": "1", "status": "done"}]}
    actual = {"phases": [{"id": "1", "status": "pending", "title": "x"}]}
    assert differences(expected, actual) == [".phases[0].status: expected 'done', read 'pending'"]
