"""Who binds a plan by a review, and what a review that sends it back says."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.forge import Comment, Review, ReviewState
from asbuilt.lifecycle.reviewing import Bound, Decision, SentBack, Undecided, decide

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
