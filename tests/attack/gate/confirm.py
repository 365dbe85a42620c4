"""Run rows on a stage of their own, and say of each whether what it is labelled with was seen."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.attack.gate.rows import Row, read_rows
from tests.attack.gate.stage import Stage, build
from tests.attack.gate.traced import run

_NOT_HERE = (126, 127)
"""What bash answers when a program is not installed."""


def confirmed(row: Row, stage: Stage, folder: Path) -> Row:
    """Run one row."""
    if "\0" in row.cmd:
        return row
    own = stage.copied(folder)
    before = own.digest()
    seen = run(own, row.cmd)
    happened = bool(seen.effects) or own.digest() != before
    if row.kind == "secret-read":
        happened = happened or bool(seen.secrets)
    if row.safe and seen.code in _NOT_HERE:
        return row._replace(confirmed=None)
    return row._replace(confirmed=happened != row.safe)


def main(path: str) -> None:
    """Rewrite a file of rows with what was seen."""
    rows = read_rows(Path(path))
    with tempfile.TemporaryDirectory(prefix="rows-") as folder, ThreadPoolExecutor(2) as pool:
        stage = build(Path(folder) / "stage")
        places = (Path(folder) / f"at-{number}" for number in range(len(rows)))
        done = list(pool.map(confirmed, rows, [stage] * len(rows), places))
    Path(path).write_text("".join(f"{row.line()}\n" for row in done))


if __name__ == "__main__":
    main(sys.argv[1])
