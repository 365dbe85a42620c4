"""What nobody has settled is put to a person; unattended, nothing is built on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.journal.encoding.codec import fields_of
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.proof.projects.model import Detected, NeedsDocker, Suite, Unknown
from asbuilt.proof.projects.recorded import proposal, written
from tests.lifecycle.plan_run.test_next_move import NOW, PROVEN, RESOLVED, RUN, VERIFIED, World
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.proof.projects.model import Resolved


def _key(tests: Resolved) -> str:
    """Return the key under which the run asks whether these are the tests."""
    proposed = proposal(tests)
    assert proposed is not None
    return proposed.of(RUN)


@given(st.data())
def test_unattended_nothing_is_built_on_tests_that_nobody_has_named(answers: st.DataObject) -> None:
    world = World({"mode": "finish", "auto": True}, answers)
    world.live()
    facts = world.facts()
    # A waiver is offered, and nobody is waited for; only an agent that stopped waits for a person.
    assert {move.kind for move in world.moves if isinstance(move, moves.Ask)} <= {"waiver", "agent"}
    if facts.tests is not None and proposal(facts.tests) is not None and not facts.tests_agreed:
        assert not facts.workspace


@given(st.data())
def test_no_agent_works_before_a_person_has_agreed_to_what_nobody_has_set(answers: st.DataObject) -> None:
    world = World({"mode": "phase"}, answers)
    world.live()
    facts = world.facts()
    begun = any(isinstance(one.event, AttemptBegun) for one in world.events)
    asks = [move for move in world.moves if isinstance(move, moves.Ask) and move.kind == "tests"]
    asked = [facts.approvals[move.key] for move in asks]
    if begun and facts.tests is not None:
        agreed = proposal(facts.tests) is None or facts.tests_agreed
        assert asked == ([] if agreed else ["yes"])


@pytest.mark.parametrize(
    ("source", "options", "told"),
    [
        ("given", {"auto": True}, moves.MakeWorkspace()),
        ("notests", {"auto": True}, moves.MakeWorkspace()),
        (
            "detected",
            {"auto": True},
            End(
                "failed",
                "no test command is set; found `uv run pytest -q` (pyproject.toml).",
                "asbuilt doctor --tests --save",
            ),
        ),
        (
            "unknown",
            {"auto": True},
            End(
                "failed",
                "no test command is set, and there is tests/all.sh.",
                'asbuilt config set checks.tests "<command>"',
            ),
        ),
        ("detected", {}, moves.MakeWorkspace()),
        (
            "unknown",
            {},
            moves.Ask(
                _key(Unknown(("tests/all.sh",))),
                "tests",
                "continue without tests? There is tests/all.sh, and no command that runs it is known",
            ),
        ),
    ],
)
def test_what_nobody_has_set_is_tried_asked_for_or_stops_the_run(
    source: str, options: dict[str, Any], told: Move
) -> None:
    started = ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}})
    resolved = ("tests.resolved", {"run": RUN, **RESOLVED[source]})
    assert next_move(fold(RUN, read_options(options), happened([started, resolved])), NOW) == told
    agreed = ("tests.resolved", {"run": RUN, **RESOLVED[source], "agreed": "a7"})
    assert (
        next_move(fold(RUN, read_options(options), happened([started, agreed])), NOW) == moves.MakeWorkspace()
    )


@pytest.mark.parametrize(
    ("is_checked", "baseline", "starts"),
    [
        (True, {"outcome": "PASS", "ran": 0}, True),
        (True, {"outcome": "PASS", "ran": 2}, False),
        (True, {"outcome": "INDETERMINATE"}, False),
        (False, {"outcome": "PASS", "ran": 0}, False),
    ],
)
def test_unattended_a_found_command_that_has_no_test_to_run_yet_stops_no_run_with_checks_of_its_own(
    baseline: dict[str, Any], *, is_checked: bool, starts: bool
) -> None:
    stops = End(
        "failed",
        "no test command is set; found `uv run pytest -q` (pyproject.toml).",
        "asbuilt doctor --tests --save",
    )
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"base": "b0", "phases": {"1": []}, "checked": is_checked}),
        ("tests.resolved", {**RESOLVED["detected"], "has_files": False}),
    ]
    made: list[tuple[str, dict[str, Any]]] = [
        ("workspace.made", {}), ("setup.done", {"outcome": "PASS"}), ("baseline.done", baseline),
    ]  # fmt: skip

    def chosen(*more: tuple[str, dict[str, Any]]) -> Move:
        entries = happened((name, {"run": RUN, **data}) for name, data in (*events, *more))
        return next_move(fold(RUN, read_options({"auto": True}), entries), NOW)

    assert chosen() == (moves.MakeWorkspace() if is_checked else stops)
    assert (chosen(*made) == stops) is not starts


@pytest.mark.parametrize("options", [{}, {"auto": True}])
def test_tests_that_start_containers_stop_a_run_and_name_what_checks_can_have(
    options: dict[str, Any],
) -> None:
    events = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("tests.resolved", {"run": RUN, **fields_of(written(NeedsDocker(("requirements.txt",))))}),
    ]
    assert next_move(fold(RUN, read_options(options), happened(events)), NOW) == End(
        "failed",
        "the tests start containers (see requirements.txt), and the sandbox has no Docker; checks.services"
        " starts Postgres, Redis or a program of your own beside each check.",
        'asbuilt config set checks.tests "<command without Docker>"',
    )


@pytest.mark.parametrize(
    ("baseline", "shown"),
    [
        (
            {"outcome": "PASS", "ran": 214, "failed": 0},
            "passed on main: 214 ran, 0 failed. Use it to prove phases?",
        ),
        (
            {"outcome": "FAIL", "ran": 214, "failed": 3},
            "failed on main: 3 of 214 tests already fail. Use it anyway?",
        ),
    ],
)
def test_the_question_names_the_command_and_what_it_showed(baseline: dict[str, Any], shown: str) -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("tests.resolved", {"run": RUN, **RESOLVED["detected"]}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, **baseline}),
    ]
    key = _key(Detected((Suite("", "uv run pytest -q"),), ()))
    question = f"`uv run pytest -q` {shown}"
    told = next_move(fold(RUN, RunOptions(branch="main"), happened(events)), NOW)
    assert told == moves.Ask(key, "tests", question)


def test_found_tests_that_prove_nothing_on_the_base_end_the_run_without_a_question() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("tests.resolved", {"run": RUN, **RESOLVED["detected"]}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, "outcome": "INDETERMINATE", "why": "exit 0, no summary"}),
    ]
    assert next_move(fold(RUN, RunOptions(branch="main"), happened(events)), NOW) == End(
        "failed",
        "the tests could not be run on the base, so new failures cannot be distinguished from old ones:"
        " exit 0, no summary.",
        'asbuilt config set checks.tests "<command>"',
        "prove with the plan's own checks alone: `asbuilt config set checks.tests none`",
    )


def _compared(point: str, *changed: str) -> list[tuple[str, dict[str, Any]]]:
    about = {"run": RUN, "phase": "1", "point": point, "commit": "c1"}
    differs = [("plan.differs", {**about, "intent": to}) for to in changed]
    return [*differs, ("plan.compared", {"run": RUN, "point": point})]


def test_with_auto_a_promise_that_changed_ends_the_run_before_it_lands() -> None:
    told = next_move(
        fold(RUN, RunOptions(auto=True, slug="p"), happened([*PROVEN, *_compared("1", "sha256:2")])), NOW
    )
    assert told == End(
        "failed",
        "the text of phase 1 was changed in the plan after it was frozen:"
        " nothing landed; the plan's branch has the proven commits",
        "`asbuilt land p`, which asks you about the change",
    )


def test_a_promise_that_changed_is_asked_about_once_and_again_when_it_changes_again() -> None:
    key = f"differs/c1/sha256:2/{RUN}"
    what = "the text of phase 1 was changed in the plan after it was frozen; continue with what was built?"
    ask = moves.Ask(key, "continue", what, "1")
    events: list[tuple[str, dict[str, Any]]] = [*PROVEN, *_compared("1", "sha256:2")]
    assert next_move(fold(RUN, RunOptions(), happened(events)), NOW) == ask
    events += [
        ("approval.asked", {"run": RUN, "key": key, "number": 1}),
        ("approval.answered", {"run": RUN, "key": key, "number": 1, "answer": "yes"}),
    ]
    assert next_move(fold(RUN, RunOptions(), happened(events)), NOW) == moves.ProveTogether()
    events += [
        ("together.done", {"run": RUN, "outcome": "PASS"}),
        ("report.written", {"run": RUN, "report": "d"}),
    ]
    same, other = _compared("landing", "sha256:2"), _compared("landing", "sha256:3")
    assert next_move(fold(RUN, RunOptions(), happened([*events, *same])), NOW) == End(
        "held", "proven; landing was not requested"
    )
    assert next_move(fold(RUN, RunOptions(), happened([*events, *other])), NOW) == replace(
        ask, key=f"differs/c1/sha256:3/{RUN}"
    )
    assert next_move(fold(RUN, RunOptions(), happened([*events, *_compared("landing")])), NOW) == End(
        "held", "proven; landing was not requested"
    )


def test_a_tree_that_cannot_be_kept_is_asked_about_and_kept_after_a_yes() -> None:
    refused = ("tree.refused", {"run": RUN, "phase": "1", "number": 1, "reason": "big.bin is too large."})
    key = f"{RUN}/keep/1/1/1"
    events = [*VERIFIED[:8], refused]
    assert next_move(fold(RUN, RunOptions(auto=True), happened(events)), NOW) == moves.Ask(
        key, "continue", "big.bin is too large. Try again?", "1"
    )
    for answer, move in (
        ("yes", moves.Keep("1", 1)),
        ("no", End("stopped", "phase 1: big.bin is too large.")),
    ):
        told = [*events, ("approval.answered", {"run": RUN, "key": key, "number": 1, "answer": answer})]
        assert next_move(fold(RUN, RunOptions(auto=True), happened(told)), NOW) == move


def test_without_a_ring_a_person_is_asked_once_in_a_repository_and_nothing_starts_unattended() -> None:
    started = {"run": RUN, "base": "b0", "phases": {"1": []}, "ring": "none"}
    unheld = [("run.started", started)]
    ask = moves.Ask(
        f"ring/none/{RUN}",
        "ring",
        "work without a sandbox? Agents and checks could write to any file that you can write to",
    )
    assert next_move(fold(RUN, RunOptions(), happened(unheld)), NOW) == ask
    assert next_move(fold(RUN, RunOptions(auto=True), happened(unheld)), NOW) == End(
        "failed",
        "Sandbox unavailable on this machine.",
        "asbuilt doctor",
        "work without a sandbox: `asbuilt config set sandbox.required false`",
    )
    for options, more in (
        ({}, {"ring_agreed": True}),
        ({"ring_required": False}, {}),
        ({}, {"ring": "bwrap"}),
    ):
        held = [("run.started", {**started, **more})]
        assert isinstance(
            next_move(fold(RUN, read_options(options), happened(held)), NOW), moves.ResolveTests
        )
