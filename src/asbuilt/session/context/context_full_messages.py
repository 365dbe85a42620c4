"""Texts about a context that fills up: half full, full, in plan mode, and at the end of a phase. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.session.messages import NOTE, quoted, standing

if TYPE_CHECKING:
    from asbuilt.session.plan_facts import PlanFacts


def warned(percent: int, plan: PlanFacts) -> str:
    """Warn that a context is half full."""
    return (
        f"asbuilt: CONTEXT WARNING: {percent}% used. {plan.name}: {standing(plan)}. Place saved;"
        " /clear brings the plan back here and nowhere else."
    )


def save_advice(plan: PlanFacts) -> str:
    """Return the advice for an agent whose context is half full."""
    return (
        f"At the next good place: tick what is proven in {plan.shown}, commit, save {NOTE}, then end with:"
        f" {reload_line(plan)}"
    )


def full(percent: int, plan: PlanFacts | None) -> str:
    """Explain why a turn does not end yet, and what to do first."""
    lead = f"asbuilt: context {percent}% used, stopping once to save."
    if plan is None:
        first, last = "Commit what is done", "Reload with: note NAME, what to continue with."
    elif plan.is_over:
        first = f"{plan.name} is finished. Commit what is left"
        last = f"Reload with: {plan.shown} (finished), note NAME."
    else:
        first, last = f"Tick what is proven in {plan.shown}, commit", reload_line(plan)
    return (
        f"{lead} {first}, save {NOTE}, then, after all tool calls, end with: {last} Then the user types"
        " /clear. This reason will not block again."
    )


def full_while_planning(percent: int, plan: PlanFacts | None) -> str:
    """Explain the same in plan mode, where only the plan may be written."""
    where = plan.shown if plan else "the plan file"
    return (
        f"asbuilt: context {percent}% used, stopping once to save. Bring {where} up to date with what you"
        f" found out, then end with: Reload with: {where}. Then the user types /clear."
        " This reason will not block again."
    )


def phase_over(phase: str, plan: PlanFacts) -> str:
    """Advise a fresh context at the end of a phase, however empty the context is."""
    return (
        f"asbuilt: phase {phase} of {plan.name} is over; {standing(plan)}. Tick what is proven in"
        f" {plan.shown}, commit, save {NOTE}, then, after all tool calls, end with: {reload_line(plan)}"
        " Recommend a fresh context: the user types /clear and the plan comes back. This reason will not"
        " block again."
    )


def reload_line(plan: PlanFacts) -> str:
    """Return the line that describes how to resume a plan."""
    about = f", item {quoted(plan.item)}" if plan.item else ""
    return f"Reload with: {plan.shown}, note NAME{about}."
