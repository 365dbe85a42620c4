from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.races.arena import ROUNDS, again, held, race
from tests.races.games import NAMES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two files in one step"),
]
GONE = "plan.md was changed since it was read"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "plans" / "plan.md"
    file.parent.mkdir()
    file.write_text("first\n", encoding="ascii")
    return file


def test_of_two_that_change_one_plan_one_does_and_the_other_is_told(file: Path, tmp_path: Path) -> None:
    rounds = race("file", str(tmp_path), str(file))
    for one in rounds:
        (won,) = [who for who in (0, 1) if one.said[who]["won"]]
        assert one.said[won] == {"won": True, "text": f"{NAMES[won]} {one.number}"}, again()
        assert one.said[1 - won] == {"won": False, "told": GONE}, again()
    (last,) = [said["text"] for said in rounds[-1].said if said["won"]]
    assert file.read_text(encoding="ascii") == f"{last}\n" * 2_000, again()
    assert [path.name for path in file.parent.iterdir()] == ["plan.md"], again()
    held("one plan file", "-", ROUNDS)


def test_what_a_person_saves_at_the_same_instant_is_never_lost(file: Path, tmp_path: Path) -> None:
    rounds = race("editor", str(tmp_path), str(file))
    for one in rounds:
        ours = one.said[0]
        assert ours in (
            {"won": True, "text": f"{NAMES[0]} {one.number}"},
            {"won": False, "told": GONE},
        ), again()
        before = f"person {one.number - 1}" if one.number else "first"
        assert one.said[1]["before"] == before, again()
    assert file.read_text(encoding="ascii") == f"person {rounds[-1].number}\n" * 2_000, again()
    assert [path.name for path in file.parent.iterdir()] == ["plan.md"], again()
    held("a plan file that a person saves", "-", ROUNDS)
