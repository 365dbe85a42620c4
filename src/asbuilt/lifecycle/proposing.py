"""What a pull request and the issues of a plan are told, in words. Pure.

The one rule: in a body only what stands between our two marks is ours; every other letter stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEGINS: Final = "<!-- run-plan:progress:start -->"
ENDS: Final = "<!-- run-plan:progress:end -->"


class Done(NamedTuple):
    """How far a phase is."""

    phase: str
    title: str
    is_done: bool


def title_of(slug: str, title: str, progress: Sequence[Done], landing: Sequence[str]) -> str:
    """Name a pull request: by the plan, or by its phase where it brings only one of several."""
    if len(landing) == 1 and len(progress) > 1:
        named = next((name for phase, name, _ in progress if phase == landing[0]), "")
        return f"[{slug}] Phase {landing[0]}: {_line(named)}"
    return f"[{slug}] {_line(title)}"


def with_progress(body: str, progress: Sequence[Done], plan: str) -> str:
    """Put the progress of a plan into a body; done again, nothing changes."""
    done = sum(is_done for _, _, is_done in progress)
    rows = [
        f"- [{'x' if is_done else ' '}] Phase {phase}: {_line(name)}" for phase, name, is_done in progress
    ]
    told = f"`{_line(plan)}`: {done} of {len(progress)} phases proven by asbuilt."
    block = "\n".join((BEGINS, told, "", *rows, ENDS))
    before, begun, rest = body.partition(BEGINS)
    _, ended, after = rest.partition(ENDS)
    if begun and ended:
        return f"{before}{block}{after}"
    return f"{body.rstrip()}\n\n{block}\n" if body.strip() else f"{block}\n"


def landed_words(plan: str, landed: Mapping[str, str], *, in_all: int) -> str:
    """Tell an issue what has landed for it."""
    rows = [f"- Phase {phase}: {stands}" for phase, stands in landed.items()]
    phases = "1 phase" if in_all == 1 else f"{in_all} phases"
    return "\n".join((f"`{_line(plan)}` is complete: {phases}, proven by asbuilt.", "", *rows))


def _line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
