"""What phases may cost, from what others have cost here. It only looks: nobody has to be chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.looking import look
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.spending import proven_phases
from asbuilt.lifecycle.money import forecast

if TYPE_CHECKING:
    from asbuilt.cli.options import Door


def expected_cost(door: Door, phases: int) -> str:
    """Say what so many phases may cost, without making a journal."""
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return forecast((), phases)
    with looking.journal.store.read() as session:
        return forecast(proven_phases(session, LOCAL, looking.repo), phases)
