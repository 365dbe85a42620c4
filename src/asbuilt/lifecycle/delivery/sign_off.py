"""Sign-offs of a user before a landing. Pure.

Rule: all questions are asked before the run waits for an answer, and `auto` answers none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.questions import in_run
from asbuilt.lifecycle.run.moves import Ask, End, Move, until_answered

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts


def signing(facts: DeliveryFacts) -> Move | None:
    """Ask for every sign-off and wait; None once all answers are yes."""
    keys = {in_run(one.item, facts.run): one for one in facts.sign_offs.values()}
    for key, one in keys.items():
        if key not in facts.approvals:
            return Ask(key, "sign-off", one.question, one.phase)
    for key, one in keys.items():
        if facts.approvals[key] == "no":
            kept = "nothing landed; the plan's branch has the proven commits"
            again = "asbuilt land --undo drops it; then run the phase again"
            return End("stopped", f"you did not sign off a change of phase {one.phase}: {kept}.", again)
    waits = next((key for key in keys if facts.approvals[key] is None), None)
    return None if waits is None else until_answered(waits)
