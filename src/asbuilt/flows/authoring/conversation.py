"""Authoring in the user's own conversation: the prompt of each stage, and the outputs it submits.

Rules: an output is written before it is judged. Whenever it is not the conversation's turn, the worker
continues: it starts critics, dry-runs the checks and asks for approval. Text that others wrote is passed as a
named block, never mixed with our own words.

An authoring that has ended can be continued, with its stages, its drafts and the user's answers. Rule:
completed stages and answered questions are reused; no stage runs and no question is asked twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from asbuilt.agents.prompt import stage_for
from asbuilt.errors import NotFound
from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.authoring import StageJudged
from asbuilt.events.plans import AnswerTaken, PlanApproved
from asbuilt.events.questions import AgentAsksKey
from asbuilt.flows.authoring.staging import Staging, files_of
from asbuilt.flows.checks.dry_run import keep_tried, tried_of
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.git.repository import Repository
from asbuilt.journal import drafts, runs
from asbuilt.journal.events import append, hold
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.memory import every
from asbuilt.journal.queries.overview import facts_of
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.approval import ANSWERS, File, Rewrite, next_step
from asbuilt.lifecycle.authoring import stage_machine
from asbuilt.lifecycle.authoring.facts import AuthoringFacts, DraftFacts, Handed
from asbuilt.lifecycle.authoring.questions import asking
from asbuilt.lifecycle.authoring.session_state import PLANS, state_of
from asbuilt.lifecycle.authoring.stage_machine import APPROVAL, is_finished, progress, shown_parts
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.turns import Turn, Yours
from asbuilt.lifecycle.authoring.validators.promise_tag import is_promised, promise_tag, without_promises
from asbuilt.lifecycle.critique.convergence import show
from asbuilt.lifecycle.effort import FOR_A_PLAN
from asbuilt.lifecycle.memory import recall
from asbuilt.lifecycle.status.authoring_turn import turn_of
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session, Store

AGENT: Final = "claude"
"""Only Claude Code has hooks that can keep a conversation in its stages."""
_FORM: Final = (
    "Keep the form of the block `template`: its headings in their order, phases as it has them, and your own"
    " words in place of its text and of what it has in braces."
)
_INTERVIEW: Final = """\
This is an interview with the user. Grow the plan in {file}, the only file that you may write.
First scan a few files, write a skeleton of the plan there and ask the first questions; then repeat: read,
update the file at once, ask. Ask with AskUserQuestion, at most three related questions together, and nothing
that the code answers. You may end a turn to talk. When the plan is complete, end your turn with {promise}:
asbuilt then judges the file."""
NamedTexts = tuple[tuple[str, str], ...]
"""Named blocks of text that others wrote."""
_DRAFTED: Final = partial(StageJudged, phase=str(Stage.DRAFT), number=0)


class Conversing:
    """One authoring, from the view of its conversation."""

    def __init__(self, store: Store, blobs: Blobs, repository: Repository, *, repo: str, run: str) -> None:
        self._store = store
        self._repository = repository
        with store.read() as session:
            found = runs.find(session, LOCAL, repo, run)
        if found is None:
            raise NotFound(
                "the plan that this conversation authors is not in the journal",
                why="The journal was moved, or this command reads another one.",
                next_step="`asbuilt status` lists the plans of this journal.",
            )
        self._record = Record(run=found, store=store, blobs=blobs)

    @property
    def turn(self) -> Turn:
        """Whose turn it is now."""
        with self._store.read() as session:
            return turn_of(self._facts(session), session.now)

    @property
    def place(self) -> str:
        """Progress, as `[3/8] alternatives` or `approval`; empty before the run has started."""
        with self._store.read() as session:
            facts = self._facts(session)
        return progress(self._staging(facts).session) if facts.started else ""

    @property
    def state(self) -> dict[str, Any]:
        """The options and the position of the session, as plain values."""
        with self._store.read() as session:
            facts = self._facts(session)
        authored = self._staging(facts).session if facts.started else Staging.begun(self._record)
        return state_of(authored) | ({"phase": APPROVAL} if is_finished(authored) else {})

    def submission(self, reply: str, file: str) -> str | None:
        """Return what a turn submits: its message, or an interview's file once the message promises it."""
        if not file:
            return reply
        promise = Staging.begun(self._record).options.completion_promise
        if not is_promised(reply, promise):
            return None
        try:
            return Path(file).read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return without_promises(reply)

    def asked(self, *, begins: bool = False, is_new: bool = False, file: str = "") -> str:
        """Return the prompt of the stage that is due, with the rules if the conversation `begins`.

        A conversation that `is_new` also gets the earlier outputs; any other wrote them itself. `file` is the
        plan that an interview grows.
        """
        with self._store.read() as session:
            facts = self._facts(session)
        staging = self._staging(facts)
        ask, context = asked_of(self._record, staging, file=file, is_new=is_new)
        refused, limit = len(staging.session.refused), staging.session.options.attempt_limit
        if refused:
            ask += (
                f"\n\nRefused {refused} of {limit} times; the block `refusal` says what was found and needed."
            )
        return stage_for(ask, context, begins=begins)

    def hand_in(self, turn: Yours, text: str) -> Turn:
        """Take a text as the conversation's output, judge it, and return whose turn it is then."""
        if self._write_down(turn, text):
            with self._store.read() as session:
                facts = self._facts(session)
            self._staging(facts).judge(turn.stage, turn.number)
        after = self.turn
        if not isinstance(after, Yours):
            self._wake()
        return after

    def _write_down(self, turn: Yours, text: str) -> bool:
        """Keep an output before it is judged; False if its turn is over."""
        run = self._record.run
        output = self._record.blobs.put_json([text])
        stage, number = turn.stage, turn.number
        with self._store.write() as session:
            hold(session, run.address)
            if turn_of(self._facts(session), session.now) != turn:
                return False
            begun = AttemptBegun(phase=stage, number=number, role="plan", agent=AGENT, agents=1)
            append_event(session, run, begun, f"{turn.name}/begun/1")
            attempt = f"{stage}.{number}"
            ended = AttemptEnded(phase=stage, number=number, ending="done", starts=1, attempt=attempt)
            append_event(session, run, replace(ended, says=text[:300], output=output), f"{turn.name}/ended/1")
        return True

    def _wake(self) -> None:
        run = self._record.run
        with self._store.write() as session:
            hold(session, run.address)
            runs.wake(session, run.org, run.repo, run.run)

    def _facts(self, session: Session) -> AuthoringFacts:
        run = self._record.run
        found = runs.find(session, run.org, run.repo, run.run) or run
        facts = facts_of(session, self._record.blobs, found)
        if not isinstance(facts, AuthoringFacts):
            raise TypeError(facts.kind)
        return facts

    def _staging(self, facts: AuthoringFacts) -> Staging:
        return Staging(self._record, facts, files_of(self._repository, facts.base or ""))


