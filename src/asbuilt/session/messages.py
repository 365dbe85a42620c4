"""Texts that asbuilt sends into a conversation: short facts and the next step. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.session.context.notes import Note
    from asbuilt.session.plan_facts import PlanFacts
    from asbuilt.session.prompt_rounds import Loop

_ITEM_WIDTH: Final = 70
_NOTES_NAMED: Final = 3
_MOST_ITEMS: Final = 20
NOTE: Final = "a note (`asbuilt session note add NAME`)"
"""Where a conversation keeps what a plan leaves out."""
COMES_FIRST: Final = (
    "The user's message comes first: where it asks for something else, do that and leave the plan."
)


def left_in_plan_mode(plan: str, *, is_own: bool) -> str:
    """Explain why a turn in plan mode does not end yet. `is_own`: only asbuilt has turned plan mode on."""
    missing = f"The plan is in {plan}; it is not approved." if plan else "No plan is written yet."
    leave = "call EnterPlanMode, then ExitPlanMode" if is_own else "call ExitPlanMode"
    return (
        "asbuilt: plan mode is on, and this turn ends without a question and without a request to leave."
        f" {missing} If the plan is complete, {leave}. Otherwise continue, or ask the user what you need to"
        " know with AskUserQuestion. This turn will not be sent back again."
    )


def progress(plan: PlanFacts) -> str:
    """Report a plan's progress with its open items, at most 20."""
    rows = [f"asbuilt: {plan.name} ({plan.shown}): {standing(plan)}."]
    return "\n".join([*rows, *(f"- {quoted(item)}" for item in plan.open[:_MOST_ITEMS])])


def standing(plan: PlanFacts) -> str:
    """Summarize a plan's progress."""
    if plan.is_over:
        return "finished"
    left = counted(plan.open) if plan.open else "no items counted"
    return f"{left}, {plan.phase} in work" if plan.is_in_work else left


def counted(items: Sequence[str]) -> str:
    """Count the open items."""
    return f"{len(items)} item{'' if len(items) == 1 else 's'} open"


def approved(plan: PlanFacts, *, mode: str) -> str:
    """Report a plan that was just approved, and the permission mode that is on again."""
    note = f"What you found out and the plan leaves out goes into {NOTE}."
    off = f"Plan mode is off; permission mode: {mode}."
    return f"asbuilt: {plan.name} is approved{_tick(plan)}. {off} {note} /clear brings the plan back here."


def works_on(plan: PlanFacts) -> str:
    """Report the same where the agent already has the plan's text."""
    return f"asbuilt: this conversation works on {plan.name}{_tick(plan)}. /clear brings the plan back here."


def _tick(plan: PlanFacts) -> str:
    return f": {standing(plan)}. Tick an item in {plan.shown} when it is proven" if plan.open else ""


def looping(loop: Loop) -> str:
    """Start the next round of a loop in a fresh context."""
    words = f" Before: {loop.why}." if loop.why else ""
    if loop.promise:
        words += f" Say {loop.promise} only when it is true, or BLOCKER: and what is in the way."
    return (
        f"asbuilt: ACTION REQUIRED: round {loop.iteration} of {loop.most}.{words} {COMES_FIRST} The prompt:\n"
        f"{loop.prompt}"
    )


def round_over(loop: Loop) -> str:
    """Report to the user that a round is over."""
    rest = "/clear starts the next one" if loop.iteration < loop.most else "it was the last one"
    return f"asbuilt: round {loop.iteration} of {loop.most} is over: {loop.why}. {rest[0].upper()}{rest[1:]}."


def line(plan: str, percent: int, window: int, *, is_planning: bool) -> str:
    """Format a status line: `rate-limit   context 34% of 200k   plan mode, read-only`."""
    name = plan.rpartition("/")[2].removesuffix(".md")
    parts = [name, f"context {percent}% of {tokens(window)}", "plan mode, read-only" * is_planning]
    return "   ".join(part for part in parts if part)


def tokens(count: int) -> str:
    """Format a number of tokens: `200k`, `1M`."""
    return f"{count // 1_000_000}M" if count % 1_000_000 == 0 else f"{count // 1_000}k"


def place(plan: PlanFacts) -> str:
    """Name the current phase and item: `2a "expiry"`."""
    return " ".join([plan.phase] * bool(plan.phase) + [quoted(plan.item)] * bool(plan.item))


def quoted(text: str) -> str:
    """Quote a text on one line, cut to 70 characters."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= _ITEM_WIDTH else line[: _ITEM_WIDTH - 1] + "…"}"'


def text_of(plan: PlanFacts) -> str:
    """Return a plan's text between fences that it does not contain."""
    fence = "~" * 8
    while fence in plan.text:
        fence += "~"
    what = "The plan" if plan.is_whole else f"Its phase in work; the whole plan is {plan.shown}"
    return f"{what}, read just now:\n{fence}\n{plan.text.rstrip()}\n{fence}"


def ago(seconds: float) -> str:
    """Format an age: `2m ago`."""
    whole = max(0, int(seconds))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if whole >= length:
            return f"{whole // length}{unit} ago"
    return f"{whole}s ago"


def names_of(notes: Sequence[Note]) -> str:
    """Name the newest notes, with the command that shows one."""
    names = ", ".join(note.name for note in notes[:_NOTES_NAMED])
    return f"`asbuilt session note show NAME`: {names}"
