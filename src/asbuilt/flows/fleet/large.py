"""Where machines share large blobs, with the login of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.flows.fleet.membership import secrets
from asbuilt.journal.shared_blobs import Large, open_large

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.home import Home
    from asbuilt.settings import Settings


def large_blobs(home: Home, settings: Settings, environ: Mapping[str, str]) -> Large | None:
    """Open the shared place for large blobs; None if there is none. Its login may be a worker's secret."""
    place = settings.text("store.blobs") if settings.text("store.url") else ""
    return open_large(place, {**environ, **secrets(home)}) if place else None
