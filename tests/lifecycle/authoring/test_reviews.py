"""Who binds a plan by a review, and what a review that sends it back says."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.approval import Question
from asbuilt.lifecycle.authoring.reviews import (
    Bound,
    Decision,
    Due,
    Look,
    Over,
    Rest,
    SentBack,
    Undecided,
    decide,
    due,
    to_ask_about,
    wait_s,
)
from asbuilt.lifecycle.pull_request.forge import Comment, Review, ReviewState

HEAD, OLD = "a" * 40, "b" * 40
NOBODY = Undecided("no user in approvals.plan has reviewed it")


def review(by: str, state: ReviewState, commit: str = HEAD, body: str = "", number: int = 1) -> Review:
    return Review(id=number, by=by, state=state, body=body, commit=commit, at="2026-01-02T03:04:05Z")


def remark(line: int | None, body: str, by: str = "lead-1", sent: int | None = 1) -> Comment:
    at = "2026-01-02T03:04:05Z"
    return Comment(id=1, by=by, path="plans/p.md", line=line, body=body, at=at, review=sent)


@pytest.mark.parametrize(
    ("reviews", "decision"),
    [
        ([], NOBODY),
        ([review("lead-1", "approved")], Bound("github:lead-1")),
        ([review("eve", "approved")], NOBODY),
        ([review("lead-1", "approved", OLD)], NOBODY),
        ([review("lead-1", "commented")], NOBODY),
        ([review("lead-1", "approved"), review("lead-1", "commented")], Bound("github:lead-1")),
        ([review("lead-1", "approved"), review("lead-1", "dismissed")], NOBODY),
        ([review("lead-1", "changes_requested"), review("lead-1", "approved")], Bound("github:lead-1")),
        (
            [review("lead-1", "changes_requested", body="no"), review("lead-2", "approved")],
            SentBack(
                "github:lead-1",
                "github:lead-1: no\ngithub:lead-1, line 3: smaller\ngithub:lead-1, line 9: why?",
            ),
        ),
        (
            [
                review("lead-2", "changes_requested", number=2),
                review("lead-1", "changes_requested", body="no", number=7),
            ],
            SentBack(
                "github:lead-2",
                "github:lead-2: changes requested\ngithub:lead-2, line 5: mine\ngithub:lead-1: no",
            ),
        ),
        ([review("eve", "changes_requested"), review("lead-2", "approved")], Bound("github:lead-2")),
    ],
)
def test_only_the_last_word_of_who_may_on_this_very_text_counts(
    reviews: list[Review], decision: Decision
) -> None:
    remarks = [
        remark(3, "smaller\n"),
        remark(None, "of another text"),
        remark(4, "a stranger's, alone", "eve", None),
        remark(4, "a stranger's, in an approver's review", "eve"),
        remark(4, "the approver's, of another review", sent=6),
        remark(5, "mine", "lead-2", 2),
        remark(9, "why?"),
    ]
    approvers = ["ada", "github:lead-*"]
    asked = to_ask_about(reviews, head=HEAD, approvers=approvers)
    assert decide(reviews, remarks, head=HEAD, approvers=approvers, writers=asked) == decision


@pytest.mark.parametrize("approvers", [["*"], ["github:*"], ["github:lea?"], ["*", "github:ada"]])
def test_a_login_that_only_a_pattern_names_decides_if_it_may_write(approvers: list[str]) -> None:
    reviews = [review("lead", "approved"), review("lead", "commented"), review("eve", "commented")]
    assert to_ask_about(reviews, head=HEAD, approvers=approvers) == {"lead"}
    assert decide(reviews, [], head=HEAD, approvers=approvers) == Undecided(
        "no user in approvals.plan has reviewed it; github:lead has, and may not write to the repository"
    )
    assert decide(reviews, [], head=HEAD, approvers=approvers, writers={"lead"}) == Bound("github:lead")


@pytest.mark.parametrize("login", ["lead", "dependabot[bot]"])
def test_a_login_that_is_named_in_full_needs_no_permission(login: str) -> None:
    reviews, approvers = [review(login, "approved")], ["*", f"github:{login}"]
    assert to_ask_about(reviews, head=HEAD, approvers=approvers) == frozenset()
    assert decide(reviews, [], head=HEAD, approvers=approvers) == Bound(f"github:{login}")


def test_where_nobody_is_named_no_review_binds() -> None:
    said = decide([review("eve", "approved")], [], head=HEAD, approvers=[])
    assert said == Undecided("approvals.plan is empty, so no review can approve the plan")


def test_a_login_is_not_a_users_name() -> None:
    assert decide([review("ada", "approved")], [], head=HEAD, approvers=["ada"]) == NOBODY


def test_a_review_without_words_says_at_least_that() -> None:
    said = decide([review("ada", "changes_requested")], [], head=HEAD, approvers=["github:ada"])
    assert said == SentBack("github:ada", "github:ada: changes requested")


def question(answer: str | None, run: str = "r1") -> Question:
    return Question("a1", run, "intent", 1, is_again=False, answer=answer)


@pytest.mark.parametrize(
    ("asked", "is_over", "comes"),
    [
        (question(None), False, Look(question(None))),
        (question(None), True, Look(question(None))),
        (question("no"), False, Rest()),
        (question("yes"), False, Rest()),
        (None, False, Rest()),
        (question(None, run="r2"), False, Rest()),
        (question(None, run="r2"), True, Over()),
        (question("yes"), True, Over()),
        (question("withdrawn"), True, Over()),
    ],
)
def test_reviewers_are_asked_while_a_question_of_the_run_waits_and_until_the_run_is_over(
    asked: Question | None, *, is_over: bool, comes: Due
) -> None:
    # Each is empty, and equal to every other empty tuple: what tells them apart is what they are.
    now = due(asked, "r1", is_over=is_over)
    assert (type(now), now) == (type(comes), comes)


def test_the_longer_nobody_decides_the_rarer_a_plan_is_looked_at_down_to_every_ten_paces() -> None:
    assert [wait_s(30, looks) for looks in (0, 1, 2, 8, 9, 10, 1000)] == [30, 60, 90, 270, 300, 300, 300]
