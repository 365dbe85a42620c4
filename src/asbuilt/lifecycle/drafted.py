"""Fold the events of an authoring into what is known of it, after what the fold of every run has heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.lifecycle.approving import Rewrite, hear, next_step
from asbuilt.lifecycle.authoring import Stage
from asbuilt.lifecycle.facts import Handed, PhaseFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asbuilt.lifecycle.facts import RunFacts

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
    """Name a stage as its attempts and rows are: `draft`, `critique-2`."""
    return str(stage) if stage in _ONCE and number == 1 else f"{stage}-{number}"


def names_of(stages: Sequence[Stage]) -> list[str]:
    """Name every stage of a sequence."""
    return [name_of(stage, 1 + stages[:at].count(stage)) for at, stage in enumerate(stages)]


def title_of(name: str) -> str:
    """Say in a few words what a stage does."""
    return _TITLES[Stage(name.partition("-")[0])]


def hear_draft(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    """Hear one event of an authoring."""
    draft = facts.draft
    match kind:
        case "run.started" if data.get("due"):
            _is_due(facts, str(data["due"]))
        case "attempt.begun" if data["phase"] in facts.phases:
            stage = facts.phases[data["phase"]]
            stage.begun, stage.begun_at = True, stage.begun_at or str(data.get("at", ""))
        case "stage.judged":
            _hear_judged(facts, data)
        case "draft.written":
            draft.finished = draft.reopened_at = None
        case "approval.answered":
            draft.notes[str(data["key"])] = str(data.get("note") or "")
        case _:
            pass
    draft.texts = hear(draft.texts, kind, data)
    step = next_step(draft.texts)
    # A yes is written down before what it covers; whatever was remarked with it sends nothing back.
    if isinstance(step, Rewrite) and step.question.answer != "yes" and draft.reopened_at is None:
        draft.feedback.append(step.question.note)
        _reopen(facts)


def _hear_judged(facts: RunFacts, data: Mapping[str, Any]) -> None:
    draft, name = facts.draft, str(data["phase"])
    draft.judged[name] = int(data["number"])
    match data["outcome"]:
        case "accepted":
            stage, number = Stage(data["stage"]), int(data["round"])
            draft.accepted.append(Handed(stage, number, str(data["text"]), f"{name}.{data['number']}"))
            draft.refused.clear()
            facts.done_before |= {name}
            for needless in data.get("left_out", ()):
                facts.phases.pop(needless, None)
        case "refused":
            draft.refused.append(str(data["flaws"]))
        case "asks":
            asked = {str(key): str(words) for key, words in data.get("asks", ())}
            draft.asked |= asked
            draft.batches.append(tuple(asked))
            for key, answer, note in data.get("answers", ()):
                facts.approvals[key], draft.notes[key] = answer, note
        case "proposed":
            draft.proposals = str(data["proposals"])
        case _:
            draft.gave_up = f"{name} was given up: {data['why']}"
    draft.finished = data.get("finished")
    if data.get("due"):
        _is_due(facts, str(data["due"]))


def _reopen(facts: RunFacts) -> None:
    """Hear that a person has sent a plan back: one more revision is due."""
    draft = facts.draft
    draft.reopened_at = len(draft.accepted)
    draft.refused.clear()
    rounds = sum(one.stage == Stage.REVISE for one in draft.accepted)
    _is_due(facts, name_of(Stage.REVISE, rounds + 1))


def _is_due(facts: RunFacts, name: str) -> None:
    facts.draft.due = name
    facts.phases.setdefault(name, PhaseFacts(name, title=title_of(name)))
