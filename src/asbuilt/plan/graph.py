"""Dependencies between phases: references in prose, waves, cycles and the next phase.

Every function accepts any set of ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from asbuilt.plan.model import Dependencies, Status
from asbuilt.plan.needs import may_start

# The patterns run on lower-cased text; IGNORECASE would double the time to compile them.
_ID: Final = r"(?:\d+(?:\.\d+)*[a-z]?|[a-z](?!\w))"
_KIND: Final = r"(?:phases?|tasks?|steps?|stages?|milestones?)"
_JOIN: Final = rf"\s*(?:,\s*and\b|,|&|\band\b|\bthrough\b|\bto\b|[-–—]|\.\.\.?)\s*(?:{_KIND}\s+)?"
_LIST: Final = rf"({_ID}(?:{_JOIN}{_ID})*)"
_REFERENCES: Final = re.compile(rf"\b{_KIND}\s+{_LIST}(?!\w)")
_BARE_LIST: Final = re.compile(rf"\W*{_LIST}\W*")
_ITEM: Final = re.compile(
    rf"({_ID})\s*(?:[-–—]|\.\.\.?|\bthrough\b|\bto\b)\s*(?:{_KIND}\s+)?({_ID})"
    rf"|(?<![\w.])({_ID})(?!\w)"
)
"""A range of ids, or one id."""
_NONE: Final = re.compile(r"\W*(?:none|nothing|n/?a|no dependenc\w+|independent)\b|\s*[-–—]\s*$")
_ALL: Final = re.compile(r"\ball\s+(?:the\s+)?(?:previous|earlier|preceding|prior|other)\b")
DEPENDS_ON: Final = re.compile(
    rf"(?:^|(?<=[.!?]\s))\W{{0,8}}depends\s+on\s+({_KIND}\s+\w[^.;()\n]*(?:\.\d[^.;()\n]*)*)"
)
"""A sentence of lower-cased prose that states a dependency."""


class Reference(NamedTuple):
    """One id that a phase depends on, or the two ends of a range."""

    first: str
    last: str
    line: int


class Stated(NamedTuple):
    """Everything that one phase states about its dependencies."""

    references: tuple[Reference, ...]
    everything_before: bool
    at_all: bool


def references_in(text: str, line: int, *, bare: bool) -> tuple[list[Reference], bool, bool]:
    """Parse one line into (references, depends on everything before, states anything)."""
    text = text.lower()
    if _NONE.match(text):
        return [], False, True
    if _ALL.search(text):
        return [], True, True
    groups = [found.group(1) for found in _REFERENCES.finditer(text)]
    if not groups and bare:
        whole = _BARE_LIST.fullmatch(text)
        groups = [whole.group(1)] if whole else []
    if groups:
        found = [match for group in groups for match in _ITEM.finditer(group)]
        return [Reference(match[1] or match[3], match[2] or match[3], line) for match in found], False, True
    return [], False, False


class Order:
    """The ids of a plan's phases in their order."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = tuple(ids)
        self._first: dict[str, int] = {}
        self._distinct_before: list[int] = []
        for at, phase_id in enumerate(self._ids):
            self._distinct_before.append(len(self._first))
            self._first.setdefault(phase_id, at)
        self._distinct = tuple(self._first)

    def resolve(self, at: int, stated: Stated) -> tuple[Dependencies, list[Reference]]:
        """Resolve references to ids of this plan; also return those that match no phase."""
        if not stated.at_all or stated.everything_before:
            return Dependencies(on=self._before(at), stated=stated.at_all), []
        wanted: dict[str, None] = {}
        unknown: list[Reference] = []
        # A line may repeat a range many times; each phase is added only once.
        added = bytearray(len(self._ids))
        for reference in stated.references:
            low, high = self._first.get(reference.first), self._first.get(reference.last)
            if low is None or high is None:
                unknown.append(reference)
                continue
            while (low := added.find(0, low, high + 1)) >= 0:
                added[low] = 1
                wanted[self._ids[low]] = None
        return Dependencies(on=tuple(wanted), stated=True), unknown

    def _before(self, at: int) -> tuple[str, ...]:
        earlier = self._distinct[: self._distinct_before[at]]
        if self._first[self._ids[at]] == at:
            return earlier
        twin = earlier.index(self._ids[at])
        return earlier[:twin] + earlier[twin + 1 :]


def waves(needs: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Group phases that may run in parallel. Phases in a cycle, or behind one, are in no wave."""
    order = tuple(needs)
    place = {phase_id: at for at, phase_id in enumerate(order)}
    open_needs: dict[str, int] = {}
    opens: dict[str, list[str]] = {phase_id: [] for phase_id in needs}
    barrier = 0
    for at, (phase_id, on) in enumerate(needs.items()):
        if tuple(on) == order[:at]:
            # A phase that waits for all earlier ones needs edges only to the last such phase and those since.
            awaited = set(order[barrier:at])
            barrier = at
        else:
            awaited = {need for need in on if need in needs}
        open_needs[phase_id] = len(awaited)
        for need in awaited:
            opens[need].append(phase_id)
    found: list[tuple[str, ...]] = []
    free = [phase_id for phase_id, count in open_needs.items() if count == 0]
    while free:
        found.append(tuple(free))
        later: list[str] = []
        for done in free:
            for phase_id in opens[done]:
                open_needs[phase_id] -= 1
                if open_needs[phase_id] == 0:
                    later.append(phase_id)
        free = sorted(later, key=place.__getitem__)
    return tuple(found)


def cycle(needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return one cycle, in order, or an empty tuple. Phases that only wait behind a cycle are left out."""
    settled = {phase_id for wave in waves(needs) for phase_id in wave}
    start = next((phase_id for phase_id in needs if phase_id not in settled), None)
    seen: list[str] = []
    while start is not None and start not in seen:
        seen.append(start)
        start = next((need for need in needs[start] if need in needs and need not in settled), None)
    return tuple(seen[seen.index(start) :]) if start is not None else ()


def next_phase(statuses: Mapping[str, Status], needs: Mapping[str, Sequence[str]]) -> str | None:
    """Choose the next phase whose dependencies are done; a phase in progress comes first."""
    done = {phase_id for phase_id, status in statuses.items() if status is Status.DONE}
    ready = [
        phase_id
        for phase_id, status in statuses.items()
        if status not in {Status.DONE, Status.BLOCKED} and may_start(needs.get(phase_id, ()), done)
    ]
    begun = next((phase_id for phase_id in ready if statuses[phase_id] is Status.IN_PROGRESS), None)
    return begun or (ready[0] if ready else None)
