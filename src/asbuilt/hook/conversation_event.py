"""One event of a conversation and what its handlers need: payload, folder, state, plans.

Rule: slow reads happen before the folder is locked; under the lock only small files are read or written.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.policy.plan_mode.state import PLAN
from asbuilt.session import prompt_rounds as loops
from asbuilt.session.context import reload_messages
from asbuilt.session.context import reload_request as reloads
from asbuilt.session.context.meter import Limits, Use, limits_of, use_of
from asbuilt.session.context.notes import Note, memories, notes_in, shelf
from asbuilt.session.context.transcript import size_of
from asbuilt.session.conversation import folder_of, key_of
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversation_state import State, keep_loop, keep_state, loop_in, state_in

if TYPE_CHECKING:
    from asbuilt.flows.authoring.conversation import Conversing
    from asbuilt.library.conversation_plans import Plans
    from asbuilt.session.authoring_binding import Bound
    from asbuilt.session.context.transcript import Reply
    from asbuilt.session.plan_facts import PlanFacts


class Answer(NamedTuple):
    """The answer to an event."""

    context: str = ""
    """Sent to the agent."""
    message: str = ""
    """Shown to the user."""
    block: str = ""
    """Why the turn must not end yet."""


class Call:
    """One event as received."""

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
        self.root = environ.get("CLAUDE_PROJECT_DIR") or self.cwd
        self.mode = self.text("permission_mode")
        self._plans: Plans | None = None

    def text(self, name: str) -> str:
        """Return a text field of the payload, or an empty string."""
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

    def has(self, name: str) -> bool:
        """Return whether a payload field is true, or a list that is not empty."""
        return bool(self._payload.get(name))

    def inner(self, name: str) -> Mapping[str, object]:
        """Return an object field of the payload, or an empty one."""
        value = self._payload.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def is_known(self) -> bool:
        """Whether asbuilt keeps state for this conversation; for most it keeps none."""
        return os.path.isdir(self.folder)

    @property
    def is_main(self) -> bool:
        """Whether the event comes from the conversation itself, not from a subagent."""
        return not self.text("agent_id")

    def state(self) -> State:
        """Return the stored state, updated with this event."""
        return self.seen(state_in(self.folder) or State())

    def seen(self, state: State) -> State:
        """Update a state with the fields that every event carries."""
        return state._replace(
            session=self.session,
            transcript=self.transcript,
            size=size_of(self.transcript),
            at=self.now,
            cwd=self.cwd,
            mode=state.mode if self.mode in ("", PLAN) else self.mode,
        )

    def keep(self, state: State) -> None:
        """Store a state."""
        with Locked(self.folder):
            keep_state(self.folder, state)

    def keep_reload(self, state: State, kind: reloads.Kind = "plan-pending") -> None:
        """Store a reload, so that the conversation resumes after a /clear."""
        plan = "" if kind == "no-plan" else state.plan
        reload = reloads.Reload(plan, self.session, self.now, self.cwd, kind, state.approved)
        with Locked(self.folder):
            reloads.keep(self.folder, reload)

    def plans(self) -> Plans:
        """Open the plans around the conversation. The plan reader is imported only here."""
        if self._plans is None:
            if sys.flags.no_site:
                # The hook starts with `-S`, without the packages that the plan reader needs.
                site.main()
            from asbuilt import wiring  # noqa: PLC0415 - the door's dispatch
            from asbuilt.library.conversation_plans import Plans  # noqa: PLC0415

            environ = self.environ
            self._plans = Plans(
                self.cwd, environ, lambda settings, *which: wiring.plan_events(settings, environ, *which)
            )
        return self._plans

    def authoring(self, bound: Bound) -> Conversing:
        """Open the authoring of this conversation. The journal is imported only here."""
        if sys.flags.no_site:
            site.main()
        from asbuilt import wiring  # noqa: PLC0415 - the door's dispatch

        return wiring.conversing(bound.root, self.environ, repo=bound.repo, run=bound.run)

    def plan(self, path: str) -> PlanFacts | None:
        """Read a plan from disk; None if it does not exist."""
        return self.plans().look(path) if path else None

    def notes(self) -> list[Note]:
        """List the notes of the repository, newest first."""
        return notes_in(shelf(self.environ, self.cwd), memories(self.cwd))


def restore(call: Call, state: State, *, ordered: bool) -> Answer | None:
    """Take the reload and return what it restores; None if nothing."""
    with Locked(call.folder):
        reload = reloads.take(call.folder, now=call.now)
    if reload is None:
        call.keep(state)
        return None
    plan = call.plan(reload.plan)
    is_open = plan is not None and not plan.is_over
    call.keep(state.with_plan(plan, approved=state.approved) if plan and is_open else state._replace(plan=""))
    if reload.kind != reloads.PENDING:
        return Answer(reload_messages.remembered(reload, plan, call.notes(), now=call.now))
    if plan is None or plan.is_over:
        return None
    return Answer(
        reload_messages.resumed(plan, reload, call.notes(), now=call.now, ordered=ordered),
        reload_messages.restored(plan, reload, now=call.now),
    )


def store_state(call: Call, state: State) -> None:
    """Store the state, and renew a pending reload so that it does not expire during work."""
    kept = reloads.kept(call.folder, now=call.now)
    if kept is not None and kept.session == call.session:
        call.keep_reload(state, kept.kind)
    call.keep(state)


def loop_after_turn(
    call: Call, use: Use, limits: Limits, plan: PlanFacts | None, *, reply: str
) -> loops.Loop | None:
    """Update the active loop after a turn; return the new loop, or None."""
    loop = loop_in(call.folder)
    if loop is None:
        return None
    plan = plan or call.plan(loop.plan)
    turn = loops.Round(
        percent=use.percent,
        critical=limits.critical,
        reply=reply,
        phase=plan.phase if plan else "",
        is_plan_over=plan.is_over if plan else None,
    )
    new = loops.after(loop, call.now, turn)
    with Locked(call.folder):
        keep_loop(call.folder, new)
    return new


def context_use(reply: Reply, state: State, call: Call) -> tuple[Limits, Use]:
    """Return the limits of the context and how much of it the last reply used."""
    limits = limits_of(call.environ)
    return limits, use_of(reply, limits=limits, status_window=state.window)
