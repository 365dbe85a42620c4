"""Plans that are under review as pull requests, and when each is polled next: one row per plan.

Rule: the next poll is scheduled before the current one is made, so that only one worker makes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.json import encode

from asbuilt.errors import JournalDamaged
from asbuilt.events.approvals import ReviewAsked, ReviewClosed
from asbuilt.events.convert import convert
from asbuilt.journal.database.table import OF_PLAN, Table, insert
from asbuilt.journal.encoding.upcasts import look_in_words
from asbuilt.journal.events import append, hold
from asbuilt.journal.ids import Address
from asbuilt.journal.repositories import worked_in

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_SAME: Final = f"{OF_PLAN} AND question = :question AND pull = :pull AND head = :head"
"""The row as it was read. If the plan was put under review again, the row differs and is left alone."""


class Terms(Struct, frozen=True):
    """Terms of a review, frozen when the plan is put under review."""

    approvers: tuple[str, ...]
    base: str
    poll_s: int


class LookFailed(Struct, frozen=True, omit_defaults=True):
    """Why the worker could not query the forge, and what the user can do about it."""

    what: str
    why: str = ""
    next: str = ""


class Review(NamedTuple):
    """A plan under review."""

    org: str
    repo: str
    plan: str
    run: str
    """The run that opened the review; its folder has the environment for the forge."""
    pull: int
    url: str
    question: int
    head: str
    """The commit with the text that the question is about."""
    options: Terms
    due_at: str
    looks: int = 0
    """Number of polls that found no decision on this text."""
    troubles: int = 0
    """Number of failed polls in a row; `said` has the last error."""
    looked_at: str | None = None
    said: str | None = None
    """JSON of `LookFailed`."""

    @property
    def failed(self) -> LookFailed | None:
        """Return why the last poll failed; None if it succeeded."""
        if not self.said:
            return None
        try:
            return convert(json.loads(self.said), LookFailed)
        except (MsgspecError, ValueError):
            return LookFailed(*look_in_words(self.said))

    @property
    def address(self) -> Address:
        """Return the plan's address."""
        return Address(self.org, self.repo, self.plan)


def _review(*, options: str, **row: Any) -> Review:  # noqa: ANN401 - columns
    try:
        return Review(**row, options=convert(json.loads(options), Terms))
    except msgspec.ValidationError as error:
        raise JournalDamaged(
            "the terms of a review in the journal cannot be read",
            why=f"{error}. asbuilt does not know who may decide without them.",
            next_step="`asbuilt doctor` checks the journal; a backup may have the complete terms.",
        ) from error


_REVIEWS: Final = Table("reviews", _review, Review._fields)


def set_(session: Session, wanted: Review, *, actor: str) -> None:
    """Record that a plan is under review, in place of its earlier review."""
    hold(session, wanted.address)
    session.run(f"DELETE FROM reviews WHERE {OF_PLAN}", **wanted.address._asdict())
    options = json.dumps(msgspec.to_builtins(wanted.options), sort_keys=True)
    insert(session, "reviews", **wanted._asdict() | {"options": options})
    event = ReviewAsked(question=wanted.question, pull=wanted.pull, url=wanted.url)
    key = f"review/{wanted.question}/{wanted.pull}/{wanted.head[:12]}"
    append(session, wanted.address, event, key=key, actor=actor, run=wanted.run)


def close(session: Session, review: Review, *, why: str, actor: str) -> None:
    """Stop polling a pull request that can no longer be decided on, and record why."""
    hold(session, review.address)
    if end(session, review):
        event = ReviewClosed(pull=review.pull, url=review.url, why=why)
        key = f"review/{review.question}/{review.pull}/closed/{session.now}"
        append(session, review.address, event, key=key, actor=actor, run=review.run)


def end(session: Session, review: Review) -> bool:
    """Stop polling a plan; return False if the review was ended or replaced meanwhile."""
    return bool(session.run(f"DELETE FROM reviews WHERE {_SAME}", **_named(review)))


def find(session: Session, address: Address) -> Review | None:
    """Return the review of a plan, or None."""
    return _REVIEWS.first(session, OF_PLAN, **address._asdict())


def is_due(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether a poll is due."""
    where = f"org = :org AND due_at <= :now{worked_in('reviews', machine)}"
    return _REVIEWS.has(session, where, org=org, machine=machine, now=session.now)


def is_any(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether there is any review that needs a worker."""
    return _REVIEWS.has(session, f"org = :org{worked_in('reviews', machine)}", org=org, machine=machine)


def next_due(session: Session, org: str, *, machine: str | None) -> Review | None:
    """Lock and return the review that is due next; reviews that another worker has locked are skipped."""
    due = f"org = :org AND due_at <= :now{worked_in('reviews', machine)}"
    order = "ORDER BY due_at, plan LIMIT 1 FOR UPDATE SKIP LOCKED"
    return _REVIEWS.first(session, f"{due} {order}", org=org, machine=machine, now=session.now)


def put_off(session: Session, review: Review, *, until: str) -> None:
    """Set the time of the next poll, in case the current one records no result."""
    session.run(f"UPDATE reviews SET due_at = :until WHERE {_SAME}", **_named(review), until=until)


def looked(session: Session, review: Review, *, until: str) -> None:
    """Record a poll without a decision, and the time of the next poll."""
    change = "due_at = :until, looks = looks + 1, troubles = 0, looked_at = :now, said = NULL"
    named = _named(review)
    session.run(f"UPDATE reviews SET {change} WHERE {_SAME}", **named, until=until, now=session.now)


def record_failure(session: Session, review: Review, *, failed: LookFailed, until: str) -> None:
    """Record a failed poll, and the time of the next try."""
    change = f"UPDATE reviews SET due_at = :until, troubles = troubles + 1, said = :said WHERE {_SAME}"
    session.run(change, **_named(review), said=encode(failed).decode(), until=until)


def _named(review: Review) -> dict[str, object]:
    return {name: getattr(review, name) for name in ("org", "repo", "plan", "question", "pull", "head")}
