"""Terms of commands in check environments: time limits, variables, services, credentials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from asbuilt.errors import GateStopped
from asbuilt.policy.masking import forms_of, without
from asbuilt.ports import Ended, Opened, Processes

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.services import Service

LIMIT_S: Final = 45 * 60
"""Default time limit of a setup, a suite or one check."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Given(NamedTuple):
    """What the user gives to the commands of one repository, and to no agent."""

    services: tuple[Service, ...] = ()
    checks: Mapping[str, str] = _NOTHING
    setup: Mapping[str, str] = _NOTHING
    home: Path | None = None
    """Home with the settings of package tools, which name registries. None: they are not read."""
    credentials: tuple[str, ...] = ()
    """Package tools whose settings a setup gets whole, with their credentials.

    `phases` among them: also the setup of a tree whose packages an agent chose.
    """
    opened: Opened = Opened()
    """Network access of the setup, and paths that every command may read."""

    def for_setup(self, *, is_trusted: bool) -> Given:
        """Return what a setup gets; without variables and credentials if the tree is not trusted."""
        if is_trusted or "phases" in self.credentials:
            return self
        return self._replace(setup=_NOTHING, credentials=())


class Terms(NamedTuple):
    """Terms of commands in a check environment."""

    limit_s: int
    environment: Mapping[str, str]
    """What commands see of the environment that the run was requested from."""
    history: str
    """Commit that trees build on, which git shows as the history of a checkout. Empty: none."""
    given: Given
    announce: Callable[[str], None] | None = None
    """Gets the command of a setup before it runs."""

    def hide(self, output: bytes, more: tuple[str, ...] = ()) -> bytes:
        """Mask the user's own values in a command's output."""
        values = (*self.given.checks.values(), *self.given.setup.values(), *more)
        return without(output, forms_of(values))

    def masked(self, ended: Ended, more: tuple[str, ...] = ()) -> Ended:
        """Return a command's result with the user's own values masked."""
        return replace(ended, output=self.hide(ended.output, more))


def refuse_unheld(given: Given, processes: Processes) -> None:
    """Refuse services and credentials if commands cannot have mounts or a network of their own."""
    if (given.services or given.credentials) and not processes.can_place:
        named = "checks.services" if given.services else "setup.credentials"
        raise GateStopped(
            f"{named} needs the sandbox of bubblewrap, which does not work here",
            why="Without it, every program here could reach the services, and every check the credentials.",
            next_step="`asbuilt doctor` shows why it does not work.",
        )