def asked_of(
    record: Record, staging: Staging, *, file: str = "", is_new: bool = True
) -> tuple[str, NamedTexts]:
    """Return our instructions for the stage, and the blocks of others; an interview grows `file`.

    Not `is_new`: the author remembers what it wrote.
    """
    session = staging.session
    move = stage_machine.next_move(session, staging.around(_remembered(record)))
    if not isinstance(move, stage_machine.Ask):
        raise TypeError(f"{record.run.run} asks nothing: {type(move).__name__}")
    ours = [part.text for part in move.parts if part.is_ours]
    others = (part for part in move.parts if not part.is_ours and (is_new or not part.is_authors))
    context: list[tuple[str, str]] = [(part.name, part.text) for part in others]
    effort = record.run.options.how_authored.effort
    if effort and session.stage is not Stage.CRITIQUE:
        ours.append(FOR_A_PLAN[effort])
    template = record.run.options.how_authored.template
    if template is not UNSET and session.stage in PLANS:
        ours.append(_FORM)
        context.append(("template", template))
    if file:
        ours.append(_INTERVIEW.format(file=file, promise=promise_tag(session.options.completion_promise)))
    elif staging.asks_left:
        ours.append(asking(staging.asks_left, is_interview=staging.is_interview))
    if session.stage is Stage.CRITIQUE and staging.rounds:
        context = [pair for pair in context if pair[0] != "plan"]
        context += shown_parts(show(staging.rounds, session.plan))
    return "\n\n".join(ours), (*context, *staging.named_blocks)


def _remembered(record: Record) -> str:
    run = record.run
    with record.store.read() as session:
        known = every(session, run.org, run.repo)
    return "\n".join(f"- {memory.text}" for memory in recall(known, about=run.options.how_authored.prompt))


def take_over(session: Session, record: Record) -> None:
    """Copy the state of the authoring that this run continues; nothing if it continues none."""
    run, facts = record.run, _before(session, record, record.run)
    if facts is None:
        return
    draft = facts.draft
    for number in range(1, len(draft.batches) + 1):
        _take_questions(session, record, facts, number)
    if draft.proposals is not None:
        append_event(session, run, _DRAFTED(outcome="proposed", proposals=draft.proposals), "proposals/taken")
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
    append_event(session, run, asked, f"asks/{number}/taken")


def _stages(draft: DraftFacts) -> Iterator[tuple[str, Handed, str, str | None]]:
    """Yield each accepted output with its stage, the stage that followed, and how the session finished."""
    names = [handed.attempt.rpartition(".")[0] for handed in draft.accepted]
    for handed, name, due in zip(draft.accepted, names, [*names, draft.due][1:], strict=True):
        yield name, handed, due, draft.finished if handed is draft.accepted[-1] else None


def _take_stages(
    session: Session, record: Record, stages: Iterable[tuple[str, Handed, str, str | None]]
) -> None:
    for name, handed, due, finished in stages:
        accepted = StageJudged(phase=name, number=0, outcome="accepted", due=due, finished=finished)
        taken = replace(accepted, stage=handed.stage, round=handed.round, text=handed.text)
        append_event(session, record.run, taken, f"{name}/taken")


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
