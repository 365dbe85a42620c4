"""Answer UserPromptSubmit, the start of a turn. Rule: the user's prompt comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.errors import AsbuiltError
from asbuilt.hook.conversation_event import Answer, Call, context_use, loop_after_turn, restore, store_state
from asbuilt.policy.plan_mode.state import PLAN, Hold, is_typed
from asbuilt.session import messages
from asbuilt.session.context import context_full_messages, reload_messages
from asbuilt.session.context import reload_request as reloads
from asbuilt.session.context.plan_requests import PlanRequest, is_own_request, plan_request_in
from asbuilt.session.context.transcript import last_reply
from asbuilt.session.conversations import left_in

if TYPE_CHECKING:
    from asbuilt.hook.plan_mode_state import Held
    from asbuilt.session.conversation_state import State
    from asbuilt.session.plan_facts import PlanFacts


def prompted(call: Call, held: Held) -> Answer | None:
    """Answer UserPromptSubmit."""
    prompt = call.text("prompt")
    typed = is_typed(prompt)
    wanted = plan_request_in(prompt) if typed else None
    if wanted is not None:
        return _triggered(call, wanted)
    if not call.is_known:
        return None
    state = call.state()
    if held.after is not None or call.mode == PLAN:
        return _planning(call, held, state, typed=typed)
    if state.reminded:
        return _reminded(call, None, state, typed=typed)
    came_back = _restored_late(call, state, ordered=not (typed and is_own_request(prompt)))
    if came_back is not None:
        return came_back
    return _metered(call, state)


def _planning(call: Call, held: Held, state: State, *, typed: bool) -> Answer | None:
    """Store a reload while a plan is being written: the event that ends plan mode may never come."""
    own = [path for path in (held.after.plans if held.after else ()) if path.endswith(".md")]
    plan = held.proposed or (own[-1] if own else state.plan)
    # A plan that is being written is not approved, whatever was approved before.
    state = state._replace(plan=plan, approved=False)
    if plan:
        call.keep_reload(state)
    return _reminded(call, held.after, state, typed=typed)


def _reminded(call: Call, hold: Hold | None, state: State, *, typed: bool) -> Answer | None:
    """Remind the agent that plan mode is on, or report that it is off, unless Claude Code does so."""
    from asbuilt.session.plan_mode_reminder import reminded  # noqa: PLC0415 - few conversations need it

    state, reminder = reminded(state, hold, mode=call.mode, is_typed=typed)
    call.keep(state)
    return Answer(reminder) if reminder else None


def _restored_late(call: Call, state: State, *, ordered: bool) -> Answer | None:
    """Restore the plan at the first prompt after a /clear whose SessionStart event did not arrive."""
    kept = reloads.kept(call.folder, now=call.now)
    if kept is None or kept.session == call.session:
        return None
    return restore(call, state.with_fresh_context(), ordered=ordered)


def _metered(call: Call, state: State) -> Answer | None:
    """Warn once when the context of a conversation with an open plan reaches the warning limit."""
    limits, use = context_use(last_reply(call.transcript), state, call)
    plan = call.plan(state.plan) if use.percent >= limits.warning else None
    loop = loop_after_turn(call, use, limits, plan, reply="")
    if plan is None or plan.is_over:
        store_state(call, state)
        return None
    call.keep_reload(state)
    call.keep(state._replace(warned=True))
    if loop is not None and loop.is_left:
        return Answer(messages.round_over(loop), messages.round_over(loop))
    if state.warned:
        return None
    warning = context_full_messages.warned(use.percent, plan)
    return Answer(f"{warning} {context_full_messages.save_advice(plan)}", warning)


def _triggered(call: Call, wanted: PlanRequest) -> Answer:
    """Load the plan that the user asks for. No action is ordered: the user's prompt is the order."""
    state = call.state()
    try:
        plan = _meant(call, state, wanted)
    except AsbuiltError as error:
        return Answer(f"asbuilt: {error.what}. {error.why} {error.next_step}")
    if plan is None:
        return Answer("asbuilt: no plan here to load. asbuilt plan list shows what there is.")
    if wanted.wanted == "status":
        return Answer(messages.progress(plan))
    reloads.drop(call.folder)
    call.keep(state.with_plan(plan, approved=True))
    return Answer(reload_messages.loaded(plan))


def _meant(call: Call, state: State, wanted: PlanRequest) -> PlanFacts | None:
    """Find the plan: by name; for `load` the newest; otherwise the conversation's own, then one left here."""
    if wanted.name:
        return call.plans().named(wanted.name)
    own = call.plan(state.plan)
    if wanted.wanted == "load":
        return call.plans().newest() or own
    if own is not None:
        return own
    left = map(call.plan, left_in(call.cwd, call.environ, but=call.key))
    return next((plan for plan in left if plan is not None and not plan.is_over), call.plans().newest())
