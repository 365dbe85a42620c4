from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options_json import read_options
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.pull_request.invariants import Left, broken, warnings
from asbuilt.lifecycle.run.moves import Wait, until_answered
from tests.support.happened import happened

RUN = "r1"
AT = "2026-11-15T02:00:00.000Z"
SOON = "2026-11-15T02:00:10.000Z"
LATE = "2026-11-15T02:20:00.000Z"
Events = list[tuple[str, dict[str, Any]]]
PR = {"kind": "land", "landing": "pr", "auto": True}
UNFINISHED = "its checks have not finished within 600 s of the push"
URL = "pull request #7 (u)"


def said(kind: str, **data: object) -> tuple[str, dict[str, Any]]:
    return kind, {"run": RUN, **data}


READY: Events = [
    said("run.started", base="b", phases={"1": []}, unlanded=[["1", "r0", "a"]], done=["1"]),
    said("tests.resolved", source="given", command="true", found=[]),
    said("setup.done", outcome="PASS"),
    said("baseline.done", outcome="PASS"),
    said("plan.compared", point="0"),
]
PUSHED = said("pull.pushed", branch="feat/p", head="h", target="t", pushed_at=AT)
OPENED = said("pull.opened", number=7, url="u")
OPEN: Events = [*READY, said("pull.seen", state="none", asked_at=AT), PUSHED, OPENED]


def seen(**data: object) -> tuple[str, dict[str, Any]]:
    told = {
        "state": "open",
        "asked_at": AT,
        "head": "h",
        "target": "t",
        "checks": "green",
        "mergeable": "yes",
    }
    return said("pull.seen", **{**told, **data})


def move(events: Events, options: dict[str, Any] = PR, now: str = SOON) -> str:
    return repr(next_move(fold(RUN, read_options(options), happened(events)), now))


def test_what_is_proven_is_looked_for_pushed_proposed_watched_merged_and_concluded() -> None:
    events: Events = [
        said("pull.seen", state="none", asked_at=AT),
        PUSHED,
        said("pull.seen", state="none", asked_at=AT, head="h"),
        OPENED,
        seen(),
        said("pull.merging", number=7, head="h"),
        said("pull.merged", number=7),
        seen(state="merged"),
        said("landing.done", new="n", branch="main", commits=[["1", "r0", "a", "A"]]),
        said("plan.marked"),
        said("landing.tidied"),
        said("issues.told"),
        said("pull.invariants", broken=[]),
    ]
    options = {**PR, "issues": [12]}
    assert [move([*READY, *events[:count]], options) for count in range(len(events) + 1)] == [
        "Look()", "Push()", "Look()", "Propose()", "Look()", "Merge()", "Merge()", "Look()", "Land()",
        "Mark()", "Tidy()", "CloseIssues()", "CheckInvariants()",
        "End(state='landed', reason='', next_step='', other='')",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "now", "expected"),
    [
        (
            {"checks": "pending"},
            SOON,
            repr(Wait(WaitReason.CHECKS, "the checks of pull request #7", "2026-11-15T02:00:30.000Z")),
        ),
        ({"checks": "pending"}, LATE, "Look()"),
        (
            {"checks": "pending", "asked_at": LATE},
            LATE,
            f"End(state='pr-ready', reason='{URL} is open; {UNFINISHED}', next_step='', other='')",
        ),
        (
            {"mergeable": "unknown"},
            SOON,
            repr(Wait(WaitReason.CHECKS, "the checks of pull request #7", "2026-11-15T02:00:30.000Z")),
        ),
        (
            {"mergeable": "no"},
            SOON,
            (
                f"End(state='pr-ready', reason='{URL} is green, but the forge reports that it cannot"
                " be merged', next_step='', other='')"
            ),
        ),
        ({"head": "theirs"}, SOON, "Push()"),
        ({"target": "moved"}, SOON, "Push()"),
        (
            {"state": "closed"},
            SOON,
            (
                f"End(state='stopped', reason='{URL} was closed; all proven commits are kept',"
                " next_step='', other='')"
            ),
        ),
        ({"state": "merged"}, SOON, "Land()"),
    ],
)
def test_what_the_forge_says_decides_what_comes_next(
    found: dict[str, object], now: str, expected: str
) -> None:
    assert move([*OPEN, seen(**found)], now=now) == expected


