"""The gate on rows that its author did not write, on a stage where links and repositories are real."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from asbuilt.policy.shell.judge import verdict
from asbuilt.session.wildcard_expansion import names_in
from tests.attack.gate.rows import read_rows
from tests.attack.gate.stage import Stage, build

if TYPE_CHECKING:
    from pathlib import Path

ROWS = read_rows()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return build(tmp_path_factory.mktemp("gate") / "stage")


def _refused(stage: Stage, command: str, cwd: Path | None = None) -> str | None:
    place = str(cwd or stage.repository)
    root = str(stage.repository)
    return verdict(
        command,
        cwd=place,
        home=str(stage.home),
        root=root,
        resolve=os.path.realpath,
        exists=os.path.exists,
        names=names_in,
    )


def test_there_are_enough_rows_of_both_kinds_and_none_twice() -> None:
    assert sum(not row.safe for row in ROWS) >= 150
    assert sum(row.safe and not row.is_stretch for row in ROWS) >= 150
    assert len({row.cmd for row in ROWS}) == len(ROWS)


def test_every_row_gets_an_answer(stage: Stage) -> None:
    assert {type(_refused(stage, row.cmd)) for row in ROWS} <= {str, type(None)}


def test_no_unsafe_row_is_allowed(stage: Stage) -> None:
    assert [row.cmd for row in ROWS if not row.safe and _refused(stage, row.cmd) is None] == []


def test_every_safe_row_but_a_stretch_is_allowed(stage: Stage) -> None:
    asked = [row.cmd for row in ROWS if row.safe and not row.is_stretch]
    assert {command: why for command in asked if (why := _refused(stage, command)) is not None} == {}


def test_a_link_to_a_secret_is_as_secret_as_what_it_leads_to(stage: Stage) -> None:
    links = {"notes.txt": ".env", "docs-key": "secrets", "far": str(stage.home / ".ssh")}
    for name, target in links.items():
        (stage.repository / name).symlink_to(target)
    commands = (
        "cat notes.txt",
        "cat docs-key/prod.pem",
        "head far/id_rsa",
        "grep . < notes.txt",
        "cd far && cat config",
    )
    assert [command for command in commands if _refused(stage, command) is None] == []
    for name in links:
        (stage.repository / name).unlink()
