"""Type of a setting: its key, its values, and the risk of a wrong value."""

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
    """One entry of `checks.services`: a built-in name, or a command with the port on which it answers."""

    name: str
    command: str = ""
    ready: int = 0


BUILT_IN_SERVICES: Final = ("postgres", "redis")
Table = SuiteTable | ServiceTable
Value = str | bool | int | float | tuple[str, ...] | tuple[SuiteTable, ...] | tuple[ServiceTable, ...]


class Kind(Enum):
    """Kinds of values."""

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


_KINDS: Final = {bool: Kind.FLAG, int: Kind.NUMBER, float: Kind.MONEY, str: Kind.TEXT, tuple: Kind.GLOBS}


class Setting(NamedTuple):
    """One setting."""

    key: str
    meaning: str
    stakes: str
    """What a wrong value could cause; the `why` of every error about this setting."""
    default: Value = ""
    choices: tuple[str, ...] = ()
    repository_may_set: bool = False
    """Whether a repository may set it. Other people write a repository, so it must not weaken protection."""
    tightens: bool = False
    """Choices go from strictest to loosest, and a repository can only make it stricter."""
    read_by: str | None = "run"
    """The command that reads it; None if no command does."""
    special: Kind | None = None
    """The kind of its values, if the default and the choices do not tell it."""
    least: int = 1
    most: int = 1_000
    """`least` and `most` bound a number or an amount of dollars."""
    secret: bool = False
    """Its value is never shown."""
    private: bool = False
    """Its value is masked in what leaves the machine: a URL may hold a login."""

    @property
    def kind(self) -> Kind:
        """The kind of its values."""
        if self.special is not None:
            return self.special
        if self.choices:
            return Kind.CHOICE
        return _KINDS[type(self.default)]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return variable_of(self.key)


def variable_of(key: str) -> str:
    """Return the environment variable that sets a key."""
    return "ASBUILT_" + key.upper().replace(".", "_")
