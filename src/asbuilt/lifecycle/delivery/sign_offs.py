"""Sign-offs of changes, asked before a landing with or without a pull request. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.questions import in_run
from asbuilt.lifecycle.run import moves

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

_REASON: Final = "the next attempt gets your reason"


def ask_sign_offs(facts: DeliveryFacts) -> moves.Move | None:
    """Ask for every sign-off before it waits for an answer; None once all are yes. `auto` answers none."""
    keys = {in_run(sign_off.item, facts.run): sign_off for sign_off in facts.sign_offs.values()}
    for sign_off in keys.values():
        if sign_off.declined:
            return declined(facts, f"a change of phase {sign_off.phase}", _REASON)
    for key, sign_off in keys.items():
        if key not in facts.approvals:
            return moves.Ask(key, "sign-off", sign_off.question, sign_off.phase)
    for key, sign_off in keys.items():
        if facts.approvals[key] == "no":
            return declined(facts, f"a change of phase {sign_off.phase}", _REASON)
    waits = next((key for key in keys if facts.approvals[key] is None), None)
    return None if waits is None else moves.until_answered(waits)


def declined(facts: DeliveryFacts, what: str, then: str) -> moves.End:
    """End a run whose proven work the user declined: an undo drops it, and a landing asks again."""
    return moves.End(
        "stopped",
        f"you declined {what}, so nothing landed; after an undo, {then}",
        f"`asbuilt land {facts.slug} --undo`",
        f"decide again: `asbuilt land {facts.slug}`",
    )
