"""What a run may see of the environment it was asked from, kept where only its user can read it.

The worker may have been started by the system, with another PATH than the shell in which the tests ran well.
The one rule: what the ring's own list does not name is not kept.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from asbuilt.policy.ring import passed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FILE: Final = "environment.json"


def keep(room: Path, environ: Mapping[str, str]) -> None:
    """Keep the listed part in the run's folder."""
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(room / _FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(passed(environ), file)


def kept(room: Path) -> dict[str, str]:
    """Give back what was kept; nothing for a run that kept nothing."""
    try:
        text = (room / _FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return {}
    return passed(json.loads(text))
