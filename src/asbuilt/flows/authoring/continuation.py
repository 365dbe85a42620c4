"""Continue an authoring that has ended, with its stages, its drafts and the user's answers.

Rule: completed stages and answered questions are reused; no stage runs and no question is asked twice.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from asbuilt.events.authoring import StageJudged
from asbuilt.events.plans import AnswerTaken, PlanApproved
from asbuilt.events.questions import AgentAsksKey
from asbuilt.flows.checks.dry_run import keep_tried, tried_of
from asbuilt.flows.run.record import ACTOR, Record, say
from asbuilt.journal import drafts, runs
from asbuilt.journal.events import append
from asbuilt.journal.queries.overview import facts_of
from asbuilt.lifecycle.approval import ANSWERS, File, Rewrite, next_step
from asbuilt.lifecycle.authoring.facts import AuthoringFacts, DraftFacts, Handed
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run

_DRAFTED: Final = partial(StageJudged, phase=str(Stage.DRAFT), number=0)


def take_over(session: Session, record: Record) -> None:
    """Copy the state of the authoring that this run continues; nothing if it continues none."""
    run, facts = record.run, _before(session, record, record.run)
    if facts is None:
        return
    draft = facts.draft
    for number in range(1, len(draft.batches) + 1):
        _take_questions(session, record, facts, number)
    if draft.proposals is not None:
        say(session, run, _DRAFTED(outcome="proposed", proposals=draft.proposals), "proposals/taken")
    stages = list(_stages(draft))
    # Stages accepted after a draft was sent back have to follow that event.
    at = len(stages) if draft.reopened_at is None else draft.reopened_at
    _take_stages(session, record, stages[:at])
    _take_text(session, record, draft)
    _take_stages(session, record, stages[at:])


def _before(session: Session, record: Record, run: Run) -> AuthoringFacts | None:
    """Return the facts of the nearest earlier authoring that started."""
    before = runs.find(session, run.org, run.repo, run.options.continues or "")
    if before is None:
        return None
    facts = facts_of(session, record.blobs, before)
    if not isinstance(facts, AuthoringFacts):
        return None
    return facts if facts.started else _before(session, record, before)


def _take_questions(session: Session, record: Record, facts: AuthoringFacts, number: int) -> None:
    """Copy a batch of questions; unanswered ones get keys of this run, so that this run asks them."""
    run, draft = record.run, facts.draft
    asks, answers = [], []
    for at, key in enumerate(draft.batches[number - 1], 1):
        answer = facts.approvals.get(key)
        own = AgentAsksKey(run=run.run, batch=number, number=at)
        taken = key if answer in ANSWERS else str(own)
        asks.append((taken, draft.asked[key]))
        if answer in ANSWERS:
            answers.append((key, answer, draft.notes.get(key, "")))
    details = record.blobs.put_json({"asks": asks, "answers": answers})
    asked = _DRAFTED(outcome="asks", text=draft.sketch, details=details, many=len(asks))
    say(session, run, asked, f"asks/{number}/taken")


def _stages(draft: DraftFacts) -> Iterator[tuple[str, Handed, str, str | None]]:
    """Yield each accepted output with its stage, the stage that followed, and how the session finished."""
    names = [one.attempt.rpartition(".")[0] for one in draft.accepted]
    for one, name, due in zip(draft.accepted, names, [*names, draft.due][1:], strict=True):
        yield name, one, due, draft.finished if one is draft.accepted[-1] else None


def _take_stages(
    session: Session, record: Record, stages: Iterable[tuple[str, Handed, str, str | None]]
) -> None:
    for name, one, due, finished in stages:
        accepted = StageJudged(phase=name, number=0, outcome="accepted", due=due, finished=finished)
        taken = replace(accepted, stage=one.stage, round=one.round, text=one.text)
        say(session, record.run, taken, f"{name}/taken")


def _take_text(session: Session, record: Record, draft: DraftFacts) -> None:
    """Copy the newest draft, its dry run, and the user's answer to it."""
    run, newest = record.run, draft.texts.newest
    if newest is None:
        return
    plan = read(record.blobs.get(newest.text))
    written = drafts.write(session, run.address, plan, run=run.run, by=newest.by, text=newest.text)
    tried = tried_of(session, record.blobs, run.address, newest)
    if tried is not None:
        keep_tried(session, record.blobs, run.address, written, tried)
    step = next_step(draft.texts)
    if not isinstance(step, File | Rewrite):
        return
    asked = draft.texts.asked
    if asked is not None:
        answered = AnswerTaken(
            name=asked.name,
            intent=asked.intent,
            revision=written.number,
            is_again=asked.is_again,
            answer=asked.answer,
            note=asked.note,
        )
        key = f"{run.run}/answer/{written.number}"
        append(session, run.address, answered, key=key, actor=ACTOR, run=run.run)
    if isinstance(step, File):
        of = step.approved
        approved = PlanApproved(intent=of.intent, digest=of.digest, text=of.text, by=of.by, edited=of.edited)
        key = f"{run.run}/approved/{written.number}"
        append(session, run.address, approved, key=key, actor=of.by, run=run.run)
