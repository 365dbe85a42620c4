"""What phases are expected to cost, and how they are proven.

Rule: `plan show` needs only this, so it loads no agents.
"""

from __future__ import annotations

from typing import NamedTuple

from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import look
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.spending import Past, past_of
from asbuilt.lifecycle.run.money import forecast
from asbuilt.proof.trials import depth as depths


class Expected(NamedTuple):
    """The expected cost and proof of phases, in words."""

    cost: str | None
    """None: no phase here has a known cost yet."""
    proof: str
    """How a phase is proven, and how long that takes. Empty at normal depth without a timed suite."""


def expected_by(past: Past, phases: int, depth: str) -> Expected:
    """Return the expected cost of a number of phases, and how each is proven."""
    is_known = past.suite_s is not None or depth != "normal"
    proof = depths.forecast(depths.depth_in(depth), past.suite_s) if is_known else ""
    return Expected(forecast(past.spent, phases), proof)


def expected(door: Door, phases: int, depth: str) -> Expected:
    """Return the same for the current repository, without creating a journal."""
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return expected_by(Past([]), phases, depth)
    with looking.journal.store.read() as session:
        return expected_by(past_of(session, LOCAL, looking.repo), phases, depth)
