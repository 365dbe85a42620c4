"""`asbuilt gate pr-paths`: does an open pull request change a path? Scripts rely on its exit codes.

Rule: a failed query exits with 2, never with 0.
"""

from __future__ import annotations

import click

from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.errors import DONE, FAILED, ForgeFailed, NotFound, PathsUnknown
from asbuilt.git.forge.github import open_forge
from asbuilt.git.repository import open_repository
from asbuilt.lifecycle.pull_request.forge import crossing


@subcommand(
    "pr-paths",
    ("asbuilt gate pr-paths --prefix src/api/", "exit 1, and their numbers, when an open one is there"),
    ("asbuilt gate pr-paths --prefix src/api/ --exclude-pr 12", "your own does not count"),
)
@click.option(
    "--prefix",
    "--path-prefix",
    "prefixes",
    required=True,
    multiple=True,
    metavar="PATH",
    help="how the paths begin, from the repository's root; may be given several times",
)
@click.option("--exclude-pr", type=int, metavar="NUMBER", help="a pull request that does not count")
@click.option("--remote", default="origin", metavar="NAME", help="where they are; origin without it")
def command(door: Door, prefixes: tuple[str, ...], exclude_pr: int | None, remote: str) -> int:
    """Print the numbers of open pull requests that change a path with this beginning, one a line.

    Exit codes: 0 there is none, 1 there are some, 2 it could not be looked at.
    """
    try:
        forge = open_forge(open_repository(door.start), door.environ, remote=remote)
        numbers = crossing(forge.touched(), prefixes, but=exclude_pr)
    except (ForgeFailed, NotFound) as error:
        raise PathsUnknown(error.what, why=error.why, next_step=error.next_step) from error
    if not door.emitted("asbuilt.gate-pr-paths/1", {"pulls": list(numbers)}):
        for number in numbers:
            door.screen.answer(str(number))
    return FAILED if numbers else DONE
