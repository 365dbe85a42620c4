from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from asbuilt.lifecycle.critique.additions import AddedCheck, Additions, State, with_additions
from asbuilt.lifecycle.critique.anchors import outline_of
from asbuilt.lifecycle.critique.convergence import (
    GoOn,
    Over,
    Round,
    Who,
    carried,
    decide,
    fold,
    may_judge,
    show,
)
from asbuilt.lifecycle.critique.findings import (
    PRINCIPLES,
    Answer,
    Critique,
    Finding,
    Judgement,
    Kind,
    Level,
    Outcome,
    PlanLine,
)
from asbuilt.plan.reader import read
from tests.lifecycle.critique.test_reading import PLAN

AUTHOR, CRITIC = Who("claude", "p1"), Who("codex", "p2")
MENDED = PLAN.replace("Client uses RetryPolicy", "Client uses RetryPolicy; after 6 attempts it gives up")
MOVED = MENDED.replace("## Goal", "Reasons first.\n\n## Goal")
EARLIER = PLAN.replace("## Phase 2 — Client", "## Phase 3 — Client").replace(
    "## Phase 1 — Helper", "## Phase 1 — Ground\n\n- [ ] Agree\n\n## Phase 2 — Helper"
)


def _at(plan: str, text: str) -> int:
    return next(number for number, line in enumerate(plan.split("\n"), 1) if text in line)


def _found(plan: str, item: str = "Client uses", **changes: Any) -> Finding:  # noqa: ANN401 - any part of a finding
    line = _at(plan, item)
    piece = outline_of(plan).at(line)
    assert piece is not None
    cited = (PlanLine(line, plan.split("\n")[line - 1]),)
    finding = Finding(
        "P4", piece.anchor, Kind.MISSING, Level.MATERIAL, f"No word on failure of {item}.", cited
    )
    return finding._replace(**changes)


def _judged(*findings: Finding, answers: tuple[Answer, ...] = ()) -> Critique:
    rows = tuple(Judgement(name, Outcome.PASS, (PlanLine(5, "A"),)) for name in PRINCIPLES)
    return Critique(rows, findings, answers)


def _round(plan: str, critique: Critique, *, critic: Who = CRITIC) -> Round:
    return Round(plan, AUTHOR, critic, critique, frozenset({"claude", "codex"}))


def _states(*rounds: Round) -> list[tuple[str, State, tuple[int, ...]]]:
    return [(one.id, one.state, one.raised) for one in fold(rounds)]


def _answer(plan: str, item: str) -> Answer:
    return Answer("F1", is_resolved=True, evidence=(PlanLine(_at(plan, item), item),))


def test_a_finding_is_known_again_where_its_lines_have_moved_and_its_words_are_others() -> None:
    first = _found(PLAN)
    again = _found(MOVED, text="It stays open how the client fails.", kind=Kind.VAGUE)
    (standing,) = fold([_round(PLAN, _judged(first)), _round(MOVED, _judged(again))])
    assert (standing.id, standing.raised, standing.state) == ("F1", (1, 2), State.OPEN)
    assert standing.wordings == (first.text, again.text)
    assert standing.finding.anchor == again.anchor


def test_a_finding_is_known_again_in_a_phase_that_was_renumbered() -> None:
    rounds = [_round(PLAN, _judged(_found(PLAN))), _round(EARLIER, _judged(_found(EARLIER)))]
    assert [(one.raised, one.finding.anchor.phase) for one in fold(rounds)] == [((1, 2), "3")]


class Other(NamedTuple):
    what: str
    finding: Finding


@pytest.mark.parametrize(
    "other",
    [
        Other("principle", _found(PLAN, principle="P5")),
        Other("place", _found(PLAN, "Give-up error")),
        Other("kind", _found(PLAN, kind=Kind.EXCESS)),
        Other("kin in one critique", _found(PLAN, kind=Kind.VAGUE)),
    ],
    ids=lambda other: other.what,
)
def test_another_principle_place_or_kind_is_another_finding(other: Other) -> None:
    assert len(fold([_round(PLAN, _judged(_found(PLAN), other.finding))])) == 2


def test_what_is_said_twice_is_one_finding_at_the_higher_level_with_all_evidence() -> None:
    low = _found(PLAN, level=Level.NOTE)
    high = _found(PLAN, level=Level.BLOCKING, text="It cannot be built.", evidence=(PlanLine(5, "A sync"),))
    (standing,) = fold([_round(PLAN, _judged(low, high))])
    assert standing.finding.level is Level.BLOCKING
    assert standing.finding.text == "It cannot be built."
    assert standing.wordings == (low.text, high.text)
    assert standing.finding.evidence == (*low.evidence, *high.evidence)


