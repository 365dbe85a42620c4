"""Stage machine: choose the next move of an authoring session. Pure.

Rule: a session finishes only with a promised plan that has its sections, or at `max_phases`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import structs
from msgspec.structs import replace

from asbuilt.lifecycle.authoring.session_state import PLANS, ExitReason, Record, Session
from asbuilt.lifecycle.authoring.stage_prompts import flaw_list, instruction, perspective
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.draft import missing_sections
from asbuilt.lifecycle.authoring.validators.promise_tag import is_promised, without_promises
from asbuilt.lifecycle.authoring.validators.stage_validators import Setting, critique_in, judge
from asbuilt.lifecycle.authoring.validators.thresholds import DEMANDS, Demands
from asbuilt.lifecycle.critique.convergence import Over, Round, Shown, Who, decide, show
from asbuilt.lifecycle.critique.findings import Critique, read_critique
from asbuilt.lifecycle.critique.principles import TEMPLATE, Principle, read_principles
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.markdown.frontmatter import scalar

NO_PROMISE: Final = "no promise"
APPROVAL: Final = "approval"
"""Position of a session without a stage left."""
_NO_AUTHOR = Who("", "")


def principles_in(text: str) -> tuple[Principle, ...]:
    """Return the principles of a text that was validated when it was chosen."""
    return tuple(principle for principle in read_principles(text) if isinstance(principle, Principle))


SHIPPED: Final = principles_in(TEMPLATE)


class Surroundings(NamedTuple):
    """Inputs of the stage machine that are not part of the session."""

    files: Collection[str]
    """Every path that exists in the workspace, tracked or not."""
    memory: str = ""
    """Lessons of earlier sessions and runs, for the exploration."""
    principles: tuple[Principle, ...] = SHIPPED
    earlier: Collection[str] = ()
    """Ids of the findings that a critic sees."""
    demands: Demands = DEMANDS


class Part(NamedTuple):
    """A part of an agent's prompt."""

    name: Literal[
        "progress",
        "instruction",
        "perspective",
        "principles",
        "refusal",
        "prompt",
        "memory",
        "plan",
        "record",
    ]
    text: str
    is_ours: bool
    """False: text from another source, put between marks that it cannot contain."""
    is_authors: bool = False
    """The author wrote it in an earlier stage."""


class Ask(NamedTuple):
    """Start an agent for a stage. The critic is never the author."""

    stage: Stage
    round: int
    by: Literal["author", "critic"]
    parts: tuple[Part, ...]


class Accept(NamedTuple):
    """Keep an output and continue with the next stage."""

    record: Record


class Iterate(NamedTuple):
    """Keep the last revision, which made no promise, and continue with the extra stage."""

    record: Record


class Refuse(NamedTuple):
    """Report every flaw and repeat the stage."""

    stage: Stage
    flaws: tuple[Flaw, ...]
    left: int
    """Number of outputs that the stage may still submit."""


class Finish(NamedTuple):
    """Save the plan."""

    plan: str
    exit_reason: ExitReason


class GiveUp(NamedTuple):
    """Give up: too many outputs of one stage were refused. Accepted outputs stay."""

    stage: Stage
    flaws: tuple[Flaw, ...]


Verdict = Accept | Iterate | Refuse | GiveUp


def next_move(session: Session, around: Surroundings) -> Ask | Finish:
    """Choose the next move. First match wins; the order is the policy."""
    if _is_complete(session):
        return Finish(without_promises(session.plan), "completed")
    if 0 < session.options.max_phases <= session.index:
        return Finish(without_promises(session.plan or session.records[-1].text), "max_phases_reached")
    return _ask(session, around)


def is_finished(session: Session) -> bool:
    """Return whether no stage is left, so that the plan waits for approval."""
    return _is_complete(session) or 0 < session.options.max_phases <= session.index


def progress(session: Session) -> str:
    """Return the position of a session: `[5/8] critique`, or `approval` after the last stage."""
    if is_finished(session):
        return APPROVAL
    total = max(len(session.options.stages), session.index + 1)
    return f"[{session.index + 1}/{total}] {session.stage}"


def document_of(finish: Finish, *, generated_at: str) -> str:
    """Return the plan's text with `generated_at` and `exit_reason` in its frontmatter."""
    added = f"generated_at: {scalar(generated_at)}\nexit_reason: {finish.exit_reason}\n"
    rule = "---\n"
    if finish.plan.startswith(rule) and f"\n{rule}" in finish.plan[len(rule) - 1 :]:
        return f"{rule}{added}{finish.plan.removeprefix(rule)}"
    return f"{rule}{added}{rule}\n{finish.plan}"


def _is_complete(session: Session) -> bool:
    """Return whether the last revision has the promise and its sections; a loaded state may be wrong."""
    if session.index < len(session.options.stages) or not session.records:
        return False
    last = session.records[-1]
    return (
        last.stage in (Stage.REVISE, Stage.ITERATE)
        and is_promised(last.text, session.options.completion_promise)
        and not missing_sections(last.text, session.options.required_sections)
    )


def judged(session: Session, output: str, around: Surroundings) -> Verdict:
    """Judge an agent's output for the stage that is due."""
    record = Record(session.stage, session.round, output)
    flaws = judge(session.stage, output, _setting(session, around))
    if not flaws:
        return Accept(record)
    if session.stage is Stage.REVISE and [flaw.what for flaw in flaws] == [NO_PROMISE]:
        return Iterate(record)
    return refused(session, flaws)


