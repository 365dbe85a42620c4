"""What stands of a plan after all its runs. The one rule: of a phase, the journal's last word holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from asbuilt.lifecycle.facts import Landed, Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Landing(NamedTuple):
    """One landing of a run, and what of it nobody has taken back."""

    run: str
    landed: tuple[Landed, ...]


class Standing(NamedTuple):
    """What was proven, what of it landed, and what was taken back."""

    proven: tuple[Work, ...] = ()
    """In the order of proof, whatever became of it since."""
    landings: tuple[Landing, ...] = ()
    undone: frozenset[str] = frozenset()
    """Proven commits that were taken back."""

    @property
    def done(self) -> frozenset[str]:
        """Phases whose last proof stands."""
        last = {work.phase: work.commit for work in self.proven}
        return frozenset(phase for phase, commit in last.items() if commit not in self.undone)

    @property
    def known(self) -> frozenset[str]:
        """Phases that the journal has a word on; of all others a plan's own marks are believed."""
        return frozenset(work.phase for work in self.proven)

    @property
    def unlanded(self) -> tuple[Work, ...]:
        """What is proven, and neither landed nor taken back, in order."""
        over = self.undone | {one.commit for landing in self.landings for one in landing.landed}
        return tuple(work for work in self.proven if work.commit not in over)

    @property
    def newest_landed(self) -> str | None:
        """The run whose landing is the last that stands."""
        return next((landing.run for landing in reversed(self.landings) if landing.landed), None)

    def landed_by(self, run: str) -> tuple[Landed, ...]:
        """Return what a run has landed that stands, in order."""
        return tuple(one for landing in self.landings if landing.run == run for one in landing.landed)


def fold_plan(events: Iterable[tuple[str, Mapping[str, Any]]]) -> Standing:
    """Fold the events of all runs of a plan, in order."""
    standing = Standing()
    for kind, data in events:
        standing = _hear(standing, kind, data)
    return standing


def _hear(standing: Standing, kind: str, data: Mapping[str, Any]) -> Standing:
    match kind:
        case "phase.proven":
            work = Work(data["phase"], data["run"], data["commit"])
            return standing._replace(proven=(*standing.proven, work))
        case "landing.done":
            landing = Landing(data["run"], tuple(Landed(*one) for one in data.get("commits", ())))
            return standing._replace(landings=(*standing.landings, landing))
        case "landing.undone":
            gone = frozenset(data.get("commits", ()))
            kept = tuple(
                landing._replace(landed=tuple(one for one in landing.landed if one.commit not in gone))
                for landing in standing.landings
            )
            return standing._replace(landings=kept, undone=standing.undone | gone)
        case _:
            return standing


def done_now(standing: Standing, marked: Iterable[str]) -> frozenset[str]:
    """Tell which phases are done: the journal says it of those it knows, the plan's marks of the others."""
    return standing.done | (frozenset(marked) - standing.known)
