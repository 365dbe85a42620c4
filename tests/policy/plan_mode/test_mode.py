"""The permission mode of a conversation: entered, asked to leave, approved, rejected; by any way, left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from asbuilt.policy.plan_mode.mode import (
    Answered,
    Asked,
    Bounced,
    Changed,
    Entered,
    ExitAsked,
    Fed,
    ModeSet,
    Prompted,
    Refused,
    Request,
    State,
    Told,
    TurnEnded,
    has_auto,
    is_approved,
    is_dangerous,
    offers_entry,
    rules_in_force,
    step,
)
from asbuilt.policy.plan_mode.reminders import FULL, SPARSE, Notice, words

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.mode import Event, Mode, Said, Who

RULES = ("Bash", "Bash(git *)", "Bash(*)", "Edit", "Agent", "Agent(Explore)")
EXIT_NOTICE = Told(Notice("plan_mode_exit"))


def _all(state: State, *events: Event) -> tuple[State, list[Said]]:
    said: list[Said] = []
    for event in events:
        state, more = step(state, event)
        said += more
    return state, said


def _planning(before: Mode = "default", **fields: object) -> State:
    begun = State(mode=before, **fields)  # type: ignore[arg-type]  # a test names fields of a State
    return step(begun, Entered(who="person"))[0]


ASKS = ExitAsked(who="agent", name="r1", plan="/p.md", content="# Plan", digest="d1")
YES = Answered(name="r1", approved=True, digest="d1")
NO = Answered(name="r1", approved=False, digest="d1")


# Entering.


def test_a_person_enters_at_once_and_the_mode_is_saved() -> None:
    assert step(State(mode="acceptEdits"), Entered(who="person"))[0] == State(
        mode="plan", before="acceptEdits", turns=5
    )


def test_an_agent_enters_once_a_person_has_agreed() -> None:
    asked, said = step(State(mode="acceptEdits"), Entered(who="agent", name="r0"))
    request = Request(kind="enter", name="r0")
    assert (asked.mode, said) == ("acceptEdits", (Asked(request, "Enter plan mode?"),))
    agreed, _ = step(asked, Answered(name="r0", approved=True))
    assert agreed == _planning("acceptEdits")
    refused, _ = step(asked, Answered(name="r0", approved=False))
    assert refused == State(mode="acceptEdits")


def test_entering_again_saves_nothing_anew() -> None:
    planning = _planning("acceptEdits")
    assert step(planning, Entered(who="person")) == (planning, ())


def test_a_subagent_cannot_enter() -> None:
    refused = Refused("EnterPlanMode tool cannot be used in agent contexts")
    assert step(State(), Entered(who="subagent")) == (State(), (refused,))


@pytest.mark.parametrize("who", ["agent", "teammate", "required teammate"])
def test_nobody_enters_where_no_approver_can_be_reached(who: Who) -> None:
    state, said = step(State(approver=False), Entered(who=who))
    assert (state, [type(one) for one in said]) == (State(approver=False), [Refused])


@pytest.mark.parametrize(
    ("state", "who", "offered"),
    [
        (State(), "agent", True),
        (State(), "subagent", False),
        (State(approver=False), "agent", False),
        (State(mode="plan", before="auto"), "agent", False),
    ],
)
def test_the_tool_to_enter_is_listed_only_where_it_may_be_used(
    state: State, who: Who, *, offered: bool
) -> None:
    assert offers_entry(state, who) is offered


# Auto mode and the user's rules.


@pytest.mark.parametrize(
    ("before", "wanted", "auto"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("default", True, True),
        ("default", False, False),
        ("acceptEdits", True, True),
        ("bypassPermissions", True, False),
    ],
)
def test_auto_mode_during_planning(before: Mode, *, wanted: bool, auto: bool) -> None:
    state = _planning(before, auto_during_plan=wanted, rules=RULES)
    assert has_auto(state) is auto
    stripped = ("Bash(git *)", "Edit", "Agent(Explore)") if auto else RULES
    assert rules_in_force(state) == stripped


def test_another_setting_takes_effect_at_once_but_over_bypass() -> None:
    on = Changed(auto_during_plan=True)
    assert has_auto(step(_planning("default"), on)[0])
    assert not has_auto(step(_planning("bypassPermissions"), on)[0])


@pytest.mark.parametrize(
    ("rule", "dangerous"),
    [
        ("Bash", True),
        ("Bash(*)", True),
        ("Bash(:*)", True),
        ("Bash()", True),
        ("Bash(git status)", False),
        ("Agent", True),
        ("Write", False),
        ("Edit(*)", False),
    ],
)
def test_a_rule_is_dangerous_if_it_allows_all_of_a_tool_that_runs_things(
    rule: str, *, dangerous: bool
) -> None:
    assert is_dangerous(rule) is dangerous


# Leaving.


def test_an_exit_outside_of_plan_mode_is_refused() -> None:
    state, said = step(State(), ASKS)
    assert (state, said) == (
        State(),
        (Refused("You are not in plan mode, so there is nothing to exit."),),
    )


def test_an_approved_exit_restores_the_mode_of_before() -> None:
    asked, said = step(_planning("acceptEdits"), ASKS)
    assert [one.question for one in said if isinstance(one, Asked)] == ["Exit plan mode?"]
    assert asked.mode == "plan"
    assert _all(asked, YES)[0] == State(
        mode="acceptEdits", approved="d1", notices=(Notice("plan_mode_exit"),), planned=True
    )


def test_a_rejected_exit_stays_in_plan_mode() -> None:
    state, said = _all(_planning(), ASKS, replace(NO, feedback="add tests"))
    assert (state.mode, said[1:]) == ("plan", [Fed("add tests")])


def test_where_auto_mode_has_shut_an_exit_leads_to_default_and_says_so() -> None:
    state, said = _all(_planning("auto"), Changed(auto_shut="too many refusals"), ASKS, YES, Prompted())
    assert state.mode == "default"
    told = [one.notice for one in said if isinstance(one, Told)]
    assert words(told[1], plan="/p.md") == ("plan exit -> default · auto mode unavailable: too many refusals")


def test_a_person_cannot_choose_auto_mode_where_it_is_shut() -> None:
    state, said = step(State(auto_shut="offline"), ModeSet(mode="auto"))
    assert (state.mode, said) == ("default", (Refused("Auto mode is not available: offline."),))


def test_a_required_teammate_needs_a_plan_and_waits_for_its_lead() -> None:
    empty = ExitAsked(who="required teammate", name="r1")
    assert [type(one) for one in step(_planning(), empty)[1]] == [Refused]
    asks = replace(ASKS, who="required teammate", sender="worker-1", at="2026-01-02T03:04:05Z")
    state, (asked,) = step(_planning(), asks)
    assert isinstance(asked, Asked)
    assert (state.mode, asked.request.to, asked.request.to_lead()) == (
        "plan",
        "lead",
        {
            "type": "plan_approval_request",
            "from": "worker-1",
            "timestamp": "2026-01-02T03:04:05Z",
            "planFilePath": "/p.md",
            "planContent": "# Plan",
            "requestId": "r1",
        },
    )


def test_a_teammate_that_planned_of_its_own_will_leaves_without_approval() -> None:
    assert step(_planning("auto"), ExitAsked(who="teammate"))[0].mode == "auto"


# Approvals.


def test_an_approval_is_of_the_plan_that_was_shown_and_of_no_other() -> None:
    asked, _ = step(_planning(), ASKS)
    state, said = step(asked, replace(YES, digest="d2"))
    assert (state, [type(one) for one in said]) == (asked, [Refused])
    approved, _ = step(asked, YES)
    assert (is_approved(approved, "d1"), is_approved(approved, "d2"), is_approved(approved, "")) == (
        True,
        False,
        False,
    )


def test_an_answer_to_an_old_request_is_none() -> None:
    state, said = _all(_planning(), ASKS, replace(ASKS, name="r2", digest="d2"), YES)
    assert (state.mode, said[-1]) == ("plan", Refused("Nothing waits for this answer."))


def test_a_plan_that_was_rejected_with_words_has_to_change() -> None:
    rejected, _ = _all(_planning(), ASKS, replace(NO, feedback="add tests"))
    same, said = step(rejected, replace(ASKS, name="r2"))
    assert (same, said) == (
        rejected,
        (Refused("This plan was rejected, and it has not changed since."),),
    )
    _, said = step(rejected, replace(ASKS, name="r2", digest="d2"))
    assert isinstance(said[0], Asked)


def test_after_a_rejection_without_a_word_the_person_is_asked_once() -> None:
    again = replace(ASKS, name="r2", digest="d2")
    state, said = _all(_planning(), ASKS, NO, again, again, again)
    assert [one for one in said if isinstance(one, Bounced)] == [Bounced()]
    assert [type(one) for one in said[2:]] == [Refused] * 3
    _, said = _all(state, Prompted(), again)
    assert isinstance(said[-1], Asked)


# What the agent is told.


def test_after_an_exit_the_agent_is_told_once() -> None:
    _, said = _all(_planning(), ASKS, YES, Prompted(), Prompted(), Prompted())
    assert [one for one in said if isinstance(one, Told)] == [EXIT_NOTICE]


def test_out_and_in_again_tells_of_the_entry_alone() -> None:
    out = ExitAsked(who="person")
    _, said = _all(_planning(), Prompted(), out, Entered(who="person"), Prompted())
    told = [one.notice for one in said if isinstance(one, Told)]
    assert told == [
        Notice("plan_mode", full=True),
        Notice("plan_mode_reentry"),
        Notice("plan_mode", full=True),
    ]


def test_in_out_and_in_between_two_prompts_contradicts_nothing() -> None:
    enter, out = Entered(who="person"), ExitAsked(who="person")
    _, said = _all(State(), enter, out, enter, out, Prompted())
    assert said == [EXIT_NOTICE]


def test_reminders_come_every_fifth_prompt_of_a_person_and_are_full_at_the_1st_6th_and_11th() -> None:
    state, told = _planning(), []
    for turn in range(1, 57):
        state, _ = step(state, Prompted(human=False))
        state, said = step(state, Prompted())
        told += [(turn, one.notice.full) for one in said if isinstance(one, Told)]
    assert told == [(1 + 5 * count, count in (0, 5, 10)) for count in range(12)]


def test_the_words_name_the_plan_file() -> None:
    assert words(Notice("plan_mode"), plan="/p.md") == SPARSE.format(plan="/p.md")
    assert words(Notice("plan_mode", full=True), plan="/p.md").count("/p.md") == FULL.count("{plan}")
    assert len(FULL) > 2_000


@pytest.mark.parametrize(
    ("state", "asks", "ends"),
    [
        (State(), False, True),
        (_planning(), False, False),
        (_planning(), True, True),
        (step(_planning(), ASKS)[0], False, True),
    ],
)
def test_a_turn_in_plan_mode_ends_with_a_question_or_a_request(
    state: State, *, asks: bool, ends: bool
) -> None:
    _, said = step(state, TurnEnded(asks=asks))
    assert (said == ()) is ends
