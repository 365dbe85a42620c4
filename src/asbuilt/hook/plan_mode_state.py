"""Update the plan-mode hold from an event. Light: some events come with every tool call.

Rule: a conversation without stored state that is not in plan mode is not touched.
"""

from __future__ import annotations

import os

from asbuilt.policy.plan_mode.state import PLAN, Hold, HoldUnreadable, after, event_in
from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of
from asbuilt.session.conversation_lock import Locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UNKNOWN = "?"
"""The hold's value for a plan that was proposed without a path."""


class Held:
    """The hold before and after an event."""

    __slots__ = ("after", "before")

    def __init__(self, before: Hold | None = None, after: Hold | None = None) -> None:
        self.before = before
        self.after = after

    @property
    def proposed(self) -> str:
        """The plan whose approval was asked for; empty if there is none or its path is unknown."""
        plan = self.before.proposed if self.before else ""
        return "" if plan == _UNKNOWN else plan


def held(event: str, payload: Mapping[str, object], environ: Mapping[str, str], now: float) -> Held:
    """Return the hold before and after an event, and store the new one."""
    folder = folder_of(environ, key_of(environ))
    new_event = event_in(event, payload)
    if not os.path.isdir(folder) and new_event.mode != PLAN:
        return Held()
    root = environ.get("CLAUDE_PROJECT_DIR") or str(payload.get("cwd") or "")
    with Locked(folder):
        try:
            before = hold_in(folder)
        except HoldUnreadable:
            # The gate refuses everything until the user ends plan mode; no event changes that.
            return Held(Hold(), Hold())
        new = after(before, new_event, now=now, root=root)
        if (new and new.fields()) != (before and before.fields()):
            keep_hold(folder, new)
    return Held(before, new)
