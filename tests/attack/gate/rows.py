"""Commands with the verdict that a read-only gate must give. The one rule: nobody tunes a gate to rows.

`safe` means that a command cannot write files, change git or system state, run arbitrary code or reach the
network; reading secrets is unsafe by policy. `confirmed` says whether that was seen by running it, see
`confirm.py`: true seen, false not seen, null not run. Classes named `stretch:` are safe, and more than a
gate has to understand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
OWN = HERE / "own.jsonl"


class Row(NamedTuple):
    """One command and what is to become of it."""

    cmd: str
    safe: bool
    why: str
    kind: str
    confirmed: bool | None

    @property
    def is_stretch(self) -> bool:
        """A gate may refuse it."""
        return self.kind.startswith("stretch:")

    def line(self) -> str:
        """Write it as a line of a file."""
        fields = {"cmd": self.cmd, "safe": self.safe, "why": self.why, "class": self.kind}
        return json.dumps({**fields, "confirmed": self.confirmed})


def read_rows(path: Path = OWN) -> list[Row]:
    """Read a file of rows."""
    rows = []
    for line in path.read_text().rstrip("\n").split("\n"):  # a row may hold any other end of a line
        one = json.loads(line)
        rows.append(Row(one["cmd"], one["safe"], one["why"], one["class"], one["confirmed"]))
    return rows
