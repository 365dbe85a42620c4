"""Plans that are under review as pull requests, and when each is polled next: one row per plan.

Rule: the next poll is scheduled before the current one is made, so that only one worker makes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.json import encode

from asbuilt.errors import JournalDamaged
from asbuilt.events.approvals import ReviewAsked, ReviewClosed
from asbuilt.events.convert import convert
from asbuilt.journal.database.store import first
from asbuilt.journal.encoding.upcasts import look_in_words
from asbuilt.journal.events import append, hold
from asbuilt.journal.ids import Address
from asbuilt.journal.repositories import worked_in

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Row, Session

_COLUMNS: Final = (
    "org, repo, plan, run, pull, url, question, head, options, due_at, looks, troubles, looked_at, said"
)
_OF_PLAN: Final = "org = :org AND repo = :repo AND plan = :plan"
_SAME: Final = f"{_OF_PLAN} AND question = :question AND pull = :pull AND head = :head"
"""The row as it was read. If the plan was put under review again, the row differs and is left alone."""


class Terms(Struct, frozen=True):
    """Terms of a review, frozen when the plan is put under review."""

    approvers: tuple[str, ...]
    base: str
    """The branch that the plan would land on."""
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
    """Approvers, base branch and poll interval, frozen when the review was opened."""
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


def set_(session: Session, wanted: Review, *, actor: str) -> None:
    """Record that a plan is under review, in place of its earlier review."""
    hold(session, wanted.address)
    _delete(session, wanted.address)
    values = wanted._asdict() | {"options": json.dumps(msgspec.to_builtins(wanted.options), sort_keys=True)}
    names = ", ".join(f":{name}" for name in _COLUMNS.split(", "))
    session.run(f"INSERT INTO reviews ({_COLUMNS}) VALUES ({names})", **values)
    append(
        session,
        wanted.address,
        ReviewAsked(question=wanted.question, pull=wanted.pull, url=wanted.url),
        key=f"review/{wanted.question}/{wanted.pull}/{wanted.head[:12]}",
        actor=actor,
        run=wanted.run,
    )


def close(session: Session, review: Review, *, why: str, actor: str) -> None:
    """Stop polling a pull request that can no longer be decided on, and record why."""
    hold(session, review.address)
    if end(session, review):
        append(
            session,
            review.address,
            ReviewClosed(pull=review.pull, url=review.url, why=why),
            key=f"review/{review.question}/{review.pull}/closed/{session.now}",
            actor=actor,
            run=review.run,
        )


def end(session: Session, review: Review) -> bool:
    """Stop polling a plan; return False if the review was ended or replaced meanwhile."""
    return bool(session.run(f"DELETE FROM reviews WHERE {_SAME}", **_named(review)))


def find(session: Session, address: Address) -> Review | None:
    """Return the review of a plan, or None."""
    row = first(session.rows(f"SELECT {_COLUMNS} FROM reviews WHERE {_OF_PLAN}", **address._asdict()))
    return None if row is None else _review(row)


def is_due(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether a poll is due."""
    found = session.rows(
        f"SELECT 1 FROM reviews WHERE org = :org AND due_at <= :now{worked_in('reviews', machine)} LIMIT 1",
        org=org,
        machine=machine,
        now=session.now,
    )
    return bool(found)


def is_any(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether there is any review that needs a worker."""
    found = session.rows(
        f"SELECT 1 FROM reviews WHERE org = :org{worked_in('reviews', machine)} LIMIT 1",
        org=org,
        machine=machine,
    )
    return bool(found)


def next_due(session: Session, org: str, *, machine: str | None) -> Review | None:
    """Lock and return the review that is due next; reviews that another worker has locked are skipped."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM reviews WHERE org = :org AND due_at <= :now"
            f"{worked_in('reviews', machine)} ORDER BY due_at, plan LIMIT 1 FOR UPDATE SKIP LOCKED",
            org=org,
            machine=machine,
            now=session.now,
        )
    )
    return None if row is None else _review(row)


def put_off(session: Session, review: Review, *, until: str) -> None:
    """Set the time of the next poll, in case the current one records no result."""
    session.run(f"UPDATE reviews SET due_at = :until WHERE {_SAME}", **_named(review), until=until)


def looked(session: Session, review: Review, *, until: str) -> None:
    """Record a poll without a decision, and the time of the next poll."""
    session.run(
        "UPDATE reviews SET due_at = :until, looks = looks + 1, troubles = 0, looked_at = :now, said = NULL"
        f" WHERE {_SAME}",
        **_named(review),
        until=until,
        now=session.now,
    )


def troubled(session: Session, review: Review, *, failed: LookFailed, until: str) -> None:
    """Record a failed poll, and the time of the next try."""
    session.run(
        f"UPDATE reviews SET due_at = :until, troubles = troubles + 1, said = :said WHERE {_SAME}",
        **_named(review),
        said=encode(failed).decode(),
        until=until,
    )


def _named(review: Review) -> dict[str, object]:
    return {name: getattr(review, name) for name in ("org", "repo", "plan", "question", "pull", "head")}


def _delete(session: Session, address: Address) -> None:
    session.run(f"DELETE FROM reviews WHERE {_OF_PLAN}", **address._asdict())


def _terms(text: str) -> Terms:
    try:
        return convert(json.loads(text), Terms)
    except msgspec.ValidationError as error:
        raise JournalDamaged(
            "the terms of a review in the journal cannot be read",
            why=f"{error}. asbuilt does not know who may decide without them.",
            next_step="asbuilt doctor checks the journal; a backup of it may have the terms whole.",
        ) from error


def _review(row: Row) -> Review:
    return Review(**{**row, "options": _terms(row["options"])})
