"""Questions: the inbox, one question with what it is about, and the answer."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from asbuilt.board.addresses import question_path, run_path
from asbuilt.board.attempt_page import difference
from asbuilt.board.now_page import listed, questions_of
from asbuilt.board.plan_page import clipped
from asbuilt.board.run_page import phase_page, worked_on
from asbuilt.flows.authoring.refinement import draft_asked, is_refinement
from asbuilt.flows.requests import Asker, answer
from asbuilt.journal import approvals, runs
from asbuilt.journal.approvals import Answer, Approval
from asbuilt.journal.events import keyed
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.authoring.questions import options_of, reply_to
from asbuilt.lifecycle.replies import Later, No, Unclear
from asbuilt.pages import document as doc
from asbuilt.pages.times import lasting, moment, seconds
from asbuilt.proof.checks_before_work import trial_summary
from asbuilt.settings import load

if TYPE_CHECKING:
    from asbuilt.board.reading import Reading

_NEEDS_REASON: Final = "waiver"
_LABELS: Final = {
    "plan": ("Approve this plan", "Reject, with a reason"),
    "sign-off": ("Accept this change", "Do not land it"),
    "waiver": ("Accept without it", "Do not accept"),
    "drift": ("Correct the plan", "Keep the plan's number"),
}
_ANSWERS: Final[Mapping[str, Answer]] = {"yes": "yes", "no": "no"}
_OTHERS: Final = ("Yes", "No")
_ABOUT_WORK: Final = ("sign-off", "waiver", "drift")
"""Kinds of questions about a phase's work: its change and its evidence are shown."""


def inbox_page(reading: Reading) -> doc.Document:
    """List what waits for the user, in every repository."""
    points = [point for here in reading.repositories() for point in questions_of(here, reading.now)]
    blocks = (listed(points, "Nothing waits for you."),)
    return doc.Document("Questions", (doc.Link("Now", "/"),), (f"{len(points)} open",), blocks, ())


def question_page(reading: Reading, repo: str, number: int, note: str = "") -> doc.Document | None:
    """Show a question, its subject and, while it is open, its form; `note`: what became of an answer."""
    with reading.store.read() as session:
        asked = approvals.named(session, LOCAL, repo, number)
        run = None if asked is None else runs.find(session, LOCAL, repo, asked.run)
    if asked is None:
        return None
    blocks: list[doc.Block] = [doc.Paragraph((note,))] if note else []
    lines = asked.question.split("\n")
    blocks += [doc.Listing("\n".join(lines[1:]))] if len(lines) > 1 else []
    blocks += _draft(reading, repo, asked) if asked.kind == "plan" else []
    if run is not None:
        blocks.append(doc.Paragraph(("Asked by ", doc.Link(run.name, run_path(run)))))
        blocks += _subject(reading, run, asked) if asked.kind in _ABOUT_WORK else []
    if asked.answer is not None:
        who = f" {asked.answer}, by {asked.answered_by}, {moment(asked.answered_at or '', reading.zone)}"
        note = f": {asked.note}" if asked.note else ""
        blocks.append(doc.Paragraph((doc.Mark("answered", "plain"), who, note)))
    elif is_refinement(asked.run):
        typed = doc.Code(f"asbuilt approve yes {asked.name}")
        blocks.append(doc.Paragraph(("Answer this one in the terminal: ", typed)))
    else:
        blocks.append(_form(repo, asked))
    age = lasting(seconds(asked.asked_at, reading.now.isoformat()))
    above = (doc.Link("Now", "/"), " / ", doc.Link("Questions", "/questions"))
    return doc.Document(
        f"{lines[0][:1].upper()}{lines[0][1:]}",
        above,
        (doc.Mark(asked.kind, "open"), f" {asked.name}, asked {age} ago"),
        tuple(blocks),
        (),
    )


