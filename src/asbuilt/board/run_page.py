"""The page of a run: its report as of now, with the way to its attempts and questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.board.addresses import attempt_path, plan_path, question_path
from asbuilt.events.attempts import AttemptBegun, VerifierBegun
from asbuilt.flows.report import account_of
from asbuilt.flows.run.record import Record
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of, facts_from, run_view
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.pages.document import Document, Link, Mark, Paragraph, Point, Points, Section
from asbuilt.pages.phases import phase_section
from asbuilt.pages.telling import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.board.reading import Reading
    from asbuilt.journal.queries.overview import RunView, Told
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.status.report import Account
    from asbuilt.pages.document import Block, Words


_JUDGES: Final = {"verify": ("v", ", verifier"), "test": ("t", ", tester")}
"""The end of an attempt's name and of its title, by the role that judges it."""


def run_page(reading: Reading, repo: str, name: str) -> Document | None:
    """Make the page of a run; None if the journal has no such run."""
    store, blobs = reading.journal.store, reading.journal.blobs
    with reading.folds.held, store.read() as session:
        run = runs.find(session, LOCAL, repo, name)
        if run is None:
            return None
        events, now = events_of(session, blobs, run.address), session.now
        view = run_view(session, blobs, run, reading.folds)
    facts, attempts = facts_from(run, events), tuple(_attempts(run, events))
    above = (Link("Now", "/"), " / ", Link(run.options.slug, plan_path(repo, run.plan)))
    if not isinstance(facts, ProvingFacts):
        return Document(view.name, above, (run.state,), (*_open(view), *attempts), ())
    account = _account(reading, run, facts, events, now)
    page = told(account if run.is_over else account._replace(state=run.state), reading.zone)
    return page._replace(above=above, blocks=(*_open(view), *page.blocks, *attempts))


def phase_page(reading: Reading, repo: str, plan: str, phase: str) -> Document | None:
    """Make the page of a phase: its text, and what the newest run that worked on it has shown."""
    address = Address(LOCAL, repo, plan)
    above: Words = (Link("Now", "/"), " / ", Link(plan, plan_path(repo, plan)))
    with reading.journal.store.read() as session:
        events, now = events_of(session, reading.journal.blobs, address), session.now
        listed = runs.of_plan(session, address)
    for run in listed:
        facts = facts_from(run, events)
        if not isinstance(facts, ProvingFacts) or phase not in facts.phases:
            continue
        account = _account(reading, run, facts, events, now, only=phase)
        blocks: tuple[Block, ...] = (Paragraph(("No work yet.",)),)
        words: Words = (facts.phases[phase].title,)
        for one in account.phases:
            section = phase_section(account, one, is_folded=False)
            words, blocks = section.words, (*section.blocks, *_attempts_of(run, facts, phase))
        return Document(f"Phase {phase}", above, words, blocks, ())
    return None


def _account(
    reading: Reading, run: Run, facts: ProvingFacts, events: Told, now: str, only: str | None = None
) -> Account:
    journal = reading.journal
    record = Record(run=run, store=journal.store, blobs=journal.blobs)
    return account_of(record, facts, events, journal.home.workspaces / run.repo / run.run, now, only=only)


def _attempts_of(run: Run, facts: ProvingFacts, phase: str) -> Iterator[Block]:
    numbers = [one.number for one in facts.phases[phase].attempts]
    yield Points(
        tuple(
            Point((Link(f"attempt {number}", attempt_path(run.repo, f"{run.run}.{phase}.{number}")),))
            for number in numbers
        )
    )


def _open(view: RunView) -> Iterator[Block]:
    """List what the run waits for, with links to its questions."""
    if view.run.is_over:
        return
    points = [
        Point(
            (
                Mark(asked.kind, "open"),
                " ",
                Link(f"{asked.name} {asked.gist}", question_path(view.run.repo, asked)),
            )
        )
        for asked in view.questions
    ]
    if points:
        yield Section(("Needs you",), (Points(tuple(points)),))
    elif view.waits_for.why:
        yield Section(("Now",), (Paragraph((f"Waits: {view.waits_for.why}",)),))


def _attempts(run: Run, events: Told) -> Iterator[Block]:
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