def test_a_forge_without_checks_is_believed_the_second_time() -> None:
    assert move([*OPEN, seen(checks="none")]).startswith("Wait(")
    assert move([*OPEN, seen(checks="none"), seen(checks="none")]) == "Merge()"


def test_only_who_asked_for_a_landing_gets_a_merge() -> None:
    works: Events = [
        said("phase.begun", phase="1", intent="i"),
        said("phase.proven", phase="1", commit="a"),
        said("plan.compared", point="1"),
        said("together.done", outcome="PASS"),
        said("report.written", report="d"),
        said("plan.compared", point="landing"),
    ]
    run: Events = [
        said("run.started", base="b", phases={"1": []}),
        *READY[1:4],
        said("workspace.made"),
        *works,
        *OPEN[5:],
        seen(),
    ]
    options = {"landing": "pr", "hold": False}
    assert move(run, {**options, "auto": True}) == "Merge()"
    assert move(run, {**options, "auto": False}) == (
        f"End(state='pr-ready', reason='{URL} is proven and green; merge it when you are ready',"
        " next_step='', other='')"
    )
    assert move(run, {**options, "hold": True}).startswith("End(state='held'")


def test_a_target_that_moves_too_often_is_a_persons() -> None:
    moved: Events = [
        one
        for target in ("t2", "t3")
        for one in (
            seen(target=target),
            said("pull.pushed", branch="feat/p", head="h", target=target, pushed_at=AT),
        )
    ]
    assert move([*OPEN, *moved, seen(target="t3")]) == "Merge()"
    assert move([*OPEN, *moved, seen(target="t4")]) == (
        f"End(state='pr-ready', reason='{URL} is green;  has moved again, 3 times', next_step='', other='')"
    )


def test_a_merge_that_the_forge_refuses_is_looked_at_again_and_told() -> None:
    refused = said("pull.refused", why="needs a review")
    assert move([*OPEN, seen(), refused]) == "Look()"
    assert move([*OPEN, seen(), refused, seen(target="moved")]) == "Push()"
    assert move([*OPEN, seen(), refused, seen()]) == (
        f"End(state='pr-ready', reason='{URL} is green, but the forge refused to merge it: needs a review'"
        ", next_step='', other='')"
    )


def test_red_checks_are_mended_proven_and_pushed() -> None:
    told = "failures=(\"the forge's check build fails\", 'its log')"
    events: Events = [
        seen(checks="red", failing=["build"], excerpt="its log"),
        said("attempt.begun", phase="ci_checks", number=1, role="fix"),
        said("attempt.ended", phase="ci_checks", number=1, ending="done"),
        said("tree.kept", phase="ci_checks", number=1, commit="c", tree="x", changed=True),
        said("checks.done", phase="ci_checks", number=1, outcome="PASS"),
        said("pull.mended", repair="ci_checks", number=1, tree="x", commit="m"),
    ]
    attempt = f"Attempt(phase='ci_checks', number=1, role='fix', {told})"
    assert [move([*OPEN, *events[:count]]) for count in range(1, len(events) + 1)] == [
        attempt, attempt, "Keep(phase='ci_checks', number=1)", "Check(phase='ci_checks', number=1)",
        "Mend(repair='ci_checks', number=1)", "Push()",
    ]  # fmt: skip


