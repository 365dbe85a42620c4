"""Every kind of event that this version of asbuilt writes and reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from asbuilt.events import approvals, attempts, authoring, landings, phases, plans, pulls, runs, schedules
from asbuilt.events.event import Event

_SUBJECTS: Final = (runs, attempts, phases, landings, pulls, plans, approvals, schedules, authoring)
KINDS: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {
        found.kind: found
        for subject in _SUBJECTS
        for found in vars(subject).values()
        if isinstance(found, type) and issubclass(found, Event) and found.kind
    }
)
"""Event classes by their name in journals. A base class that kinds share has no name."""
