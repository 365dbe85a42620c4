"""What a setting is: its key, the values that it takes, and what a guess could do."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class SuiteTable(NamedTuple):
    """One table of `[[checks.suites]]`."""

    folder: str
    command: str
    setup: str = ""
    counts: str = "tests"


Value = str | bool | int | float | tuple[str, ...] | tuple[SuiteTable, ...]


class Kind(Enum):
    """What values a setting takes."""

    TEXT = "text"
    FOLDER = "folder"
    FLAG = "flag"
    CHOICE = "choice"
    GLOBS = "globs"
    NUMBER = "number"
    MONEY = "money"
    CHOICES = "choices"
    HOURS = "hours"
    SUITES = "suites"


class Setting(NamedTuple):
    """One thing that can be chosen."""

    key: str
    kind: Kind
    default: Value
    meaning: str
    stakes: str
    """What a guessed value could do; the Why of every error about this setting."""
    choices: tuple[str, ...] = ()
    repository_may_set: bool = False
    """A repository is text that others wrote: it never sets what protects the user."""
    tightens: bool = False
    """Its choices go from the strictest to the loosest, and a repository only makes it stricter."""
    read_by: str | None = None
    """The command that reads it; None while no command does."""
    least: int = 1
    most: int = 1_000
    """What a number, or an amount of dollars, may be."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "ASBUILT_" + self.key.upper().replace(".", "_")
