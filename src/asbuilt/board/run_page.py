"""The page of a run: its report as of now, with the way to its attempts and questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from asbuilt.board.addresses import attempt_path, phase_path, plan_path, question_path
from asbuilt.events.attempts import AttemptBegun, VerifierBegun
from asbuilt.flows.report import Window, account_of
from asbuilt.flows.run.record import Record
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import Entries, RunView, run_view
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.status.report import Account, PhaseAccount
from asbuilt.pages.document import (
    Block,
    Document,
    Link,
    Mark,
    Paragraph,
    Point,
    Points,
    Section,
    Table,
    Words,
)
from asbuilt.pages.phases import phase_section, state_of
from asbuilt.pages.run_report import report_document

if TYPE_CHECKING:
    from asbuilt.board.reading import Reading
    from asbuilt.journal.database.store import Session


_JUDGES: Final = {"verify": ("v", ", verifier"), "test": ("t", ", tester")}
"""The end of an attempt's name and of its title, by the role that judges it."""
_PHASES: Final = 12
"""Phases that the page of a run has in full: those that changed last. The others are rows with links."""
_ATTEMPTS: Final = 10
_ATTEMPTS_OF_PHASE: Final = 50
_EVENTS: Final = 100
"""Events of each phase from which its times and attempts are shown."""


def run_page(reading: Reading, repo: str, name: str) -> Document | None:
    """Make the page of a run; None if the journal has no such run."""
    store, blobs, folds = reading.store, reading.blobs, reading.folds
    # The facts are used while the folds are held.
    with folds.held:
        with store.read() as session:
            run = runs.find(session, LOCAL, repo, name)
            if run is None:
                return None
            view, facts, now = run_view(session, blobs, run, folds), folds.facts(session, run), session.now
            shown = folds.newest(session, run)[:_PHASES]
            events = folds.events(session, run, shown, each=_EVENTS)
        above = (Link("Now", "/"), " / ", Link(run.options.slug, plan_path(repo, run.plan)))
        attempts = tuple(_attempts(run, events))
        if not isinstance(facts, ProvingFacts):
            return Document(view.name, above, (run.state,), (*_open(view), *attempts), ())
        account = _account(reading, run, facts, events, now, Window(frozenset(shown), _ATTEMPTS))
        rows = tuple(_row(run, phase, facts) for phase in account.phases if phase.id in account.brief)
    page = report_document(account if run.is_over else account._replace(state=run.state), reading.zone)
    head = ("phase", "state", "attempts")
    others = (
        (Section((f"{len(rows)} earlier phases",), (Table(head, rows),), is_folded=True),) if rows else ()
    )
    return page._replace(above=above, blocks=(*_open(view), *page.blocks, *others, *attempts))


def _row(run: Run, phase: PhaseAccount, facts: ProvingFacts) -> tuple[Words, ...]:
    link = Link(f"{phase.id} {phase.title}", phase_path(run.repo, run.plan, phase.id))
    return (link,), (state_of(phase),), (str(len(facts.phases[phase.id].attempts)),)


def phase_page(reading: Reading, repo: str, plan: str, phase: str) -> Document | None:
    """Make the page of a phase: its text, and what the newest run that worked on it has shown."""
    address = Address(LOCAL, repo, plan)
    folds = reading.folds
    with folds.held:
        with reading.store.read() as session:
            found = worked_on(reading, session, address, phase)
            if found is None:
                return None
            run, facts = found
            events, now = folds.events(session, run, (phase,), each=_EVENTS), session.now
        window = Window(frozenset((phase,)), _ATTEMPTS_OF_PHASE, is_only=True)
        account = _account(reading, run, facts, events, now, window)
        words: Words = (facts.phases[phase].title,)
        points = tuple(
            Point(
                (
                    Link(
                        f"attempt {attempt.number}",
                        attempt_path(run.repo, f"{run.run}.{phase}.{attempt.number}"),
                    ),
                )
            )
            for attempt in facts.phases[phase].attempts
        )
    attempts = (Section(("What the agents did",), (Points(points),)),) if points else ()
    above: Words = (Link("Now", "/"), " / ", Link(plan, plan_path(repo, plan)))
    blocks: tuple[Block, ...] = (Paragraph(("No work yet.",)),)
    for phase_account in account.phases:
        section = phase_section(account, phase_account, is_folded=False)
        words, blocks = section.words[1:], (*section.blocks, *attempts)
    return Document(f"Phase {phase}", above, words, blocks, ())


def worked_on(
    reading: Reading, session: Session, address: Address, phase: str
) -> tuple[Run, ProvingFacts] | None:
    """Return the newest run that has attempts of a phase, else the newest that has the phase.

    A run that only lands has the phases of the run that proved them, and no attempts.
    """
    newest = None
    for run in runs.of_plan(session, address):
        facts = reading.folds.facts(session, run)
        if isinstance(facts, ProvingFacts) and phase in facts.phases:
            if facts.phases[phase].attempts:
                return run, facts
            newest = newest or (run, facts)
    return newest


def _account(
    reading: Reading, run: Run, facts: ProvingFacts, events: Entries, now: str, window: Window
) -> Account:
    record = Record(run=run, store=reading.store, blobs=reading.blobs)
    return account_of(record, facts, events, reading.home.workspaces / run.repo / run.run, now, window=window)


def _open(view: RunView) -> Iterator[Block]:
    if view.run.is_over:
        return
    links = ((asked, question_path(view.run.repo, asked)) for asked in view.questions)
    points = [
        Point((Mark(asked.kind, "open"), " ", Link(f"{asked.name} {asked.gist}", path)))
        for asked, path in links
    ]
    if points:
        yield Section(("Needs you",), (Points(tuple(points)),))
    elif view.waits_for.why:
        yield Section(("Now",), (Paragraph((f"Waits: {view.waits_for.why}",)),))


def _attempts(run: Run, events: Entries) -> Iterator[Block]:
    points = []
    for entry in events:
        event = entry.event
        if entry.run == run.run and isinstance(event, AttemptBegun | VerifierBegun):
            role = event.role if isinstance(event, VerifierBegun) else ""
            letter, who = _JUDGES.get(role, ("", ""))
            name = f"{run.run}.{event.phase}.{event.number}{letter}"
            what = f"phase {event.phase}, attempt {event.number}{who}"
            points.append(Point((Link(what, attempt_path(run.repo, name)),)))
    if points:
        yield Section(("Attempts",), (Points(tuple(dict.fromkeys(points))),), is_folded=True)
