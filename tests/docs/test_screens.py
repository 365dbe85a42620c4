"""docs/reference/screens.md has every symbol, state and word, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from asbuilt.cli.runs import outcome
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from asbuilt.cli.wording import events
from asbuilt.events.event import Outcome
from asbuilt.journal.runs import ENDED
from asbuilt.lifecycle.status.run_state import State

PAGE = (Path(__file__).parent.parent.parent / "docs/reference/screens.md").read_text(encoding="utf-8")


def _table(heading: str) -> list[list[str]]:
    """Give the rows of the table below a heading, without its head."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[1:]]


def test_every_symbol_is_explained_with_its_twin() -> None:
    twins = list(zip(UNICODE, ASCII, strict=True))
    assert [(symbol, plain) for symbol, plain, _ in _table("Symbols")] == [
        twin for twin in twins if twin[0] != UNICODE.ellipsis
    ]


def test_every_state_of_a_phase_is_explained() -> None:
    assert [state for state, _ in _table("States of a phase")] == [*get_args(State)]


def test_every_end_of_a_run_is_explained_with_its_exit_code() -> None:
    told = {state: int(re.split(r"\D", code)[0]) for state, _, code in _table("How a run ends")}
    assert told == outcome.CODES
    assert set(told) == {*ENDED, "paused"}


def test_every_outcome_is_explained() -> None:
    assert [word for word, _ in _table("Verdicts")] == [*get_args(Outcome)]


def test_every_event_that_has_words_is_explained() -> None:
    assert sorted(kind.strip("`") for _, kind, _ in _table("Words of the log")) == sorted(
        kind.kind for kind in events.WORDS
    )