def test_changed_text_resolves_a_finding() -> None:
    answer = _answer(MENDED, "Client uses")
    rounds = _round(PLAN, _judged(_found(PLAN))), _round(MENDED, _judged(answers=(answer,)))
    assert _states(*rounds) == [("F1", State.RESOLVED, (1,))]
    assert decide(rounds, limit=4, principles=PRINCIPLES) == Over(is_agreed=True, additions=Additions())


@pytest.mark.parametrize(
    ("answers", "critic"),
    [
        pytest.param((), CRITIC, id="silence"),
        pytest.param((_answer(MENDED, "Cover it"),), CRITIC, id="text that stood there before"),
        pytest.param((_answer(MENDED, "Client uses")._replace(evidence=()),), CRITIC, id="no evidence"),
        pytest.param((_answer(MENDED, "Client uses"),), AUTHOR, id="the author's own word"),
        pytest.param((_answer(MENDED, "Client uses"),), Who("claude", "p3"), id="the author's agent"),
    ],
)
def test_nothing_else_resolves_one(answers: tuple[Answer, ...], critic: Who) -> None:
    rounds = _round(PLAN, _judged(_found(PLAN))), _round(MENDED, _judged(answers=answers), critic=critic)
    assert _states(*rounds) == [("F1", State.OPEN, (1,))]


def test_what_is_called_resolved_and_found_again_is_open() -> None:
    critique = _judged(_found(MENDED), answers=(_answer(MENDED, "Client uses"),))
    rounds = _round(PLAN, _judged(_found(PLAN))), _round(MENDED, critique)
    assert _states(*rounds) == [("F1", State.OPEN, (1, 2))]


@pytest.mark.parametrize(
    ("item", "level", "state"),
    [
        ("Client uses", Level.MATERIAL, State.OPEN),
        ("Cover it", Level.MATERIAL, State.LATE),
        ("Cover it", Level.BLOCKING, State.OPEN),
    ],
)
def test_new_findings_in_old_text_hold_nobody_up_unless_they_block(
    item: str, level: Level, state: State
) -> None:
    rounds = _round(PLAN, _judged()), _round(MENDED, _judged(_found(MENDED, item, level=level)))
    assert _states(*rounds) == [("F1", state, (2,))]


def test_what_came_late_is_carried_though_all_agree() -> None:
    rounds = _round(PLAN, _judged()), _round(MENDED, _judged(_found(MENDED, "Cover it")))
    question = "F1 (P4, phase 1, “Cover it with tests”): No word on failure of Cover it."
    assert decide(rounds, limit=4, principles=PRINCIPLES) == Over(
        is_agreed=True, additions=Additions(questions=(question,))
    )


def test_what_is_found_again_in_text_that_was_agreed_upon_is_late() -> None:
    rounds = (
        _round(PLAN, _judged(_found(PLAN))),
        _round(MENDED, _judged(answers=(_answer(MENDED, "Client uses"),))),
        _round(MENDED, _judged(_found(MENDED))),
    )
    assert _states(*rounds) == [("F1", State.LATE, (1, 3))]


def test_when_the_rounds_are_used_up_what_is_open_becomes_checks_and_questions() -> None:
    command = "pytest -q tests/test_give_up.py"
    found = (
        _found(PLAN, check=command),
        _found(PLAN, "Give-up error", check=command),
        _found(PLAN, "Cover it"),
        _found(PLAN, "Move the request", level=Level.MINOR),
    )
    rounds = [_round(PLAN, _judged(*found))]
    assert isinstance(decide(rounds, limit=2, principles=PRINCIPLES), GoOn)
    assert decide(rounds, limit=1, principles=PRINCIPLES) == Over(
        is_agreed=False,
        additions=Additions(
            (AddedCheck("2", command, ("F1", "F2")),),
            ("F3 (P4, phase 1, “Cover it with tests”): No word on failure of Cover it.",),
        ),
    )


def test_what_was_open_is_carried_into_a_revision_that_nobody_judges_any_more() -> None:
    rounds = [_round(PLAN, _judged(_found(PLAN, check="pytest -q tests/test_give_up.py")))]
    assert carried(rounds, EARLIER, principles=PRINCIPLES) == Additions(
        (AddedCheck("3", "pytest -q tests/test_give_up.py", ("F1",)),)
    )


def test_a_plan_that_nobody_has_judged_is_not_agreed_upon() -> None:
    rounds = [_round(PLAN, Critique(_judged().verdicts[:5]))]
    left = PRINCIPLES[5:]
    assert decide(rounds, limit=2, principles=PRINCIPLES) == GoOn((), left)
    question = f"Nobody but the author has judged {', '.join(left)}: does the plan hold there?"
    assert decide(rounds, limit=1, principles=PRINCIPLES) == Over(
        is_agreed=False, additions=Additions(questions=(question,))
    )


def test_finding_nothing_is_enough_where_enough_was_judged() -> None:
    assert decide([_round(PLAN, _judged())], limit=2, principles=PRINCIPLES) == Over(
        is_agreed=True, additions=Additions()
    )


