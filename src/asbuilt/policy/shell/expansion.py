"""Expand a wildcard of the shell as the shell would. Pure: the caller lists the folders.

Rule: the result holds at least what any shell would insert, unless `complete` is False. A range in brackets
matches any character, letters match both cases, and `**` matches folders down to 8 levels.
"""

from __future__ import annotations

from asbuilt.policy.plan_mode.secret_paths import fits, is_wild, pieces_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_MATCHES = 200
MOST_ENTRIES = 4_000
_DEEPEST = 8
_PARENT = ".."


class Expansion:
    """The paths that a pattern matches, and the folders that the shell lists to find them."""

    __slots__ = ("_entries", "_exists", "_names", "complete", "listed", "matches")

    def __init__(
        self,
        pattern: str,
        folder: str,
        *,
        names: Callable[[str], Sequence[str]],
        exists: Callable[[str], bool] | None,
    ) -> None:
        self._names = names
        self._exists = exists
        self._entries = 0
        self.complete = True
        """Whether no limit was reached."""
        self.listed: list[str] = []
        self.matches = self._expanded(pattern, "" if pattern.startswith("/") else folder)

    def _expanded(self, pattern: str, start: str) -> list[str]:
        found = [start]
        begun = False
        parts = pattern.split("/")
        for at, part in enumerate(parts):
            if part in ("", ".") and at < len(parts) - 1:
                continue
            if is_wild(part):
                begun = True
                pairs = (path for folder in found for path in self._below(folder, part))
                found = [path for _, path in zip(range(MOST_MATCHES), pairs, strict=False)]
                self.complete = self.complete and len(found) < MOST_MATCHES
            else:
                found = [f"{path}/{part}" for path in found]
                if begun and self._exists is not None:
                    found = [path for path in found if self._exists(path)]
        return found

    def _below(self, folder: str, part: str, depth: int = 0) -> Iterator[str]:
        """Yield the paths that a part of a pattern matches in a folder."""
        deep = len(part) > 1 and not part.strip("*")
        if deep and not depth:
            yield folder
        below = []
        pieces = pieces_of(part.lower())
        # One character may be several to a shell in another locale.
        any_length = "?" in part or "[" in part
        for name in self._listing(folder):
            if fits(pieces, name.lower()) or (any_length and not name.isascii()):
                below.append(f"{folder}/{name}")
                yield below[-1]
        # bash before 5.2, and dash, expand `.*` to the parent folder, too.
        if part[0] == "." and not part.strip(".*?") and fits(pieces, _PARENT):
            yield f"{folder}/{_PARENT}"
        if deep and depth == _DEEPEST:
            self.complete = False
        elif deep:
            for path in below:
                yield from self._below(path, part, depth + 1)

    def _listing(self, folder: str) -> Sequence[str]:
        if self._entries >= MOST_ENTRIES:
            self.complete = False
            return ()
        self.listed.append(folder or "/")
        names = self._names(folder or "/")[: MOST_ENTRIES - self._entries]
        # An empty or missing folder counts too: it was listed.
        self._entries += len(names) + 1
        self.complete = self.complete and self._entries < MOST_ENTRIES
        return names
