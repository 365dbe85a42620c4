"""`asbuilt selftest lies`: run the corpus of lies and honest work against this installation."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.selftest.corpus import chosen, read_corpus, where
from asbuilt.cli.commands.selftest.play import play
from asbuilt.cli.commands.selftest.stage import lacks
from asbuilt.cli.commands.selftest.table import Judged, as_json, is_good, judged, rows
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, FAILED, NotFound

if TYPE_CHECKING:
    from asbuilt.cli.commands.selftest.corpus import Case
    from asbuilt.cli.commands.selftest.table import Shown

_WRONG: Final = (Judged.MISSED, Judged.ALARM)


@click.command(
    "lies",
    cls=Command,
    examples=[
        ("asbuilt selftest lies", "every lie and every honest case: minutes"),
        ("asbuilt selftest lies --kind node", "only projects with node's runner"),
        ("asbuilt selftest lies --only conftest -v", "those with a word in their name, each with its reason"),
        ("asbuilt selftest lies --corpus ./cases --json", "cases of your own, for a script"),
    ],
)
@click.option("--kind", metavar="NAME", help="only this kind of project: a file in projects/")
@click.option("--only", metavar="NAME", help="only cases with this in their name")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="a folder with lies/, honest/ and projects/  [default: the corpus of this installation]",
)
@click.option("--jobs", type=click.IntRange(1, 64), help="how many at a time  [default: one a core]")
@shared(json=True)
def command(door: Door, *, kind: str | None, only: str | None, corpus: Path | None, jobs: int | None) -> int:
    """Play deceptions and honest work as whole runs, and say which were caught, missed and wrongly accused.

    Agents play scripts; git, ring, test runners, checks and landing are the real ones. Exit 1 when a lie was
    missed, or when of forty honest cases more than one was refused or more than three were asked about.
    """
    folder = where(door.start / corpus if corpus else None)
    cases = list(chosen(read_corpus(folder), kind, only))
    if not cases:
        raise NotFound(
            f'no case has "{only or kind or ""}" in its name',
            why="Then nothing would be tried, and nothing missed.",
            next_step=f"The cases are the files in {folder}.",
        )
    projects = {case.project.kind: case.project for case in cases}
    lacking = {kind: why for kind, one in sorted(projects.items()) if (why := lacks(one)) is not None}
    shown = _play_all(door, [case for case in cases if case.project.kind not in lacking], jobs)
    if door.json:
        door.screen.emit_json(as_json(shown, lacking))
    else:
        for row in rows(shown, lacking):
            door.screen.answer(row)
        for one in shown:
            if one.judged in _WRONG:
                _tell(door, one)
    return DONE if is_good(shown) else FAILED


def _play_all(door: Door, cases: list[Case], jobs: int | None) -> list[Shown]:
    shown = []
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for case, came in zip(cases, pool.map(play, cases), strict=True):
            shown.append(judged(case, came))
            if door.screen.verbose:
                door.screen.talk(printable(f"{shown[-1].judged.value:<11}  {case.name}: {shown[-1].why}"))
    return shown


def _tell(door: Door, one: Shown) -> None:
    door.screen.answer()
    door.screen.answer(printable(f"{one.judged.value}: {one.case.title} ({one.case.file})"))
    for row in door.screen.out.hanging("  ", printable(one.why)):
        door.screen.answer(row)
