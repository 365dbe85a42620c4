"""Questions to users and their answers. Rule: the first answer counts; later callers get the first answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.questions import (
    DriftKey,
    QuestionKind,
    SandboxKey,
    StoppedKey,
    TestsKey,
    WaiverKey,
    is_about_work,
    is_lasting,
    is_repeated,
    key_in,
)
from asbuilt.journal.database.table import OF_PLAN, OF_REPO, OF_RUN, Table
from asbuilt.journal.events import append, hold, shortened
from asbuilt.journal.ids import Address
from asbuilt.journal.queues import account_breakers
from asbuilt.lifecycle.approval import WITHDRAWN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

Answer = Literal["yes", "no"]
Reply = Literal["yes", "no", "revised", "withdrawn"]
"""An answer; or the question is void: its text was revised; or its run, or the work it is about, is over."""


class Approval(NamedTuple):
    """A question, and its answer once there is one."""

    number: int
    key: str
    plan: str
    run: str
    phase: str | None
    kind: str
    question: str
    intent: str | None
    asked_by: str
    asked_at: str
    answer: str | None
    answered_by: str | None
    answered_at: str | None
    note: str | None

    @property
    def name(self) -> str:
        """Return the name that users type, such as a7."""
        return f"a{self.number}"

    @property
    def gist(self) -> str:
        """Return the first line of the question."""
        return self.question.partition("\n")[0]


_QUESTIONS: Final = Table("approvals", Approval, Approval._fields)


class Wish(NamedTuple):
    """A question to be asked."""

    run: str
    kind: QuestionKind
    question: str
    phase: str | None = None
    intent: str | None = None


def ask(session: Session, address: Address, *, key: str, wish: Wish, actor: str) -> Approval:
    """Add a question to the inbox; the same key returns the same question.

    An earlier run's open question of the same meaning is withdrawn: its answer would not wake this run.
    """
    hold(session, address)
    number = _QUESTIONS.insert_numbered(
        session, key=key, **address._asdict(), **wish._asdict(), asked_by=actor, asked_at=session.now
    )
    if number is not None:
        text = shortened(wish.question, 700)
        event = ApprovalAsked(number=number, key=key, about=wish.kind, phase=wish.phase, question=text)
        append(session, address, event, key=f"{key}/asked", actor=actor, run=wish.run)
        for earlier in waiting_about(session, address):
            if is_repeated(earlier.key, key):
                answer(session, address.org, address.repo, earlier.number, reply=WITHDRAWN, actor=actor)
    where = f"{OF_REPO} AND key = :key"
    asked = _QUESTIONS.first(session, where, org=address.org, repo=address.repo, key=key)
    if asked is None:
        raise LookupError(key)
    return asked


def answer(  # noqa: PLR0913 - an answer has these parts
    session: Session, org: str, repo: str, number: int, *, reply: Reply, actor: str, note: str | None = None
) -> tuple[bool, Approval | None]:
    """Answer a question: (True, question) if this answer counts, else (False, the earlier answer or None)."""
    found = named(session, org, repo, number)
    if found is None:
        return False, None
    address = Address(org, repo, found.plan)
    hold(session, address)
    change = (
        "UPDATE approvals SET answer = :said, answered_by = :actor, answered_at = :now, note = :note"
        f" WHERE {OF_REPO} AND number = :number AND answer IS NULL"
    )
    where = {"org": org, "repo": repo, "number": number}
    changed = session.run(change, **where, said=reply, actor=actor, note=note, now=session.now)
    if changed:
        event = ApprovalAnswered(number=number, key=found.key, answer=reply, note=shortened(note or "", 700))
        append(session, address, event, key=f"{found.key}/answered", actor=actor, run=found.run)
        if isinstance(key_in(found.key), StoppedKey):
            account_breakers.release(session, org, found.run)
    return bool(changed), named(session, org, repo, number)


def withdraw(
    session: Session, org: str, repo: str, run: str, *, actor: str, keeps_lasting: bool = False
) -> None:
    """Withdraw a run's unanswered questions from the inbox; optionally not those whose answer lasts."""
    for approval in waiting_of(session, org, repo, run):
        if not (keeps_lasting and is_lasting(approval.key, run)):
            answer(session, org, repo, approval.number, reply=WITHDRAWN, actor=actor)


def withdraw_about(session: Session, address: Address, phases: Collection[str], *, actor: str) -> None:
    """Withdraw a plan's open questions about the work on some phases, whichever run asked them.

    Call it in the transaction of the event that ends the work: proven again, landed, or undone.
    """
    for approval in waiting_about(session, address):
        if approval.phase in phases and is_about_work(approval.key):
            answer(session, address.org, address.repo, approval.number, reply=WITHDRAWN, actor=actor)


def withdraw_settled(
    session: Session, address: Address, *, run: str, phase: str, intent: str, actor: str
) -> None:
    """Withdraw the open questions of a plan's earlier runs whose answer no run reads after a phase begins.

    The run that begins it has its tests and its sandbox. Waivers and numbers of another text are void.
    Call it in the transaction of the event that begins the phase.
    """
    for approval in waiting_about(session, address):
        key = key_in(approval.key)
        is_of_start = isinstance(key, TestsKey | SandboxKey) and approval.run != run
        is_of_text = (
            isinstance(key, WaiverKey | DriftKey) and approval.phase == phase and key.intent != intent
        )
        if is_of_start or is_of_text:
            answer(session, address.org, address.repo, approval.number, reply=WITHDRAWN, actor=actor)


def last_answered(session: Session, org: str, repo: str, *, under: str) -> Approval | None:
    """Return the newest answer of any run to the question whose key, without the run's id, is `under`."""
    where = (
        f"{OF_REPO} AND substr(key, 1, length(key) - length(run)) = :under AND answer IN ('yes', 'no')"
        " ORDER BY answered_at DESC, number DESC LIMIT 1"
    )
    return _QUESTIONS.first(session, where, org=org, repo=repo, under=under)


def named(session: Session, org: str, repo: str, number: int) -> Approval | None:
    """Return one question."""
    return _QUESTIONS.first(session, f"{OF_REPO} AND number = :number", org=org, repo=repo, number=number)


def waiting(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Approval]:
    """List the unanswered questions, oldest first."""
    where = f"{OF_REPO} AND answer IS NULL ORDER BY number LIMIT :limit"
    return _QUESTIONS.every(session, where, org=org, repo=repo, limit=limit)


def waiting_about(session: Session, address: Address) -> list[Approval]:
    """List the unanswered questions of all runs of a plan, oldest first."""
    where = f"{OF_PLAN} AND answer IS NULL ORDER BY number"
    return _QUESTIONS.every(session, where, **address._asdict())


def waiting_of(session: Session, org: str, repo: str, run: str) -> list[Approval]:
    """List the unanswered questions of a run, oldest first."""
    where = f"{OF_RUN} AND answer IS NULL ORDER BY number"
    return _QUESTIONS.every(session, where, org=org, repo=repo, run=run)


def counted(session: Session, org: str) -> dict[str, int]:
    """Count the unanswered questions by repository."""
    rows = session.rows(
        "SELECT repo, count(*) AS n FROM approvals WHERE org = :org AND answer IS NULL GROUP BY repo", org=org
    )
    return {row["repo"]: int(row["n"]) for row in rows}
