"""Keep the measure of what could act later with the attempt, and compare it with what is there at its end.

The one rule: it is taken before an attempt's first start, so that what no start was to do becomes no measure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.folder import Unreadable, read_shared, write_whole
from asbuilt.agents.sealing import differing, digests

if TYPE_CHECKING:
    from collections.abc import Iterable

_CAP: Final = 16 << 20


class Seals:
    """What of one attempt's agent would act later, as it was before the first start."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def put(self, folder: Path, names: Iterable[str], *, remade: tuple[str, ...] = ()) -> None:
        """Take the measure of some names in a folder, unless an earlier start has.

        `remade` is what the agent's own program lays down there when it starts.
        """
        if not self._file.exists():
            named = list(names)
            whole = {
                "folder": str(folder), "names": named, "remade": remade, "digests": digests(folder, named)
            }  # fmt: skip
            write_whole(self._file, json.dumps(whole).encode("ascii"))

    def broken(self) -> list[str]:
        """Name what came, went or changed since; nothing where nothing was sealed."""
        if not self._file.exists():
            return []
        try:
            kept = json.loads(read_shared(self._file, cap=_CAP))
            folder, remade = Path(kept["folder"]), tuple(f"{name}/" for name in kept["remade"])
            changed = differing(kept["digests"], digests(folder, kept["names"]))
        except (Unreadable, ValueError, KeyError, TypeError) as error:
            return [f"{self._file.name}, which cannot be read any more: {error}"]
        return [str(folder / name) for name in changed if not name.startswith(remade)]
