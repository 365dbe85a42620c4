"""Try asbuilt on real projects: `just real [NAMES] [--slice] [--write]`."""

from __future__ import annotations

import argparse
import sys

from tests.real.desk import cache_folder, install
from tests.real.page import PAGE, RESULTS, merge, write
from tests.real.table import projects
from tests.real.trial import attempt


def main() -> int:
    """Try projects one after another; return 1 where one is not as it should be."""
    parser = argparse.ArgumentParser(prog="just real", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--slice", action="store_true", help="only the projects that CI tries")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} and {PAGE.name}")
    chosen = parser.parse_args()
    table = projects()
    unknown = set(chosen.names) - {project.name for project in table}
    if unknown:
        parser.error(f"no such project: {', '.join(sorted(unknown))}")
    cache = cache_folder()
    programs = install(cache)
    wrong = 0
    for project in table:
        if (chosen.names and project.name not in chosen.names) or (chosen.slice and not project.slice):
            continue
        result = attempt(project, cache, programs)
        wrong += not result.right
        _show(f"{result.name}: honest {result.honest}, broken {result.broken}, {result.wall_s:.0f} s")
        for label, text in (("honest", result.why), ("broken", result.broken_why)):
            if text:
                _show(f"  {label}: " + text.replace("\n", "\n    "))
        if chosen.write:
            merge(result)
    if chosen.write:
        write()
    return 1 if wrong else 0


def _show(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
