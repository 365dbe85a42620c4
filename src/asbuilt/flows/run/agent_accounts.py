"""Accounts of agents: what one agent learns about its account holds for every run and lane that uses it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.events.attempts import Ended
from asbuilt.events.event import Event
from asbuilt.flows.run.briefs import program_of
from asbuilt.flows.run.environment import signed_in_by
from asbuilt.journal.engine.workers import machine_id
from asbuilt.journal.queues import account_breakers
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.kinds import Facts, next_move
from asbuilt.lifecycle.run.agent_stops import is_of_account
from asbuilt.lifecycle.run.guards import can_wait, role_of
from asbuilt.lifecycle.run.moves import Move

if TYPE_CHECKING:
    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.journal.database.store import Session

_SECRETS: Final = ("_KEY", "_TOKEN")
_DIGITS: Final = 16


def account_of(room: Path, kind: str) -> str:
    """Return an agent's kind with a digest of its credentials, or else of the login of this machine."""
    given = signed_in_by(room, kind)
    secrets = {name: value for name, value in given.items() if name.endswith(_SECRETS)}
    used = secrets or {**given, "machine": machine_id()}
    digest = hashlib.sha256(json.dumps(sorted(used.items())).encode()).hexdigest()
    return f"{kind}/{digest[:_DIGITS]}"


def choose(session: Session, room: Path, run: Run, facts: Facts) -> Move:
    """Choose the next move; the breakers are read only before an agent starts."""
    move = next_move(facts, session.now)
    if role_of(move) is None:
        return move
    known = account_breakers.of(session, run.org)
    if known:
        kinds = {role: program_of(run.options, role).kind for role in ("", *run.options.agents)}
        accounts = {role: known.get(account_of(room, kind)) for role, kind in kinds.items()}
        facts.breakers = {role: breaker for role, breaker in accounts.items() if breaker is not None}
    return next_move(facts, session.now)


def may_start(fenced: Fenced, facts: Facts, move: Move) -> bool:
    """Return whether the agent of a move may start: if its account has a breaker, only as its probe."""
    role = role_of(move)
    breaker = None if role is None else facts.breaker(role)
    if breaker is None or not can_wait(facts, move):
        return True
    with fenced.write() as session:
        return account_breakers.claim(session, fenced.segment.org, breaker.account, chain=facts.chain_name)


def learn(session: Session, run: Run, account: str, chain: str, event: Event) -> None:
    """Open the breaker of an account whose agent met a cause, or close it after an agent finished."""
    if not isinstance(event, Ended) or event.ending == "done":
        account_breakers.passed(session, run.org, account)
    elif event.ending == "limited" and is_of_account(event.cause or "usage_limit"):
        cause = event.cause or "usage_limit"
        account_breakers.trip(session, run.org, account, cause, event.resets_at, chain=chain)
