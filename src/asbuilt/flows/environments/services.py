"""Find the programs of services, and keep their initial data.

A database needs a second to create its data. That happens once per program, by a command that runs nothing of
the project; every command gets a view of its own. Rule: data that is kept here never changes.

A setup gets the registries of the user's package tools, and their credentials if a setting grants it. Rule:
credentials are mounted read-only while the setup runs, and never copied.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.flows.environments.results import content_of, lay, locked
from asbuilt.git.workspace.checkouts import delete
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.registries import FILES, addresses_in, secrets_in
from asbuilt.policy.sandbox.rules import DEFAULT_PATH, Placed
from asbuilt.policy.sandbox.services import NOT_STARTED, REFUSAL, Service
from asbuilt.ports import Command, Ended, Processes

if TYPE_CHECKING:
    from asbuilt.flows.environments.limits_and_variables import Given


class Served(NamedTuple):
    """Services that can be started."""

    services: tuple[Service, ...]
    data: tuple[tuple[str, Path], ...]
    """Folder with the initial data, by service."""


def serve(services: tuple[Service, ...], kept: Path, processes: Processes, path: str) -> Served | Ended:
    """Find the programs of services and create their data; `Ended` says which one cannot start, and why."""
    found, data = [], []
    for service in services:
        argv, make = (_located(service, words, path) for words in (service.argv, service.make))
        missing = next((words[0] for words in (make, argv) if words and "/" not in words[0]), "")
        if missing:
            debian = f"; Debian's package {service.package} has it" if service.package else ""
            return _refused(service, f"no program {missing} is installed{debian}", processes.level)
        if make:
            folder = kept / f"{service.name}-{_digest(make)}"
            ended = _made(service, make, folder, processes)
            if ended is not None:
                return ended
            data.append((service.name, folder))
        found.append(service._replace(argv=argv))
    return Served(tuple(found), tuple(data))


def place_of(name: str) -> str:
    """Return the path of a service's data."""
    return f"{PLACED.services}/{name}"


def copied(data: tuple[tuple[str, Path], ...], folder: Path) -> list[Placed]:
    """Copy the data of services for one command, if no overlay is available."""
    delete(folder)
    for name, source in data:
        (folder / name).mkdir(mode=0o700, parents=True)
        lay(source, folder / name)
    return [Placed(str(folder / name), place_of(name)) for name, _ in data]


def _located(service: Service, words: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Fill in the paths of a program and its data; a program that is not found keeps its name."""
    if not words:
        return ()
    found = [str(folder) for pattern in service.folders for folder in Path("/").glob(pattern)]
    newest_first = sorted(found, key=lambda folder: [*map(int, re.findall(r"\d+", folder))], reverse=True)
    program = shutil.which(words[0], path=os.pathsep.join([*newest_first, path, DEFAULT_PATH]))
    rest = (word.replace("{data}", place_of(service.name)) for word in words[1:])
    return (program or words[0], *rest)


def _digest(make: tuple[str, ...]) -> str:
    """Name data by the program that creates it and its build: another version may be unable to read it."""
    program = Path(make[0]).resolve()
    text = "\0".join((*make, str(program), str(program.stat().st_mtime_ns)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _made(service: Service, make: tuple[str, ...], folder: Path, processes: Processes) -> Ended | None:
    """Create the data of a service unless it exists; returns the failure, or None."""
    if folder.is_dir():
        return None
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder.parent, waits=True):
        if folder.is_dir():
            return None
        fresh = folder.with_suffix(".new")
        delete(fresh)
        fresh.mkdir(mode=0o700)
        at = Placed(str(fresh), place_of(service.name))
        ended = processes.run(Command(argv=make, cwd=Path("/"), placed=(at,), as_user=True, timeout_s=300))
        if ended.exit_code != 0:
            last = ended.output.decode("utf-8", "replace")
            return _refused(service, f"its data could not be made\n{last}", processes.level)
        fresh.rename(folder)
    return None


def _refused(service: Service, why: str, level: str) -> Ended:
    output = REFUSAL.format(name=service.name, why=why).encode()
    return Ended(exit_code=NOT_STARTED, output=output, truncated=False, duration_s=0.0, sandbox_level=level)


class Logins(NamedTuple):
    """Settings of package tools for one setup."""

    mounts: tuple[Placed, ...] = ()
    secrets: tuple[str, ...] = ()
    """Values to mask in its output."""
    points: tuple[Path, ...] = ()
    """Empty files that serve as mount points."""

    def remove(self) -> None:
        """Remove the mount points."""
        for point in self.points:
            if point.is_file() and not point.stat().st_size:
                point.unlink()


def place_logins(home: Path, given: Given) -> Logins:
    """Write the registries' addresses into the HOME of a setup; mount the user's own files where granted."""
    if given.home is None:
        return Logins()
    mounts: list[Placed] = []
    secrets: list[str] = []
    points: list[Path] = []
    for file in FILES:
        # A home may consist of links to a folder with shared settings.
        source = (given.home / file.path).resolve()
        text = (content_of(source) or b"").decode("utf-8", "replace")
        addresses = addresses_in(file, text)
        is_granted = bool(text) and file.tool in given.credentials
        if not addresses and not is_granted:
            continue
        point = home / file.place
        point.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        point.write_text(addresses, encoding="utf-8")
        if is_granted:
            mounts.append(Placed(str(source), f"{PLACED.home}/{file.place}", writable=False))
            secrets += secrets_in(text)
            points.append(point)
    return Logins(tuple(mounts), tuple(secrets), tuple(points))
