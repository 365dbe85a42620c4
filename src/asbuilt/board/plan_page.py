"""The page of a plan: the graph of its phases beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.board.addresses import attempt_path, phase_path, run_path
from asbuilt.board.now_page import TONES
from asbuilt.journal import repositories, runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import PlanView, plan_view
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.status.report import Outlined
from asbuilt.pages.document import (
    Beside,
    Block,
    Document,
    Drawing,
    Link,
    Listing,
    Mark,
    Paragraph,
    Section,
    Table,
    Words,
)
from asbuilt.pages.drawing import graph
from asbuilt.pages.times import moment

if TYPE_CHECKING:
    from asbuilt.board.reading import Reading

MAX_TEXT: Final = 200_000
"""Characters of a foreign text on a page; the rest is left out, and the page says so."""


def plan_page(reading: Reading, repo: str, plan: str) -> Document | None:
    """Make the page of a plan; None if the journal has no such plan."""
    address = Address(LOCAL, repo, plan)
    with reading.folds.held, reading.store.read() as session:
        known = repositories.find(session, LOCAL, repo)
        view = plan_view(session, reading.blobs, address, reading.folds, marks=reading.marks(known))
        if view is None:
            return None
        listed = runs.of_plan(session, address)
        digest = reading.folds.of(session, address).text
    text = reading.blobs.get(digest).decode("utf-8", "replace") if digest else ""
    left: list[Block] = [*_graph(repo, view), _phases(repo, view, listed)]
    right: tuple[Block, ...] = (Section(("Plan",), (Listing(clipped(text)),)),) if text else ()
    blocks: list[Block] = [Beside(tuple(left), right)] if right else left
    blocks.append(_runs(reading, listed))
    state = view.run.run.state if view.run else "not run"
    return Document(
        view.slug,
        (Link("Now", "/"), f" / {plan}"),
        (Mark(state, TONES.get(state, "plain")),),
        tuple(blocks),
        (),
    )


def clipped(text: str) -> str:
    """Cut a foreign text to the most that a page shows."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n… {len(text) - MAX_TEXT} characters more"


def _graph(repo: str, view: PlanView) -> list[Block]:
    if not view.phases:
        return [Paragraph(("No run of this plan has started.",))]
    outline = [Outlined(phase.id, phase.title, phase.needs_all) for phase in view.phases]
    tones = {phase.id: TONES.get(phase.state, "plain") for phase in view.phases}
    links = {phase.id: phase_path(repo, view.address.plan, phase.id) for phase in view.phases}
    return [Drawing(graph(outline, tones, links), ())]


def _phases(repo: str, view: PlanView, listed: list[Run]) -> Section:
    newest = listed[0].run if listed else ""
    rows = []
    for phase in view.phases:
        attempt: Words = ()
        if phase.attempt:
            name = f"{newest}.{phase.id}.{phase.attempt}"
            attempt = (Link(f"attempt {phase.attempt}", attempt_path(repo, name)),)
        mark = Mark(phase.state, TONES.get(phase.state, "plain"))
        link = Link(f"{phase.id} {phase.title}", phase_path(repo, view.address.plan, phase.id))
        rows.append(((link,), (mark,), attempt, (", ".join(phase.needs),)))
    return Section(("Phases",), (Table(("phase", "state", "work", "waits for"), tuple(rows)),))


def _runs(reading: Reading, listed: list[Run]) -> Section:
    rows = tuple(
        (
            (Link(run.name, run_path(run)),),
            (Mark(run.state, TONES.get(run.state, "plain")),),
            (moment(run.at, reading.zone),),
            (moment(run.ended_at or "", reading.zone),),
        )
        for run in listed
    )
    return Section(("Runs",), (Table(("run", "state", "started", "ended"), rows),))
