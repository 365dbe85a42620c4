"""Failures of the base are shown in the log, in `status` and to scripts, and never as a PASS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.nights import Night
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = "3 of 40 tests already fail"


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    night = Night(tmp_path, shop)
    yield night
    night.close()


@pytest.mark.parametrize("outcome", ["FAIL", "PASS"])
def test_failures_of_the_base_are_shown_wherever_one_looks(night: Night, outcome: str) -> None:
    """A journal of before has the outcome PASS for it."""
    story = night.plan("shop", "20:00:00", {"1": ("Cart", [])})
    story.say(
        "20:01:00", "baseline.done", "baseline/2", outcome=outcome, why="40 ran, 0 skipped", ran=40, failed=3
    )
    status = shown(night, ("status", "shop"), "plain", 80)
    assert f"Baseline {WORDS}; a phase is proven against their names." in " ".join(status.split())
    told = json.loads(shown(night, ("status", "shop", "--json"), "plain", 80).partition("--- stdout\n")[2])
    assert told["plans"][0]["run"]["baseline"] == WORDS
    log = shown(night, ("log", "shop"), "plain", 120).splitlines()
    assert [line.split(maxsplit=3)[2:] for line in log if "already" in line] == [["baseline", WORDS]]
