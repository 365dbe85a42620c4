"""One authoring, between its journal and the stage machine: outputs, verdicts, the written draft."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import assert_never

from msgspec import structs
from msgspec.structs import replace

from asbuilt.errors import GateStopped, PlanUnreadable
from asbuilt.events.authoring import StageJudged
from asbuilt.events.options import value_or
from asbuilt.events.questions import AgentAsksKey
from asbuilt.flows.checks.dry_run import keep_tried
from asbuilt.flows.run.record import ACTOR, Record
from asbuilt.git.files import entries
from asbuilt.git.repository import Repository
from asbuilt.journal import drafts, memory
from asbuilt.journal.events import shortened
from asbuilt.lifecycle.approval import AGENT
from asbuilt.lifecycle.authoring import stage_machine
from asbuilt.lifecycle.authoring.facts import AuthoringFacts, name_of, names_of, role_of
from asbuilt.lifecycle.authoring.modes import MODES, Mode
from asbuilt.lifecycle.authoring.questions import Question, answer_to, questions_in, sketch_in
from asbuilt.lifecycle.authoring.session_state import PLANS, Session, read_session
from asbuilt.lifecycle.authoring.session_state import Record as Handed
from asbuilt.lifecycle.authoring.stage_machine import (
    SHIPPED,
    Surroundings,
    earlier_in,
    principles_in,
    rounds_in,
    without_needless,
)
from asbuilt.lifecycle.authoring.stage_prompts import flaw_list
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.promise_tag import without_promises
from asbuilt.lifecycle.authoring.validators.thresholds import demands_of
from asbuilt.lifecycle.critique.additions import with_additions
from asbuilt.lifecycle.critique.convergence import Round, Who, carried, fold
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.memory import lessons_of_critique
from asbuilt.plan.lint import Length
from asbuilt.plan.markdown.source import encode
from asbuilt.plan.model import Plan
from asbuilt.plan.problems import Rule, Severity
from asbuilt.plan.reader import read
from asbuilt.proof.checks_before_work import Tried

_WHY = 500
_TOO_LONG = (Rule.LONG_PLAN, Severity.ERROR)


def files_of(repository: Repository, commit: str) -> frozenset[str]:
    """Return the files that agents see in a workspace of a commit."""
    return frozenset(name.decode("utf-8", "replace") for name in entries(repository.git, commit))


class Staging:
    """State of one authoring."""

    def __init__(
        self, record: Record, facts: AuthoringFacts, files: Collection[str], *, file: Path | None = None
    ) -> None:
        """Keep the facts of the authoring, the files that its agents see, and the file of the plan so far."""
        self._record = record
        self._file = file
        self._facts = facts
        self._draft = facts.draft
        self._files = files
        self._chosen = record.run.options.how_authored
        self._mode: Mode = MODES[self._chosen.mode]
        chosen = self._chosen.principles
        self._principles = SHIPPED if chosen is None else principles_in(chosen)

    @staticmethod
    def begun(record: Record) -> Session:
        """Return the session as requested; raise `GateStopped` if it cannot be read."""
        session = read_session(record.run.options.how_authored.session)
        if isinstance(session, Session):
            return session
        raise GateStopped(
            session.warning,
            why="Its options are needed for every stage.",
            next_step='`asbuilt author "what you want"`',
        )

    @cached_property
    def session(self) -> Session:
        """The current session, without rounds of critique that are not needed."""
        chosen = self._chosen_session
        is_sent_back = self._draft.reopened_at is not None
        return chosen if is_sent_back else without_needless(chosen, self.rounds, self._principles)

    @cached_property
    def _chosen_session(self) -> Session:
        """The session as chosen. A draft that was sent back adds a REVISE stage after the accepted ones."""
        session, draft = self.begun(self._record), self._draft
        records = [Handed(Stage(file.stage), file.round, self._text(file.text)) for file in draft.accepted]
        if draft.reopened_at is not None:
            before, since = records[: draft.reopened_at], records[draft.reopened_at :]
            at = max(at for at, record in enumerate(before) if record.stage in PLANS)
            # The user may have edited the draft since.
            before[at] = before[at]._replace(text=self._text(draft.texts.revisions[-1].text))
            stages_now = (*(record.stage for record in before), Stage.REVISE)
            options = structs.replace(session.options, stages=stages_now, max_phases=len(stages_now) + 1)
            session, records = replace(session, options=options), [*before, *since]
        refused = (
            tuple(Flaw(*flaw) for flaw in self._record.blobs.get_json(digest)) for digest in draft.refused
        )
        return replace(session, records=tuple(records), refused=tuple(refused))

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of critique so far."""
        options, run = self._record.run.options, self._record.run.run
        who = {
            f"{file.stage}-{file.round}": Who(options.agent_of(role_of(file.stage)), f"{run}.{file.attempt}")
            for file in self._draft.accepted
        }
        agents = frozenset(options.agent_of(role) for role in ("plan", "critique"))
        return rounds_in(
            self._chosen_session, who, files=self._files, principles=self._principles, agents=agents
        )

    @property
    def is_interview(self) -> bool:
        """Whether the plan grows from one batch of questions to the next."""
        return self._mode.name == "interview"

    @property
    def asks_left(self) -> int:
        """Number of questions that the current stage may still ask the user."""
        is_open = self.session.stage is Stage.DRAFT and self._draft.reopened_at is None
        return self._mode.most if is_open and len(self._draft.batches) < self._mode.batches else 0

    @property
    def named_blocks(self) -> list[tuple[str, str]]:
        """The user's answers, other agents' proposals and the latest feedback, as named blocks."""
        draft = self._draft
        answers = [
            answer_to(draft.asked[key], self._facts.approvals.get(key) or "", draft.notes.get(key, ""))
            for batch in draft.batches
            for key in batch
        ]
        proposals = self._record.blobs.get_json(draft.proposals) if draft.proposals else []
        return [
            *((("plan so far", self._text(draft.sketch)),) if draft.sketch else ()),
            *(("answer", answer) for answer in answers),
            *(("proposal", proposal) for proposal in proposals),
            *(("feedback", text) for text in draft.feedback[-1:] if draft.reopened_at is not None),
        ]

    def around(self, remembered: str = "") -> Surroundings:
        """Return what the session does not contain: files, memory, principles, earlier findings, demands."""
        is_judging = self.session.stage is Stage.CRITIQUE
        earlier = earlier_in(self.rounds, self.session.plan) if is_judging and self.rounds else []
        demands = demands_of(value_or(self._chosen.amounts, {}), self._length)
        return Surroundings(self._files, remembered, self._principles, earlier, demands)

    def leans(self, fields: Sequence[str], bents: Sequence[str]) -> Sequence[str]:
        """Return the focus of each agent if several do the stage in parallel; empty for a single agent."""
        chosen = self._chosen
        many = {Stage.EXPLORE: (chosen.explorers, fields), Stage.DRAFT: (chosen.planners, bents)}
        wanted, leanings = many.get(self.session.stage, (1, ()))
        is_proposed = self.session.stage is Stage.DRAFT and self._draft.proposals is not None
        return leanings[:wanted] if wanted > 1 and not is_proposed else ()

    def judge(self, stage: str, number: int) -> None:
        """Judge an attempt's output, and record the verdict."""
        attempt = next(earlier for earlier in self._facts.phases[stage].attempts if earlier.number == number)
        texts = self._record.blobs.get_json(attempt.output or "")
        judged = partial(StageJudged, phase=stage, number=number)
        if len(texts) > 1 and self.session.stage is Stage.DRAFT:
            found = judged(outcome="proposed", proposals=attempt.output or "")
        else:
            found = self._judged(judged, "\n\n".join(texts))
        self._record.append(found, f"{stage}/{number}/judged")

    def _judged(self, judged: Callable[..., StageJudged], text: str) -> StageJudged:
        asked = None
        if self.session.stage is Stage.DRAFT:
            asked = questions_in(
                text, most=self.asks_left, before=self._draft.asked.values(), is_interview=self.is_interview
            )
        questions = [answer for answer in asked or () if isinstance(answer, Question)]
        if questions:
            run, batch = self._record.run.run, len(self._draft.batches) + 1
            asks = [
                (str(AgentAsksKey(run=run, batch=batch, number=at)), question.words)
                for at, question in enumerate(questions, 1)
            ]
            sketch = sketch_in(text)
            if sketch and self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._file.write_bytes(sketch.encode("utf-8", "surrogateescape"))
            return judged(
                outcome="asks",
                text=self._record.blobs.put(sketch.encode("utf-8", "surrogateescape")) if sketch else "",
                details=self._record.blobs.put_json({"asks": asks}),
                many=len(asks),
            )
        flaws = tuple(answer for answer in asked or () if isinstance(answer, Flaw)) or self._unchanged(text)
        move = stage_machine.judged(self.session, text, self.around())
        if not flaws and isinstance(move, stage_machine.Accept) and self.session.is_final:
            flaws = self._no_room(without_promises(text))
        if flaws:
            move = stage_machine.refused(self.session, flaws)
        match move:
            case stage_machine.Accept(record) | stage_machine.Iterate(record):
                after = self.session.after(record)
                then = stage_machine.next_move(after, self.around())
                is_over = isinstance(then, stage_machine.Finish)
                left_out = names_of(self._chosen_session.options.stages)[len(after.options.stages) :]
                return judged(
                    outcome="accepted",
                    stage=str(record.stage),
                    round=record.round,
                    text=self._record.blobs.put(text.encode("utf-8", "surrogateescape")),
                    finished=then.exit_reason if isinstance(then, stage_machine.Finish) else None,
                    due=None if is_over else name_of(after.stage, after.round),
                    left_out=tuple(left_out),
                )
            case stage_machine.Refuse(_, flaws):
                why, kept = shortened(flaw_list(flaws), _WHY), self._record.blobs.put_json(flaws)
                return judged(outcome="refused", flaws=kept, why=why)
            case stage_machine.GiveUp(_, flaws):
                about = tuple(dict.fromkeys(flaw.what for flaw in flaws))
                return judged(outcome="gave_up", why=shortened(flaw_list(flaws), _WHY), about=about)
            case _:
                assert_never(move)

    def _unchanged(self, text: str) -> tuple[Flaw, ...]:
        """Refuse a draft that was sent back and is submitted again unchanged."""
        if self._draft.reopened_at is None or _body(text) != _body(self.session.plan):
            return ()
        needed = f"a plan that answers: {self._draft.feedback[-1]}"
        return (Flaw("unchanged plan", "the plan as it was sent back", needed, "the phase that it is about"),)

    def _no_room(self, text: str) -> tuple[Flaw, ...]:
        """Refuse a final text that is too long once the open findings are added."""
        with_all = read(encode(self._with_carried(text)), length=self._length)
        over = [problem for problem in with_all.problems if (problem.rule, problem.severity) == _TOO_LONG]
        if not over:
            return ()
        found = f"with what the critique left open it {over[0].message}"
        return (Flaw("length", found, "room for that, or an answer to it", "fewer lines of prose"),)

    def _with_carried(self, text: str) -> str:
        if not self.rounds:
            return text
        principles = [principle.id for principle in self._principles]
        return with_additions(text, carried(self.rounds, text, principles=principles))

    @property
    def _length(self) -> Length:
        return Length(self._record.run.options.length or Length.CONTROL)

    def write(self, tried: Callable[[Plan], Sequence[Tried] | None]) -> None:
        """Write the finished plan as a revision, with all open findings; `tried` dry-runs its checks."""
        run, record = self._record.run, self._record
        finish = stage_machine.next_move(self.session, self.around())
        if not isinstance(finish, stage_machine.Finish):
            raise TypeError(f"{run.run} has no plan: {type(finish).__name__}")
        if self._mode.stages is not None:
            finish = finish._replace(exit_reason="completed")
        finish = finish._replace(plan=self._with_carried(finish.plan))
        data = stage_machine.document_of(finish, generated_at=run.at).encode("utf-8", "surrogateescape")
        plan = read(data)
        learns = self.session.options.use_memory and finish.exit_reason == "completed"
        lessons = lessons_of_critique(fold(self.rounds), task=self._chosen.prompt) if learns else ()
        text, rows = record.blobs.put(data), tried(plan)
        with record.store.write() as session:
            written = drafts.write(session, run.address, plan, run=run.run, by=AGENT, text=text)
            if rows is not None:
                keep_tried(session, record.blobs, run.address, written, rows)
            memory.remember(session, run.org, run.repo, lessons, actor=ACTOR)

    def _text(self, digest: str) -> str:
        return self._record.blobs.get(digest).decode("utf-8", "surrogateescape")


def _body(text: str) -> list[str]:
    """Return the words of a plan without its front matter; empty if it cannot be read."""
    try:
        plan = read(encode(without_promises(text)))
    except PlanUnreadable:
        return []
    return [word for line in plan.source.lines[plan.front.after :] for word in line.split()]
