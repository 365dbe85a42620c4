"""Minimum and requested numbers for each stage. Rule: the requested one is never below the minimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from asbuilt.plan.lint import Length


class Demand(NamedTuple):
    """One number of a stage: below `floor` an output is refused, `aim` is what the prompt asks for."""

    floor: int
    aim: int


class Demands(NamedTuple):
    """Amounts for all stages."""

    items: Demand = Demand(3, 5)
    understanding: Demand = Demand(2, 4)
    files: Demand = Demand(2, 5)
    options: Demand = Demand(2, 3)
    principles: Demand = Demand(3, 8)
    """Three verdicts, each with a principle and its evidence, replace the six points of earlier versions.

    The number of FAILs has no minimum: a quota makes critics invent findings.
    """
    length: Length = Length.CONTROL


DEMANDS: Final = Demands()


def demands_of(amounts: Mapping[str, tuple[int, int]], length: Length) -> Demands:
    """Return the demands with the chosen amounts; a prompt never asks for less than is needed."""
    chosen: dict[str, Any] = {name: Demand(floor, max(floor, aim)) for name, (floor, aim) in amounts.items()}
    return DEMANDS._replace(length=length, **chosen)
