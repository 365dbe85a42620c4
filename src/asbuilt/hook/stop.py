"""Answer Stop, the end of a turn. Rule: no reason blocks the end of a turn twice in one context."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from asbuilt.hook.conversation_event import Answer, Call, context_use, loop_after_turn, store_state
from asbuilt.policy.plan_mode.state import PLAN
from asbuilt.session import messages
from asbuilt.session.authoring_binding import is_bound
from asbuilt.session.context import context_full_messages
from asbuilt.session.context.foreign_loop import ForeignLoop, end_foreign_loop, foreign_loop_in
from asbuilt.session.context.transcript import Reply, changed_at, last_reply
from asbuilt.session.conversation import hold_in, keep_hold
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversation_state import State, keep_loop, keep_state, loop_in, state_in
from asbuilt.session.turn_end import CONTEXT, StopFacts, Wish, decide, is_left_in_plan_mode, phase_over

if TYPE_CHECKING:
    from asbuilt.hook.plan_mode_state import Held
    from asbuilt.session.context.meter import Limits, Use
    from asbuilt.session.plan_facts import PlanFacts
    from asbuilt.session.prompt_rounds import Loop

_PATIENCE_S: Final = 0.5
_LOOK_S: Final = 0.02
_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
"""0 for `claude -p`, whose caller reads the last message: a turn that is sent back would replace it."""


def stopping(call: Call, held: Held) -> Answer | None:
    """Answer Stop."""
    if is_bound(call.folder):
        from asbuilt.hook.authoring import handed_in  # noqa: PLC0415 - few conversations author

        judged = handed_in(call, call.text("last_assistant_message") or _settled(call).text)
        stage = StopFacts(is_continuing=call.has("stop_hook_active"), stage=judged.wish)
        answer = _blocked(call, call.state(), None, stage) if judged.wish else None
        if answer or judged.message:
            return answer or Answer(message=judged.message)
    if call.has("stop_hook_active"):
        if call.is_known:
            call.keep(call.state())
        return None
    before = state_in(call.folder)
    limits, use = context_use(_settled(call), before or State(), call)
    if before is None and held.after is None and use.percent < limits.critical:
        return None
    state = call.seen(before or State())
    over, state = _phase_over(call, state)
    foreign = foreign_loop_in(call.root)
    own = None if foreign else loop_in(call.folder)
    if own is not None and own.file and not own.is_left:
        # The other plugin has ended its loop.
        own = None
        keep_loop(call.folder, None)
    demand = _left_in_plan_mode(call, held, state)
    if use.percent < limits.warning and not (own or foreign or over or demand):
        store_state(call, state)
        return None
    plan = call.plan(state.plan)
    reply = call.text("last_assistant_message")
    loop = None if foreign else loop_after_turn(call, use, limits, plan, reply=reply)
    if plan is not None and not plan.is_over:
        call.keep_reload(state)
    full = context_full_messages.full_while_planning if held.after is not None else context_full_messages.full
    facts = StopFacts(
        percent=use.percent,
        critical=limits.critical,
        in_loop=own is not None or foreign is not None,
        words=full(use.percent, plan),
        others=(
            *(
                [Wish(f"phase {over} is over", context_full_messages.phase_over(over, plan))]
                if over and plan
                else ()
            ),
            *([Wish("", demand)] if demand else ()),
        ),
    )
    answer = _blocked(call, state, plan, facts)
    if foreign is not None and answer is None:
        loop = _saved(call, foreign, plan, _why(use, limits, over))
    if answer is None and loop is not None and loop.is_left:
        return Answer(message=messages.round_over(loop))
    return answer


def _phase_over(call: Call, state: State) -> tuple[str, State]:
    """Return the phase that this turn completed, else an empty text. Reads the plan only if it changed."""
    if not state.plan or changed_at(state.plan) == state.plan_at:
        return "", state
    plan = call.plan(state.plan)
    if plan is None:
        return "", state
    return phase_over(state.phase, plan.phase), state._replace(phase=plan.phase, plan_at=plan.changed_at)


def _why(use: Use, limits: Limits, over: str) -> str:
    """Return why the round of a loop is over; empty if it is not."""
    if use.percent >= limits.critical:
        return f"context {use.percent}% used"
    return f"phase {over} is over" if over else ""


def _saved(call: Call, foreign: ForeignLoop, plan: PlanFacts | None, why: str) -> Loop:
    """Store how another plugin's loop continues after a /clear, and end it now if `why` is given."""
    loop = foreign.saved(plan, now=call.now, why=why)
    with Locked(call.folder):
        keep_loop(call.folder, loop)
    if loop.is_left:
        end_foreign_loop(call.root, foreign)
    return loop


def _left_in_plan_mode(call: Call, held: Held, state: State) -> str:
    """Return why a turn in plan mode may not end yet; empty if it may."""
    hold = held.after
    if hold is None or not is_left_in_plan_mode(
        hold,
        call.text("last_assistant_message"),
        is_authoring=is_bound(call.folder),
        is_attended=call.environ.get(_ATTENDED) != "0",
        is_waiting=call.has("background_tasks"),
    ):
        return ""
    own = [plan for plan in hold.plans if plan.endswith(".md")]
    return messages.left_in_plan_mode(
        own[-1] if own else state.plan, is_own=hold.by != "mode" and call.mode != PLAN
    )


def _blocked(call: Call, state: State, plan: PlanFacts | None, facts: StopFacts) -> Answer | None:
    """Call the arbiter, and store that it blocked the turn before the answer is printed."""
    with Locked(call.folder):
        before = state_in(call.folder) or State()
        wish = decide(facts._replace(stopped_for=before.stopped_for))
        is_full = wish is not None and wish.reason == CONTEXT
        reasons = (*before.stopped_for, wish.reason) if wish and wish.reason else before.stopped_for
        keep_state(call.folder, state._replace(stopped_for=reasons, warned=before.warned or is_full))
        if wish is not None and (hold := hold_in(call.folder)) is not None:
            # Plan mode sends a turn back once, also where no payload says that the turn continues.
            keep_hold(call.folder, hold.changed(asked=True))
    if wish is None:
        return None
    if is_full and (plan is None or plan.is_over):
        call.keep_reload(state, "no-plan" if plan is None else "plan-completed")
    return Answer(block=wish.words)


def _settled(call: Call) -> Reply:
    """Read the transcript once it contains the ending turn, waiting up to 0.5 s after the hook starts."""
    until = time.monotonic() + _PATIENCE_S
    wanted = call.text("last_assistant_message").strip()
    reply = last_reply(call.transcript)
    while wanted and not _is_same(reply.text, wanted) and time.monotonic() < until:
        time.sleep(_LOOK_S)
        reply = last_reply(call.transcript)
    return reply


def _is_same(text: str, wanted: str) -> bool:
    """Return whether a message ends with this entry; an answer of several blocks has one entry per block."""
    return bool(text.strip()) and wanted.endswith(text.strip())
