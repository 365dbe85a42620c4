"""What people type for things: `rate-limit`, `rate-limit.1`, `rate-limit.1.2a`, `rate-limit.1.2a.2`. Pure."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import NotFound, UsageWrong

if TYPE_CHECKING:
    from collections.abc import Sequence

# A plan's name has no dot; a path has one before its ending, and no number behind that.
_DOTTED: Final = re.compile(
    r"(?P<plan>.+?)\.(?P<run>[1-9][0-9]*)(\.(?P<phase>[^.]+)(\.(?P<attempt>[1-9][0-9]*v?))?)?"
)


class Named(NamedTuple):
    """What a dotted address names, as far as it goes."""

    plan: str
    run: int | None = None
    phase: str | None = None
    attempt: str | None = None
    """Its number; a verifier's has a v behind it."""


def named(text: str) -> Named:
    """Take an address apart."""
    found = _DOTTED.fullmatch(text)
    if found is None:
        return Named(text)
    return Named(found["plan"], int(found["run"]), found["phase"], found["attempt"])


def slug_of(text: str) -> str:
    """Spell what was typed as the names of plans are spelled."""
    return text.removesuffix(".md").casefold().replace("_", "-")


def matching(text: str, names: Sequence[str]) -> list[str]:
    """Find what is meant among some names: the very one, else all that it is a part of."""
    wanted = slug_of(text)
    return [name for name in names if name == wanted] or [name for name in names if wanted and wanted in name]


def nearest(text: str, names: Sequence[str]) -> str | None:
    """Name what was perhaps meant."""
    return next(iter(get_close_matches(text.casefold(), names, n=1, cutoff=0.6)), None)


def several(text: str, plans: Sequence[str]) -> UsageWrong:
    """Say that a name is a part of more than one plan."""
    return UsageWrong(
        f'"{text}" is part of {len(plans)} plans: {", ".join(plans)}',
        why="Which one is meant cannot be told.",
        next_step="Write more of its name, or its path.",
    )


def never_ran(text: str) -> NotFound:
    """Say that nothing was ever written about a plan, or about a run of it."""
    return NotFound(
        f"{text} has not been run here",
        why="There is nothing in the journal of this repository.",
        next_step=f"`asbuilt run {named(text).plan}`",
    )
