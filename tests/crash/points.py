"""Where a fault strikes, and what came of it. The one rule: both are data, and a point's text replays it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

HOWS: Final = ("lost", "doubled", "bricked", "orphan", "left", "torn", "not finished", "touched")
"""The ways in which a world can be broken."""
SYSCALLS: Final = ("fsync", "rename", "unlink")


class Point(NamedTuple):
    """One fault: its class, the journey and the store that it meets, and where it strikes.

    As text `step/four/sqlite/1.Land:acted#1`, `pair/four/sqlite/start#1+#7`, `rename/one/sqlite/17`.
    """

    kind: str
    journey: str
    backend: str
    at: str

    @classmethod
    def read(cls, text: str) -> Point:
        """Take a point from its text."""
        return cls(*text.split("/", 3))

    def __str__(self) -> str:
        """Write it as it is given on a command line."""
        return "/".join(self)

    @property
    def replay(self) -> str:
        """The command that strikes here again."""
        return f"just crash --point '{self}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a world came to after its fault."""

    point: Point
    struck: str = ""
    """Which process died where; empty when the journey ended before the fault."""
    hosts_killed: int = 0
    workers_killed: int = 0
    extra_starts: int = 0
    """Agent starts beyond those of the undisturbed journey."""
    broken: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
    """What helps to understand it: the end of the worker's log."""

    @property
    def is_whole(self) -> bool:
        """Tell whether everything holds, agent starts included."""
        return not self.broken and self.extra_starts <= self.hosts_killed

    def __str__(self) -> str:
        """Say it in a few lines, with the command that shows it again."""
        lines = [f"{self.point}: {self.struck or 'not struck'}, {self.seconds:.1f} s"]
        lines += [f"  {how}: {what}" for how, what in self.broken]
        if self.extra_starts > self.hosts_killed:
            lines.append(f"  {self.extra_starts} extra agent starts, {self.hosts_killed} hosts killed")
        if not self.is_whole:
            lines += [f"  | {note}" for note in self.notes]
            lines.append(f"  replay: {self.point.replay}")
        return "\n".join(lines)
