"""The public corpora, and rows from manual pages: nothing unsafe passes, and no exploration is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from asbuilt.policy.shell.judge import verdict
from asbuilt.session.wildcard_expansion import names_in
from tests.attack.gate.rows import HERE, read_rows
from tests.attack.gate.stage import Stage, build

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = [row for name in ("corpus", "corpus_2", "manual") for row in read_rows(HERE / f"{name}.jsonl")]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return build(tmp_path_factory.mktemp("corpus") / "stage")


def refused(command: str, stage: Stage) -> str | None:
    root = str(stage.repository)
    return verdict(
        command,
        cwd=root,
        home=str(stage.home),
        root=root,
        resolve=os.path.realpath,
        exists=os.path.lexists,
        names=names_in,
    )


def test_no_unsafe_row_is_allowed(stage: Stage) -> None:
    assert [row.cmd for row in ROWS if not row.safe and refused(row.cmd, stage) is None] == []


def test_every_safe_row_but_a_stretch_is_allowed(stage: Stage) -> None:
    asked = [row.cmd for row in ROWS if row.safe and not row.is_stretch]
    assert {command: why for command in asked if (why := refused(command, stage)) is not None} == {}


def test_the_stretches_are_counted(stage: Stage, record_property: Callable[[str, object], None]) -> None:
    """Those that pass are told beside the result; that a gate may refuse them is why the count is open."""
    stretches = [row.cmd for row in ROWS if row.is_stretch]
    passed = [command for command in stretches if refused(command, stage) is None]
    record_property("stretches", f"{len(passed)} of {len(stretches)} allowed: {passed}")
    assert "awk '{print $1}' data.csv" in passed
