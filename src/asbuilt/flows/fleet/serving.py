"""What a worker that has joined the fleet does beside its own machine's runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.flows.engine.taking import Taking
from asbuilt.flows.fleet.membership import labels_of, offer
from asbuilt.git.fleet.mirror import evict
from asbuilt.journal.ids import LOCAL

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home
    from asbuilt.settings import Settings

_GIGABYTE: Final = 1_000_000_000


def taking_of(home: Home, store: Store, engine: Engine, settings: Settings, lost_s: float) -> Taking | None:
    """Return what takes runs of the fleet, after old mirrors were deleted; None if it has not joined."""
    if not store.is_shared or labels_of(home) is None:
        return None
    evict(home.path / "mirrors", budget=settings.number("fleet.mirrors_gb") * _GIGABYTE)
    return Taking(store, engine, lambda: offer(home, os.environ), org=LOCAL, lost_s=lost_s)
