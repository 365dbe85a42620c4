"""Approvals of a plan's text, and the next step for a draft. Rule: an approval covers one intent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.event import Entry
from asbuilt.events.plans import AnswerTaken, DraftWritten, PlanApproved, PlanCarried, PlanFiled
from asbuilt.events.questions import PlanAgainKey, PlanKey, key_in

AGENT: Final = "agent"
"""Author of a draft that an agent wrote."""
EDITED: Final = "edited by user"
REVISED: Final = "revised"
"""Answer of a question whose draft has a newer revision; neither yes nor no."""
WITHDRAWN: Final = "withdrawn"
"""Answer of a question whose authoring ended before the user answered."""
ANSWERS: Final = ("yes", "no")
"""Answers that only a user gives."""


class Revision(NamedTuple):
    """One revision of a draft's text."""

    run: str
    number: int
    intent: str
    digest: str
    text: str
    """Digest of its bytes in the store."""
    by: str
    label: str


class Question(NamedTuple):
    """A question to the user about a revision."""

    name: str
    run: str
    intent: str
    revision: int
    is_again: bool
    """Whether this repeats the question after a no without a note."""
    answer: str | None = None
    note: str = ""


class Approved(NamedTuple):
    """An approval and the text that it covers."""

    run: str
    intent: str
    digest: str
    text: str
    by: str
    edited: bool

    @property
    def heading(self) -> str:
        """Return the heading; it says whether the user edited the agent's draft."""
        return f"Approved Plan ({EDITED})" if self.edited else "Approved Plan"


class Drafts(NamedTuple):
    """Revisions, questions and approvals of one plan, in order."""

    revisions: tuple[Revision, ...] = ()
    questions: tuple[Question, ...] = ()
    approved: tuple[Approved, ...] = ()
    filed: str | None = None
    """Path of the file with the approved text."""

    def revision(self, number: int) -> Revision | None:
        """Return a revision by its number. Numbers are unique across all runs of the plan."""
        return next((candidate for candidate in self.revisions if candidate.number == number), None)

    @property
    def newest(self) -> Revision | None:
        """Return the last revision."""
        return self.revisions[-1] if self.revisions else None

    @property
    def asked(self) -> Question | None:
        """Return the last question about the newest revision."""
        number = self.newest.number if self.newest else 0
        return next((question for question in reversed(self.questions) if question.revision == number), None)

    def covering(self, intent: str) -> Approved | None:
        """Return the first approval of this intent."""
        return next((approval for approval in self.approved if approval.intent == intent), None)


def fold_drafts(entries: Iterable[Entry]) -> Drafts:
    """Fold the events of a plan, in order. Other kinds of events are ignored."""
    drafts = Drafts()
    for entry in entries:
        drafts = fold_draft(drafts, entry)
    return drafts


def fold_draft(drafts: Drafts, entry: Entry) -> Drafts:
    """Apply one event of a plan."""
    event, run = entry.event, entry.run or ""
    match event:
        case DraftWritten():
            written = Revision(
                run, event.number, event.intent, event.digest, event.text, event.by, event.label
            )
            return drafts._replace(revisions=(*drafts.revisions, written))
        case ApprovalAsked(about="plan"):
            key = key_in(event.key)
            if not isinstance(key, PlanKey):
                return drafts
            again = isinstance(key, PlanAgainKey)
            asked = Question(f"a{event.number}", run, key.intent, key.revision, again)
            return drafts._replace(questions=(*drafts.questions, asked))
        case ApprovalAnswered():
            name = f"a{event.number}"
            answered = (
                question._replace(answer=event.answer, note=event.note) if question.name == name else question
                for question in drafts.questions
            )
            return drafts._replace(questions=tuple(answered))
        case AnswerTaken():
            taken = Question(
                event.name, run, event.intent, event.revision, event.is_again, event.answer, event.note
            )
            return drafts._replace(questions=(*drafts.questions, taken))
        case PlanApproved():
            approved = Approved(run, event.intent, event.digest, event.text, event.by, event.edited)
            return drafts._replace(approved=(*drafts.approved, approved))
        case PlanCarried():
            before = drafts.covering(event.of)
            if before is None:
                return drafts
            after = before._replace(intent=event.intent, digest=event.digest, text=event.text)
            return drafts._replace(approved=(*drafts.approved, after))
        case PlanFiled():
            return drafts._replace(filed=event.path)
        case _:
            return drafts


def key_of(revision: Revision, *, again: bool = False) -> str:
    """Return the key of the question about a revision."""
    kind = PlanAgainKey if again else PlanKey
    return str(kind(intent=revision.intent, revision=revision.number, run=revision.run))


class Ask(NamedTuple):
    """Ask the user to approve the newest revision; `again` after a no without a note."""

    revision: Revision
    again: bool = False


class Await(NamedTuple):
    """Wait for the user's answer."""

    question: Question


class File(NamedTuple):
    """Write the approved text into the repository."""

    approved: Approved


class Rewrite(NamedTuple):
    """Have the agent revise the text by the user's note."""

    question: Question


class GiveUp(NamedTuple):
    """Stop: the user declined twice without a note. The draft stays in the store."""

    question: Question


Step = Ask | Await | File | Rewrite | GiveUp


def next_step(drafts: Drafts) -> Step | None:
    """Choose the next step for the newest revision; None without one. First match wins."""
    newest, asked = drafts.newest, drafts.asked
    if newest is None:
        return None
    if asked is None or asked.answer == WITHDRAWN:
        return Ask(newest)
    if asked.answer is None:
        return Await(asked)
    approved = drafts.covering(newest.intent) if asked.answer == "yes" else None
    if approved is not None:
        return File(approved)
    if asked.note.strip():
        return Rewrite(asked)
    if any(question.is_again for question in drafts.questions if question.run == asked.run):
        return GiveUp(asked)
    return Ask(newest, again=True)


def unchanged(drafts: Drafts, intent: str) -> Question | None:
    """Return the no that this intent got before. An unchanged text is refused without asking the user."""
    matching = (
        question
        for question in reversed(drafts.questions)
        if question.intent == intent and question.answer == "no"
    )
    return next(matching, None)


def is_edited(drafts: Drafts, revision: Revision) -> bool:
    """Return whether a revision differs from the last text that an agent submitted."""
    theirs = [
        candidate
        for candidate in drafts.revisions
        if candidate.by == AGENT and candidate.number <= revision.number
    ]
    return not theirs or theirs[-1].digest != revision.digest


def needs_approval(drafts: Drafts, intent: str) -> bool:
    """Return whether a plan has approvals, but none of this intent; a plan without any needs none."""
    return bool(drafts.approved) and drafts.covering(intent) is None


def may_answer(names: Sequence[str], actor: str) -> bool:
    """Return whether an actor may answer. `names` may hold patterns; an empty list allows every actor."""
    return not names or actor in names or any(fnmatchcase(actor, name) for name in names)
