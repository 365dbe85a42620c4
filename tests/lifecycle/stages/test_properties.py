"""Whatever agents hand in: a session ends, keeps what it accepted, traps nobody."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.lifecycle.authoring.options import Options, choose
from asbuilt.lifecycle.authoring.session_state import (
    Session,
    Unreadable,
    read_session,
    start,
    state_of,
)
from asbuilt.lifecycle.authoring.stage_machine import Ask, Finish, GiveUp, next_move
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.draft import missing_sections
from asbuilt.lifecycle.authoring.validators.promise_tag import is_promised
from asbuilt.lifecycle.authoring.validators.stage_validators import Setting, judge
from tests.lifecycle.stages.cases import FILES, PROMPT, load_all
from tests.lifecycle.stages.outputs import AROUND, PROMISE, good, submitted

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUTS = [case.output for case in load_all() if case.kind != "honest"]
WORDS = (
    "# Goal", "## Steps", "1. ", "- [ ] ", "```", "`", "<!--", "-->", "<promise>", "</promise>", PROMISE,
    "Option A:", "| a | b |", "|---|---|", "src/api/app.py", "../x.py", "P1 PASS", "---", "\u200b", "\x00",
    "\udcff", "**", "\n\n",
    "problem", "recommend", "{", "}", '{"verdicts": [', "한국어", "ß", "İ", " ", "> ", "/" * 40, "a." * 40,
)  # fmt: skip
NOISE = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)), max_size=30).map("".join)
PLAIN = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 12), st.text(max_size=5), st.sampled_from(list(Stage))
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["stage", "round", "text", "x"]), inner)
    ),
    max_leaves=6,
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    options = choose(
        refine_iterations=draw(st.integers(1, 4)),
        phases=draw(st.sampled_from([None, None, ["draft"], ["explore"], ["draft", "critique"], ["revise"]])),
        skip=draw(st.sets(st.sampled_from(["understand", "alternatives"]))),
        max_phases=draw(st.sampled_from([None, 0, 1, 4, 7])),
        critique_mode=draw(st.sampled_from(["principles", "open"])),
        attempt_limit=draw(st.integers(1, 3)),
    )
    assert isinstance(options, Options), options
    session = start(PROMPT, options, started_at="2026-01-12T09:00:00Z")
    assert isinstance(session, Session)
    return session


@st.composite
def histories(draw: st.DrawFn) -> tuple[Session, list[int]]:
    """Draw a session and what becomes of each ask: 0 is a good output, else one of the others."""
    return draw(sessions()), draw(st.lists(st.one_of(st.just(0), st.integers(0, len(OUTPUTS))), max_size=25))


def course(session: Session, picks: list[int]) -> Iterator[tuple[Session, str]]:
    """Play a session to its end, and tell why it ended; where the picks are used up, good outputs follow."""
    left = iter(picks)
    yield session, ""
    while not isinstance(move := next_move(session, AROUND), Finish):
        pick = next(left, 0)
        session, verdict = submitted(session, OUTPUTS[pick - 1] if pick else good(session))
        if isinstance(verdict, GiveUp):
            yield session, "gave_up"
            return
        yield session, ""
    yield session, move.exit_reason


def bound(session: Session) -> int:
    """Give the most steps that a session can take: one for each attempt, its start and its end."""
    return (len(session.options.stages) + 1) * session.options.attempt_limit + 2


@settings(max_examples=25, deadline=None)
@given(histories())
def test_a_session_ends_within_its_bounds_and_completes_only_by_promise_and_sections(
    history: tuple[Session, list[int]],
) -> None:
    states = list(course(*history))
    last, reason = states[-1]
    assert len(states) <= bound(last)
    if reason == "completed":
        assert is_promised(last.plan, last.options.completion_promise)
        assert missing_sections(last.plan, last.options.required_sections) == ()


@settings(max_examples=20, deadline=None)
@given(histories())
def test_an_accepted_output_is_never_lost(history: tuple[Session, list[int]]) -> None:
    states = list(course(*history))
    for (before, _), (after, _) in pairwise(states):
        assert after.records[: before.index] == before.records
        assert after.index - before.index in (0, 1)


@settings(max_examples=25, deadline=None)
@given(sessions())
def test_good_outputs_complete_every_sequence_that_its_limit_lets_through(session: Session) -> None:
    stages, limit = session.options.stages, session.options.max_phases
    needed = len(stages) + (stages[-1] is not Stage.REVISE)
    _, reason = list(course(session, []))[-1]
    assert reason == ("max_phases_reached" if 0 < limit < needed else "completed")


def _states() -> list[dict[str, Any]]:
    session = start(PROMPT, choose(refine_iterations=1), started_at="2026-01-12T09:00:00Z")
    assert isinstance(session, Session)
    return [state_of(one) for one, _ in course(session, [0, 1, 0, 2])]


STATES = _states()


@settings(max_examples=120, deadline=None)
@given(PLAIN)
def test_no_value_at_all_traps_whoever_reads_it(value: object) -> None:
    read = read_session(value)
    assert isinstance(read, Unreadable)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_damaged_state_is_read_or_reported(data: st.DataObject) -> None:
    state: dict[str, Any] = dict(data.draw(st.sampled_from(STATES)))
    for name in data.draw(st.lists(st.sampled_from(sorted(state)), min_size=1, max_size=3)):
        if data.draw(st.booleans()):
            state.pop(name, None)
        else:
            state[name] = data.draw(PLAIN)
    read = read_session(state)
    assert isinstance(read, Unreadable) or isinstance(next_move(read, AROUND), Ask)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(list(Stage)), NOISE, st.booleans())
def test_judging_is_total_and_noise_is_no_output(stage: Stage, text: str, is_final: bool) -> None:  # noqa: FBT001
    options = choose()
    assert isinstance(options, Options)
    setting = Setting(options=options, prompt=PROMPT, ask="", files=FILES, is_final=is_final)
    flaws = judge(stage, text, setting)
    assert flaws == judge(stage, text, setting)
    assert flaws


def test_a_course_that_is_cut_off_would_be_noticed() -> None:
    session = start(PROMPT, choose(attempt_limit=3), started_at="")
    assert isinstance(session, Session)
    refused = list(course(session, [1] * 25))
    assert (refused[-1][1], len(refused)) == ("gave_up", 4)
    finished = list(course(session, []))
    assert isinstance(next_move(finished[-2][0], AROUND), Finish)
