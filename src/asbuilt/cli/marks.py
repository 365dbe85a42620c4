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
    from asbuilt.library.shelves import PlanFile


@contextmanager
def told(door: Door, at: PlanFile, **mark: object) -> Iterator[None]:
    """Write the event of a mark around the writing of its file: what fails there leaves no event."""
    if not at.repository:
        yield
        return
    site = open_site(door)
    address = Address(LOCAL, site.repo, at.shown)
    data = {name: value for name, value in mark.items() if value is not None}
    with site.journal.store.write() as session:
        open_plan(session, address, at.slug)
        append(
            session,
            address,
            key=f"mark/{new_id()}",
            kind="phase.marked" if "phase" in data else "plan.completed",
            actor=asker(door).actor,
            data={**data, "by": "hand"},
        )
        yield
