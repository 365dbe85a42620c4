"""Answer UserPromptSubmit and Stop: the start and the end of a turn.

Rule: the user's prompt comes first, and no reason blocks the end of a turn twice in one context.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from asbuilt.errors import AsbuiltError
from asbuilt.hook.calls import Answer, Call
from asbuilt.policy.plan_mode.state import PLAN, Hold, is_typed
from asbuilt.session import loop as loops
from asbuilt.session import messages
from asbuilt.session.arbiter import CONTEXT, StopFacts, Wish, decide
from asbuilt.session.authoring import is_bound
from asbuilt.session.context import reload_messages
from asbuilt.session.context import reload_request as reloads
from asbuilt.session.context.foreign_loop import ForeignLoop, end_foreign_loop, foreign_loop_in
from asbuilt.session.context.meter import Limits, Use, limits_of, use_of
from asbuilt.session.context.transcript import Reply, changed_at, last_reply
from asbuilt.session.context.triggers import Trigger, is_own_request, trigger_in
from asbuilt.session.conversation import hold_in, keep_hold
from asbuilt.session.locking import Locked
from asbuilt.session.records import left_in
from asbuilt.session.state import State, keep_loop, keep_state, loop_in, state_in

if TYPE_CHECKING:
    from asbuilt.hook.plan_mode_state import Held
    from asbuilt.session.facts import PlanFacts

_PATIENCE_S: Final = 0.5
_LOOK_S: Final = 0.02
_QUESTION_MARKS: Final = ("?", "？", "؟")
_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
"""0 for `claude -p`, whose caller reads the last message: a turn that is sent back would replace it."""


def prompted(call: Call, held: Held) -> Answer | None:
    """Answer UserPromptSubmit."""
    prompt = call.text("prompt")
    typed = is_typed(prompt)
    wanted = trigger_in(prompt) if typed else None
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
    from asbuilt.session.reminding import reminded  # noqa: PLC0415 - few conversations need it

    state, reminder = reminded(state, hold, mode=call.mode, is_typed=typed)
    call.keep(state)
    return Answer(reminder) if reminder else None


def _restored_late(call: Call, state: State, *, ordered: bool) -> Answer | None:
    """Restore the plan at the first prompt after a /clear whose SessionStart event did not arrive."""
    kept = reloads.kept(call.folder, now=call.now)
    if kept is None or kept.session == call.session:
        return None
    return restore(call, state.with_fresh_context(), ordered=ordered)


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


def _metered(call: Call, state: State) -> Answer | None:
    """Warn once when the context of a conversation with an open plan reaches the warning limit."""
    limits, use = _use(last_reply(call.transcript), state, call)
    plan = call.plan(state.plan) if use.percent >= limits.warning else None
    loop = _looped(call, use, limits, plan, reply="")
    if plan is None or plan.is_over:
        _stay(call, state)
        return None
    call.keep_reload(state)
    call.keep(state._replace(warned=True))
    if loop is not None and loop.is_left:
        return Answer(messages.round_over(loop), messages.round_over(loop))
    if state.warned:
        return None
    warning = reload_messages.warned(use.percent, plan)
    return Answer(f"{warning} {reload_messages.save_advice(plan)}", warning)


def _stay(call: Call, state: State) -> None:
    """Store the state, and renew a pending reload so that it does not expire during work."""
    kept = reloads.kept(call.folder, now=call.now)
    if kept is not None and kept.session == call.session:
        call.keep_reload(state, kept.kind)
    call.keep(state)


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
    limits, use = _use(_settled(call), before or State(), call)
    if before is None and held.after is None and use.percent < limits.critical:
        return None
    state = call.seen(before or State())
    over, state = _phase_over(call, state)
    foreign = foreign_loop_in(call.root)
    if foreign is not None:
        return _deferred(call, state, foreign, _why(use, limits, over))
    own = loop_in(call.folder)
    if own is not None and own.file and not own.is_left:
        # The other plugin has ended its loop.
        own = None
        keep_loop(call.folder, None)
    unasked = _unasked(call, held, state)
    if use.percent < limits.warning and own is None and not over and not unasked:
        _stay(call, state)
        return None
    plan = call.plan(state.plan)
    loop = _looped(call, use, limits, plan, reply=call.text("last_assistant_message"))
    if plan is not None and not plan.is_over:
        call.keep_reload(state)
    full = reload_messages.full_while_planning if held.after is not None else reload_messages.full
    facts = StopFacts(
        percent=use.percent,
        critical=limits.critical,
        in_loop=own is not None,
        words=full(use.percent, plan),
        others=(
            *(
                [Wish(f"phase {over} is over", reload_messages.phase_over(over, plan))]
                if over and plan
                else ()
            ),
            *([Wish("", unasked)] if unasked else ()),
        ),
    )
    answer = _blocked(call, state, plan, facts)
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
    over = state.phase if plan.phase and state.phase not in ("", plan.phase) else ""
    return over, state._replace(phase=plan.phase, plan_at=plan.changed_at)


def _why(use: Use, limits: Limits, over: str) -> str:
    """Return why the round of a loop is over; empty if it is not."""
    if use.percent >= limits.critical:
        return f"context {use.percent}% used"
    return f"phase {over} is over" if over else ""


def _deferred(call: Call, state: State, foreign: ForeignLoop, why: str) -> Answer | None:
    """Block nothing while another plugin's loop is active; store how to continue it after a /clear."""
    plan = call.plan(state.plan)
    if plan is not None and not plan.is_over:
        call.keep_reload(state)
    loop = foreign.saved(plan, now=call.now, why=why)
    call.keep(state)
    with Locked(call.folder):
        keep_loop(call.folder, loop)
    if not why:
        return None
    end_foreign_loop(call.root, foreign)
    return Answer(message=messages.round_over(loop))


def _unasked(call: Call, held: Held, state: State) -> str:
    """Return why a turn in plan mode may not end yet; empty if it asks, waits, or no user is present."""
    hold = held.after
    if hold is None or hold.asked or is_bound(call.folder) or call.environ.get(_ATTENDED) == "0":
        return ""
    if call.has("background_tasks"):
        return ""
    last = call.text("last_assistant_message").rstrip()
    if any(mark in last.rpartition("\n\n")[2] for mark in _QUESTION_MARKS):
        return ""
    own = [plan for plan in hold.plans if plan.endswith(".md")]
    return messages.unasked(own[-1] if own else state.plan, is_own=hold.by != "mode" and call.mode != PLAN)


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


def _looped(call: Call, use: Use, limits: Limits, plan: PlanFacts | None, *, reply: str) -> loops.Loop | None:
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


def _use(reply: Reply, state: State, call: Call) -> tuple[Limits, Use]:
    limits = limits_of(call.environ)
    return limits, use_of(reply, limits=limits, status_window=state.window)


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


def _triggered(call: Call, wanted: Trigger) -> Answer:
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


def _meant(call: Call, state: State, wanted: Trigger) -> PlanFacts | None:
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
