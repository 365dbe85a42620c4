"""Wording decides nothing: with every sentence in capitals, a run makes the same moves."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, get_type_hints
from unittest.mock import patch

import pytest
from msgspec.structs import asdict, replace

from asbuilt.events.event import Failure
from asbuilt.events.kinds import KINDS
from asbuilt.events.pulls import PullBlocked
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle import kinds
from asbuilt.lifecycle.kinds import fold
from asbuilt.lifecycle.plan_run import next_move
from asbuilt.lifecycle.run import moves
from tests.simulator.authored import FIRST
from tests.simulator.simulation import simulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from asbuilt.events.event import Entry, Event
    from asbuilt.events.options import RunOptions
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts
    from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts

pytestmark = pytest.mark.crash
SEEDS: Final = range(100)
AUTHORED: Final = range(FIRST, FIRST + 20)
LATER: Final = "9999-01-01T00:00:00.000Z"
WORDS: Final = frozenset(
    """
    broken change excerpt failed failures gaps label next note notes other question reason refused says stops
    summary titles unknown warned what why
    """.split()
)
"""Fields of events that are sentences, or texts of people and agents."""
CODE: Final = frozenset(
    """
    about agent agreed alone answer answers asked_at asks attempt author base before behind beside branch
    branch_at by cadence carried checkout checks command commit commits conflicts corrected counts
    delegate details digest done drift drops due ending evidence failing finished flaws folder found head
    here host inspected intent into item items kept key lane left left_out lost mergeable mode name new
    numbers of old opinion outcome outline output outside path paths phase phases pictures plan point
    proposals pushed_at remarks repair report resets_at retry_at reused revision ring role rows script
    session_id since slot source stage state status stderr suites target text told tree undoes unlanded
    until url waived way written zone
    """.split()
)
"""Fields that are names, times, addresses, digests, commands or words of a fixed list."""
TYPED: Final = frozenset({(PullBlocked.kind, "why")})
"""Fields that have the name of a sentence, and are a word of a fixed list."""
OF_MOVES: Final = ("reason", "next_step", "other", "why", "question", "failures")


def test_every_text_of_an_event_is_known_as_words_or_as_code() -> None:
    names = {
        name
        for kind in KINDS.values()
        for name, hint in get_type_hints(kind).items()
        if name in kind.__struct_fields__ and ("str" in str(hint) or "Failure" in str(hint))
    }
    assert names == WORDS | CODE
    assert not WORDS & CODE


def loud(value: Any) -> Any:  # noqa: ANN401 - a field of an event or a move
    """Put a text in capitals, wherever it is."""
    match value:
        case str():
            return value.upper()
        case Failure():
            return replace(value, text=value.text.upper())
        case tuple():
            return tuple(loud(one) for one in value)
        case dict():
            return {name: loud(one) for name, one in value.items()}
        case _:
            return value


def shouted(entry: Entry) -> Entry:
    """Return an entry with its sentences in capitals."""
    event: Event = entry.event
    names = WORDS & {*event.__struct_fields__} - {name for kind, name in TYPED if kind == event.kind}
    return replace(entry, event=replace(event, **{name: loud(getattr(event, name)) for name in names}))


def move_after(run: str, options: RunOptions, entries: Iterable[Entry], now: str) -> dict[str, Any]:
    """Choose the next move, without regard to the case of its sentences."""
    move = kinds.next_move(fold(run, options, entries), now)
    fields = {name: loud(value) if name in OF_MOVES else value for name, value in asdict(move).items()}
    return {"move": type(move).__name__, **fields}


@contextmanager
def compared() -> Iterator[dict[tuple[str, int], bool]]:
    """Tell of each decision of a run, by the events before it, whether capitals would lead to the same."""
    same: dict[tuple[str, int], bool] = {}
    facts_of = Folds.facts

    def comparing(folds: Folds, session: Session, run: Run) -> Facts:
        told = events_of(session, folds.blobs, run.address)
        if told and (run.run, len(told)) not in same:
            aloud = [shouted(entry) for entry in told]
            same[run.run, len(told)] = all(
                move_after(run.run, run.options, told, now) == move_after(run.run, run.options, aloud, now)
                for now in (told[-1].at, LATER)
            )
        return facts_of(folds, session, run)

    with patch.object(Folds, "facts", comparing):
        yield same


def differing(seeds: Iterable[int]) -> Iterator[str]:
    """Play seeds; name each decision of a run that sentences in capitals would change."""
    with simulator() as play:
        for seed in seeds:
            with compared() as same:
                play.play(seed)
            assert same
            yield from (
                f"seed {seed}, {run} after {count}" for (run, count), is_so in same.items() if not is_so
            )


@pytest.mark.parametrize("seeds", [SEEDS, AUTHORED], ids=["runs", "authorings"])
def test_sentences_in_capitals_lead_to_the_same_moves(seeds: range) -> None:
    assert [*differing(seeds)] == []


def test_a_decision_by_the_first_words_of_a_sentence_is_found() -> None:
    """Planted: checks whose failure begins with certain words are not fixed, the run ends."""
    fix = next_move._fix

    def gullible(phase: PhaseFacts, last: AttemptFacts) -> moves.Move:
        told = any(failure.startswith("check ") for failure in last.failures)
        return moves.End("failed", "") if told else fix(phase, last)

    with patch.object(next_move, "_fix", gullible):
        assert next(differing(SEEDS), None) is not None
