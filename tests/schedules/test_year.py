"""Each slot fires at most once, and none is lost but to a later fire of the same plan."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.journal.conftest import postgres, where
from tests.schedules.year import SLICE_DAYS, YEAR_DAYS, play

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["postgres", "where"]
pytestmark = pytest.mark.crash
SEEDS = int(os.environ.get("ASBUILT_YEARS", "0"))


@pytest.mark.parametrize("seed", range(max(1, SEEDS)))
def test_schedules_fire_as_an_independent_calculation_says(tmp_path: Path, where: str, seed: int) -> None:
    days = YEAR_DAYS if SEEDS else SLICE_DAYS
    course = play(tmp_path, where, seed=seed, days=days)
    # Shown with `just schedules`, so that figures are those that were seen.
    sys.stdout.write(f"seed {seed}, {days} days: {course}\n")
    assert course.differences == []
    assert min(course.fired, course.kills, course.jumps_back, course.coalesced) > 0
