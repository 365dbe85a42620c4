"""Measure the board beside a large run, with many open streams; exit with 1 if a goal is missed.

`just board-load`; `--smoke` is small and has no goals.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from measures.board import Board  # noqa: E402 - the tests' folder is on the path now
from measures.crew import crew  # noqa: E402
from measures.server import server  # noqa: E402
from tests.board.large_run import RUN, make, note  # noqa: E402

from asbuilt import wiring  # noqa: E402
from asbuilt.board.addresses import attempt_path, phase_path, plan_path  # noqa: E402
from asbuilt.settings import load  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from measures.server import Server
    from tests.board.large_run import Large

    from asbuilt.wiring import Journal


class Sizes(NamedTuple):
    """How large the run is, and how much is measured."""

    phases: int
    events: int
    diff_bytes: int
    streams: int
    updates: int
    rest_s: float
    repeats: int
    """Times that a page is asked for again."""


class Row(NamedTuple):
    """One figure, and the most that is accepted; None: it has no goal."""

    what: str
    value: float
    unit: str
    goal: float | None = None


WHOLE: Final = Sizes(200, 50_000, 10_000_000, 20, 20, 20.0, 3)
SMOKE: Final = Sizes(8, 800, 200_000, 4, 2, 1.0, 1)
"""Also tried by CI."""


def measured(sizes: Sizes) -> Iterator[Row]:
    """Measure pages and streams on SQLite, then transactions on Postgres."""
    with tempfile.TemporaryDirectory(prefix="asbuilt-load-") as name:
        folder = Path(name)
        journal, large, environ = _run(folder, sizes, url="")
        yield from _pages(folder, large, environ, sizes)
        yield from _streams(folder, journal, large, environ, sizes)
    with server() as postgres, tempfile.TemporaryDirectory(prefix="asbuilt-load-") as name:
        yield from _at_rest(Path(name), postgres, sizes)


def _run(folder: Path, sizes: Sizes, url: str) -> tuple[Journal, Large, dict[str, str]]:
    (folder / "home").mkdir()
    environ = {
        "HOME": str(folder / "home"), "LOGNAME": "ann", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
        "ASBUILT_HOME": str(folder / "state"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        "ASBUILT_SANDBOX_REQUIRED": "false",
    } | ({"ASBUILT_STORE_URL": url} if url else {})  # fmt: skip
    journal = wiring.open_journal(load(repository=None, environ=environ), environ)
    large = make(
        journal, folder / "shop", phases=sizes.phases, events=sizes.events, diff_bytes=sizes.diff_bytes
    )
    return journal, large, environ


def _pages(folder: Path, large: Large, environ: dict[str, str], sizes: Sizes) -> Iterator[Row]:
    """Compare the processor time of each page, first and after one more event, with `asbuilt status`."""
    status_s = min(_status_s(folder / "shop", environ) for _ in range(3))
    yield Row("`asbuilt status`", status_s, "s")
    repo, phase = large.repo, f"{large.phases // 2}"
    paths = {
        "Now": "/",
        "plan": plan_path(repo, large.address.plan),
        "run": f"/run/{repo}/{RUN}",
        "phase": phase_path(repo, large.address.plan, phase),
        "attempt with the difference": attempt_path(repo, f"{RUN}.{phase}.1"),
    }
    for name, path in paths.items():
        with Board(folder / "shop", environ) as board:
            cpu_s, size = board.cost_of(path)
            again = []
            for _ in range(sizes.repeats):
                time.sleep(1.1)  # a page is kept for a second
                again.append(board.cost_of(path)[0])
            yield Row(f"{name} page, first", cpu_s / status_s, "x status", 3)
            yield Row(f"{name} page, again", min(again) / status_s, "x status", 1)
            yield Row(f"{name} page", size / 1e6, "MB")


def _status_s(shop: Path, environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "asbuilt", "status"], cwd=shop, env=environ, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _streams(
    folder: Path, journal: Journal, large: Large, environ: dict[str, str], sizes: Sizes
) -> Iterator[Row]:
    """Measure how long after an event each tab has its new page, and the memory that this takes."""
    path = f"/run/{large.repo}/{RUN}"
    with Board(folder / "shop", environ) as board, board.tabs(path, sizes.streams) as tabs:
        late = []
        for number in range(sizes.updates):
            time.sleep(1.5)
            wrote_at = time.monotonic()
            note(journal, large, number)
            late += [one - wrote_at for one in tabs.updated(within_s=30)]
        missing = sizes.streams * sizes.updates - len(late)
        yield Row("updates that did not come", missing, "", 0)
        late.sort()
        yield Row("update of a tab, median", statistics.median(late), "s")
        yield Row("update of a tab, p95", late[int(0.95 * len(late))], "s", 1)
        yield Row("memory of the board, at its most", board.peak_mb(), "MB", 120)


def _at_rest(folder: Path, postgres: Server, sizes: Sizes) -> Iterator[Row]:
    """Compare the transactions of a worker at rest without and with a board and its idle tabs."""
    where = postgres.database()
    small = sizes._replace(phases=4, events=100, diff_bytes=1_000)
    _, large, environ = _run(folder, small, where)
    with crew("asbuilt", where, 1):
        without = _quiet(postgres, sizes.rest_s)
        path = f"/run/{large.repo}/{RUN}"
        with Board(folder / "shop", environ) as board, board.tabs(path, sizes.streams):
            with_tabs = _quiet(postgres, sizes.rest_s)
    yield Row("transactions at rest, one worker", without, "a second")
    yield Row(f"{sizes.streams} idle tabs of one board, more", with_tabs - without, "a second", 2.2)


def _quiet(postgres: Server, rest_s: float) -> float:
    """Return the transactions a second of the quieter of two watches."""
    time.sleep(rest_s / 2)
    found = []
    for _ in range(2):
        before = postgres.spent()
        time.sleep(rest_s)
        spent = postgres.spent().since(before)
        found.append(spent.transactions / spent.wall_s)
    return min(found)


def main() -> None:
    """Print each figure beside its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a small run, 4 streams; no goals")
    given = parser.parse_args()
    missed = 0
    for row in measured(SMOKE if given.smoke else WHOLE):
        goal = "" if row.goal is None else f"goal <= {row.goal:g}"
        is_missed = row.goal is not None and row.value > row.goal and not given.smoke
        missed += is_missed
        print(f"{row.what:45} {row.value:8.3f} {row.unit:9} {goal}{'  MISSED' * is_missed}", flush=True)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
