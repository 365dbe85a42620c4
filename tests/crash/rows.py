"""What was found, as rows that are kept, and the page that is made from them.

The one rule: a row says what was seen, on which commit and machine; the page says nothing that no row says.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.crash.points import Outcome

ROOT: Final = Path(__file__).parent.parent.parent
ROWS: Final = ROOT / "docs" / "reference" / "reliability"
PAGE: Final = ROOT / "docs" / "reference" / "reliability.md"
_SAID: Final = {
    "step": "worker killed before a step, after it acted, after it was recorded",
    "pair": "worker killed at a step, and again while the next one recovers",
    "fsync": "worker, host or git killed at each fsync and fdatasync of a run",
    "rename": "worker, host or git killed at each rename of a run",
    "unlink": "worker, host or git killed at each unlink of a run",
    "host": "host killed while its agent works",
    "working": "worker killed while an agent works",
    "grace": "worker killed while an agent works, and none comes back within the grace",
}
_LEAD: Final = """\
# Reliability

<!-- Written by `just crash` from docs/reference/reliability/*.json; edit what writes these rows. -->

Any crash is a pause: after `kill -9` at any instant, the next start continues at that step. This page lists
where this was tested, and the results. Each run has its own repository, state folder, database, worker,
hosts, agents and git processes. One process is killed at one point, a new worker starts, and the run
continues to its end. Then these must hold: every landed phase is exactly one commit, `git fsck` passes, no
lock, workspace or temporary file is left, the plan's marks match the journal's landings, no process of the
run is alive, and the user's own files are unchanged.

A run counts in a column if this happened at least once. *Lost*: a commit, an event or a mark is missing or
wrong, or a file of the user changed. *Bricked*: no start can continue. *Orphans*: processes that outlive
their run or, for more than five seconds, their host. *Left*: leftovers that nothing removes. *Not finished*:
the run ended differently than without a kill. The last two columns are the most extra agent starts that one
kill of a host, or of another process, has cost.
"""
_HOW: Final = """\
## Run it yourself

`just crash` runs everything, two runs at a time; `just crash --class rename` runs one class, and
`just crash --point 'step/four/sqlite/1.Land:acted#1'` one point. A failure prints this command.

System calls are counted in the worker, its hosts and every git process that they start, including hooks.
Agents and checks in the sandbox, and Postgres, are not killed there. At odd numbers only the caller is
killed, at even numbers also the worker.

`just simulate 10000` runs flows, journal and decisions with models of git, agents, checks and the engine,
and a simulated clock. Each seed makes its own plans, agents, users, faults and order. The invariants are
checked after every transaction, step and moved branch. A failure prints its seed, and `just simulate 1 SEED`
prints the whole run. CI runs these 10,000, and plants bugs in the code, one at a time, each of which has to
be found within 1,000 seeds.
"""


class Row(NamedTuple):
    """One class of points on one store."""

    points: str
    backend: str
    runs: int
    lost: int = 0
    doubled: int = 0
    bricked: int = 0
    orphans: int = 0
    left: int = 0
    not_finished: int = 0
    starts_host: int | None = None
    """The most extra agent starts of a run in which a host was killed; None when none was."""
    starts_else: int | None = None
    commit: str = ""
    machine: str = ""


_TITLES: Final = (
    "point", "store", "runs", "lost", "doubled", "bricked", "orphans", "left", "not finished",
    "starts, host", "starts, else",
)  # fmt: skip


def rows_of(outcomes: Iterable[Outcome]) -> dict[str, list[Row]]:
    """Sum outcomes up, for each class and store."""
    grouped: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        grouped.setdefault((outcome.point.kind, outcome.point.backend), []).append(outcome)
    found: dict[str, list[Row]] = {}
    for (kind, backend), some in grouped.items():
        found.setdefault(kind, []).append(_row(kind, backend, some))
    return found


def _row(kind: str, backend: str, outcomes: list[Outcome]) -> Row:
    struck = [outcome for outcome in outcomes if outcome.struck]

    def count(*hows: str) -> int:
        return sum(any(how in hows for how, _ in outcome.broken) for outcome in outcomes)

    def most(some: list[Outcome]) -> int | None:
        return max((outcome.extra_starts for outcome in some), default=None)

    return Row(
        points=_SAID[kind],
        backend=backend,
        runs=len(struck),
        lost=count("lost", "torn", "touched"),
        doubled=count("doubled"),
        bricked=count("bricked"),
        orphans=count("orphan"),
        left=count("left"),
        not_finished=count("not finished"),
        starts_host=most([outcome for outcome in struck if outcome.hosts_killed]),
        starts_else=most([outcome for outcome in struck if not outcome.hosts_killed]),
        **where(),
    )


def where() -> dict[str, str]:
    """Say on which commit and machine something was seen, for a row."""
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return {"commit": _commit(), "machine": machine}


def keep(name: str, rows: list[Row], folder: Path = ROWS) -> None:
    """Keep the rows of one class in a file of its own; those of other classes stay."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([row._asdict() for row in rows], indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def page(folder: Path = ROWS) -> str:
    """Make the page from all rows that are kept."""
    rows = [Row(**one) for file in sorted(folder.glob("*.json")) for one in json.loads(file.read_bytes())]
    table = [_line(_TITLES), _line(["---"] * len(_TITLES))]
    table += [_line(["-" if cell is None else str(cell) for cell in row[: len(_TITLES)]]) for row in rows]
    seen = sorted({f"commit {row.commit} on {row.machine}" for row in rows})
    return "\n".join([_LEAD, *table, "", f"Seen at {'; '.join(seen)}.", "", _HOW])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _commit() -> str:
    said = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return said.stdout.strip()
