"""Texts about reloads: a plan saved before a /clear, restored after it, loaded, or only mentioned. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asbuilt.session.messages import (
    COMES_FIRST,
    ago,
    counted,
    names_of,
    place,
    standing,
    text_of,
)

if TYPE_CHECKING:
    from asbuilt.session.context.notes import Note
    from asbuilt.session.context.reload_request import Reload
    from asbuilt.session.plan_facts import PlanFacts


def restored(plan: PlanFacts, reload: Reload, *, now: float) -> str:
    """Report to the user that a plan is restored."""
    left, where = counted(plan.open) if plan.open else "", place(plan)
    rest = ", ".join([left] * bool(left) + [f"next {where}"] * bool(where))
    first = f"asbuilt: restored {plan.name} (saved {ago(now - reload.at)} by this conversation)."
    return f"{first} {rest}. A message of yours comes first." if rest else first


def resumed(plan: PlanFacts, reload: Reload, notes: Sequence[Note], *, now: float, ordered: bool) -> str:
    """Restore a plan for the agent after a /clear; with `ordered`, also order it to continue."""
    where = place(plan)
    rows = [f"asbuilt: restored {plan.name} (saved {ago(now - reload.at)} by this conversation)."]
    if not reload.approved:
        rows.append(
            f"{plan.name} was not approved yet. Ask the user whether to continue with it. {COMES_FIRST}"
        )
    elif ordered:
        rows.append(f"ACTION REQUIRED: continue with {where or plan.shown}; {standing(plan)}. {COMES_FIRST}")
    else:
        rows.append(f"{COMES_FIRST} Then the plan: {standing(plan)}{f', next {where}' if where else ''}.")
    rows.append(
        f"State: found. Reload: {reload.kind}. Plan: {plan.name} ({plan.shown}), {standing(plan)},"
        f" changed {ago(now - plan.changed_at)}. Signal: resume."
    )
    if ordered and reload.approved:
        steps = ['Make a task of each open item of the plan (its text as subject, description "From plan")']
        steps[0] += " and set the first in progress."
        steps += [f"Read the notes about it: {names_of(notes)}."] if notes else []
        steps += [f"Continue with {where or plan.shown}."]
        rows += [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    return "\n".join([*rows, text_of(plan)])


def remembered(reload: Reload, plan: PlanFacts | None, notes: Sequence[Note], *, now: float) -> str:
    """Report what came before a /clear that left no open plan."""
    about = f"{plan.name} is finished. " if plan is not None else ""
    todo = (
        f"Read the newest note ({names_of(notes)}), tell the user what was in work, and ask whether to"
        " continue with it or to start something new."
        if notes
        else 'No note was kept. Ask: "What would you like to work on?"'
    )
    return (
        f"asbuilt: context cleared (saved {ago(now - reload.at)} by this conversation). {about}State: found."
        f" Reload: {reload.kind}. Signal: resume.\n{todo} {COMES_FIRST}"
    )


def noted(plan: PlanFacts, *, now: float, at: float) -> str:
    """Mention a plan of this conversation that is not loaded."""
    return (
        f"asbuilt: {plan.name} exists ({standing(plan)}, last worked on {ago(now - at)}) but is not loaded."
        f' Signal: fresh-start. Mention it in one sentence and ask: "What would you like to work on?"'
        f' "reload" brings it back. {COMES_FIRST}'
    )


def notes_kept(notes: Sequence[Note]) -> str:
    """Offer the repository's notes."""
    return f"asbuilt: notes of this repository: {names_of(notes)}. Read one when it is about what is asked."


def elsewhere(name: str) -> str:
    """Report that a plan is active in another conversation."""
    return f"asbuilt: {name} is active in another conversation; not loaded."


def left_behind(name: str, *, seconds: float) -> str:
    """Report a plan that an ended conversation left open."""
    return (
        f"asbuilt: {name} was worked on {ago(seconds)} in a conversation that has ended; not loaded."
        ' "reload" continues with it.'
    )


def compacted(plan: PlanFacts) -> str:
    """Remind the agent of its plan after a compaction."""
    where = place(plan)
    return (
        f"asbuilt: this conversation works on {plan.name}: {standing(plan)}. Read {plan.shown} again before"
        f" you continue{f' with {where}' if where else ''}."
    )


def loaded(plan: PlanFacts) -> str:
    """Return the plan that the user named, for the agent."""
    where = place(plan)
    lead = (
        f"asbuilt: loaded {plan.name} ({plan.shown}): {standing(plan)}{f', next {where}' if where else ''}."
    )
    return f"{lead}\n{text_of(plan)}"
