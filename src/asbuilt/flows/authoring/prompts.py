"""Prompts of the stages of an authoring, for an agent or a conversation.

Rule: text that others wrote is passed as a named block, never mixed with our own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from asbuilt.journal.memory import every
from asbuilt.lifecycle.authoring import stage_machine
from asbuilt.lifecycle.authoring.modes import EFFORTS
from asbuilt.lifecycle.authoring.questions import asking
from asbuilt.lifecycle.authoring.rounds import told_of
from asbuilt.lifecycle.authoring.session import PLANS
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.promises import promise_tag
from asbuilt.lifecycle.critique.convergence import show
from asbuilt.lifecycle.memory import recall

if TYPE_CHECKING:
    from asbuilt.flows.authoring.stages import Staging
    from asbuilt.flows.run.record import Record

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
Told = tuple[tuple[str, str], ...]
"""Named blocks of text that others wrote."""


def asked_of(record: Record, staging: Staging, *, file: str = "") -> tuple[str, Told]:
    """Return our instructions for the stage, and the named blocks that others wrote.

    `file` is the plan that an interview in a conversation grows.
    """
    session = staging.session
    move = stage_machine.next_move(session, staging.around(_remembered(record)))
    if not isinstance(move, stage_machine.Ask):
        raise TypeError(f"{record.run.run} asks nothing: {type(move).__name__}")
    ours = [part.text for part in move.parts if part.is_ours]
    told: list[tuple[str, str]] = [(part.name, part.text) for part in move.parts if not part.is_ours]
    effort = record.run.options.how_authored.effort
    if effort and session.stage is not Stage.CRITIQUE:
        ours.append(EFFORTS[effort])
    template = record.run.options.how_authored.template
    if template is not UNSET and session.stage in PLANS:
        ours.append(_FORM)
        told.append(("template", template))
    if file:
        ours.append(_INTERVIEW.format(file=file, promise=promise_tag(session.options.completion_promise)))
    elif staging.asks_left:
        ours.append(asking(staging.asks_left, is_interview=staging.is_interview))
    if session.stage is Stage.CRITIQUE and staging.rounds:
        told = [one for one in told if one[0] != "plan"]
        told += told_of(show(staging.rounds, session.plan))
    return "\n\n".join(ours), (*told, *staging.said)


def _remembered(record: Record) -> str:
    run = record.run
    with record.store.read() as session:
        known = every(session, run.org, run.repo)
    return "\n".join(f"- {one.text}" for one in recall(known, about=run.options.how_authored.prompt))
