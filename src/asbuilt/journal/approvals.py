"""Questions to users and their answers. Rule: the first answer counts; later callers get the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.journal.database.store import first
from asbuilt.journal.events import append, hold, shortened
from asbuilt.journal.ids import Address
from asbuilt.lifecycle.approval import WITHDRAWN

if TYPE_CHECKING:
    from asbuilt.events.questions import QuestionKind
    from asbuilt.journal.database.store import Row, Session

Answer = Literal["yes", "no"]
Said = Literal["yes", "no", "revised", "withdrawn"]
"""An answer; or the question became void by a newer text (revised) or by the end of its run (withdrawn)."""

_TRIES: Final = 1_000
_COLUMNS: Final = (
    "number, key, plan, run, phase, kind, question, intent, asked_by, asked_at,"
    " answer, answered_by, answered_at, note"
)


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


class Wish(NamedTuple):
    """A question to be asked."""

    run: str
    kind: QuestionKind
    question: str
    phase: str | None = None
    intent: str | None = None


def ask(session: Session, address: Address, *, key: str, wish: Wish, actor: str) -> Approval:
    """Add a question to the inbox; the same key returns the same question."""
    hold(session, address)
    known = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM approvals WHERE org = :org AND repo = :repo AND key = :key",
            org=address.org,
            repo=address.repo,
            key=key,
        )
    )
    if known is not None:
        return Approval(**known)
    number = _number(session, address, key, wish, actor)
    append(
        session,
        address,
        ApprovalAsked(
            number=number,
            key=key,
            about=wish.kind,
            phase=wish.phase,
            question=shortened(wish.question, 700),
        ),
        key=f"{key}/asked",
        actor=actor,
        run=wish.run,
    )
    asked = named(session, address.org, address.repo, number)
    if asked is None:
        raise LookupError(key)
    return asked


def _number(session: Session, address: Address, key: str, wish: Wish, actor: str) -> int:
    """Store a question under the next number of its repository, which another plan may take first."""
    for _ in range(_TRIES):
        last = first(
            session.rows(
                "SELECT number FROM approvals WHERE org = :org AND repo = :repo ORDER BY number DESC LIMIT 1",
                org=address.org,
                repo=address.repo,
            )
        )
        number = int(last["number"] if last else 0) + 1
        is_mine = session.run(
            "INSERT INTO approvals"
            " (org, repo, number, key, plan, run, phase, kind, question, intent, asked_by, asked_at)"
            " VALUES (:org, :repo, :number, :key, :plan, :run, :phase, :kind, :question, :intent, :actor,"
            " :now) ON CONFLICT (org, repo, number) DO NOTHING",
            **address._asdict(),
            **wish._asdict(),
            number=number,
            key=key,
            actor=actor,
            now=session.now,
        )
        if is_mine:
            return number
    raise LookupError(key)


def answer(  # noqa: PLR0913 - an answer has these parts
    session: Session, org: str, repo: str, number: int, *, said: Said, actor: str, note: str | None = None
) -> tuple[bool, Approval | None]:
    """Answer a question: (True, question) if this answer counts, else (False, the earlier answer or None)."""
    found = named(session, org, repo, number)
    if found is None:
        return False, None
    hold(session, Address(org, repo, found.plan))
    changed = session.run(
        "UPDATE approvals SET answer = :said, answered_by = :actor, answered_at = :now, note = :note"
        " WHERE org = :org AND repo = :repo AND number = :number AND answer IS NULL",
        org=org,
        repo=repo,
        number=number,
        said=said,
        actor=actor,
        now=session.now,
        note=note,
    )
    found = named(session, org, repo, number)
    if changed and found is not None:
        append(
            session,
            Address(org, repo, found.plan),
            ApprovalAnswered(number=number, key=found.key, answer=said, note=shortened(note or "", 700)),
            key=f"{found.key}/answered",
            actor=actor,
            run=found.run,
        )
    return bool(changed), found


def withdraw(session: Session, org: str, repo: str, run: str, *, actor: str) -> None:
    """Withdraw a run's unanswered questions from the inbox."""
    for one in waiting_of(session, org, repo, run):
        answer(session, org, repo, one.number, said=WITHDRAWN, actor=actor)


def last_answered(session: Session, org: str, repo: str, *, under: str) -> Approval | None:
    """Return the newest answer of any run to the question whose key, without the run's id, is `under`."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM approvals WHERE org = :org AND repo = :repo "
            " AND substr(key, 1, length(key) - length(run)) = :under AND answer IN ('yes', 'no')"
            " ORDER BY answered_at DESC, number DESC LIMIT 1",
            org=org,
            repo=repo,
            under=under,
        )
    )
    return None if row is None else _approval(row)


def named(session: Session, org: str, repo: str, number: int) -> Approval | None:
    """Return one question."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM approvals WHERE org = :org AND repo = :repo AND number = :number",
            org=org,
            repo=repo,
            number=number,
        )
    )
    return None if row is None else _approval(row)


def waiting(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Approval]:
    """List the unanswered questions, oldest first."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM approvals WHERE org = :org AND repo = :repo AND answer IS NULL"
        " ORDER BY number LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [_approval(row) for row in rows]


def waiting_of(session: Session, org: str, repo: str, run: str) -> list[Approval]:
    """List the unanswered questions of a run, oldest first."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM approvals WHERE org = :org AND repo = :repo AND run = :run"
        " AND answer IS NULL ORDER BY number",
        org=org,
        repo=repo,
        run=run,
    )
    return [_approval(row) for row in rows]


def counted(session: Session, org: str) -> dict[str, int]:
    """Count the unanswered questions by repository."""
    rows = session.rows(
        "SELECT repo, count(*) AS n FROM approvals WHERE org = :org AND answer IS NULL GROUP BY repo", org=org
    )
    return {row["repo"]: int(row["n"]) for row in rows}


def _approval(row: Row) -> Approval:
    return Approval(**row)
