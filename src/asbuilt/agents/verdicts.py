"""Read the verdict that an agent wrote to `out/`, as untrusted input.

Rule: what cannot be parsed is recorded in the opinion's `troubles`, which void it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.agents.attempt_folder import Unreadable, read_shared
from asbuilt.agents.verdict_tool import FILE
from asbuilt.proof.opinion import Opinion, opinion_from

if TYPE_CHECKING:
    from pathlib import Path

_CAP: Final = 1 << 20


def verdict_in(out: Path) -> Opinion | None:
    """Return the opinion in a folder; None when there is no file."""
    if not (out / FILE).exists() and not (out / FILE).is_symlink():
        return None
    try:
        return opinion_from(json.loads(read_shared(out / FILE, cap=_CAP)))
    except (Unreadable, ValueError, RecursionError) as error:
        return Opinion(None, (), (f"the verdict cannot be read: {error}",))
