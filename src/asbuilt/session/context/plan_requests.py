"""Recognize prompts that ask for a plan, and prompts that only mean "continue". Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    Wanted = Literal["load", "reload", "status"]

_GO_ON: Final = frozenset(
    {
        "", "continue", "go", "go ahead", "go on", "keep going", "next", "ok", "okay", "please continue",
        "proceed", "resume", "start", "yes",
    }
)  # fmt: skip
_RELOADS: Final = ("reload", "reload plan", "reload the plan")
_EDGES: Final = " \t\r\n.!?,;:"


class PlanRequest(NamedTuple):
    """What a prompt wants of a plan."""

    wanted: Wanted
    name: str = ""
    """The plan's name, if given."""


def plan_request_in(prompt: str) -> PlanRequest | None:
    """Find what a prompt wants of a plan; None if it is about something else."""
    first, _, _ = prompt.strip().partition("\n")
    words = first.split()
    if not words:
        return None
    lead = words[0].casefold()
    if lead == "!load-plan":
        return PlanRequest("load", " ".join(words[1:]))
    if lead == "!plan-status":
        return PlanRequest("status")
    whole = " ".join(prompt.split()).casefold().strip(_EDGES)
    if whole in _RELOADS:
        return PlanRequest("reload")
    return PlanRequest("load") if _has(whole, "execute plan") else None


def is_own_request(prompt: str) -> bool:
    """Return whether the user asks for something else, which takes precedence over asbuilt's texts."""
    return " ".join(prompt.split()).casefold().strip(_EDGES) not in _GO_ON


def _has(text: str, phrase: str) -> bool:
    return f" {phrase} " in f" {''.join(char if char.isalnum() else ' ' for char in text)} "
