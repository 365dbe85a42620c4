"""Failures of the base are shown in the log, in `status` and to scripts, and never as a PASS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.event import Unknown
from asbuilt.events.phases import BaselineDone
from tests.cli.nights import Night
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.events.event import Event

WORDS = "3 of 40 tests already fail"
BEFORE = {"outcome": "PASS", "why": "40 ran, 0 skipped", "ran": 40, "failed": 3}
"""What a journal of before says of it."""


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    night = Night(tmp_path, shop)
    yield night
    night.close()


@pytest.mark.parametrize(
    "baseline",
    [
        BaselineDone(outcome="FAIL", why="40 ran, 0 skipped", ran=40, failed=3),
        Unknown(name=BaselineDone.kind, number=1, data=BEFORE),
    ],
    ids=["now", "a journal of before"],
)
def test_failures_of_the_base_are_shown_wherever_one_looks(night: Night, baseline: Event) -> None:
    """A journal of before has the outcome PASS for it."""
    story = night.plan("shop", "20:00:00", {"1": ("Cart", [])})
    story.append("20:01:00", baseline, "baseline/2")
    status = shown(night, ("status", "shop"), "plain", 80)
    assert f"Baseline {WORDS}; phases are proven against the other tests." in " ".join(status.split())
    told = json.loads(shown(night, ("status", "shop", "--json"), "plain", 80).partition("--- stdout\n")[2])
    assert told["plans"][0]["run"]["baseline"] == WORDS
    log = shown(night, ("log", "shop"), "plain", 120).splitlines()
    assert [line.split(maxsplit=3)[2:] for line in log if "already" in line] == [["baseline", WORDS]]
