"""What the reviews of a plan's pull request say of its draft, and when they are looked at. Pure.

The one rule: only who is named may bind, and only by a review of the very commit that holds the text.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.lifecycle.approving import Question
    from asbuilt.lifecycle.forge import Comment, Review

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
    """What they said, and every remark at a line: findings for whoever drafts again."""


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


def decide(
    reviews: Iterable[Review], comments: Iterable[Comment], *, head: str, approvers: Sequence[str]
) -> Decision:
    """Read reviews, the oldest first: each one's last word counts, and sending back outweighs a yes."""
    if not approvers:
        return Undecided("approvals.plan names nobody: anybody could review it, so no review decides")
    last: dict[str, Review] = {}
    for one in reviews:
        if one.commit == head and one.state in _DECIDES and _may(approvers, one.by):
            last[one.by] = one
    for one in last.values():
        if one.state == "changes_requested":
            return SentBack(FORGE + one.by, _note(one, comments))
    approved = next((one for one in last.values() if one.state == "approved"), None)
    return Bound(FORGE + approved.by) if approved else Undecided("nobody of approvals.plan has reviewed it")


def _may(approvers: Sequence[str], login: str) -> bool:
    return any(fnmatchcase(FORGE + login, name) for name in approvers)


def _note(review: Review, comments: Iterable[Comment]) -> str:
    """Gather what was said, the remarks at lines that are still part of the text with them."""
    at_lines = [f"line {one.line}: {one.body.strip()}" for one in comments if one.line is not None]
    return (
        "\n".join([text for text in (review.body.strip(), *at_lines) if text])[:_NOTE] or "changes requested"
    )