def _subject(reading: Reading, run: Run, asked: Approval) -> list[doc.Block]:
    """Show the change of the phase's last attempt, and what asbuilt found about it."""
    phase = asked.phase or ""
    page = phase_page(reading, run.repo, run.plan, phase)
    kept = None
    with reading.folds.held, reading.store.read() as session:
        found = worked_on(reading, session, run.address, phase)
        if found is not None:
            run, facts = found
            number = facts.phases[phase].attempts[-1].number if facts.phases[phase].attempts else 0
            kept = keyed(session, run.address, f"{run.run}/{phase}/{number}/kept")
    if page is None:
        return []
    change = difference(reading, run, kept.event) if kept else (doc.Paragraph(("None.",)),)
    evidence = doc.Section(
        (f"Evidence of phase {asked.phase}",), page.blocks, is_folded=asked.kind == "sign-off"
    )
    return [doc.Section(("The change",), change, is_folded=asked.kind != "sign-off"), evidence]


def _form(repo: str, asked: Approval) -> doc.Form:
    yes, no = _LABELS.get(asked.kind, _OTHERS)
    options = tuple((letter, f"{letter}) {text}") for letter, text in _options(asked).items())
    note = "Reason (needed for a yes)" if asked.kind == _NEEDS_REASON else "Note"
    return doc.Form(question_path(repo, asked), (("yes", yes), ("no", no)), note, options)


def _options(asked: Approval) -> dict[str, str]:
    return options_of(asked.question) if asked.kind == "question" else {}


def _draft(reading: Reading, repo: str, asked: Approval) -> list[doc.Block]:
    """Show the very text that a yes approves, and what differs from the last approved text."""
    draft = draft_asked(reading.store, reading.blobs, repo, asked)
    blocks: list[doc.Block] = []
    if draft.since:
        rows = "\n".join(f"{change.sign} {change.text}" for change in draft.changes)
        blocks.append(doc.Section((f"What differs from {draft.since}",), (doc.Patch(clipped(rows)),)))
    text = draft.plan.source.data.decode("utf-8", "replace")
    name = f"{draft.name[:1].upper()}{draft.name[1:]}"
    blocks.append(doc.Section((name,), (doc.Listing(clipped(text)),), is_folded=bool(draft.since)))
    if draft.tried is not None:
        blocks.append(doc.Paragraph((f"Checks: {trial_summary(draft.tried)}",)))
    return blocks


def answer_question(reading: Reading, repo: str, number: int, fields: Mapping[str, str]) -> str | None:
    """Record an answer in the user's name; return what became of it; None: not the form's fields."""
    with reading.store.read() as session:
        asked = approvals.named(session, LOCAL, repo, number)
    if asked is None or is_refinement(asked.run):
        return "This question cannot be answered here."
    reply, option = _ANSWERS.get(fields.get("said", "")), fields.get("option", "")
    options = _options(asked)
    if reply is None or (option and option not in options):
        return None
    note = option or fields.get("note", "").replace("\r\n", "\n").strip()
    if len(note) > doc.MAX_NOTE:
        return f"The note is longer than {doc.MAX_NOTE:,} characters; nothing was answered."
    if reply == "yes" and asked.kind == _NEEDS_REASON and not note:
        return "A waiver needs a reason; nothing was answered."
    read = reply_to(asked.kind, asked.question, note)
    is_contrary = isinstance(read, No | Later) or (options and isinstance(read, Unclear))
    if reply == "yes" and note and is_contrary:
        return "The note does not say yes; nothing was answered. For a no, use the other button."
    repository = reading.repository(repo)
    settings = load(repository=repository.root if repository else None, environ=os.environ)
    counts, found = answer(
        reading.store, LOCAL, repo, number,
        reply=reply, note=note or None,
        asker=Asker(getpass.getuser(), machine(), os.environ),
        approvers=settings.globs("approvals.plan"),
    )  # fmt: skip
    if not counts:
        before = f"{found.answer}, by {found.answered_by}"
        return f"{found.name} was already answered: {before}. Your answer does not count."
    return f"Recorded: {reply}, by {found.answered_by}."
