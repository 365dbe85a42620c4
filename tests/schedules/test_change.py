"""Whoever changes a cadence may be killed anywhere: the old schedule lives, or the new one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.journal.conftest import postgres, where

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["postgres", "where"]
pytestmark = pytest.mark.crash


def test_a_cadence_change_that_is_killed_at_any_statement_leaves_a_live_schedule(
    tmp_path: Path, where: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.schedules.change", str(tmp_path), where],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    points = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one for one in points if one["cadences"] != one["said"] or one["fired"] != 1] == []
    assert {(one["struck"], *one["cadences"]) for one in points} == {
        (True, "4h"),
        (True, "30m"),
        (False, "30m"),
    }
    assert len(points) > 20
