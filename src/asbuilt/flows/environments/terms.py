"""On what terms commands run in check environments: time limits, variables, services, credentials."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import GateStopped
from asbuilt.policy.masking import forms_of, without
from asbuilt.ports import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asbuilt.policy.sandbox.services import Service
    from asbuilt.ports import Ended, Processes

LIMIT_S: Final = 45 * 60
"""What a setup, the tests or one check may take, when the run says nothing else."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Given(NamedTuple):
    """What the user gives to the commands of one repository, and to no agent."""

    services: tuple[Service, ...] = ()
    """Programs that run beside each check."""
    checks: Mapping[str, str] = _NOTHING
    """Variables of checks."""
    setup: Mapping[str, str] = _NOTHING
    """Variables of the setup."""
    home: Path | None = None
    """The home with the settings of package tools, which name registries. None: they are not read."""
    credentials: tuple[str, ...] = ()
    """Package tools whose settings a setup gets whole, with what they sign in with.

    `phases` among them: also the setup of a tree whose packages an agent has chosen.
    """
    opened: Opened = Opened()
    """What the setup reaches, and what every command may read."""

    def for_setup(self, *, is_trusted: bool) -> Given:
        """Give what a setup gets; on a tree that is not trusted neither variables nor credentials."""
        if is_trusted or "phases" in self.credentials:
            return self
        return self._replace(setup=_NOTHING, credentials=())


class Terms(NamedTuple):
    """On what terms commands run in a check environment."""

    limit_s: int
    environment: Mapping[str, str]
    """What commands see of the environment that the run was asked from."""
    history: str
    """The commit that trees build on: what git reports as the history of a checkout. Empty: none."""
    given: Given

    def hide(self, output: bytes, more: tuple[str, ...] = ()) -> bytes:
        """Mask the user's own values in what a command wrote."""
        values = (*self.given.checks.values(), *self.given.setup.values(), *more)
        return without(output, forms_of(values))

    def masked(self, ended: Ended, more: tuple[str, ...] = ()) -> Ended:
        """Give what a command did, without the user's own values."""
        return replace(ended, output=self.hide(ended.output, more))


def refuse_unheld(given: Given, processes: Processes) -> None:
    """Refuse what needs a network, or mounts, of a command's own where there are none."""
    if (given.services or given.credentials) and not processes.can_place:
        named = "checks.services" if given.services else "setup.credentials"
        raise GateStopped(
            f"{named} needs the sandbox of bubblewrap, which does not work here",
            why="Elsewhere services would be open to every program here, and credentials to every check.",
            next_step="`asbuilt doctor` says what keeps it from working.",
        )
