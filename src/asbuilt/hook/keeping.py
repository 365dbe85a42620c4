"""Let an event of a conversation change the hold on planning. Light: some come with every call of a tool.

The one rule: a conversation of which nothing is known, and that does not plan, is not touched.
"""

from __future__ import annotations

import os

from asbuilt.policy.plan_mode.hold import PLAN, Hold, HoldUnreadable, after, event_in
from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of
from asbuilt.session.locking import Locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UNKNOWN = "?"
"""What a hold says of a plan that was proposed without its path."""


class Held:
    """The hold before an event and after it."""

    __slots__ = ("after", "before")

    def __init__(self, before: Hold | None = None, after: Hold | None = None) -> None:
        self.before = before
        self.after = after

    @property
    def proposed(self) -> str:
        """The plan whose approval was asked for; empty: none, or nobody knows its path."""
        plan = self.before.proposed if self.before else ""
        return "" if plan == _UNKNOWN else plan


def held(event: str, payload: Mapping[str, object], environ: Mapping[str, str], now: float) -> Held:
    """Give the hold of before and of now, which is kept."""
    folder = folder_of(environ, key_of(environ))
    told = event_in(event, payload)
    if not os.path.isdir(folder) and told.mode != PLAN:
        return Held()
    root = environ.get("CLAUDE_PROJECT_DIR") or str(payload.get("cwd") or "")
    with Locked(folder):
        try:
            before = hold_in(folder)
        except HoldUnreadable:
            # The gate refuses everything until a person ends it; nothing that is told here changes that.
            return Held(Hold(), Hold())
        new = after(before, told, now=now, root=root)
        if (new and new.fields()) != (before and before.fields()):
            keep_hold(folder, new)
    return Held(before, new)
