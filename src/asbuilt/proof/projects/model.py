"""A project: its files, its test suites and the setup of a checkout for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

if TYPE_CHECKING:
    from asbuilt.events.options import Counting


class Project(NamedTuple):
    """Every file of a tree with its object, and the texts of the files that `index.wanted` names."""

    names: Mapping[str, str]
    texts: Mapping[str, str]


class Suite(NamedTuple):
    """One command that runs tests."""

    folder: str
    """Where it runs, as a POSIX path from the root; "" is the root."""
    command: str
    runner: str = ""
    """Name of its row in the table; "" for a command that the settings name."""
    counts: Counting = "tests"
    setup: str = ""
    """Prepares that folder, with network; "" for none."""

    @property
    def shown(self) -> str:
        """The command with its folder, as shown to people."""
        weaker = " (by exit code alone)" if self.counts == "exit-code" else ""
        return f"{self.command}{f' in {self.folder}' if self.folder else ''}{weaker}"


class Given(NamedTuple):
    """The settings name the suites."""

    suites: tuple[Suite, ...]


class Detected(NamedTuple):
    """The settings name none; these were found in the tree."""

    suites: tuple[Suite, ...]
    found: tuple[str, ...]
    """The files that led to them."""
    others: tuple[Suite, ...] = ()
    """Candidates that rank lower in the same folder."""
    unknown: tuple[str, ...] = ()
    """Signs of tests that none of the suites runs."""


class Unknown(NamedTuple):
    """There are signs of tests, but no known command runs them."""

    found: tuple[str, ...]


class NeedsDocker(NamedTuple):
    """The tests start containers, which a check cannot do."""

    found: tuple[str, ...]
    suites: tuple[Suite, ...] = ()


class NoTests(NamedTuple):
    """The tree has no tests, or the user has set `checks.tests` to none."""

    is_stated: bool = False


Resolved = Given | Detected | Unknown | NeedsDocker | NoTests


class Setup(NamedTuple):
    """How a checkout is prepared for checks."""

    command: str | None
    digest: str
    """Digest of the command and the files that it installs from; each digest is set up once."""


NO_SETUP: Final = Setup(None, "none")


def suites_of(resolved: Resolved) -> tuple[Suite, ...]:
    """Return the suites that prove a tree; empty if no test can."""
    match resolved:
        case Given(suites=suites) | Detected(suites=suites):
            return suites
        case Unknown() | NeedsDocker() | NoTests():
            return ()
        case _:
            assert_never(resolved)


def by_name(suites: tuple[Suite, ...]) -> dict[str, Suite]:
    """Return suites by the names of their evidence: `tests` for a single one, else `tests in FOLDER`."""
    if len(suites) == 1:
        return {"tests": suites[0]}
    folders = [suite.folder for suite in suites]
    return {
        f"tests in {suite.folder or '.'}"
        + (f" ({suite.runner or suite.command})" if folders.count(suite.folder) > 1 else ""): suite
        for suite in suites
    }
