"""Sign-offs of changes, asked before a landing with or without a pull request. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.questions import in_run
from asbuilt.lifecycle.run import moves

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts


def ask_sign_offs(facts: DeliveryFacts) -> moves.Move | None:
    """Ask for every sign-off before it waits for an answer; None once all are yes. `auto` answers none."""
    keys = {in_run(sign_off.item, facts.run): sign_off for sign_off in facts.sign_offs.values()}
    for key, sign_off in keys.items():
        if key not in facts.approvals:
            return moves.Ask(key, "sign-off", sign_off.question, sign_off.phase)
    for key, sign_off in keys.items():
        if facts.approvals[key] == "no":
            return moves.End(
                "stopped",
                f"you declined a change of phase {sign_off.phase}, so nothing landed; "
                "after an undo, the next attempt gets your reason",
                f"`asbuilt land {facts.slug} --undo`",
                f"decide again: `asbuilt land {facts.slug}`",
            )
    waits = next((key for key in keys if facts.approvals[key] is None), None)
    return None if waits is None else moves.until_answered(waits)
