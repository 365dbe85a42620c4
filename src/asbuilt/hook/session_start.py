"""Answer SessionStart, SessionEnd, and the PostToolUse of an approved plan.

Rule: a plan is restored only in the conversation that stored it; another conversation gets one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.hook.conversation_event import Answer, Call, restore
from asbuilt.policy.plan_mode.state import EXIT
from asbuilt.session import messages
from asbuilt.session import prompt_rounds as loops
from asbuilt.session.authoring_binding import move
from asbuilt.session.context.foreign_loop import continue_foreign_loop
from asbuilt.session.context.reload_messages import compacted, elsewhere, left_behind, noted, notes_kept
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversation_state import USABLE_S, State, keep_loop, loop_in, state_in
from asbuilt.session.conversations import records

if TYPE_CHECKING:
    from asbuilt.hook.plan_mode_state import Held
    from asbuilt.session.plan_facts import PlanFacts


def started(call: Call, held: Held) -> Answer | None:
    """Answer SessionStart."""
    match call.text("source"):
        case "clear":
            return _cleared(call, held)
        case "compact":
            return _compacted(call)
        case "resume":
            _adopt(call)
            return None
        case _:
            return _others(call)


def tool_used(call: Call, held: Held) -> Answer | None:
    """Answer PostToolUse of ExitPlanMode: the user has just approved the plan."""
    if call.text("tool_name") != EXIT or not call.is_main:
        return None
    path = call.inner("tool_response").get("filePath")
    plan = _approved(call, path if isinstance(path, str) and path else held.proposed)
    return Answer(messages.approved(plan, mode=call.mode)) if plan else None


def ended(call: Call, held: Held) -> None:
    """Answer SessionEnd: record only the time, because a /clear ends the session but not the conversation."""
    del held
    before = state_in(call.folder)
    if before is not None:
        call.keep(before._replace(at=call.now))


def _approved(call: Call, path: str) -> PlanFacts | None:
    """Make a plan the conversation's own; None if it does not exist or is finished."""
    plan = call.plan(path)
    if plan is None or plan.is_over:
        return None
    state = call.state().with_plan(plan, approved=True)._replace(reminded=0, turns=0)
    call.keep(state)
    call.keep_reload(state)
    return plan


def _cleared(call: Call, held: Held) -> Answer | None:
    if not call.is_known:
        return _nothing_saved(call)
    before = state_in(call.folder) or State()
    state = call.seen(before).with_fresh_context()
    if held.proposed and held.after is None:
        # The user approved the plan by clearing the context, and Claude Code gives the plan to the agent.
        # It may also have been Esc and then /clear. Then the next prompt is in plan mode, which undoes this.
        plan = _approved(call, held.proposed)
        call.keep(call.state().with_fresh_context())
        return Answer(messages.works_on(plan)) if plan else None
    if held.after is not None:
        call.keep(state)
        return None
    answer = restore(call, state, ordered=True)
    again = _next_round(call)
    if again is not None:
        context = messages.looping(again)
        return Answer(
            f"{context}\n\n{answer.context}" if answer else context, answer.message if answer else ""
        )
    if answer is not None:
        return answer
    plan = call.plan(state.plan) if call.now - before.at <= USABLE_S else None
    if plan is not None and not plan.is_over:
        return Answer(noted(plan, now=call.now, at=before.at))
    return _nothing_saved(call)


def _next_round(call: Call) -> loops.Loop | None:
    loop = loop_in(call.folder)
    if loop is None:
        return None
    plan = call.plan(loop.plan)
    is_over = plan is not None and plan.is_over
    new = None if is_over else loops.again(loop, call.now, plan.phase if plan else "")
    with Locked(call.folder):
        keep_loop(call.folder, None if new is None or new.file else new)
    if new is not None and new.file:
        continue_foreign_loop(call.root, new, call.session)
    return new


def _nothing_saved(call: Call) -> Answer | None:
    """Offer the repository's notes; without notes, name another conversation's plan."""
    notes = call.notes()
    return Answer(notes_kept(notes)) if notes else _others(call)


def _compacted(call: Call) -> Answer | None:
    before = state_in(call.folder)
    if before is None:
        return None
    call.keep(call.seen(before).with_fresh_context())
    plan = call.plan(before.plan)
    return None if plan is None or plan.is_over else Answer(compacted(plan))


def _adopt(call: Call) -> None:
    """Take over the stored state of a session that this process resumes and whose process has ended."""
    for record in records(call.environ, but=call.key):
        if record.state.session == call.session and not record.is_alive:
            call.keep(call.seen(record.state))
            loop = loop_in(record.folder)
            if loop is not None:
                with Locked(call.folder):
                    keep_loop(call.folder, loop)
            move(record.folder, call.folder)
            return


def _others(call: Call) -> Answer | None:
    """Name a plan of this folder that belongs to another live conversation or to one that has ended."""
    for record in records(call.environ, but=call.key):
        age = call.now - record.state.at
        if (
            record.state.cwd != call.cwd
            or not record.state.plan
            or not (record.is_alive or 0 <= age <= USABLE_S)
        ):
            continue
        plan = call.plan(record.state.plan)
        if plan is None or plan.is_over:
            continue
        notice = elsewhere(plan.name) if record.is_alive else left_behind(plan.name, seconds=age)
        return Answer(notice, notice)
    return None