def test_after_so_many_fixes_a_person_is_asked_and_yes_gives_as_many_again() -> None:
    options = {**PR, "pull": {"fixes": 0}}
    red = seen(checks="red", failing=["build"])
    what = f"pr-ci-failing: build of {URL} fails after 0 fixes"
    key = f"{RUN}/pull/ci/1"
    asked = said("approval.asked", key=key, number=1)
    assert move([*OPEN, red], options) == (
        f"Ask(key='{key}', kind='continue', question='{what}; try again?', phase=None, intent=None)"
    )
    assert move([*OPEN, red, asked], options) == repr(until_answered(key))
    no = said("approval.answered", key=key, number=1, answer="no")
    assert (
        move([*OPEN, red, asked, no], options)
        == f"End(state='pr-ci-failing', reason='{what}', next_step='', other='')"
    )
    yes = said("approval.answered", key=key, number=1, answer="yes")
    assert move([*OPEN, red, asked, yes], options) == "Look()"
    assert move([*OPEN, red, asked, yes, seen()], options) == "Merge()"
    again = move([*OPEN, red, asked, yes, red], {**PR, "pull": {"fixes": 1}})
    assert again.startswith("Attempt(phase='ci_checks', number=1")


@pytest.mark.parametrize(("files", "expected"), [(1, "Attempt("), (5, "Attempt("), (6, "Ask(")])
def test_a_conflict_in_few_files_is_an_agents_and_in_many_a_persons(files: int, expected: str) -> None:
    paths = [f"{number}.py" for number in range(files)]
    blocked = said("pull.blocked", why="conflict", what="w", next="n", paths=paths, commit="a", here="t")
    assert move([*OPEN[:6], blocked]).startswith(expected)


def test_what_else_is_in_the_way_is_asked_once_for_each_time() -> None:
    blocked = said("pull.blocked", why="red", what="It is red.", next="Mend it.")
    events = [*OPEN[:6], blocked]
    key = f"{RUN}/pull/blocked/1"
    question = "It is red. Mend it. Continue then?"
    assert move(events) == (
        f"Ask(key='{key}', kind='continue', question='{question}', phase=None, intent=None)"
    )
    yes = [
        said("approval.asked", key=key, number=1),
        said("approval.answered", key=key, number=1, answer="yes"),
    ]
    look = said("pull.seen", state="none", asked_at=AT)
    assert [move([*events, *yes]), move([*events, *yes, look])] == ["Look()", "Push()"]
    assert move([*events, *yes, look, blocked]).startswith(f"Ask(key='{RUN}/pull/blocked/2'")
    no = said("approval.answered", key=key, number=1, answer="no")
    assert move([*events, yes[0], no]) == "End(state='failed', reason='It is red.', next_step='', other='')"


def test_a_stop_waits_for_a_merge_that_was_begun() -> None:
    facts = fold(RUN, read_options(PR), happened([*OPEN, seen(), said("pull.merging", number=7, head="h")]))
    facts.stop = "enough"
    assert repr(next_move(facts, SOON)) == "Merge()"


def test_what_a_pull_request_has_brought_is_not_taken_back_here() -> None:
    events = [said("run.started", base="b", phases={"1": []}, of="r0", undoes=[["1", "r0", "a", "A"]])]
    assert move(events, {"kind": "undo", "landing": "pr"}) == (
        "End(state='failed', reason='work that landed by a pull request is reverted by another one, at the"
        " forge', next_step='', other='')"
    )


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (Left(folders=("/w",)), "a workspace is still on disk: /w"),
        (Left(registered=("r/main",)), "git still lists a workspace: r/main"),
        (Left(branch="cp-p"), "the branch cp-p still exists"),
        (Left(pushed="feat/p"), "the branch feat/p still exists at the forge"),
        (Left(has_report=False), "no report was written"),
        (Left(under_way=("2",)), "the plan marks phase 2 as in progress"),
        (Left(state="open"), "the pull request is open"),
    ],
)
def test_each_invariant_that_is_broken_is_named(left: Left, words: str) -> None:
    assert (broken(left), warnings(left, "main")) == ([words], [])


def test_a_target_that_went_its_own_way_is_a_warning() -> None:
    left = Left(is_reconcilable=False)
    assert (broken(left), warnings(left, "main")) == (
        [], ["your main and the forge's have diverged"],
    )  # fmt: skip
