"""What phases have taken before, from the journal of a repository. It looks back over a few plans only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.event import phase_of
from asbuilt.events.phases import BaselineDone, PhaseProven
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address
from asbuilt.journal.queries import plan_names
from asbuilt.lifecycle.run.money import total, used_in

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.lifecycle.run.money import Spent

_PLANS: Final = 10


class Past(NamedTuple):
    """What the phases of a repository have taken lately."""

    spent: list[Spent]
    """What each phase has used that was proven, its verifiers and fixes with it."""
    suite_s: float | None = None
    """How long the suites took on the newest base; None where no run has recorded it."""


def past_of(session: Session, org: str, repo: str) -> Past:
    """Read what phases have used here, and how long the suites took."""
    found: list[Spent] = []
    suite_s: tuple[str, float | None] = ("", None)
    for plan in plan_names.recent(session, org, repo, limit=_PLANS):
        used: dict[tuple[str, str], dict[str, Spent]] = {}
        for entry in whole_history(session, Address(org, repo, plan.plan)):
            event = entry.event
            of = (entry.run or "", phase_of(event) or "")
            if (told := used_in(event)) is not None:
                used.setdefault(of, {}).update([told])
            match event:
                case PhaseProven():
                    found.append(total(used.get(of, {}).values()))
                case BaselineDone(took_s=float(took_s)):
                    suite_s = max(suite_s, (entry.at, took_s))
                case _:
                    pass
    return Past(found, suite_s[1])
