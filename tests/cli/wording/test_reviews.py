"""What people are told of a plan that reviewers have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from asbuilt.cli.wording.reviews import under_review
from asbuilt.journal.approvals import Approval
from asbuilt.journal.reviews import Review, Terms

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
AT = "2026-01-02T03:00:05.000Z"
ASKED = Approval(
    number=1, key="plan/i/1/r1", plan="plans/hey.md", run="r1", phase=None, kind="plan", question="approve?",
    intent="i", asked_by="asbuilt", asked_at=AT, answer=None, answered_by=None, answered_at=None, note=None,
)  # fmt: skip
REVIEW = Review(
    "local", "shop", "plans/hey.md", "r1", 7, "https://forge/7", 1, "a" * 40, Terms((), "main", 30), due_at=AT
)
TRANSIENT_ERROR = "no login Why: gh said so. Next: gh auth."


@pytest.mark.parametrize(
    ("review", "words"),
    [
        (None, ""),
        (REVIEW._replace(question=2), ""),
        (REVIEW, "In review: https://forge/7, not polled yet."),
        (REVIEW._replace(looked_at=AT), "In review: https://forge/7, polled 4m ago."),
        (
            REVIEW._replace(looked_at=AT, said=TRANSIENT_ERROR),
            "In review: https://forge/7, polled 4m ago. The last poll failed: no login. gh auth.",
        ),
        (
            REVIEW._replace(said='{"what": "no login", "why": "gh said so.", "next": "gh auth."}'),
            "In review: https://forge/7, not polled yet. The last poll failed: no login. gh auth.",
        ),
        (
            REVIEW._replace(said="disk full"),
            "In review: https://forge/7, not polled yet. The last poll failed: disk full.",
        ),
    ],
)
def test_a_plan_that_reviewers_have_says_when_it_was_looked_at_and_what_hinders(
    review: Review | None, words: str
) -> None:
    assert under_review(review, ASKED, NOW) == words
