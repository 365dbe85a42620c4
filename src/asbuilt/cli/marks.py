"""Tell the journal what a person marks by hand. A mark and its record stand together, or neither does."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from asbuilt.cli.site import asker, open_site
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.ids import LOCAL, Address, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.cli.options import Door
    from asbuilt.events.phases import PhaseMarked
    from asbuilt.events.plans import PlanCompleted
    from asbuilt.library.shelves import PlanFile


@contextmanager
def told(door: Door, at: PlanFile, mark: PhaseMarked | PlanCompleted) -> Iterator[None]:
    """Write the event of a mark around the writing of its file: what fails there leaves no event."""
    if not at.repository:
        yield
        return
    site = open_site(door)
    address = Address(LOCAL, site.repo, at.shown)
    with site.journal.store.write() as session:
        open_plan(session, address, at.slug)
        append(session, address, mark, key=f"mark/{new_id()}", actor=asker(door).actor)
        yield
