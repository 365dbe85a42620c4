"""The plans of `asbuilt selftest agent`, and the test that no agent sees: run offline, in the sandbox."""

from __future__ import annotations

import shutil
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt import wiring
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.environments.check_environment import Rigs
from asbuilt.git.repository import open_repository, resolve
from asbuilt.journal.home import Home
from asbuilt.proof.evidence import judge_check, judge_setup
from asbuilt.proof.projects.resolving import resolve_setup
from asbuilt.settings import load
from asbuilt.settings.running import command_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from asbuilt.cli.shell.scratch import Scratch
    from asbuilt.flows.environments.results import Ran


NAMES: Final = ("python", "node", "go", "bug", "dependency")
PLAN: Final = "exercise"
"""The plan's name in its repository."""


class HiddenTest(NamedTuple):
    """A test that is added to the landed tree; until then it exists only in this package."""

    path: str
    text: str
    command: str
    shows: str
    """What it prints if all of it ran and passed; exit 0 alone could be a product that exits early."""


class Exercise(NamedTuple):
    """A small plan and its repository."""

    name: str
    title: str
    needs: str
    """The program that the agent and the checks need."""
    plan: str
    files: Mapping[str, str]
    hidden: HiddenTest

    def lacks(self, path: str) -> str | None:
        """Return why the exercise cannot run with the programs on a PATH, or None."""
        return None if shutil.which(self.needs, path=path) else f"{self.needs} is not installed"


def read_exercises(only: Sequence[str] = ()) -> list[Exercise]:
    """Read all exercises or the named ones, in the order of `NAMES`."""
    return [_read(name) for name in NAMES if not only or name in only]


def _read(name: str) -> Exercise:
    table = tomllib.loads(files(__package__).joinpath("plans", f"{name}.toml").read_text(encoding="utf-8"))
    return Exercise(name=name, **{**table, "hidden": HiddenTest(**table["hidden"])})


class Seen(NamedTuple):
    """The result of a hidden test on the landed code."""

    how: Literal["right", "wrong", "unclear"]
    why: str = ""


def run_hidden(scratch: Scratch, hidden: HiddenTest, room: Path) -> Seen:
    """Add a hidden test to the landed tree and run it there."""
    repository = open_repository(scratch.checkout)
    commit = resolve(repository, "HEAD")
    if commit is None:
        return Seen("unclear", "nothing is committed")
    tree = tree_of(repository, commit)
    processes = wiring.check_processes(Home(scratch.state), room / "scratch", scratch.environ)
    given = command_in(load(repository=scratch.checkout, environ=scratch.environ), "checks.setup")
    setup = resolve_setup(given, project_of(repository, tree))
    with Rigs(room / "setups", repository, processes, history=commit).take(setup) as rig:
        made = rig.set_up(tree)
        ready = None if made is None else judge_setup(made.ended.exit_code)
        if made is not None and ready is not None and ready.outcome != "PASS":
            return Seen("unclear", f"setup: {ready.why}: {_last_line(made)}")
        ran = rig.run(tree, hidden.command, over={hidden.path: hidden.text.encode()})
    judged = judge_check(ran.ended.exit_code)
    if judged.outcome in ("NOT_RUN", "INDETERMINATE"):
        return Seen("unclear", f"{hidden.command}: {judged.why}")
    if judged.outcome == "PASS" and hidden.shows in ran.ended.output.decode("utf-8", "replace"):
        return Seen("right")
    return Seen("wrong", f"{hidden.command}: {judged.why}: {_last_line(ran)}")


def _last_line(ran: Ran) -> str:
    lines = ran.ended.output.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")
