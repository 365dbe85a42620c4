"""Decisions of reviewers on a draft in a pull request, and when to poll for them. Pure.

Rule: only an approver decides, and only by a review of the exact commit with the text. An approver is named
in full, or matches a pattern and has write permission: anyone can register a login that matches a pattern.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from asbuilt.lifecycle.approval import Question
    from asbuilt.lifecycle.pull_request.forge import Comment, Review

FORGE: Final = "github:"
"""Prefix of logins at the forge: `github:ada` is not the user `ada` of a machine."""
_DECIDES: Final = ("approved", "changes_requested", "dismissed")
_NOTE: Final = 4_000
_SLOWEST: Final = 10
"""Maximum factor of the poll interval: reviews take hours, and a forge limits requests."""


class Bound(NamedTuple):
    """An approver approved the text."""

    by: str


class SentBack(NamedTuple):
    """An approver requested changes."""

    by: str
    note: str
    """Reviews of all approvers that request changes, with their line comments, by login."""


class Undecided(NamedTuple):
    """No approver has decided."""

    why: str


Decision = Bound | SentBack | Undecided


class Look(NamedTuple):
    """Poll the forge for reviews of this question."""

    question: Question


class Rest(NamedTuple):
    """The author is working; there is nothing to review now."""


class Over(NamedTuple):
    """No review is awaited any more."""


Due = Look | Rest | Over


def due(asked: Question | None, run: str, *, is_over: bool) -> Due:
    """Choose what to do for a plan under review; `run` asked the question and may have ended."""
    if asked is not None and asked.run == run and asked.answer is None:
        return Look(asked)
    return Over() if is_over else Rest()


def wait_s(poll_s: int, looks: int) -> int:
    """Return the seconds until the next poll: 1, 2, 3 … 10 intervals, by the number of polls so far."""
    return poll_s * min(looks + 1, _SLOWEST)


def to_ask_about(reviews: Iterable[Review], *, head: str, approvers: Sequence[str]) -> frozenset[str]:
    """Return the logins that a pattern names, and so need write permission to decide."""
    return frozenset(
        review.by
        for review in reviews
        if _is_deciding(review, head) and FORGE + review.by not in approvers and _fits(approvers, review.by)
    )


def decide(
    reviews: Iterable[Review],
    comments: Iterable[Comment],
    *,
    head: str,
    approvers: Sequence[str],
    writers: Collection[str] = (),
) -> Decision:
    """Decide by reviews, the oldest first: each approver's last review counts, and a no outweighs a yes.

    `writers` are the logins of `to_ask_about` that have write permission.
    """
    if not approvers:
        return Undecided("approvals.plan is empty, so no review can approve the plan")
    last: dict[str, Review] = {}
    strangers: list[str] = []
    for review in reviews:
        if not _is_deciding(review, head):
            continue
        if FORGE + review.by in approvers or (_fits(approvers, review.by) and review.by in writers):
            last[review.by] = review
        elif _fits(approvers, review.by):
            strangers.append(FORGE + review.by)
    against = [review for review in last.values() if review.state == "changes_requested"]
    if against:
        return SentBack(FORGE + against[0].by, _note(against, tuple(comments)))
    approved = next((review for review in last.values() if review.state == "approved"), None)
    if approved is not None:
        return Bound(FORGE + approved.by)
    unable = f"; {strangers[-1]} has, and may not write to the repository" if strangers else ""
    return Undecided(f"no user in approvals.plan has reviewed it{unable}")


def _is_deciding(review: Review, head: str) -> bool:
    return review.commit == head and review.state in _DECIDES


def _fits(approvers: Sequence[str], login: str) -> bool:
    return any(fnmatchcase(FORGE + login, name) for name in approvers)


def _note(reviews: Iterable[Review], comments: Sequence[Comment]) -> str:
    """Collect each review's text and its comments on lines that are still part of the change."""
    lines: list[str] = []
    for review in reviews:
        lines.append(f"{FORGE}{review.by}: {review.body.strip() or 'changes requested'}")
        lines += [
            f"{FORGE}{remark.by}, line {remark.line}: {remark.body.strip()}"
            for remark in comments
            if (remark.review, remark.by) == (review.id, review.by) and remark.line is not None
        ]
    return "\n".join(lines)[:_NOTE]
