"""Count tests in Test Anything Protocol output, versions 12 to 14, of one program or several in sequence."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.proof.counts.model import Counts, State, counted

_POINT: Final = re.compile(r"^( *)(not )?ok(?: +\d+)?(?: +- | +|$)(.*)$")
_DIRECTIVE: Final = re.compile(r"(?i)(?<!\\)# *(?:skip|todo)\b.*$")
_PLAN: Final = re.compile(r"^1\.\.(\d+)(?:\s+#.*)?$")
_SUBTEST: Final = re.compile(r"^( *)# Subtest(?:: (.*))?$")
_TIME: Final = re.compile(r" *# time=\S+(?: *\{)?$")
_NESTED: Final = 4


class _Reading:
    """State of a stream, line by line."""

    def __init__(self) -> None:
        self.tests: list[tuple[str, State]] = []
        self.plans = 0
        self.is_broken = False
        self._planned: int | None = None
        self._points = 0
        self._above: list[str] = []
        self._within: dict[int, bool] = {}
        """By depth: whether all points there passed since the last point above; no key if there were none."""

    def plan(self, number: int) -> None:
        if self._planned is not None:
            self.is_broken = True
        elif self._points:
            self.is_broken |= number != self._points
            self._close()
        elif number:
            self._planned = number
        else:
            self.tests.append(("", "other"))
            self.plans += 1

    def point(self, depth: int, name: str, state: State) -> None:
        below = self._within.pop(depth + 1, None)
        self._within = {at: good for at, good in self._within.items() if at <= depth}
        # A point after nested points sums them up; it is a failure of its own only if all of them passed.
        if below is None or (state == "failed" and below):
            self.tests.append((" > ".join((*self._above[:depth], name)), state))
        self._within[depth] = self._within.get(depth, True) and state != "failed"
        if depth == 0:
            self._within.clear()
            self._above.clear()
            self._points += 1
            if self._points == self._planned:
                self._close()

    def subtest(self, depth: int, name: str) -> None:
        self._above = [*self._above[:depth], name]

    @property
    def is_whole(self) -> bool:
        return bool(self.plans) and not self.is_broken and self._planned is None and not self._points

    def _close(self) -> None:
        self.plans += 1
        self._planned, self._points = None, 0


def from_tap(text: str) -> Counts | None:
    """Count the leaves of every stream; None if a stream's number of points differs from its plan."""
    reading = _Reading()
    block: str | None = None
    for line in text.splitlines():
        if block is not None:
            block = None if line == f"{block}..." else block
        elif line.strip() == "---":
            block = line[: -len("---")]
        elif line.startswith("Bail out!"):
            return None
        elif found := _PLAN.match(line):
            reading.plan(int(found[1]))
        elif found := _SUBTEST.match(line):
            reading.subtest(_depth(found[1]), found[2] or "")
        elif (found := _POINT.match(line)) and len(found[1]) % _NESTED == 0:
            name = _DIRECTIVE.sub("", found[3])
            state: State = "other" if name != found[3] else "failed" if found[2] else "passed"
            reading.point(_depth(found[1]), _TIME.sub("", name).strip(), state)
    return counted(reading.tests) if reading.is_whole else None


def _depth(indent: str) -> int:
    return len(indent) // _NESTED
