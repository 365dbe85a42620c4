"""Folders in which checks run, made ready by setup. What a check finds there is a copy that goes with it.

A virtual environment has its own path written into it, so a rig keeps its place for ever: the setup is made
at the path at which every check finds it. Two runs of one repository at the same time have a rig each.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.reports import collect_reports, content_of, delete_reports
from asbuilt.git.checkouts import clean_checkout, delete, strange_in
from asbuilt.policy.shell import argv_of
from asbuilt.ports import Command
from asbuilt.proof.counts import from_output, from_report
from asbuilt.proof.pictures import MAX_PICTURE
from asbuilt.proof.runners import Call, real_argv, reporting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from asbuilt.git.repository import Repository
    from asbuilt.ports import Ended, Processes
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.resolving import Setup

LIMIT_S: Final = 45 * 60
"""What a setup, the tests or one check may take, when the run says nothing else."""
_LOOKED_AT: Final = 100
"""Files that a command for pictures may leave."""


class Ran(NamedTuple):
    """A command that ran in a rig."""

    command: str
    tree: str
    setup: str
    """Digest of the setup it found."""
    ended: Ended
    report: bytes | None = None
    """What its runner wrote beside its output, if it wrote anything."""

    @property
    def reported(self) -> Counts | None:
        """Count by the runner's report."""
        return None if self.report is None else from_report(self.report)

    @property
    def printed(self) -> Counts | None:
        """Count by what the runner printed."""
        return from_output(self.ended.output.decode("utf-8", "replace"), cut=self.ended.truncated)

    @property
    def counts(self) -> Counts | None:
        """Count by the runner's report where it wrote one, else by what it printed."""
        return self.reported or self.printed


class Terms(NamedTuple):
    """On what terms commands run in a rig."""

    limit_s: int
    environment: Mapping[str, str]


class Rigs:
    """The rigs of one repository, each for one setup."""

    def __init__(
        self,
        folder: Path,
        repository: Repository,
        processes: Processes,
        *,
        limit_s: int = LIMIT_S,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Take where they are; `environment` is what commands see of the one that the run was asked from."""
        self._folder = folder
        self._repository = repository
        self._processes = processes
        self._terms = Terms(limit_s, environment or {})

    @contextmanager
    def take(self, setup: Setup) -> Iterator[Rig]:
        """Lend the first rig for a setup that nobody has; the kernel gives it back when we die."""
        for number in count():
            folder = self._folder / setup.digest / str(number)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            try:
                yield Rig(folder, self._repository, self._processes, setup, self._terms)
            finally:
                os.close(descriptor)
            return


class Rig:
    """One folder of them, ours alone for now."""

    def __init__(
        self, folder: Path, repository: Repository, processes: Processes, setup: Setup, terms: Terms
    ) -> None:
        self._checkout, self._home, self._out = (folder / name for name in ("checkout", "home", "out"))
        self._making, self._kept = folder / "making", folder / "kept"
        self._repository = repository
        self._processes = processes
        self._setup = setup
        self._terms = terms

    def set_up(self, tree: str) -> Ran | None:
        """Make what every check shall find, on a tree that no agent has touched; None when it stands.

        It counts only as a whole: what was made is moved into place by one rename, at the very end.
        """
        if self._setup.command is None or self._kept.exists():
            return None
        delete(self._making)
        self._empty(tree)
        ended = self._run(argv_of(self._setup.command), network=True)
        if ended.exit_code == 0:
            made = self._making / "checkout"
            made.mkdir(parents=True)
            for path in strange_in(self._repository, tree, self._checkout):
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (self._checkout / path).rename(made / path)
            self._home.rename(self._making / "home")
            self._making.rename(self._kept)
        return Ran(self._setup.command, tree, self._setup.digest, ended)

    @property
    def report(self) -> str:
        """Where a runner is to write its report."""
        return str(self._out / "report.xml")

    def run(
        self,
        tree: str,
        command: str,
        *,
        over: Mapping[str, bytes | None] | None = None,
        call: Call | None = None,
        limit_s: int | None = None,
    ) -> Ran:
        """Run a command on exactly a tree and what setup made; it is told of nothing that ran before it.

        `over` has files that differ from the tree, None for one that is not to be there; `call` is another
        way to call the same command, `limit_s` a shorter time than it may take at most.
        """
        self._empty(tree)
        for path, content in (over or {}).items():
            put(self._checkout, path, content)
        for kept, place in ((self._kept / "checkout", self._checkout), (self._kept / "home", self._home)):
            if kept.exists():
                lay(kept, place)
        if call is None:
            package = content_of(self._checkout / "package.json") or b""
            call = reporting(real_argv(argv_of(command), package.decode("utf-8", "replace")), self.report)
        delete_reports(self._checkout, call.reports)
        ended = self._run(call.argv, network=False, environment=call.environment, limit_s=limit_s)
        report = content_of(Path(self.report)) or collect_reports(self._checkout, call.reports)
        return Ran(command, tree, self._setup.digest, ended, report)

    def look(self, tree: str, command: str) -> tuple[Ran, list[tuple[str, bytes]]]:
        """Run a command that draws what people see; give what it left in the folder that it was told."""
        call = Call(argv_of(command), {"ASBUILT_PICTURES": str(self._out)})
        ran = self.run(tree, command, call=call)
        files = sorted(self._out.iterdir())[:_LOOKED_AT]
        found = ((file.name, content_of(file, MAX_PICTURE)) for file in files)
        return ran, [(name, content) for name, content in found if content is not None]

    def forget(self) -> None:
        """Let the next one set up anew: something that was made does not work any more."""
        delete(self._kept)

    def _empty(self, tree: str) -> None:
        clean_checkout(self._repository, tree, self._checkout)
        for folder in (self._home, self._out):
            delete(folder)
            folder.mkdir(mode=0o700)

    def _run(
        self,
        argv: tuple[str, ...],
        *,
        network: bool,
        environment: Mapping[str, str] | None = None,
        limit_s: int | None = None,
    ) -> Ended:
        return self._processes.run(
            Command(
                argv=argv,
                cwd=self._checkout,
                writable=(self._checkout, self._out),
                home=self._home,
                network=network,
                environment={**self._terms.environment, **(environment or {})},
                timeout_s=min(self._terms.limit_s, limit_s or self._terms.limit_s),
            )
        )


def put(place: Path, path: str, content: bytes | None) -> None:
    """Put a file into a folder, or take it away. No link is followed: the tree may be hostile."""
    *folders, name = path.split("/")
    for folder in folders:
        place = place / folder
        if place.is_symlink() or not place.is_dir():
            if content is None:
                return
            delete(place)
            place.mkdir(mode=stat.S_IRWXU)
    delete(place / name)
    if content is not None:
        (place / name).write_bytes(content)


def lay(kept: Path, place: Path) -> None:
    """Copy a folder over another. What is there stays, and no link is followed: the tree may be hostile."""
    with os.scandir(kept) as found:
        for one in found:
            to = place / one.name
            if one.is_symlink():
                if not os.path.lexists(to):
                    to.symlink_to(Path(one.path).readlink())
            elif one.is_dir():
                if not os.path.lexists(to):
                    to.mkdir(mode=stat.S_IRWXU)
                    lay(Path(one.path), to)
                    shutil.copystat(one.path, to)
                elif to.is_dir() and not to.is_symlink():
                    lay(Path(one.path), to)
            elif one.is_file() and not os.path.lexists(to):
                shutil.copy2(one.path, to)
