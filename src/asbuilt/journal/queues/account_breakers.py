"""Breakers of agents' accounts, over all runs and lanes of the database.

Rule: a transaction locks the head row of its own plan, then a breaker, then segments of other runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.event import Cause
from asbuilt.journal.database.table import OF_RUN, Table, insert
from asbuilt.journal.runs import SEGMENTS, Run
from asbuilt.lifecycle.run.agent_stops import PROBE_S, Breaker
from asbuilt.lifecycle.run.retry_times import seconds_after

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_BREAKERS: Final = Table("breakers", Breaker, Breaker._fields)
_THIS: Final = "org = :org AND account = :account"


def of(session: Session, org: str) -> dict[str, Breaker]:
    """Return the breakers that are not closed, by account."""
    return {breaker.account: breaker for breaker in _BREAKERS.every(session, "org = :org", org=org)}


def trip(session: Session, org: str, account: str, cause: Cause, until: str | None, *, chain: str) -> None:
    """Open the breaker of an account, or keep it open for longer."""
    seen = Breaker(account, cause, until, chain)
    if insert(session, "breakers", "ON CONFLICT DO NOTHING", org=org, **seen._asdict()):
        return
    known = _locked(session, org, account)
    if known is None:
        trip(session, org, account, cause, until, chain=chain)
        return
    changed = known.met_again(cause, until, chain, session.now)._asdict()
    fields = ", ".join(f"{name} = :{name}" for name in changed)
    session.run(f"UPDATE breakers SET {fields} WHERE {_THIS}", org=org, **changed)


def passed(session: Session, org: str, account: str) -> None:
    """Close the breaker of an account whose agent has finished, unless it is open: that came later."""
    known = _locked(session, org, account)
    if known is not None and not known.is_open(session.now):
        session.run(f"DELETE FROM breakers WHERE {_THIS}", org=org, account=account)
        _wake(session, org, account)


def claim(session: Session, org: str, account: str, *, chain: str) -> bool:
    """Let a chain be the probe of an account; return False if its breaker blocks the chain, or is closed."""
    known = _locked(session, org, account)
    if known is None or known.blocks(chain, session.now):
        return False
    change = f"UPDATE breakers SET probe = :chain, probe_until = :until WHERE {_THIS}"
    until = seconds_after(session.now, PROBE_S)
    session.run(change, org=org, account=account, chain=chain, until=until)
    return True


def notifies(session: Session, org: str, account: str, key: str) -> bool:
    """Return whether the wait with a key notifies the user: only the first wait for a breaker does.

    The next change of the breaker wakes the segment that this transaction plans.
    """
    known = _locked(session, org, account)
    if known is not None and not known.told:
        session.run(f"UPDATE breakers SET told = :key WHERE {_THIS}", org=org, account=account, key=key)
    return known is not None and known.told in ("", key)


def retry(session: Session, run: Run) -> None:
    """Let a run try the accounts that it waits for now, because a user asks for it; the caller wakes it."""
    where = f"{OF_RUN} AND closed_at IS NULL AND account <> '' ORDER BY account, n DESC"
    waits = SEGMENTS.every(session, where, org=run.org, repo=run.repo, run=run.run)
    for account, lane in {segment.account: segment.lane for segment in waits}.items():
        _reopen(session, run.org, account, probe=f"{run.run}/{lane}", but=run.run)


def release(session: Session, org: str, run: str) -> None:
    """Let an account be tried whose login a run asked the user about: it was answered, or the run is over."""
    where = "org = :org AND until IS NULL AND holder LIKE :holder ORDER BY account"
    for breaker in _BREAKERS.every(session, where, org=org, holder=f"{run}/%"):
        _reopen(session, org, breaker.account)


def _reopen(session: Session, org: str, account: str, *, probe: str = "", but: str = "") -> None:
    change = f"UPDATE breakers SET until = :now, probe = :probe, probe_until = :until WHERE {_THIS}"
    now, until = session.now, seconds_after(session.now, PROBE_S)
    session.run(change, org=org, account=account, now=now, probe=probe, until=until)
    _wake(session, org, account, but=but)


def _locked(session: Session, org: str, account: str) -> Breaker | None:
    """Return a breaker, which no other transaction can change until this one ends."""
    found = _BREAKERS.changed(session, f"SET tries = tries WHERE {_THIS}", org=org, account=account)
    return found[0] if found else None


def _wake(session: Session, org: str, account: str, *, but: str = "") -> None:
    change = (
        "SET due_at = :now, asked = 1"
        f" WHERE {_THIS} AND account <> '' AND closed_at IS NULL AND due_at > :now AND run <> :but"
    )
    if SEGMENTS.changed(session, change, org=org, account=account, now=session.now, but=but):
        session.wake()
