"""The plans of `asbuilt selftest agent`, each with its repository and a test that no agent sees."""

from __future__ import annotations

import shutil
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
