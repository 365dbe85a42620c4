"""Move a conversation through the stages of the plan it authors. Loaded only while it authors.

Rule: a conversation is never trapped. An unreadable binding is put aside with a warning, and every blocked
turn advances the authoring by one counted step.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.errors import AsbuiltError
from asbuilt.lifecycle.authoring.turns import Over, Persons, Theirs, Turn, Yours
from asbuilt.session.authoring_binding import (
    MOST,
    NEXT,
    WORK,
    Bound,
    BoundUnreadable,
    bind,
    bound_in,
    put_aside,
)
from asbuilt.session.conversation import end_hold
from asbuilt.session.turn_end import Wish

if TYPE_CHECKING:
    from asbuilt.flows.authoring.conversation import Conversing
    from asbuilt.hook.conversation_event import Call

WITHIN_S: Final = 50
"""Time limit of a judgement, which reads the journal and the plan. Claude Code waits a little longer."""
_LONGEST: Final = 8_000
"""Longest block reason in characters. A longer one is replaced by the command that prints it."""


class Judged(NamedTuple):
    """The result of the end of a turn."""

    wish: Wish | None = None
    """What blocks the end of the turn."""
    message: str = ""
    """Shown to the user."""


def handed_in(call: Call, reply: str) -> Judged:
    """Submit the last message of a turn as a stage's output, if a stage was asked for."""
    try:
        bound = bound_in(call.folder)
        if bound is None or not bound.asked:
            return Judged()
        signal.setitimer(signal.ITIMER_REAL, WITHIN_S)
        authoring = call.authoring(bound)
        output = authoring.submission(reply, bound.file)
        if output is None:
            return Judged()
        stage, _, number = bound.asked.rpartition("/")
        turn = authoring.hand_in(Yours(stage, int(number)), output)
        return _judged(call, bound, authoring, turn)
    except (AsbuiltError, BoundUnreadable, ValueError) as error:
        return Judged(message=f"asbuilt: {_given_up(call, error)}")


def interrupted(call: Call, *, is_new: bool) -> str:
    """Return a notice that an authoring is pending; the agent's next message is not taken as stage output."""
    try:
        bound = bound_in(call.folder)
    except BoundUnreadable as error:
        return f"asbuilt: {_given_up(call, error)}"
    if bound is None:
        return ""
    if bound.file and bound.asked and not is_new:
        return f"asbuilt: the interview about {bound.slug} continues. The plan so far is {bound.file}."
    bind(call.folder, bound._replace(asked="", stops=0, is_new=bound.is_new or is_new))
    return (
        f"asbuilt: this conversation authors {bound.slug}. The user's message comes first; after it, run"
        f" `{NEXT}`, which prints the next task."
    )


def _judged(call: Call, bound: Bound, authoring: Conversing, turn: Turn) -> Judged:
    match turn:
        case Yours() if bound.stops < MOST:
            words = f"asbuilt: {authoring.asked(file=bound.file)}"
            if len(words) <= _LONGEST:
                bind(call.folder, bound._replace(asked=turn.name, stops=bound.stops + 1))
                return Judged(Wish(f"stage/{bound.run}/{turn.name}", words))
            return _fetched(call, bound, f"{turn.stage} is due", turn.name)
        case Yours():
            return _fetched(call, bound, f"{turn.stage} is due", turn.name)
        case Theirs(what):
            return _fetched(call, bound, f"{what} is next, by another process", bound.asked)
        case Persons(why):
            bind(call.folder, bound._replace(asked="", stops=0))
            return Judged(message=f"asbuilt: {bound.slug} waits for you: {why}.")
        case Over(reason, is_approved):
            bind(call.folder, None)
            off = WORK if is_approved and end_hold(call.folder) else ""
            return Judged(message=f"asbuilt: the authoring of {bound.slug} is over: {reason}.{off}")
        case _:
            assert_never(turn)


def _fetched(call: Call, bound: Bound, what: str, reason: str) -> Judged:
    """Block with the command that prints what is due: another process works, or the reason is too long."""
    bind(call.folder, bound._replace(asked="", stops=0))
    words = f"asbuilt: {bound.slug}: {what}. Run `{NEXT}`, and do what it says."
    return Judged(Wish(f"stage/{bound.run}/{reason}/next", words))


def _given_up(call: Call, error: Exception) -> str:
    """Unbind the conversation, keep its binding file, and return the warning."""
    kept = put_aside(call.folder)
    why = f"{error.what}. {error.next_step}" if isinstance(error, AsbuiltError) else f"{error}."
    return (
        f"the authoring of this conversation cannot continue: {why} Its record is kept in {kept}; `{NEXT}`"
        " resumes the authoring."
    )
