"""State of a plan after all its runs.

Rule: a proof counts until it is reverted; what a user has marked counts as long as the plan's file agrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from asbuilt.events.event import Entry, Event
from asbuilt.events.landings import LandingDone, LandingUndone
from asbuilt.events.phases import PhaseMarked, PhaseProven
from asbuilt.lifecycle.delivery.facts import Landed, Work


class Landing(NamedTuple):
    """One landing of a run, without reverted commits."""

    run: str
    landed: tuple[Landed, ...]
    branch: str = ""
    """Empty in an older journal."""


class Standing(NamedTuple):
    """Proven, landed and reverted work of a plan."""

    proven: tuple[Work, ...] = ()
    """In the order of proof, landed or reverted since included."""
    landings: tuple[Landing, ...] = ()
    undone: frozenset[str] = frozenset()
    """Proven commits that were reverted."""
    by_hand: tuple[tuple[str, bool], ...] = ()
    """Marks by users since the last proof: a phase, and whether it is done."""

    @property
    def proofs(self) -> dict[str, bool]:
        """Whether the last proof of each phase counts: it was not reverted."""
        last = {work.phase: work.commit for work in self.proven}
        return {phase: commit not in self.undone for phase, commit in last.items()}

    @property
    def unlanded(self) -> tuple[Work, ...]:
        """Proven work that is neither landed nor reverted, in order."""
        over = self.undone | {landed.commit for landing in self.landings for landed in landing.landed}
        return tuple(work for work in self.proven if work.commit not in over)

    @property
    def newest(self) -> str | None:
        """The newest run with work that is not reverted, landed or not: an undo reverts it first."""
        return self.unlanded[-1].run if self.unlanded else self.newest_landed

    @property
    def newest_landed(self) -> str | None:
        """The run of the last landing that is not fully reverted."""
        return next((landing.run for landing in reversed(self.landings) if landing.landed), None)

    def landed_by(self, run: str) -> tuple[Landed, ...]:
        """Return what a run has landed and was not reverted, in order."""
        return tuple(landed for landing in self.landings if landing.run == run for landed in landing.landed)


_NOTHING: Final = Standing()


def fold_plan(entries: Iterable[Entry], standing: Standing = _NOTHING) -> Standing:
    """Fold events of all runs of a plan, in order; `standing`: what the events before them amount to."""
    for entry in entries:
        standing = _record(standing, entry.event, entry.run or "")
    return standing


def _record(standing: Standing, event: Event, run: str) -> Standing:
    match event:
        case PhaseProven():
            work = Work(event.phase, run, event.commit)
            others = tuple(word for word in standing.by_hand if word[0] != work.phase)
            return standing._replace(proven=(*standing.proven, work), by_hand=others)
        case PhaseMarked(item=None):
            word = (event.phase, event.status == "done")
            return standing._replace(by_hand=(*standing.by_hand, word))
        case LandingDone():
            landing = Landing(run, tuple(Landed(*commit) for commit in event.commits), event.branch)
            return standing._replace(landings=(*standing.landings, landing))
        case LandingUndone():
            gone = frozenset(event.commits)
            kept = tuple(
                landing._replace(
                    landed=tuple(landed for landed in landing.landed if landed.commit not in gone)
                )
                for landing in standing.landings
            )
            phases = {work.phase for work in standing.proven if work.commit in gone}
            others = tuple(word for word in standing.by_hand if word[0] not in phases)
            return standing._replace(landings=kept, undone=standing.undone | gone, by_hand=others)
        case _:
            return standing


def done_now(standing: Standing, marked: Iterable[str]) -> frozenset[str]:
    """Return the phases that are done. `marked`: those that the plan's file marks as done.

    The file decides about a phase without a proof, and about one that a user has marked as the file has it
    since its proof. The proof decides about every other phase.
    """
    in_file, proofs = frozenset(marked), standing.proofs
    agreed = {phase for phase, is_done in standing.by_hand if is_done is (phase in in_file)}
    proven = frozenset(phase for phase, counts in proofs.items() if counts)
    return (proven - agreed) | (in_file - (proofs.keys() - agreed))
