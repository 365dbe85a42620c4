"""Facts of an authoring session, folded from its events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from msgspec import Struct, field

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.authoring import StageJudged
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.options import RunKind, RunOptions
from asbuilt.events.plans import DraftSetup, DraftTried, DraftWritten
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.approval import Drafts, Rewrite, fold_draft, next_step
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts

CRITIC: Final = "critique"
_TITLES: Final = {
    Stage.UNDERSTAND: "What is wanted",
    Stage.EXPLORE: "Read the code",
    Stage.ALTERNATIVES: "Weigh the options",
    Stage.DRAFT: "Write the plan",
    Stage.CRITIQUE: "Find its faults",
    Stage.REVISE: "Answer what was found",
    Stage.ITERATE: "Complete the plan",
}
_ONCE: Final = (Stage.UNDERSTAND, Stage.EXPLORE, Stage.ALTERNATIVES, Stage.DRAFT)


def role_of(stage: str) -> str:
    """Return the role of a stage. A critique has its own role: the critic is not the author."""
    return CRITIC if stage.startswith(CRITIC) else "plan"


class Handed(NamedTuple):
    """An accepted output of a stage."""

    stage: str
    round: int
    text: str
    """Digest."""
    attempt: str
    """Address of the attempt that submitted it, below the run: `draft.1`."""


class DraftFacts(Struct):
    """Facts of an authoring: its stages, its questions and its revisions."""

    slug: str = ""
    in_conversation: bool = False
    """The user's conversation writes the plan; a worker starts only the critics."""
    due: str = ""
    judged: dict[str, int] = field(default_factory=dict)
    """The last attempt of each stage whose output was judged."""
    accepted: list[Handed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Digests of the flaws in refused outputs of the stage that is due."""
    proposals: str | None = None
    """Digest of the proposals of several planners."""
    sketch: str = ""
    """Digest of the plan so far, in an interview."""
    gave_up: str = ""
    finished: str | None = None
    """Why the stages ended; None before that, and once their plan is written."""
    batches: list[tuple[str, ...]] = field(default_factory=list)
    """Keys of the questions to the user, grouped as they were asked."""
    asked: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    """The users' notes on their answers, by the question's key."""
    texts: Drafts = field(default_factory=Drafts)
    setup: str = ""
    """The command of the setup that has started, until the draft's checks have run."""
    feedback: list[str] = field(default_factory=list)
    """The users' notes on revisions that they sent back."""
    reopened_at: int | None = None
    """Number of accepted outputs when the last revision was sent back; None if none was."""


class AuthoringFacts(RunFacts):
    """Facts of a run that authors a plan. Its phases are the stages."""

    kind: ClassVar[RunKind] = "author"
    plans: ClassVar[bool] = True
    draft: DraftFacts = field(default_factory=DraftFacts)

    @property
    def current(self) -> PhaseFacts | None:
        """The stage that is due."""
        return self.phases.get(self.draft.due)

    def is_work(self, event: Event) -> bool:
        """Return whether the time up to an event counts as work; stages that a conversation writes do not."""
        phase = phase_of(event)
        return not self.draft.in_conversation or phase is None or role_of(phase) == CRITIC

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        super().take(options)
        self.draft.slug, self.draft.in_conversation = options.slug, options.is_in_conversation

    def fold(self, entry: Entry) -> None:
        """Fold an event about the stages, the draft or the answers."""
        draft, event = self.draft, entry.event
        match event:
            case RunStarted(due=str(due)):
                _is_due(self, due)
            case AttemptBegun() if event.phase in self.phases:
                stage = self.phases[event.phase]
                stage.begun, stage.begun_at = True, stage.begun_at or entry.at
            case StageJudged():
                _record_judged(self, event)
            case DraftSetup():
                draft.setup = event.command
            case DraftTried():
                draft.setup = ""
            case DraftWritten():
                draft.setup, draft.finished, draft.reopened_at = "", None, None
            case ApprovalAnswered():
                draft.notes[event.key] = event.note
        draft.texts = fold_draft(draft.texts, entry)
        step = next_step(draft.texts)
        # The answer yes is recorded before PlanApproved; a note on a yes sends nothing back.
        if isinstance(step, Rewrite) and step.question.answer != "yes" and draft.reopened_at is None:
            draft.feedback.append(step.question.note)
            _reopen(self)


def name_of(stage: Stage, number: int) -> str:
    """Return the name of a stage in attempts and rows: `draft`, `critique-2`."""
    return str(stage) if stage in _ONCE and number == 1 else f"{stage}-{number}"


def names_of(stages: Sequence[Stage]) -> list[str]:
    """Return the names of all stages of a sequence."""
    return [name_of(stage, 1 + stages[:at].count(stage)) for at, stage in enumerate(stages)]


def title_of(name: str) -> str:
    """Return the title of a stage."""
    return _TITLES[Stage(name.partition("-")[0])]


def _record_judged(facts: AuthoringFacts, event: StageJudged) -> None:
    draft, name = facts.draft, event.phase
    draft.judged[name] = event.number
    match event.outcome:
        case "accepted":
            handed = Handed(Stage(event.stage), event.round, event.text, f"{name}.{event.number}")
            draft.accepted.append(handed)
            draft.refused.clear()
            facts.done_before |= {name}
            for needless in event.left_out:
                facts.phases.pop(needless, None)
        case "refused":
            draft.refused.append(event.flaws)
        case "asks":
            asked = dict(event.asks)
            draft.asked |= asked
            draft.batches.append(tuple(asked))
            draft.sketch = event.text or draft.sketch
            for key, answer, note in event.answers:
                facts.approvals[key], draft.notes[key] = answer, note
        case "proposed":
            draft.proposals = event.proposals
        case _:
            refused = len(draft.refused) + 1
            flawed = f"; the last has flaws in: {', '.join(event.about)}" if event.about else ""
            draft.gave_up = (
                f"{name} was given up after {refused} refused answer{'s' * (refused != 1)}{flawed}"
            )
    draft.finished = event.finished
    if event.due:
        _is_due(facts, event.due)


def _reopen(facts: AuthoringFacts) -> None:
    draft = facts.draft
    draft.reopened_at = len(draft.accepted)
    draft.refused.clear()
    rounds = sum(handed.stage == Stage.REVISE for handed in draft.accepted)
    _is_due(facts, name_of(Stage.REVISE, rounds + 1))


def _is_due(facts: AuthoringFacts, name: str) -> None:
    facts.draft.due = name
    facts.phases.setdefault(name, PhaseFacts(name, title=title_of(name)))
