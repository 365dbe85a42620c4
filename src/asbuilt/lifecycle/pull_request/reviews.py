"""What the reviews of a plan's pull request say of its draft, and when they are looked at. Pure.

The one rule: only an approver decides, and only by a review of the very commit that holds the text. An
approver is named in full, or named by a pattern and able to write to the repository: anybody can register a
login that fits a pattern.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from asbuilt.lifecycle.approval import Question
    from asbuilt.lifecycle.pull_request.forge import Comment, Review

FORGE: Final = "github:"
"""What stands before a login where people are named: `github:ada` is not the user `ada` of a machine."""
_DECIDES: Final = ("approved", "changes_requested", "dismissed")
_NOTE: Final = 4_000
_SLOWEST: Final = 10
"""At most so many paces lie between two looks: people take hours, and a forge counts requests."""


class Bound(NamedTuple):
    """Somebody who may has approved the text."""

    by: str


class SentBack(NamedTuple):
    """Somebody who may wants another text."""

    by: str
    note: str
    """What each approver said who sends it back, with the remarks at lines of that review, by login."""


class Undecided(NamedTuple):
    """Nobody who may has decided."""

    why: str


Decision = Bound | SentBack | Undecided


class Look(NamedTuple):
    """Ask the forge what the reviewers say to this question."""

    question: Question


class Rest(NamedTuple):
    """Its author is at work; there is nothing to review now."""


class Over(NamedTuple):
    """Nobody is asked any more."""


Due = Look | Rest | Over


def due(asked: Question | None, run: str, *, is_over: bool) -> Due:
    """Choose what becomes of a plan that reviewers have; `run` has put it to them, and may be over."""
    if asked is not None and asked.run == run and asked.answer is None:
        return Look(asked)
    return Over() if is_over else Rest()


def wait_s(poll_s: int, looks: int) -> int:
    """Say for how long nobody looks after so many looks at the same text: longer each time."""
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
    """Read reviews, the oldest first: each approver's last one counts, and sending back outweighs a yes.

    `writers` are the logins of `to_ask_about` that may write to the repository.
    """
    if not approvers:
        return Undecided("approvals.plan names nobody: anybody could review it, so no review decides")
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
    return Undecided(f"nobody of approvals.plan has reviewed it{unable}")


def _is_deciding(review: Review, head: str) -> bool:
    return review.commit == head and review.state in _DECIDES


def _fits(approvers: Sequence[str], login: str) -> bool:
    return any(fnmatchcase(FORGE + login, name) for name in approvers)


def _note(reviews: Iterable[Review], comments: Sequence[Comment]) -> str:
    """Gather each review's text and its own remarks at lines that are still part of the change."""
    lines: list[str] = []
    for review in reviews:
        lines.append(f"{FORGE}{review.by}: {review.body.strip() or 'changes requested'}")
        lines += [
            f"{FORGE}{remark.by}, line {remark.line}: {remark.body.strip()}"
            for remark in comments
            if (remark.review, remark.by) == (review.id, review.by) and remark.line is not None
        ]
    return "\n".join(lines)[:_NOTE]
