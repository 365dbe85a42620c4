"""A worker's share in a fleet: its labels, and the variables that it has values for.

Rule: values stay in a file of the worker's state folder that only its user can read. The database gets the
names.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from asbuilt.lifecycle.fleet.places import Offer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from asbuilt.journal.home import Home

_JOINED: Final = "fleet.json"
_SECRETS: Final = "fleet-secrets.json"


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