@pytest.mark.parametrize(
    ("critic", "agents", "may"),
    [
        (Who("codex", "p2"), {"claude", "codex"}, True),
        (Who("claude", "p2"), {"claude"}, True),
        (Who("claude", "p2"), {"claude", "codex"}, False),
        (Who("claude", "p1"), {"claude"}, False),
        (Who("codex", "p1"), {"claude", "codex"}, False),
    ],
)
def test_nobody_judges_what_it_wrote(critic: Who, agents: set[str], may: bool) -> None:  # noqa: FBT001
    assert (may_judge(critic, [AUTHOR], agents) is None) is may


def test_round_one_sees_the_plan_and_later_ones_what_changed_and_what_is_open() -> None:
    whole = show([], PLAN)
    assert [part.text for part in whole.parts] == [PLAN]
    rounds = [_round(PLAN, _judged(_found(PLAN), _found(PLAN, "Cover it")))]
    later = show(rounds, MENDED)
    assert [(part.phase, part.line) for part in later.parts] == [("2", _at(MENDED, "## Phase 2"))]
    assert "Client uses RetryPolicy; after 6" in later.parts[0].text
    assert "Move the request" not in later.parts[0].text
    assert [(one.id, one.finding.anchor.item) for one in later.open] == [
        ("F1", "Client uses RetryPolicy; after 6 attempts it gives up"),
        ("F2", "Cover it with tests"),
    ]
    assert show(rounds, PLAN).parts == ()


def test_a_phase_that_lost_a_line_has_changed() -> None:
    shorter = PLAN.replace("- [ ] Cover it with tests\n", "")
    assert [part.phase for part in show([_round(PLAN, _judged())], shorter).parts] == ["1"]


def _checks(plan: str) -> dict[str, list[str]]:
    return {phase.id: [one.command for one in phase.checks] for phase in read(plan.encode()).phases}


def test_what_is_carried_stands_in_the_plan_and_all_else_is_as_it_was() -> None:
    added = Additions(
        (AddedCheck("1", "pytest -q a.py", ("F1",)), AddedCheck("2", "make lint", ("F2",))), ("F3: who?",)
    )
    written = with_additions(PLAN, added)
    assert written == PLAN.replace(
        "- [ ] Cover it with tests\n",
        "- [ ] Cover it with tests\n\n### Verification\n\n- `pytest -q a.py`\n",
    ).replace("test_client.py`\n", "test_client.py`\n- `make lint`\n").replace("None.\n", "- F3: who?\n")
    assert _checks(written) == {"1": ["pytest -q a.py"], "2": ["pytest -q tests/test_client.py", "make lint"]}
    assert with_additions(written, Additions(added.checks)) == written


@pytest.mark.parametrize(
    ("plan", "written"),
    [
        ("# A\r\n\r\nwords", "# A\r\n\r\nwords\r\n\r\n## Open Questions\r\n\r\n- why?\r\n"),
        ("# A\n## Questions\n\n- how?\n\n## Risks\n", "# A\n## Questions\n\n- how?\n- why?\n\n## Risks\n"),
        ("# A\n## Offene Fragen\n", "# A\n## Offene Fragen\n\n- why?\n"),
        ("\ufeff# A\n## Open Questions\nn/a\n", "\ufeff# A\n## Open Questions\n- why?\n"),
    ],
)
def test_a_question_is_put_where_questions_are(plan: str, written: str) -> None:
    assert with_additions(plan, Additions(questions=("why?",))) == written


def test_the_last_phase_keeps_its_checks_where_questions_begin() -> None:
    plan = "# A\n\n## Phase 1: B\n\n- [ ] c"
    added = Additions((AddedCheck("1", "make x", ("F1",)), AddedCheck("1", "make y", ("F2",))), ("why?",))
    assert with_additions(plan, added) == (
        f"{plan}\n\n### Verification\n\n- `make x`\n- `make y`\n\n## Open Questions\n\n- why?\n"
    )


@pytest.mark.parametrize("command", ["(", "README.md"])
def test_a_command_that_no_reader_would_run_is_asked_about(command: str) -> None:
    added = _over(_round(PLAN, _judged(_found(PLAN, check=command)))).additions
    question = "F1 (P4, phase 2, “Client uses RetryPolicy”): No word on failure of Client uses."
    assert added == Additions(questions=(question,))


def test_a_checklist_carries_what_its_groups_can_be_held_to() -> None:
    plan = "# A\n\n## Prepare\n\n- [ ] one\n- [ ] two\n"
    added = _over(_round(plan, _judged(_found(plan, "two", check="pytest -q")))).additions
    assert added == Additions((AddedCheck("prepare", "pytest -q", ("F1",)),))
    assert _checks(with_additions(plan, added)) == {"prepare": ["pytest -q"]}


def _over(*rounds: Round) -> Over:
    end = decide(rounds, limit=1, principles=PRINCIPLES)
    assert isinstance(end, Over)
    return end
