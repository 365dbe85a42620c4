"""The first page: what needs the user, what works, what waits, what landed today."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from asbuilt.board.addresses import plan_path, question_path, run_path
from asbuilt.lifecycle.run.money import total
from asbuilt.lifecycle.status.run_state import IN_WORK
from asbuilt.pages import document as doc
from asbuilt.pages.times import lasting, moment, seconds

if TYPE_CHECKING:
    from asbuilt.board.reading import Here, Reading
    from asbuilt.journal.queries.overview import PlanView, RunView

TONES: Final[dict[str, doc.Tone]] = {
    "landed": "proven",
    "proven": "proven",
    "done": "proven",
    "held": "open",
    "failed": "failed",
    "stopped": "failed",
    "waiting": "open",
    "paused": "open",
}
"""Colours of states; states of work in progress have none."""


def now_page(reading: Reading) -> doc.Document:
    """Make the page from every repository in the journal."""
    found, now = reading.repositories(), reading.now
    needs = [point for here in found for point in _needs(here, now)]
    working = [row for here in found for row in _working(here, now)]
    waiting = [row for here in found for row in _waiting(here, reading)]
    landed = [row for here in found for row in _landed(here, reading)]
    spent = total([view.spent for here in found for view in here.plans if _is_today(view, now)])
    blocks: list[doc.Block] = [
        doc.Figures(
            (
                doc.Figure(str(len(needs)), "need you", "open" if needs else "plain"),
                doc.Figure(str(len(working)), "work now"),
                doc.Figure(str(len(waiting)), "wait"),
                doc.Figure(str(len(landed)), "landed today", "proven" if landed else "plain"),
                doc.Figure(spent.brief or "none", "cost of the plans that changed today"),
            )
        ),
        doc.Section(("Needs you",), (listed(needs, "Nothing."),)),
    ]
    for title, head, rows in (
        ("Works", ("plan", "phase", "state", "for"), working),
        ("Waits", ("plan", "reason", "for", "until"), waiting),
        ("Landed today", ("plan", "run", "at"), landed),
    ):
        if rows:
            blocks.append(doc.Section((title,), (doc.Table(head, tuple(rows)),)))
    blocks += [_plans(here) for here in found]
    names = ", ".join(here.name for here in found) or "No plan has been run on this machine."
    return doc.Document("Now", ("asbuilt board",), (names,), tuple(blocks), ())


def listed(points: list[doc.Point], otherwise: str) -> doc.Block:
    """Make a list; without points, a sentence."""
    return doc.Points(tuple(points)) if points else doc.Paragraph((otherwise,))


def questions_of(here: Here, now: datetime) -> Iterator[doc.Point]:
    """Yield the open questions of a repository, each with its plan: many plans ask the same words."""
    for asked in here.questions:
        age = lasting(seconds(asked.asked_at, now.isoformat()))
        link = doc.Link(f"{asked.name} {asked.gist}", question_path(here.known.repo, asked))
        words = f"{here.name}, {asked.plan}, asked {age} ago"
        yield doc.Point((doc.Mark(asked.kind, "open"), " ", link), ((words,),))


def _needs(here: Here, now: datetime) -> Iterator[doc.Point]:
    yield from questions_of(here, now)
    for run in here.to_land:
        name = run.name
        link = doc.Link(f"{name} is proven and not landed", run_path(run))
        yield doc.Point((doc.Mark("landing", "open"), " ", link), ((f"asbuilt land {run.options.slug}",),))


def _open(here: Here) -> Iterator[tuple[PlanView, RunView]]:
    for view in here.plans:
        if view.run is not None and not view.run.run.is_over:
            yield view, view.run


def _working(here: Here, now: datetime) -> Iterator[tuple[doc.Words, ...]]:
    for view, run in _open(here):
        for phase in run.phases:
            if run.run.state == "running" and phase.state in IN_WORK:
                since = lasting(seconds(phase.since, now.isoformat())) if phase.since else ""
                yield _named(here, view), (f"{phase.id} {phase.title}",), (phase.state,), (since,)


def _waiting(here: Here, reading: Reading) -> Iterator[tuple[doc.Words, ...]]:
    for view, run in _open(here):
        waits = run.waits_for
        if run.run.state != "running":
            why: doc.Words = (waits.why or waits.kind,)
            if run.questions:
                asked = run.questions[0]
                why = (doc.Link(f"your answer to {asked.name}", question_path(here.known.repo, asked)),)
            age = lasting(seconds(waits.since, reading.now.isoformat())) if waits.since else ""
            until = moment(waits.until, reading.zone) if waits.until else ""
            yield _named(here, view), why, (age,), (until,)


def _landed(here: Here, reading: Reading) -> Iterator[tuple[doc.Words, ...]]:
    for view in here.plans:
        run = view.run
        if run is not None and run.run.state == "landed" and _is_today(view, reading.now):
            ended = moment(run.run.ended_at or run.run.at, reading.zone)
            yield _named(here, view), (doc.Link(run.name, run_path(run.run)),), (ended,)


def _is_today(view: PlanView, now: datetime) -> bool:
    return (
        moment(view.changed_at, now.tzinfo).partition(",")[0]
        == moment(now.isoformat(), now.tzinfo).partition(",")[0]
    )


def _named(here: Here, view: PlanView) -> doc.Words:
    return (doc.Link(view.slug, plan_path(here.known.repo, view.address.plan)),)


def _plans(here: Here) -> doc.Section:
    rows = []
    for view in here.plans:
        state = view.run.run.state if view.run else "not run"
        done = f"{view.done} of {len(view.phases)}" if view.phases else ""
        mark = doc.Mark(state, TONES.get(state, "plain"))
        rows.append((_named(here, view), (mark,), (done,), (view.spent.brief,)))
    return doc.Section(
        (here.name,), (doc.Table(("plan", "state", "phases done", "cost"), tuple(rows)),), is_folded=False
    )
