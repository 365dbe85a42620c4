"""A worker's share in a fleet: its labels, the variables that it has values for, and what it serves.

Rule: values stay in a file of the worker's state folder that only its user can read. The database gets the
names.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from asbuilt.flows.engine.taking import Taking
from asbuilt.git.fleet import evict
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.shared_blobs import Large, open_large
from asbuilt.lifecycle.fleet import Offer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home
    from asbuilt.settings import Settings

_JOINED: Final = "fleet.json"
_SECRETS: Final = "fleet-secrets.json"
_GIGABYTE: Final = 1_000_000_000


def join(home: Home, labels: Iterable[str]) -> None:
    """Record that the worker of this state folder takes runs of the fleet, with these labels."""
    _write(home.path / _JOINED, {"labels": sorted(set(labels))})


def leave(home: Home) -> bool:
    """Record that the worker takes no runs of the fleet; return False if it took none."""
    is_joined = (home.path / _JOINED).exists()
    (home.path / _JOINED).unlink(missing_ok=True)
    return is_joined


def labels_of(home: Home) -> frozenset[str] | None:
    """Return the labels of this folder's worker; None if it has not joined the fleet."""
    joined = _read(home.path / _JOINED)
    return None if joined is None else frozenset(joined["labels"])


def offer(home: Home, environ: Mapping[str, str]) -> Offer | None:
    """Return what the worker offers now: its labels, and the names of its variables; None if it has left."""
    labels = labels_of(home)
    return None if labels is None else Offer(labels, frozenset({*environ, *secrets(home)}))


def secrets(home: Home) -> dict[str, str]:
    """Return the secrets of this worker by name."""
    return dict(_read(home.path / _SECRETS) or {})


def set_secret(home: Home, name: str, value: str | None) -> bool:
    """Set a secret, or remove it; return whether there was one."""
    known = secrets(home)
    was = name in known
    if value is not None:
        known[name] = value
    else:
        known.pop(name, None)
    _write(home.path / _SECRETS, known)
    return was


def _write(file: Path, values: Mapping[str, object]) -> None:
    fresh = file.with_name(f".{file.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        json.dump(values, opened)
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(file)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        values: dict[str, Any] = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    return values


def large_blobs(home: Home, settings: Settings, environ: Mapping[str, str]) -> Large | None:
    """Open the shared place for large blobs; None if there is none. Its login may be a worker's secret."""
    place = settings.text("store.blobs") if settings.text("store.url") else ""
    return open_large(place, {**environ, **secrets(home)}) if place else None


def taking_of(home: Home, store: Store, engine: Engine, settings: Settings, lost_s: float) -> Taking | None:
    """Return what takes runs of the fleet, after old mirrors were deleted; None if it has not joined."""
    if not store.is_shared or labels_of(home) is None:
        return None
    evict(home.path / "mirrors", budget=settings.number("fleet.mirrors_gb") * _GIGABYTE)
    return Taking(store, engine, lambda: offer(home, os.environ), org=LOCAL, lost_s=lost_s)