def refused(session: Session, flaws: tuple[Flaw, ...]) -> Refuse | GiveUp:
    """Refuse an output for the stage that is due; give up after the last try."""
    left = session.options.attempt_limit - len(session.refused) - 1
    return Refuse(session.stage, flaws, left) if left > 0 else GiveUp(session.stage, flaws)


def _setting(session: Session, around: Surroundings) -> Setting:
    setting = Setting(
        options=session.options,
        prompt=session.prompt,
        ask=instruction(session.stage, session.options, is_final=session.is_final, demands=around.demands),
        files=around.files,
        plan=session.plan,
        is_final=session.is_final,
        principles=tuple(principle.id for principle in around.principles),
        earlier=around.earlier,
        demands=around.demands,
    )
    return setting._replace(wants_change=_wants_change(session, setting))


def _wants_change(session: Session, setting: Setting) -> bool:
    """Return whether the critique before this revision has findings."""
    last = session.records[-1] if session.records else None
    if session.stage is not Stage.REVISE or last is None or last.stage is not Stage.CRITIQUE:
        return False
    if session.options.critique_mode == "open":
        return True
    read = critique_in(last.text, setting)
    return bool(read.findings) if isinstance(read, Critique) else True


def _ask(session: Session, around: Surroundings) -> Ask:
    stage = session.stage
    ask = instruction(stage, session.options, is_final=session.is_final, demands=around.demands)
    parts = [Part("progress", progress(session), is_ours=True), Part("instruction", ask, is_ours=True)]
    if stage is Stage.CRITIQUE:
        parts.append(Part("perspective", perspective(session.round), is_ours=True))
        if session.options.critique_mode == "principles":
            listed = (
                f"- {principle.id} {principle.name}: {principle.asks}" for principle in around.principles
            )
            parts.append(Part("principles", "\n".join(listed), is_ours=False))
    if session.refused:
        parts.append(Part("refusal", flaw_list(session.refused[-1]), is_ours=False))
    parts.append(Part("prompt", session.prompt, is_ours=False))
    # Without an explore stage, the first stage explores.
    explores = stage is Stage.EXPLORE if Stage.EXPLORE in session.options.stages else not session.records
    if explores and session.options.use_memory and around.memory.strip():
        parts.append(Part("memory", around.memory, is_ours=False))
    if stage is Stage.CRITIQUE:
        # The critic sees only the plan. The author's reasoning would bias it.
        parts.append(Part("plan", session.plan, is_ours=False))
    else:
        for record in session.records:
            is_authors = record.stage is not Stage.CRITIQUE
            text = f"{record.name}\n\n{record.text}"
            parts.append(Part("record", text, is_ours=False, is_authors=is_authors))
    return Ask(stage, session.round, "critic" if stage is Stage.CRITIQUE else "author", tuple(parts))


def rounds_in(
    session: Session,
    who: Mapping[str, Who],
    *,
    files: Collection[str],
    principles: Sequence[Principle],
    agents: frozenset[str] = frozenset(),
) -> tuple[Round, ...]:
    """Rebuild the rounds from the accepted records; `who` maps a record's name to its author."""
    rounds: list[Round] = []
    plan, author = "", _NO_AUTHOR
    for record in session.records:
        if record.stage in PLANS:
            plan, author = record.text, who.get(record.name, _NO_AUTHOR)
        if record.stage is not Stage.CRITIQUE or session.options.critique_mode == "open":
            continue
        read = read_critique(
            record.text,
            plan=plan,
            files=files,
            principles=[principle.id for principle in principles],
            earlier=earlier_in(rounds, plan),
        )
        if isinstance(read, Critique):
            rounds.append(Round(plan, author, who.get(record.name, _NO_AUTHOR), read, agents))
    return tuple(rounds)


def without_needless(session: Session, rounds: Sequence[Round], principles: Sequence[Principle]) -> Session:
    """Drop the rounds after the critique that settled the plan; one revision answers it and ends the session.

    If no revision follows that critique, the stages stay as they were chosen.
    """
    stages = session.options.stages
    critiques = [at for at, stage in enumerate(stages) if stage is Stage.CRITIQUE]
    ids = [principle.id for principle in principles]
    for number, at in enumerate(critiques[: len(rounds)], 1):
        is_over = isinstance(decide(rounds[:number], limit=len(critiques), principles=ids), Over)
        if is_over and Stage.REVISE in stages[at:]:
            kept = stages[: stages.index(Stage.REVISE, at) + 1]
            return replace(session, options=structs.replace(session.options, stages=kept))
    return session


def earlier_in(rounds: Sequence[Round], plan: str) -> list[str]:
    """Return the ids of the findings that the next critic of a plan sees."""
    return [standing.id for standing in show(rounds, plan).open]


def shown_parts(shown: Shown) -> list[tuple[str, str]]:
    """Return what a critic sees from round 2 on: changed parts with line numbers, and open findings."""
    parts = [
        (
            "plan",
            "\n".join(f"{number} {line}" for number, line in enumerate(part.text.split("\n"), part.line)),
        )
        for part in shown.parts
    ]
    open_ = [
        f"{standing.id} ({standing.finding.principle}, {standing.finding.kind}, "
        f"{standing.finding.level.name.casefold()}): "
        f"{standing.finding.text}"
        for standing in shown.open
    ]
    return [*parts, *([("open", "\n".join(open_))] if open_ else [])]
