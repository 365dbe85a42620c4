"""What bare `asbuilt` shows: where you are, and the next command to type. It writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt._version import VERSION
from asbuilt.cli.plan.desk import desk_for
from asbuilt.cli.screen import printable
from asbuilt.errors import DONE
from asbuilt.library.repository import branch_of
from asbuilt.library.shelves import plans

if TYPE_CHECKING:
    from asbuilt.cli.options import Door
    from asbuilt.cli.screen import Screen
    from asbuilt.library.repository import Repository


def run(door: Door) -> int:
    """Show the first screen for the folder the command was started in."""
    library = desk_for(door).library
    show_start(door.screen, repository=library.repository, plans=len(plans(library)))
    return DONE


def show_start(screen: Screen, *, repository: Repository | None, plans: int) -> None:
    """Draw the first screen for this many plans."""
    screen.answer(f"{screen.out.bold('asbuilt')} {VERSION}   {_place(repository)}")
    if plans == 0 and repository is not None:
        screen.answer("No plans here yet. Nothing has been written to this repository.")
    elif plans == 0:
        screen.answer("No plans here yet.")
    else:
        screen.answer("1 plan here." if plans == 1 else f"{plans} plans here.")
    screen.answer()
    for command, meaning in _next_commands(plans):
        screen.answer(f"  {screen.out.bold(command)}{' ' * (35 - len(command))}{meaning}")


def _place(repository: Repository | None) -> str:
    if repository is None:
        return "not in a Git repository"
    branch = branch_of(repository)
    return printable(
        f"{repository.name} on {branch}" if branch else f"{repository.name}, no branch checked out"
    )


def _next_commands(plans: int) -> list[tuple[str, str]]:
    look = [] if plans == 0 else [("asbuilt plan list", "every plan here, and how far it is")]
    return [
        *look,
        ('asbuilt plan new "what you want"', "write a plan to fill in"),
        ("asbuilt plan show PATH", "read a plan you already have"),
        ("asbuilt demo", "see a small plan run: 30 s, no model"),
        ("asbuilt -h", "everything this version can do"),
    ]
