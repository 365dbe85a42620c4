"""What phases have cost before, from the journal of a repository. It looks back over a few plans only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.journal import plans
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address
from asbuilt.lifecycle.money import spent_in, total

if TYPE_CHECKING:
    from asbuilt.journal.store import Session
    from asbuilt.lifecycle.money import Spent

_PLANS: Final = 10


def proven_phases(session: Session, org: str, repo: str) -> list[Spent]:
    """List what each phase has used that was proven here lately, its verifiers and fixes with it."""
    found: list[Spent] = []
    for plan in plans.recent(session, org, repo, limit=_PLANS):
        used: dict[tuple[str, str], dict[str, Spent]] = {}
        for event in whole_history(session, Address(org, repo, plan.plan)):
            of = (str(event.data.get("run")), str(event.data.get("phase")))
            if "attempt" in event.data:
                used.setdefault(of, {})[event.data["attempt"]] = spent_in(event.data)
            elif event.kind == "phase.proven":
                found.append(total(used.get(of, {}).values()))
    return found
