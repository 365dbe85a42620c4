"""Spending and spending caps of a run. Pure.

Rule: usage that an agent did not report is unknown. It is never counted as zero and never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from asbuilt.events.attempts import Ended, Judged
from asbuilt.events.event import Event
from asbuilt.events.options import CapChoices, RunOptions, value_or
from asbuilt.events.plans import PlanRedrafted


class Spent(NamedTuple):
    """Reported usage of attempts, in dollars at API prices and in tokens."""

    usd: float = 0.0
    tokens: int = 0
    usd_unreported: int = 0
    """Attempts whose agents did not report it."""
    tokens_unreported: int = 0

    @property
    def brief(self) -> str:
        """Format for a narrow column: `$1.31`, `$1.31+` if some is unknown, `unknown`, or empty."""
        if self.usd:
            return f"${self.usd:.2f}{'+' * bool(self.usd_unreported)}"
        return "unknown" if self.usd_unreported else ""

    @property
    def words(self) -> str:
        """Format for a sentence."""
        if self.usd and self.usd_unreported:
            return f"at least ${self.usd:.2f}"
        return f"${self.usd:.2f}" if self.usd or not self.usd_unreported else "an unknown cost"

    @property
    def plain(self) -> dict[str, object]:
        """Return it as JSON; unreported values are null."""
        return {
            "usd": None if self.usd_unreported and not self.usd else round(self.usd, 4),
            "tokens": None if self.tokens_unreported and not self.tokens else self.tokens,
            "is_whole": not self.usd_unreported,
            "basis": "api_price",
        }


UNREPORTED: Final = Spent(usd_unreported=1, tokens_unreported=1)
"""Usage of one start that no agent reported."""


def used_in(event: Event) -> tuple[str, Spent] | None:
    """Return the attempt of an event and its usage so far; None if the event has none."""
    if not isinstance(event, Ended | Judged | PlanRedrafted) or not event.attempt:
        return None
    usd, tokens = event.cost_usd, event.tokens
    return event.attempt, Spent(usd or 0.0, tokens or 0, int(usd is None), int(tokens is None))


def total(parts: Iterable[Spent]) -> Spent:
    """Return the sum."""
    every = list(parts)
    return Spent(*(sum(column) for column in zip(*every, strict=True))) if every else Spent()


def forecast(past: Iterable[Spent], phases: int) -> str | None:
    """Forecast the cost of some phases from proven phases; None without any.

    Phases with unreported cost are ignored.
    """
    amounts = sorted(spending.usd for spending in past if spending.usd and not spending.usd_unreported)
    if not amounts or not phases:
        return None
    usual, most = amounts[len(amounts) // 2] * phases, amounts[-1] * phases
    by = "1 phase" if len(amounts) == 1 else f"{len(amounts)} phases"
    high = f", at most ${most:.2f}" if most > usual else ""
    return f"about ${usual:.2f}{high}, from {by} proven here"


class Caps(NamedTuple):
    """Maximum spending of a run; None: no cap."""

    usd: float | None = None
    tokens: int | None = None
    hours: float | None = None
    """Hours of work since the start; waits do not count."""

    def times(self, often: int) -> Caps:
        """Multiply each cap."""
        usd, tokens, hours = self
        return Caps(usd and usd * often, tokens and tokens * often, hours and hours * often)

    @property
    def words(self) -> str:
        """Format for a sentence."""
        limits = [
            "" if self.usd is None else f"${self.usd:.2f} (API prices)",
            "" if self.tokens is None else f"{self.tokens:,} tokens",
            "" if self.hours is None else _hours(self.hours),
        ]
        return ", ".join(filter(None, limits))


def _hours(many: float) -> str:
    return f"{many:g} hour{'s' * (many != 1)} of work"


UNCAPPED: Final = Caps()


def caps_in(options: RunOptions) -> Caps:
    """Return the caps in a run's options; old runs have none."""
    chosen = options.caps or CapChoices()
    return Caps(value_or(chosen.usd, None), value_or(chosen.tokens, None), value_or(chosen.hours, None))


def reached(caps: Caps, spent: Spent, worked_s: float) -> str | None:
    """Return the cap that is reached, or None. Unknown usage reaches none; the caller warns about it."""
    if caps.usd is not None and spent.usd >= caps.usd:
        return f"{spent.words} of ${caps.usd:.2f} are spent"
    if caps.tokens is not None and spent.tokens >= caps.tokens:
        return f"{spent.tokens:,} of {caps.tokens:,} tokens are used"
    if caps.hours is not None and left_s(caps, worked_s) == 0:
        return f"its limit of {_hours(caps.hours)} is reached"
    return None


def left_s(caps: Caps, worked_s: float) -> int | None:
    """Return the seconds of work that a run has left; None without such a cap."""
    return None if caps.hours is None else max(0, int(caps.hours * 3600 - worked_s))
