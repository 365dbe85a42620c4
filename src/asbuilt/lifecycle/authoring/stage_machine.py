"""The stage machine: from the facts of an authoring session to its next move. Pure.

The one rule: a session finishes by a promise on a plan that holds, by its limit, or not at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

from asbuilt.lifecycle.authoring.prompts import instruction, told
from asbuilt.lifecycle.authoring.session import Record, Session, Unreadable
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.demands import DEMANDS, Demands
from asbuilt.lifecycle.authoring.validators.document import missing_sections
from asbuilt.lifecycle.authoring.validators.judging import Setting, critique_in, judge
from asbuilt.lifecycle.authoring.validators.promises import is_promised, without_promises
from asbuilt.lifecycle.critique.findings import Critique
from asbuilt.lifecycle.critique.principles import TEMPLATE, Principle, perspective, read_principles
from asbuilt.plan.markdown.frontmatter import scalar

if TYPE_CHECKING:
    from collections.abc import Collection

    from asbuilt.lifecycle.authoring.session import ExitReason
    from asbuilt.lifecycle.flaws import Flaw

NO_PROMISE: Final = "no promise"


def principles_in(text: str) -> tuple[Principle, ...]:
    """Give the principles of a text that was read without a flaw when it was chosen."""
    return tuple(one for one in read_principles(text) if isinstance(one, Principle))


SHIPPED: Final = principles_in(TEMPLATE)


class Surroundings(NamedTuple):
    """What a session does not know by itself."""

    files: Collection[str]
    """Every path that exists in the workspace, tracked or not."""
    memory: str = ""
    """What earlier sessions and runs have taught, for the exploration."""
    principles: tuple[Principle, ...] = SHIPPED
    earlier: Collection[str] = ()
    """The ids of the findings that a critic is shown."""
    demands: Demands = DEMANDS


class Part(NamedTuple):
    """A part of what an agent is told."""

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
    """False: somebody else wrote it, and it is put between marks that it cannot contain."""


class Ask(NamedTuple):
    """Let an agent do a stage; a critic is never the author."""

    stage: Stage
    round: int
    by: Literal["author", "critic"]
    parts: tuple[Part, ...]


class Accept(NamedTuple):
    """Keep an output, and go on to the next stage."""

    record: Record


class Iterate(NamedTuple):
    """Keep the last revision, which made no promise, and go on to the extra stage."""

    record: Record


class Refuse(NamedTuple):
    """Tell all that is wrong, and repeat the stage."""

    stage: Stage
    flaws: tuple[Flaw, ...]
    left: int
    """So many more outputs are looked at."""


class Finish(NamedTuple):
    """Save the plan."""

    plan: str
    exit_reason: ExitReason


class GiveUp(NamedTuple):
    """Too many outputs of one stage were refused; what was accepted stays."""

    stage: Stage
    flaws: tuple[Flaw, ...]


class Deactivate(NamedTuple):
    """The state cannot be understood: let the agent go, warn, and keep it."""

    warning: str


class Rest(NamedTuple):
    """The session is over."""

    exit_reason: ExitReason


Move = Ask | Accept | Iterate | Refuse | Finish | GiveUp | Deactivate | Rest


def next_move(session: Session | Unreadable, around: Surroundings) -> Move:
    """Choose the next move. First match wins; the order is the policy."""
    if isinstance(session, Unreadable):
        return Deactivate(session.warning)
    if session.exit_reason is not None:
        return Rest(session.exit_reason)
    if _is_complete(session):
        return Finish(without_promises(session.plan), "completed")
    if 0 < session.options.max_phases <= session.index:
        return Finish(without_promises(session.plan or session.records[-1].text), "max_phases_reached")
    if session.output is None:
        return _ask(session, around)
    return _judged(session, session.output, around)


def advance(session: Session, move: Move) -> Session:
    """Take a move that was performed into the session; asking changes nothing."""
    match move:
        case Accept(record) | Iterate(record):
            return replace(session, records=(*session.records, record), refused=(), output=None)
        case Refuse(_, flaws):
            return replace(session, refused=(*session.refused, flaws), output=None)
        case GiveUp(_, flaws):
            return replace(session, refused=(*session.refused, flaws), exit_reason="gave_up")
        case Finish(_, exit_reason):
            return replace(session, exit_reason=exit_reason)
        case Ask() | Rest() | Deactivate():
            return session
        case _:
            assert_never(move)


def progress(session: Session) -> str:
    """Say where a session is: `[5/8] critique`."""
    total = max(len(session.options.stages), session.index + 1)
    return f"[{session.index + 1}/{total}] {session.stage}"


def document_of(finish: Finish, *, generated_at: str) -> str:
    """Write the plan that is saved, with when and why it came out."""
    added = f"generated_at: {scalar(generated_at)}\nexit_reason: {finish.exit_reason}\n"
    rule = "---\n"
    if finish.plan.startswith(rule) and f"\n{rule}" in finish.plan[len(rule) - 1 :]:
        return f"{rule}{added}{finish.plan.removeprefix(rule)}"
    return f"{rule}{added}{rule}\n{finish.plan}"


def _is_complete(session: Session) -> bool:
    """Tell whether the last revision was promised and has its sections; a state from elsewhere may lie."""
    if session.index < len(session.options.stages) or not session.records:
        return False
    last = session.records[-1]
    return (
        last.stage in (Stage.REVISE, Stage.ITERATE)
        and is_promised(last.text, session.options.completion_promise)
        and not missing_sections(last.text, session.options.required_sections)
    )


def _judged(session: Session, output: str, around: Surroundings) -> Move:
    stage = session.stage
    record = Record(stage, session.round, output)
    flaws = judge(stage, output, _setting(session, around))
    if not flaws:
        return Accept(record)
    if stage is Stage.REVISE and [flaw.what for flaw in flaws] == [NO_PROMISE]:
        return Iterate(record)
    left = session.options.attempt_limit - len(session.refused) - 1
    return Refuse(stage, flaws, left) if left > 0 else GiveUp(stage, flaws)


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
    """Tell whether the critique before this revision found anything."""
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
            listed = (f"- {one.id} {one.name}: {one.asks}" for one in around.principles)
            parts.append(Part("principles", "\n".join(listed), is_ours=False))
    if session.refused:
        parts.append(Part("refusal", told(session.refused[-1]), is_ours=False))
    parts.append(Part("prompt", session.prompt, is_ours=False))
    # Where no stage explores, whoever comes first does.
    explores = stage is Stage.EXPLORE if Stage.EXPLORE in session.options.stages else not session.records
    if explores and session.options.use_memory and around.memory.strip():
        parts.append(Part("memory", around.memory, is_ours=False))
    if stage is Stage.CRITIQUE:
        # A critic judges the plan; how its author came to it would only win it over.
        parts.append(Part("plan", session.plan, is_ours=False))
    else:
        parts += [
            Part("record", f"{record.name}\n\n{record.text}", is_ours=False) for record in session.records
        ]
    return Ask(stage, session.round, "critic" if stage is Stage.CRITIQUE else "author", tuple(parts))
