"""Print how long landings onto one branch take by many workers, against one worker that does them alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from measures.landing import landings  # noqa: E402 - the tests' folder is on the path now
from measures.server import server  # noqa: E402

GOAL: Final = 1.1


def main() -> None:
    """Print both times and their ratio; exit with 1 if a landing is missing or the goal is missed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--landings", type=int, default=200, help="number of runs that land")
    parser.add_argument("--workers", type=int, default=8, help="number of workers with 2 slots each")
    parser.add_argument("--smoke", action="store_true", help="6 landings by 2 workers; no goal")
    given = parser.parse_args()
    number, workers = (6, 2) if given.smoke else (given.landings, given.workers)
    with server() as postgres:
        alone = landings(postgres, workers=1, slots=1, number=number)
        many = landings(postgres, workers=workers, slots=2, number=number)
    for words, one in (("1 worker alone", alone), (f"{workers} workers", many)):
        print(
            f"{words:16} {one.wall_s:7.1f} s  {one.landed} landed, {one.refused} refused,"
            f" {one.on_branch} on the branch"
        )
    ratio = many.wall_s / alone.wall_s
    print(f"{'ratio':16} {ratio:7.2f}    goal <= {GOAL}")
    is_whole = all((one.landed, one.refused, one.on_branch) == (number, 0, number) for one in (alone, many))
    sys.exit(not is_whole or (ratio > GOAL and not given.smoke))


if __name__ == "__main__":
    main()
