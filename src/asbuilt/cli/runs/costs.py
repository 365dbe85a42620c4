"""What phases may take, from what others have taken here. It only looks: nobody has to be chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.cli.shell.reading import look
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.spending import Past, past_of
from asbuilt.lifecycle.run.money import forecast
from asbuilt.proof.trials import depth as depths

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door


class Expected(NamedTuple):
    """What phases may take, in words."""

    cost: str
    proof: str
    """What proves a phase and how long that takes; empty for the usual depth where no suite was timed yet."""


def expected_by(past: Past, phases: int, depth: str) -> Expected:
    """Say what so many phases may cost, and how each is proven."""
    is_told = past.suite_s is not None or depth != "normal"
    proof = depths.forecast(depths.depth_in(depth), past.suite_s) if is_told else ""
    return Expected(forecast(past.spent, phases), proof)


def expected(door: Door, phases: int, depth: str) -> Expected:
    """Say the same without making a journal."""
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return expected_by(Past([]), phases, depth)
    with looking.journal.store.read() as session:
        return expected_by(past_of(session, LOCAL, looking.repo), phases, depth)
