"""What a run may see of the environment it was asked from. Its one rule: what is not listed is not kept.

The worker may have been started by the system, with another PATH than the shell in which the tests ran well.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ALLOWED: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_FILE: Final = "environment.json"


def keep(room: Path, environ: Mapping[str, str]) -> None:
    """Keep the listed part in the run's folder, where only its user can read it."""
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    listed = {name: environ[name] for name in ALLOWED if name in environ}
    descriptor = os.open(room / _FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(listed, file)


def kept(room: Path) -> dict[str, str]:
    """Give back what was kept; nothing for a run that kept nothing."""
    try:
        text = (room / _FILE).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return {}
    found = json.loads(text)
    return {name: str(found[name]) for name in ALLOWED if name in found}
