"""Fold the events of an authoring session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.authoring import StageJudged
from asbuilt.events.plans import DraftWritten
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.approval import Rewrite, hear, next_step
from asbuilt.lifecycle.authoring.facts import AuthoringFacts, DraftFacts, Handed
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.run.facts import PhaseFacts
from asbuilt.lifecycle.run.fold import take_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunOptions

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


def name_of(stage: Stage, number: int) -> str:
    """Return the name of a stage in attempts and rows: `draft`, `critique-2`."""
    return str(stage) if stage in _ONCE and number == 1 else f"{stage}-{number}"


def names_of(stages: Sequence[Stage]) -> list[str]:
    """Return the names of all stages of a sequence."""
    return [name_of(stage, 1 + stages[:at].count(stage)) for at, stage in enumerate(stages)]


def title_of(name: str) -> str:
    """Return the title of a stage."""
    return _TITLES[Stage(name.partition("-")[0])]


def begin_authoring(run: str, options: RunOptions) -> AuthoringFacts:
    """Return the facts of an authoring session before its first event."""
    draft = DraftFacts(slug=options.slug, in_conversation=options.is_in_conversation)
    facts = AuthoringFacts(run, draft=draft)
    take_options(facts, options)
    return facts


def hear_authoring(facts: AuthoringFacts, entry: Entry) -> None:
    """Fold one event."""
    draft, event = facts.draft, entry.event
    match event:
        case RunStarted(due=str(due)):
            _is_due(facts, due)
        case AttemptBegun() if event.phase in facts.phases:
            stage = facts.phases[event.phase]
            stage.begun, stage.begun_at = True, stage.begun_at or entry.at
        case StageJudged():
            _hear_judged(facts, event)
        case DraftWritten():
            draft.finished = draft.reopened_at = None
        case ApprovalAnswered():
            draft.notes[event.key] = event.note
        case _:
            pass
    draft.texts = hear(draft.texts, entry)
    step = next_step(draft.texts)
    # The answer yes is recorded before PlanApproved; a note on a yes sends nothing back.
    if isinstance(step, Rewrite) and step.question.answer != "yes" and draft.reopened_at is None:
        draft.feedback.append(step.question.note)
        _reopen(facts)


def _hear_judged(facts: AuthoringFacts, event: StageJudged) -> None:
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
            draft.gave_up = f"{name} was given up: {event.why}"
    draft.finished = event.finished
    if event.due:
        _is_due(facts, event.due)


def _reopen(facts: AuthoringFacts) -> None:
    """Make another revision due after the user sent the plan back."""
    draft = facts.draft
    draft.reopened_at = len(draft.accepted)
    draft.refused.clear()
    rounds = sum(one.stage == Stage.REVISE for one in draft.accepted)
    _is_due(facts, name_of(Stage.REVISE, rounds + 1))


def _is_due(facts: AuthoringFacts, name: str) -> None:
    facts.draft.due = name
    facts.phases.setdefault(name, PhaseFacts(name, title=title_of(name)))
