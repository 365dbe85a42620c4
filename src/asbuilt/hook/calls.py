"""One event of a conversation, and what every answer to it needs: payload, folder, state, plans.

The one rule: what takes long is read before the folder is locked; under the lock there are only small files.
"""

from __future__ import annotations

import os
import site
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.session.context import reload as reloads
from asbuilt.session.context.notes import Note, notes_in, shelf
from asbuilt.session.context.transcript import size_of
from asbuilt.session.conversation import folder_of, key_of
from asbuilt.session.locking import Locked
from asbuilt.session.state import State, keep_state, state_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.flows.authoring.conversation import Conversing
    from asbuilt.library.conversing import Plans
    from asbuilt.session.authoring import Bound
    from asbuilt.session.facts import PlanFacts

EXIT: Final = "ExitPlanMode"


class Answer(NamedTuple):
    """What an event is answered with."""

    context: str = ""
    """For the agent."""
    message: str = ""
    """For the person."""
    block: str = ""
    """Why the turn may not end yet."""


class Call:
    """One event as it came."""

    def __init__(
        self, event: str, payload: Mapping[str, object], environ: Mapping[str, str], now: float
    ) -> None:
        self.event = event
        self.environ = environ
        self.now = now
        self._payload = payload
        self.key = key_of(environ)
        self.folder = folder_of(environ, self.key)
        self.session = self.text("session_id")
        self.transcript = self.text("transcript_path")
        self.cwd = self.text("cwd")
        self.mode = self.text("permission_mode")
        self._plans: Plans | None = None

    def text(self, name: str) -> str:
        """Give a text of the payload; empty: it has none."""
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

    def flag(self, name: str) -> bool:
        """Tell whether the payload says yes to something."""
        return self._payload.get(name) is True

    def inner(self, name: str) -> Mapping[str, object]:
        """Give an object of the payload."""
        value = self._payload.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def is_known(self) -> bool:
        """Tell whether anything is remembered of this conversation: most are none of ours."""
        return os.path.isdir(self.folder)

    @property
    def is_main(self) -> bool:
        """Tell whether the conversation itself speaks, and no subagent of it."""
        return not self.text("agent_id")

    def state(self) -> State:
        """Give what is remembered of the conversation, with what this event tells of it."""
        return self.seen(state_in(self.folder) or State())

    def seen(self, state: State) -> State:
        """Bring a state up to date with what every event tells."""
        return state._replace(
            session=self.session,
            transcript=self.transcript,
            size=size_of(self.transcript),
            at=self.now,
            cwd=self.cwd,
        )

    def keep(self, state: State) -> None:
        """Remember a state."""
        with Locked(self.folder):
            keep_state(self.folder, state)

    def keep_reload(self, state: State, kind: reloads.Kind = "plan-pending") -> None:
        """Keep the wish to go on here behind a /clear."""
        plan = "" if kind == "no-plan" else state.plan
        one = reloads.Reload(plan, self.session, self.now, self.cwd, kind, state.approved)
        with Locked(self.folder):
            reloads.keep(self.folder, one)

    def plans(self) -> Plans:
        """Open the plans around the conversation; what reads plans is loaded only now."""
        if self._plans is None:
            if sys.flags.no_site:
                # A hook is started without the packages that plans are read with.
                site.main()
            from asbuilt import wiring  # noqa: PLC0415 - the door's dispatch
            from asbuilt.library.conversing import Plans  # noqa: PLC0415

            environ = self.environ
            self._plans = Plans(
                self.cwd, environ, lambda settings, *which: wiring.plan_events(settings, environ, *which)
            )
        return self._plans

    def authoring(self, bound: Bound) -> Conversing:
        """Open the authoring that this conversation does; the journal is loaded only now."""
        if sys.flags.no_site:
            site.main()
        from asbuilt import wiring  # noqa: PLC0415 - the door's dispatch

        return wiring.conversing(bound.root, self.environ, repo=bound.repo, run=bound.run)

    def plan(self, path: str) -> PlanFacts | None:
        """Read a plan afresh; None: there is none."""
        return self.plans().look(path) if path else None

    def notes(self) -> list[Note]:
        """List the notes of the repository, the newest first."""
        return notes_in(shelf(self.environ, self.cwd))
