"""What a run has spent, and what it may spend. Pure.

The one rule: what an agent did not tell is unknown. It is never counted as nothing, and never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import Ended, Judged
from asbuilt.events.options import CapChoices, value_or
from asbuilt.events.plans import PlanRedrafted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Event
    from asbuilt.events.options import RunOptions


class Spent(NamedTuple):
    """What attempts have used, in dollars at API prices and in tokens, as far as their agents have told."""

    usd: float = 0.0
    tokens: int = 0
    usd_untold: int = 0
    """Attempts whose agents did not tell it."""
    tokens_untold: int = 0

    @property
    def brief(self) -> str:
        """Say it in a narrow column: `$1.31`, `$1.31+` when there is more, `unknown`, or nothing."""
        if self.usd:
            return f"${self.usd:.2f}{'+' * bool(self.usd_untold)}"
        return "unknown" if self.usd_untold else ""

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        if self.usd and self.usd_untold:
            return f"at least ${self.usd:.2f}"
        return f"${self.usd:.2f}" if self.usd or not self.usd_untold else "an unknown cost"

    @property
    def plain(self) -> dict[str, object]:
        """Give it as JSON; what nobody has told is null."""
        return {
            "usd": None if self.usd_untold and not self.usd else round(self.usd, 4),
            "tokens": None if self.tokens_untold and not self.tokens else self.tokens,
            "is_whole": not self.usd_untold,
            "basis": "api_price",
        }


def used_in(event: Event) -> tuple[str, Spent] | None:
    """Read which attempt an event is about, and what it has used so far; None where it tells of none."""
    if not isinstance(event, Ended | Judged | PlanRedrafted) or not event.attempt:
        return None
    usd, tokens = event.cost_usd, event.tokens
    return event.attempt, Spent(usd or 0.0, tokens or 0, int(usd is None), int(tokens is None))


def total(parts: Iterable[Spent]) -> Spent:
    """Add up."""
    every = list(parts)
    return Spent(*(sum(column) for column in zip(*every, strict=True))) if every else Spent()


NO_PAST: Final = "no past runs to go by"


def forecast(past: Iterable[Spent], phases: int) -> str:
    """Say what so many phases may cost, by what phases have cost before; nobody's word is made up for."""
    told = sorted(one.usd for one in past if one.usd and not one.usd_untold)
    if not told or not phases:
        return NO_PAST
    usual, most = told[len(told) // 2] * phases, told[-1] * phases
    by = "1 phase" if len(told) == 1 else f"{len(told)} phases"
    high = f", at most ${most:.2f}" if most > usual else ""
    return f"about ${usual:.2f}{high}, by {by} proven here"


class Caps(NamedTuple):
    """What a run may spend at most; None: nobody has set it."""

    usd: float | None = None
    tokens: int | None = None
    hours: float | None = None
    """Of work, from its start on; waiting costs nothing."""

    def times(self, often: int) -> Caps:
        """Give so much, so many times over."""
        usd, tokens, hours = self
        return Caps(usd and usd * often, tokens and tokens * often, hours and hours * often)

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        said = [
            "" if self.usd is None else f"${self.usd:.2f} (API prices)",
            "" if self.tokens is None else f"{self.tokens:,} tokens",
            "" if self.hours is None else _hours(self.hours),
        ]
        return ", ".join(filter(None, said))


def _hours(many: float) -> str:
    return f"{many:g} hour{'s' * (many != 1)} of work"


UNCAPPED: Final = Caps()


def caps_in(options: RunOptions) -> Caps:
    """Read the caps that were frozen into a run's options; runs of old have none."""
    chosen = options.caps or CapChoices()
    return Caps(value_or(chosen.usd, None), value_or(chosen.tokens, None), value_or(chosen.hours, None))


def reached(caps: Caps, spent: Spent, worked_s: float) -> str | None:
    """Say which cap is reached, or None. What is unknown reaches none: the caller says so beforehand."""
    if caps.usd is not None and spent.usd >= caps.usd:
        return f"{spent.words} of ${caps.usd:.2f} are spent"
    if caps.tokens is not None and spent.tokens >= caps.tokens:
        return f"{spent.tokens:,} of {caps.tokens:,} tokens are used"
    if caps.hours is not None and left_s(caps, worked_s) == 0:
        return f"its limit of {_hours(caps.hours)} is reached"
    return None


def left_s(caps: Caps, worked_s: float) -> int | None:
    """Say how many seconds of its hours a run has left; None where there is no such cap."""
    return None if caps.hours is None else max(0, int(caps.hours * 3600 - worked_s))
