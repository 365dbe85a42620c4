"""The facts of plans and their runs, folded from events and kept: a later read folds only new events.

Rule: a kept fold is used only if the journal still has its last event unchanged. Its facts change with the
next read, so they are used only while `Folds.held` is locked.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from asbuilt.events.event import Entry, phase_of
from asbuilt.events.options import RunOptions
from asbuilt.events.phases import PhaseBegun, PhaseProven
from asbuilt.journal.encoding.codec import whole
from asbuilt.journal.events import history, numbered
from asbuilt.lifecycle.kinds import Facts, begin
from asbuilt.lifecycle.run.fold import fold_entries
from asbuilt.lifecycle.run.money import Spent, used_in
from asbuilt.lifecycle.status.plan_state import Standing, fold_plan

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address
    from asbuilt.journal.runs import Run

_PLANS: Final = 64
_PAGE: Final = 5_000
_LAST: Final = 2**31


class PlanFold:
    """What the events of a plan amount to, over all its runs."""

    def __init__(self) -> None:
        self.last: Entry | None = None
        self.standing = Standing()
        self.proven_at: dict[str, str] = {}
        self.sign_offs: dict[str, int] = {}
        self.used: dict[tuple[str | None, str], Spent] = {}
        """Usage of each attempt; the last event of an attempt has the sum of its starts."""
        self.text = ""
        """Digest of the plan's text as the newest phase started with it."""
        self.facts: dict[str, tuple[RunOptions, Facts]] = {}
        """Facts of the runs that were read, with the options that they were folded with."""

        self.places: dict[tuple[str | None, str], array[int]] = {}
        """Numbers of the events of each phase of a run; those without a phase are under ""."""

    def add(self, entries: list[Entry]) -> None:
        """Fold further events, in order."""
        self.standing = fold_plan(entries, self.standing)
        for _, facts in self.facts.values():
            fold_entries(facts, entries)
        for entry in entries:
            self._add(entry)
        self.last = entries[-1]

    def _add(self, entry: Entry) -> None:
        event = entry.event
        self.places.setdefault((entry.run, phase_of(event) or ""), array("L")).append(entry.seq)
        used = used_in(event)
        if used is not None:
            self.used[entry.run, used[0]] = used[1]
        elif isinstance(event, PhaseProven):
            self.proven_at[event.commit], self.sign_offs[event.commit] = entry.at, event.sign_offs
        elif isinstance(event, PhaseBegun):
            self.text = event.text


class Folds:
    """The folds of the 64 most recently read plans."""

    def __init__(self, blobs: Blobs) -> None:
        self.held = threading.RLock()
        self.blobs = blobs
        self._kept: dict[Address, PlanFold] = {}

    def of(self, session: Session, address: Address, runs: Sequence[Run] = ()) -> PlanFold:
        """Return the fold of a plan as of now, with the facts of some of its runs."""
        with self.held:
            fold = self._kept.pop(address, None) or PlanFold()
            pages = self._pages(session, address, fold.last.seq - 1 if fold.last else 0)
            if fold.last is not None:
                first = next(pages, [])
                if first and first.pop(0) == fold.last:
                    pages = chain([first], pages)
                else:  # the store was restored from a backup
                    fold, pages = PlanFold(), self._pages(session, address, 0)
            self._add(session, fold, runs)
            for page in filter(None, pages):
                fold.add(page)
            self._kept[address] = fold
            if len(self._kept) > _PLANS:
                del self._kept[next(iter(self._kept))]
            return fold

    def facts(self, session: Session, run: Run) -> Facts:
        """Return the facts of a run as of now."""
        return self.of(session, run.address, [run]).facts[run.run][1]

    def events(self, session: Session, run: Run, phases: Iterable[str], *, each: int) -> list[Entry]:
        """Return events of a run, in order: the newest `each` of some phases and of the run as a whole."""
        places = self.of(session, run.address).places
        wanted = [seq for phase in ("", *phases) for seq in places.get((run.run, phase), ())[-each:]]
        return [whole(entry, self.blobs.get) for entry in numbered(session, run.address, wanted)]

    def newest(self, session: Session, run: Run) -> list[str]:
        """Return the phases of a run that have events, the one with the newest event first."""
        places = self.of(session, run.address).places
        last = {phase: seqs[-1] for (name, phase), seqs in places.items() if name == run.run and phase}
        return sorted(last, key=last.__getitem__, reverse=True)

    def _add(self, session: Session, fold: PlanFold, runs: Sequence[Run]) -> None:
        added = []
        for run in runs:
            kept = fold.facts.get(run.run)
            if kept is None or kept[0] != run.options:
                kept = fold.facts[run.run] = run.options, begin(run.run, run.options)
                added.append((run, kept[1]))
            kept[1].stop = run.stop
        if fold.last is None or not added:
            return
        for page in self._pages(session, added[0][0].address, 0, until=fold.last.seq):
            for _, facts in added:
                fold_entries(facts, page)

    def _pages(
        self, session: Session, address: Address, after: int, *, until: int = _LAST
    ) -> Iterator[list[Entry]]:
        while after < until and (page := history(session, address, after=after, limit=_PAGE)):
            after = page[-1].seq
            yield [whole(entry, self.blobs.get) for entry in page if entry.seq <= until]
            if len(page) < _PAGE:
                return
