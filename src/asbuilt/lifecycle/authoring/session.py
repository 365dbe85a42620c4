"""An authoring session: its prompt, options and outputs, and its form as plain values.

Rule: `read_session` raises nothing. A state that cannot be read becomes a warning and is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from asbuilt.lifecycle.authoring.options import CHOOSABLE, Options, choose
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.flaws import Flaw

if TYPE_CHECKING:
    from collections.abc import Mapping

ExitReason = Literal["completed", "max_phases_reached", "gave_up", "cancelled"]
EXITS: Final[tuple[ExitReason, ...]] = get_args(ExitReason)
PLANS: Final = (Stage.DRAFT, Stage.REVISE, Stage.ITERATE)
"""The stages whose output is a plan."""


class Record(NamedTuple):
    """An accepted output."""

    stage: Stage
    round: int
    """Counted from 1 among the outputs of its stage."""
    text: str

    @property
    def name(self) -> str:
        """Return its address: `understand-1`, `critique-2`."""
        return f"{self.stage}-{self.round}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """State of an authoring session; decides its next move."""

    prompt: str
    """Verbatim; part of the prompt of every stage."""
    options: Options
    started_at: str
    records: tuple[Record, ...] = ()
    refused: tuple[tuple[Flaw, ...], ...] = ()
    """Refusals of the stage that is due, in order."""
    output: str | None = None
    """Output that was submitted and not yet judged."""
    exit_reason: ExitReason | None = None

    @property
    def is_active(self) -> bool:
        """Return whether the session has not ended."""
        return self.exit_reason is None

    @property
    def index(self) -> int:
        """Count the finished stages."""
        return len(self.records)

    @property
    def stage(self) -> Stage:
        """Return the stage that is due: iterate after the end of the sequence."""
        stages = self.options.stages
        return stages[self.index] if self.index < len(stages) else Stage.ITERATE

    @property
    def round(self) -> int:
        """Return the round of the stage that is due, from 1."""
        return 1 + sum(record.stage is self.stage for record in self.records)

    @property
    def is_final(self) -> bool:
        """Return whether the stage that is due may finish the session."""
        return self.stage is Stage.ITERATE or (
            self.stage is Stage.REVISE and self.index == len(self.options.stages) - 1
        )

    @property
    def plan(self) -> str:
        """Return the current plan; empty before the first."""
        return next((record.text for record in reversed(self.records) if record.stage in PLANS), "")

    def record(self, stage: Stage, number: int = 1) -> Record | None:
        """Return the output that was accepted in a round of a stage."""
        return next((one for one in self.records if (one.stage, one.round) == (stage, number)), None)


class Unreadable(NamedTuple):
    """A state that cannot be resumed; it is kept for inspection."""

    warning: str
    kept: object


class Cancelled(NamedTuple):
    """Result of a cancellation; nothing to cancel is no error."""

    session: Session | None
    at: Stage | None
    after: int | None
    """Number of finished stages."""


def start(
    prompt: str,
    options: Options | tuple[Flaw, ...],
    *,
    started_at: str,
    active: Session | Unreadable | None = None,
) -> Session | tuple[Flaw, ...]:
    """Start a session, or return the flaws: no prompt, bad options, or another active session here."""
    flaws = [] if isinstance(options, Options) else list(options)
    if not prompt.strip():
        flaws.append(
            Flaw("prompt", "no words", "what you want, in a sentence", 'asbuilt author "limit the API"')
        )
    if isinstance(active, Session) and active.is_active:
        found = f"one at {active.stage}, {active.index} stages done"
        flaws.append(Flaw("session", found, "no other session in this workspace", "asbuilt author cancel"))
    if flaws or not isinstance(options, Options):
        return tuple(flaws)
    return Session(prompt=prompt, options=options, started_at=started_at)


def hand_in(session: Session, output: str) -> Session:
    """Submit an agent's output. A session that has ended or has an output waiting ignores it."""
    return replace(session, output=output) if session.is_active and session.output is None else session


def cancel(session: Session | Unreadable | None) -> Cancelled:
    """End a session at any stage; its records stay."""
    if not isinstance(session, Session) or not session.is_active:
        return Cancelled(None, None, None)
    return Cancelled(replace(session, exit_reason="cancelled"), session.stage, session.index)


