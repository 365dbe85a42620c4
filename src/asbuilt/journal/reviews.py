"""Which plans reviewers have as a pull request, and when each is looked at next: one row a plan.

The one rule: a look is put off before it is made, so that of several workers one makes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.json import decode, encode

from asbuilt.errors import JournalDamaged
from asbuilt.events.approvals import ReviewAsked, ReviewClosed
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
"""The row as it was read: put to reviewers anew meanwhile, it is another one, and left alone."""


class Terms(Struct, frozen=True):
    """How a plan is reviewed, frozen when it is put to reviewers."""

    approvers: tuple[str, ...]
    base: str
    """The branch that the plan would go onto."""
    poll_s: int


class LookFailed(Struct, frozen=True, omit_defaults=True):
    """Why the worker could not query the forge, and what the user can do about it."""

    what: str
    why: str = ""
    next: str = ""


class Review(NamedTuple):
    """A plan that reviewers have."""

    org: str
    repo: str
    plan: str
    run: str
    """Who has put it to them; what leads to the forge is kept in its folder."""
    pull: int
    url: str
    question: int
    head: str
    """The commit that holds the text which the question is about."""
    options: Terms
    """Who may decide, onto which branch it would go and at which pace it is looked at, frozen when opened."""
    due_at: str
    looks: int = 0
    """So many looks have found nobody who decides on this text."""
    troubles: int = 0
    """So many looks in a row were none, by what was `said`."""
    looked_at: str | None = None
    said: str | None = None
    """JSON of `LookFailed`."""

    @property
    def failed(self) -> LookFailed | None:
        """Return why the last look failed; None where it did not."""
        if not self.said:
            return None
        try:
            return decode(self.said, type=LookFailed)
        except MsgspecError:
            return LookFailed(*look_in_words(self.said))

    @property
    def address(self) -> Address:
        """Return where its plan's events stand."""
        return Address(self.org, self.repo, self.plan)


def set_(session: Session, wanted: Review, *, actor: str) -> None:
    """Write down that reviewers have a plan, in place of what they had of it."""
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
    """Look at a pull request no more that nobody can decide on, and say why."""
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
    """Look at a plan no more; False when somebody has ended it or put it to reviewers anew."""
    return bool(session.run(f"DELETE FROM reviews WHERE {_SAME}", **_named(review)))


def find(session: Session, address: Address) -> Review | None:
    """Return what reviewers have of a plan."""
    row = first(session.rows(f"SELECT {_COLUMNS} FROM reviews WHERE {_OF_PLAN}", **address._asdict()))
    return None if row is None else _review(row)


def is_due(session: Session, org: str, *, machine: str | None) -> bool:
    """Tell whether anything is to be looked at now."""
    found = session.rows(
        f"SELECT 1 FROM reviews WHERE org = :org AND due_at <= :now{worked_in('reviews', machine)} LIMIT 1",
        org=org,
        machine=machine,
        now=session.now,
    )
    return bool(found)


def is_any(session: Session, org: str, *, machine: str | None) -> bool:
    """Tell whether a worker has to be there for any."""
    found = session.rows(
        f"SELECT 1 FROM reviews WHERE org = :org{worked_in('reviews', machine)} LIMIT 1",
        org=org,
        machine=machine,
    )
    return bool(found)


def next_due(session: Session, org: str, *, machine: str | None) -> Review | None:
    """Hold the plan that is to be looked at next; one that another worker holds is passed over."""
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
    """Write down when a plan is looked at next, if nothing comes of this look."""
    session.run(f"UPDATE reviews SET due_at = :until WHERE {_SAME}", **_named(review), until=until)


def looked(session: Session, review: Review, *, until: str) -> None:
    """Write down that nobody who may has decided on this text, and when it is looked at again."""
    session.run(
        "UPDATE reviews SET due_at = :until, looks = looks + 1, troubles = 0, looked_at = :now, said = NULL"
        f" WHERE {_SAME}",
        **_named(review),
        until=until,
        now=session.now,
    )


def troubled(session: Session, review: Review, *, failed: LookFailed, until: str) -> None:
    """Write down what kept a look from being one, and when it is tried again."""
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
        return msgspec.convert(json.loads(text), Terms)
    except msgspec.ValidationError as error:
        raise JournalDamaged(
            "the terms of a review in the journal cannot be read",
            why=f"{error}. asbuilt does not know who may decide without them.",
            next_step="asbuilt doctor checks the journal; a backup of it may have the terms whole.",
        ) from error


def _review(row: Row) -> Review:
    return Review(**{**row, "options": _terms(row["options"])})
