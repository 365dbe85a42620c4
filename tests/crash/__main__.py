"""`just crash`: play the matrix, or one class or point of it, and write docs/reference/reliability.md."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from tests.crash import rows
from tests.crash.matrix import BACKENDS, CLASSES, played, points_of
from tests.crash.points import Point
from tests.crash.world import Theatre
from tests.journal.conftest import serving

if TYPE_CHECKING:
    from tests.crash.points import Outcome


def main() -> int:
    """Play, tell, write; the exit code says whether everything held."""
    asked = _asked()
    # Ended from outside, it still ends its servers and takes its folders away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with serving() as postgres:
        points = [Point.read(text) for text in asked.point] or _points(asked, postgres)
        outcomes = _played(points, asked.cores, postgres)
    if not asked.point and not asked.only:
        for kind, found in rows.rows_of(outcomes).items():
            rows.keep(kind, found)
        rows.PAGE.write_text(rows.page(), encoding="utf-8")
    failed = [outcome for outcome in outcomes if not outcome.is_whole]
    for outcome in failed:
        _say(str(outcome))
    _say(f"{len(outcomes)} points, {len(failed)} failed")
    return int(bool(failed))


def _asked() -> argparse.Namespace:
    asking = argparse.ArgumentParser(prog="just crash", description=main.__doc__)
    asking.add_argument(
        "--class", dest="kind", action="extend", nargs="+", choices=CLASSES, help="classes of points"
    )
    asking.add_argument(
        "--point", action="extend", nargs="+", default=[], help="points, as failures print them"
    )
    asking.add_argument("--backend", choices=BACKENDS, help="only one store")
    asking.add_argument("--only", type=int, help="so many points of each class, by chance; no page")
    asking.add_argument("--seed", type=int, default=1, help="chooses pairs, and points for --only")
    asking.add_argument("--cores", type=int, default=2, help="worlds at a time")
    return asking.parse_args()


def _points(asked: argparse.Namespace, postgres: str) -> list[Point]:
    with closing(Theatre(postgres)) as theatre:
        found = []
        for kind in asked.kind or CLASSES:
            some = points_of(kind, theatre, seed=asked.seed)
            some = [point for point in some if asked.backend in (None, point.backend)]
            chance = random.Random(asked.seed)  # noqa: S311 - a choice that can be made again
            found += chance.sample(some, min(asked.only, len(some))) if asked.only else some
    return found


def _played(points: list[Point], cores: int, postgres: str) -> list[Outcome]:
    began = time.monotonic()
    done = 0

    def tell(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        _say(f"{done}/{len(points)} {time.monotonic() - began:.0f} s {outcome}")

    return played(points, cores=cores, postgres=postgres, tell=tell)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
