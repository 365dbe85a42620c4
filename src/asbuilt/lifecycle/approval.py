"""Whose yes covers which text of a plan, and what becomes of a draft that was answered. Pure.

The one rule: an approval names one intent. What a plan wants otherwise is covered by no yes.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.plans import AnswerTaken, DraftWritten, PlanApproved, PlanCarried, PlanFiled
from asbuilt.events.questions import PlanAgainKey, PlanKey, key_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.events.event import Entry

AGENT: Final = "agent"
"""Who has written a draft that no person has."""
EDITED: Final = "edited by user"
REVISED: Final = "revised"
"""What became of a question whose draft has a newer revision; it is neither a yes nor a no."""
WITHDRAWN: Final = "withdrawn"
"""What became of a question whose authoring ended before anybody answered it."""
ANSWERS: Final = ("yes", "no")
"""What only a person says."""


class Revision(NamedTuple):
    """One text of a draft."""

    run: str
    number: int
    intent: str
    digest: str
    text: str
    """Where its bytes are kept."""
    by: str
    label: str


class Question(NamedTuple):
    """A revision as it was put to a person."""

    name: str
    run: str
    intent: str
    revision: int
    is_again: bool
    """It was asked a second time, after a no that gave no reason."""
    answer: str | None = None
    note: str = ""


class Approved(NamedTuple):
    """A yes, and the text that it covers."""

    run: str
    intent: str
    digest: str
    text: str
    by: str
    edited: bool

    @property
    def heading(self) -> str:
        """Say what was approved: what the agent had handed in, or what a person has made of it."""
        return f"Approved Plan ({EDITED})" if self.edited else "Approved Plan"


class Drafts(NamedTuple):
    """All that is known of the texts of one plan and what people said to them, in order."""

    revisions: tuple[Revision, ...] = ()
    questions: tuple[Question, ...] = ()
    approved: tuple[Approved, ...] = ()
    filed: str | None = None
    """Where the approved text was written."""

    def revision(self, number: int) -> Revision | None:
        """Return a revision by its number; they are numbered through all runs of the plan."""
        return next((one for one in self.revisions if one.number == number), None)

    @property
    def newest(self) -> Revision | None:
        """Return the last text."""
        return self.revisions[-1] if self.revisions else None

    @property
    def asked(self) -> Question | None:
        """Return the last question about the newest text."""
        number = self.newest.number if self.newest else 0
        return next((one for one in reversed(self.questions) if one.revision == number), None)

    def covering(self, intent: str) -> Approved | None:
        """Return the first yes to this very intent."""
        return next((one for one in self.approved if one.intent == intent), None)


def fold_drafts(entries: Iterable[Entry]) -> Drafts:
    """Fold the events of a plan, in order; other kinds of events say nothing of its drafts."""
    drafts = Drafts()
    for entry in entries:
        drafts = hear(drafts, entry)
    return drafts


def hear(drafts: Drafts, entry: Entry) -> Drafts:
    """Hear one more event of a plan."""
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
                one._replace(answer=event.answer, note=event.note) if one.name == name else one
                for one in drafts.questions
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
    """Put the newest text to a person; `again` after a no that gave no reason."""

    revision: Revision
    again: bool = False


class Await(NamedTuple):
    """Somebody has been asked. Nothing happens before they answer."""

    question: Question


class File(NamedTuple):
    """Write the approved text into the repository."""

    approved: Approved


class Rewrite(NamedTuple):
    """Let the agent change the text by what a person said to it."""

    question: Question


class GiveUp(NamedTuple):
    """A person has declined twice without a word; the draft stays in the store."""

    question: Question


Step = Ask | Await | File | Rewrite | GiveUp


def next_step(drafts: Drafts) -> Step | None:
    """Choose what becomes of the newest text; None while there is none. First match wins."""
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
    if any(one.is_again for one in drafts.questions if one.run == asked.run):
        return GiveUp(asked)
    return Ask(newest, again=True)


def unchanged(drafts: Drafts, intent: str) -> Question | None:
    """Find the no that an agent's text has got before: handed in again, it is refused without asking."""
    said = (one for one in reversed(drafts.questions) if one.intent == intent and one.answer == "no")
    return next(said, None)


def is_edited(drafts: Drafts, revision: Revision) -> bool:
    """Tell whether a text differs from what an agent handed in last."""
    theirs = [one for one in drafts.revisions if one.by == AGENT and one.number <= revision.number]
    return not theirs or theirs[-1].digest != revision.digest


def needs_approval(drafts: Drafts, intent: str) -> bool:
    """Tell whether a run may not work on this: the plan was approved, and this intent was not.

    A plan that nobody was ever asked about is its owner's own word.
    """
    return bool(drafts.approved) and drafts.covering(intent) is None


def may_answer(names: Sequence[str], actor: str) -> bool:
    """Tell whether somebody is among those who may answer; where nobody is named, everybody is."""
    return not names or actor in names or any(fnmatchcase(actor, name) for name in names)
