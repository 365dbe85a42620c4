"""A question to the user: ask it, wait for the answer, continue after a yes, end after a no. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.questions import QuestionKey, QuestionKind
from asbuilt.lifecycle.run import moves

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.facts import RunFacts


def asked(
    facts: RunFacts,
    of: QuestionKey | str,
    kind: QuestionKind,
    question: str,
    phase: str | None = None,
    *,
    no: str,
) -> moves.Move | None:
    """Ask and wait for the answer; None once it is yes."""
    key = str(of)
    if key not in facts.approvals:
        return moves.Ask(key, kind, question, phase)
    answer = facts.approvals[key]
    if answer is None:
        return moves.until_answered(key)
    return None if answer == "yes" else moves.End("stopped", no)
