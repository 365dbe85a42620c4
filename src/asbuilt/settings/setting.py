"""What a setting is: its key, the values that it takes, and what a guess could do."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class SuiteTable(NamedTuple):
    """One table of `[[checks.suites]]`."""

    folder: str
    command: str
    setup: str = ""
    counts: str = "tests"


class ServiceTable(NamedTuple):
    """One entry of `checks.services`: a name that we know, or a command with the port on which it answers."""

    name: str
    command: str = ""
    ready: int = 0


BUILT_IN_SERVICES: Final = ("postgres", "redis")
Table = SuiteTable | ServiceTable
Value = str | bool | int | float | tuple[str, ...] | tuple[SuiteTable, ...] | tuple[ServiceTable, ...]


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
    SERVICES = "services"
    NAMES = "names"
    HOSTS = "hosts"
    PATHS = "paths"


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
    secret: bool = False
    """Its value is shown nowhere."""
    private: bool = False
    """Its value is masked in what leaves the machine: an address may hold a login."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return variable_of(self.key)


def variable_of(key: str) -> str:
    """Name the environment variable that sets a key."""
    return "ASBUILT_" + key.upper().replace(".", "_")