def state_of(session: Session) -> dict[str, Any]:
    """Convert a session to plain values."""
    options = session.options
    return {
        "active": session.is_active,
        "phase": str(session.stage),
        "phase_index": session.index,
        "max_phases": options.max_phases,
        "phases": [str(stage) for stage in options.stages],
        "refine_iterations": options.refine_iterations,
        "critique_mode": options.critique_mode,
        "use_memory": options.use_memory,
        "completion_promise": options.completion_promise,
        "block_tools": options.block_tools,
        "required_sections": list(options.required_sections),
        "attempt_limit": options.attempt_limit,
        "started_at": session.started_at,
        "prompt": session.prompt,
        "records": [
            {"stage": str(one.stage), "round": one.round, "text": one.text} for one in session.records
        ],
        "refused": [[list(flaw) for flaw in flaws] for flaws in session.refused],
        "output": session.output,
        "exit_reason": session.exit_reason,
    }


def read_session(value: object) -> Session | Unreadable:
    """Read a session from plain values of any shape."""
    try:
        return _session(value)
    except _Unlike as why:
        return Unreadable(
            f"this authoring session cannot be read: {why}. It is switched off and kept.", value
        )


class _Unlike(Exception):
    """A value differs from what `state_of` writes."""


def _session(value: object) -> Session:
    if not isinstance(value, dict):
        raise _Unlike("it is no mapping")
    options = _options(value)
    records = tuple(_record(one) for one in _list(value, "records"))
    session = Session(
        prompt=_text(value, "prompt"),
        options=options,
        started_at=_text(value, "started_at"),
        records=records,
        refused=tuple(tuple(_flaw(one) for one in _each(flaws)) for flaws in _list(value, "refused")),
        output=None if value.get("output") is None else _text(value, "output"),
        exit_reason=_exit_reason(value.get("exit_reason")),
    )
    known = state_of(session)
    for name in ("active", "phase", "phase_index"):
        if value.get(name) != known[name]:
            raise _Unlike(f"{name} is {value.get(name)!r} where the records say {known[name]!r}")
    expected = (*options.stages, *([Stage.ITERATE] * len(records)))
    if any(record.stage is not stage for record, stage in zip(records, expected, strict=False)):
        raise _Unlike("the records are not those of its stages")
    if not session.prompt.strip():
        raise _Unlike("it has no prompt")
    return session


def _options(value: Mapping[str, object]) -> Options:
    names = [_word(one) for one in _list(value, "phases")]
    if not names or not all(name in CHOOSABLE for name in names):
        raise _Unlike(f"its stages are {', '.join(names) or 'none'}")
    chosen = choose(
        refine_iterations=_number(value, "refine_iterations"),
        phases=names,
        max_phases=_number(value, "max_phases"),
        critique_mode=_text(value, "critique_mode"),
        use_memory=_flag(value, "use_memory"),
        completion_promise=_text(value, "completion_promise"),
        block_tools=_flag(value, "block_tools"),
        required_sections=[_word(one) for one in _list(value, "required_sections")],
        attempt_limit=_number(value, "attempt_limit"),
    )
    if isinstance(chosen, Options):
        return chosen
    raise _Unlike(f"{chosen[0].what} is {chosen[0].found}")


def _record(value: object) -> Record:
    if not isinstance(value, dict) or value.get("stage") not in tuple(Stage):
        raise _Unlike("a record has no known stage")
    return Record(Stage(value["stage"]), _number(value, "round"), _text(value, "text"))


def _flaw(value: object) -> Flaw:
    words = [_word(one) for one in _each(value)]
    if len(words) != len(Flaw._fields):
        raise _Unlike("a refusal is not whole")
    return Flaw(*words)


def _exit_reason(value: object) -> ExitReason | None:
    if value is None:
        return None
    reason = next((known for known in EXITS if known == value), None)
    if reason is None:
        raise _Unlike(f"exit_reason is {value!r}")
    return reason


def _list(value: Mapping[str, object], name: str) -> list[object]:
    return _each(value.get(name))


def _each(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise _Unlike(f"{type(value).__name__} where a list belongs")


def _word(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _Unlike(f"{type(value).__name__} where a text belongs")


def _text(value: Mapping[str, object], name: str) -> str:
    told = value.get(name)
    if isinstance(told, str):
        return told
    raise _Unlike(f"{name} is no text")


def _number(value: Mapping[str, object], name: str) -> int:
    told = value.get(name)
    if isinstance(told, int) and not isinstance(told, bool):
        return told
    raise _Unlike(f"{name} is no whole number")


def _flag(value: Mapping[str, object], name: str) -> bool:
    told = value.get(name)
    if isinstance(told, bool):
        return told
    raise _Unlike(f"{name} is neither true nor false")
