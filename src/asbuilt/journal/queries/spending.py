"""Cost and duration of earlier phases in a repository, from its 10 most recently changed plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.event import phase_of
from asbuilt.events.phases import BaselineDone, PhaseProven, TestsResolved
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address
from asbuilt.journal.queries import plan_names
from asbuilt.lifecycle.run.money import Spent, total, used_in

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_PLANS: Final = 10


class Past(NamedTuple):
    """Recent usage of a repository's phases."""

    spent: list[Spent]
    """Usage of each proven phase, including verifiers and fixes."""
    suite_s: float | None = None
    """Duration of the suites on the newest base; None if it has none, or no run has recorded it."""


def past_of(session: Session, org: str, repo: str) -> Past:
    """Return the usage of earlier phases, and the duration of the suites."""
    found: list[Spent] = []
    suite_s: tuple[str, float | None] = ("", None)
    for plan in plan_names.recent(session, org, repo, limit=_PLANS):
        used: dict[tuple[str, str], dict[str, Spent]] = {}
        for entry in whole_history(session, Address(org, repo, plan.plan)):
            event = entry.event
            of = (entry.run or "", phase_of(event) or "")
            if (use := used_in(event)) is not None:
                used.setdefault(of, {}).update([use])
            match event:
                case PhaseProven():
                    found.append(total(used.get(of, {}).values()))
                case TestsResolved(command=None, suites=()) if entry.at > suite_s[0]:
                    suite_s = entry.at, None
                case BaselineDone(took_s=float(took_s)) if entry.at > suite_s[0]:
                    suite_s = entry.at, took_s
    return Past(found, suite_s[1])
