"""Where a run works: which workers may take it, by the labels that it asks for.

A label is a word such as `gpu` or `repo:shop`. `env:NAME` is a variable that the worker has a value for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET

from asbuilt.errors import UsageWrong
from asbuilt.events.options import RunOptions, Variables

if TYPE_CHECKING:
    from collections.abc import Iterable

FLEET: Final = "fleet"
"""The first word of a place that any worker of the fleet may take."""
_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}")


class Offer(NamedTuple):
    """What a worker of the fleet offers."""

    labels: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    """Names of the variables that it has a value for."""

    @property
    def words(self) -> frozenset[str]:
        """The labels, and each variable as `env:NAME`."""
        return self.labels | {f"env:{name}" for name in self.variables}


def place_for(labels: Iterable[str], variables: Iterable[str]) -> str:
    """Return the place of a run that any worker with these labels and variables may take."""
    return " ".join((FLEET, *sorted(Offer(frozenset(labels), frozenset(variables)).words)))


def place_of(options: RunOptions) -> str | None:
    """Return the place of a run; None for one that is not the fleet's."""
    if options.fleet is UNSET:
        return None
    named = options.env or Variables()
    return place_for(options.fleet.labels, (*(named.checks or ()), *(named.setup or ())))


def is_served(place: str, offer: Offer) -> bool:
    """Return whether a worker may take a run with this place."""
    return not lacking(place, offer)


def lacking(place: str, offer: Offer) -> tuple[str, ...]:
    """List the labels of a place that a worker does not have; a place of one machine is one of them."""
    first, *wanted = place.split() or [""]
    return tuple(word for word in wanted if word not in offer.words) if first == FLEET else (first,)


def check_label(text: str) -> str:
    """Return a label; raise `UsageWrong` for a text that is none."""
    if not _LABEL.fullmatch(text) or text.startswith("env:"):
        raise UsageWrong(
            f"{text!r} cannot be a label",
            why="A label has 1 to 63 letters, digits and -_.:/; `env:` is for variables of workers.",
            next_step="Use a word such as gpu or repo:shop.",
        )
    return text
