"""Who binds a plan by a review, and what a review that sends it back says."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.approving import Question
from asbuilt.lifecycle.forge import Comment, Review, ReviewState
from asbuilt.lifecycle.reviewing import (
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
    wait_s,
)

HEAD, OLD = "a" * 40, "b" * 40
NOBODY = Undecided("nobody of approvals.plan has reviewed it")


def review(by: str, state: ReviewState, commit: str = HEAD, body: str = "") -> Review:
    return Review(id=1, by=by, state=state, body=body, commit=commit, at="2026-01-02T03:04:05Z")


def remark(line: int | None, body: str) -> Comment:
    return Comment(id=1, by="eve", path="plans/p.md", line=line, body=body, at="2026-01-02T03:04:05Z")


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
            SentBack("github:lead-1", "no\nline 3: smaller\nline 9: why?"),
        ),
        ([review("eve", "changes_requested"), review("lead-2", "approved")], Bound("github:lead-2")),
    ],
)
def test_only_the_last_word_of_who_may_on_this_very_text_counts(
    reviews: list[Review], decision: Decision
) -> None:
    remarks = [remark(3, "smaller\n"), remark(None, "of another text"), remark(9, "why?")]
    assert decide(reviews, remarks, head=HEAD, approvers=["ada", "github:lead-*"]) == decision


def test_where_nobody_is_named_no_review_binds() -> None:
    said = decide([review("eve", "approved")], [], head=HEAD, approvers=[])
    assert said == Undecided("approvals.plan names nobody: anybody could review it, so no review decides")


def test_a_login_is_not_a_users_name() -> None:
    assert decide([review("ada", "approved")], [], head=HEAD, approvers=["ada"]) == NOBODY


def test_a_review_without_words_says_at_least_that() -> None:
    said = decide([review("ada", "changes_requested")], [], head=HEAD, approvers=["github:ada"])
    assert said == SentBack("github:ada", "changes requested")


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
