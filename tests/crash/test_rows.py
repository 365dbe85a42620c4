"""A matrix is summed up without hiding anything, and the page is made of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crash import rows
from tests.crash.points import Outcome, Point
from tests.crash.rows import Row

if TYPE_CHECKING:
    from pathlib import Path

HOST = Point("host", "four", "sqlite", "2a.2v")


def test_a_row_counts_runs_by_how_they_broke_and_leaves_out_those_that_were_not_struck() -> None:
    outcomes = [
        Outcome(point=HOST, struck="host", hosts_killed=1, extra_starts=1),
        Outcome(point=HOST, struck="host", hosts_killed=1, extra_starts=2, broken=(("orphan", "one"),)),
        Outcome(point=HOST, struck="worker", broken=(("lost", "a"), ("torn", "b"), ("left", "c"))),
        Outcome(point=HOST),
    ]
    (row,) = rows.rows_of(outcomes)["host"]
    assert row._replace(commit="", machine="") == Row(
        points="host killed while its agent works",
        backend="sqlite",
        runs=3,
        lost=1,
        orphans=1,
        left=1,
        starts_host=2,
        starts_else=0,
    )
    assert [outcome.is_whole for outcome in outcomes] == [True, False, False, True]


def test_a_failure_prints_the_command_that_shows_it_again() -> None:
    point = Point.read("step/undo/postgres/2.go on:acted#1")
    outcome = Outcome(
        point=point, struck="worker", broken=(("doubled", "phase 1 is there twice"),), seconds=2
    )
    assert str(outcome).splitlines() == [
        "step/undo/postgres/2.go on:acted#1: worker, 2.0 s",
        "  doubled: phase 1 is there twice",
        "  replay: just crash --point 'step/undo/postgres/2.go on:acted#1'",
    ]
    assert Point.read(str(point)) == point


def test_rows_of_different_hands_become_one_table(tmp_path: Path) -> None:
    rows.keep("b", [Row("clock jumps", "sqlite", 12, commit="abc", machine="here")], tmp_path)
    rows.keep("a", [Row("kill", "postgres", 3, 1, 2, 3, 4, 5, 6, 1, 0, "abc", "here")], tmp_path)
    table = [line for line in rows.page(tmp_path).splitlines() if line.startswith(("|", "Seen"))]
    assert table[2:] == [
        "| kill | postgres | 3 | 1 | 2 | 3 | 4 | 5 | 6 | 1 | 0 |",
        "| clock jumps | sqlite | 12 | 0 | 0 | 0 | 0 | 0 | 0 | - | - |",
        "Seen at commit abc on here.",
    ]


def test_the_page_says_what_the_rows_say() -> None:
    assert rows.PAGE.read_text(encoding="utf-8") == rows.page()
