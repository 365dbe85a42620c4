"""The host's side of an adapter's seat: starts the agent in the sandbox and tracks every process it started.

Rule: `end` leaves no process behind.

With the results of a setup, the workspace becomes an overlay of its files and the setup's, at its own path
and at the path of checks: installed programs contain the latter path. Rule: what the agent writes stays in
its workspace and its attempt's folder; the setup's results never change.

Files that could act later (settings, hooks, plug-ins of an agent) are sealed: changes to them are detected.
The sandbox protects existing files. It cannot protect files that do not exist yet, and without a sandbox
nothing is protected. An unreadable file has the error as its digest.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from asbuilt.agents.attempt_folder import Folder, Terms, Unreadable, read_shared, write_whole
from asbuilt.agents.contract import NOTHING, Needs
from asbuilt.agents.host.permission_answers import try_sandbox
from asbuilt.agents.sandbox import process_tree
from asbuilt.agents.sandbox.launch import can_overlay, history_of, prepare, settle
from asbuilt.agents.sandbox.masks import cleaned
from asbuilt.agents.sandbox.proxy import Egress, egress_for
from asbuilt.agents.sandbox.toolchains import shown_for, variables_in
from asbuilt.agents.sandboxed_commands import attended
from asbuilt.agents.streams import Capture
from asbuilt.policy.roles import ACTING_FOLDERS
from asbuilt.policy.sandbox.check_environment import PLACED, for_results
from asbuilt.policy.sandbox.rules import Level, Overlay, Placed, Request, for_agent
from asbuilt.policy.sandbox.services import Service
from asbuilt.ports import Brief

TRIES: Final = "tries.jsonl"
"""What a tester tried, in its folder `out`."""
_LOG_CAP: Final = 1_000_000
_PIECE: Final = 1 << 18
_ASKED_S: Final = 3.0
"""Seconds that an agent has to end when asked to, before TERM."""
_FILE: Final = 1 << 20
"""Larger files count by mode, size, mtime and ctime; ctime cannot be set."""
_FILES: Final = 20_000
_CAP: Final = 16 << 20


class HostSeat:
    """An adapter's seat in its host."""

    def __init__(self, folder: Folder, brief: Brief, terms: Terms, *, start: int) -> None:
        self._folder = folder
        self._brief = brief
        self._terms = terms
        self._running: list[asyncio.subprocess.Process] = []
        self._drains: list[asyncio.Task[None]] = []
        self._egresses: list[Egress] = []
        self._log = Capture(_LOG_CAP)
        self._closed = False
        self.seals = Seals(folder.path / "seals.json")
        self._ask_to_end: Callable[[], Awaitable[None]] | None = None
        self._placeholders: list[Path] = []
        self.exit_code: int | None = None
        """Exit code if the agent ended before `end`; None if `end` ended it, or it was never started."""
        self.start = start
        self.session = folder.session()
        self.level: Level = terms.level
        self.person = Path(terms.homes[0]) if terms.homes else Path.home()
        self.out, self.home, self._tmp = (folder.path / name for name in ("out", "home", "tmp"))
        self._views = folder.path / "views"
        self._held = hold(brief.results)
        # A verdict of an earlier start must not count for this one.
        shutil.rmtree(self.out, ignore_errors=True)
        for own in (self.out, self.home, self._tmp, self._views):
            own.mkdir(mode=0o700, exist_ok=True)
        self.on_spawn: Callable[[list[int]], None] = lambda _: None
        self.on_refused: Callable[[str, str], None] = lambda *_: None

    async def spawn(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        needs: Needs = NOTHING,
    ) -> asyncio.subprocess.Process:
        """Start the agent in the sandbox, with pipes."""
        if self._closed:
            raise RuntimeError("the attempt is ending; nothing more is started")
        opened = self._brief.opened
        hosts = (*needs.hosts, *opened.hosts)
        egress = egress_for(self.level, opened.network, hosts, self.on_refused, self._brief.environment)
        variables = {**(environment or {}), **(egress.environment if egress else {})}
        request = self._request(needs, variables, argv[0], *self._brief.program.command)
        await self._try(request)
        services = [
            Service(name, tuple(argv), port)
            for name, argv, port in self._brief.services
            if self.level == "bwrap"
        ]
        argv = attended(services, argv, str(self._brief.workspace))
        prepared = prepare(self.level, request, egress.argv(argv) if egress else argv)
        inherited = (egress.descriptor,) if egress else ()
        process = await prepared.spawn(stdin=asyncio.subprocess.PIPE, inherited=inherited)
        if egress is not None:
            self._egresses.append(egress)
            await egress.open()
        self._running.append(process)
        self.on_spawn([child.pid for child in self._running])
        self._drains.append(asyncio.create_task(self._drain(process)))
        return process

    async def try_out(self) -> None:
        """Try the sandbox without starting an agent; raises `Unheld` if it does not work."""
        await self._try(self._request(NOTHING, {}))

    async def _try(self, request: Request) -> None:
        brief = self._brief
        if self.level != "none":
            also = () if brief.writable else (brief.workspace,)
            await try_sandbox(self.level, request, (brief.workspace.parent, self.person, *also))

    def _request(self, needs: Needs, environment: Mapping[str, str], *programs: str) -> Request:
        brief, homes = self._brief, tuple(map(Path, self._terms.homes))
        opened = brief.opened
        # The user's asbuilt plug-in is silent with this variable: the host answers every request.
        variables = {**variables_in(homes), **brief.environment, **environment, "ASBUILT_ATTEMPT": "1"}
        if brief.role == "test":
            variables |= {"ASBUILT_TRIES": str(self.out / TRIES), "ASBUILT_PICTURES": str(self.out)}
        # npm queries its registry for a newer npm with every command.
        variables.setdefault("npm_config_update_notifier", "false")
        held = (*brief.protected, *needs.sealed, *self._acting_folders())
        shown = shown_for(variables, homes, *programs, *needs.programs)
        request = settle(
            for_agent(
                workspace=str(brief.workspace),
                writable=brief.writable,
                out=str(self.out),
                home=str(self.home),
                tmp=str(self._tmp),
                own=tuple(map(str, needs.own)),
                sealed=tuple(str(brief.workspace / path) for path in held),
                readable=(
                    *history_of(brief.workspace),
                    *map(str, needs.readable),
                    *brief.opened.paths(self.person),
                    *shown,
                ),
                # Only bubblewrap gives an agent its own network namespace.
                network=opened.network == "open" or (opened.network == "list" and self.level != "bwrap"),
                environment=variables,
            ),
            homes=homes,
            hidden=(*map(Path, self._terms.hidden), *needs.hidden),
        )
        if self.level != "bwrap":
            return request
        own = self._apart(needs.apart)
        request = request.changed(placed=(*cleaned(history_of(brief.workspace), self._folder.path), *own))
        return with_results(request, brief, self._views)

    def _apart(self, folders: tuple[Path, ...]) -> tuple[Placed, ...]:
        """Mount a folder of this attempt over each of `folders`.

        Creates missing folders: a mount needs an existing one, and without the mount only the first start
        would fill it.
        """
        placed = []
        for folder in (path for path in folders if path.parent.is_dir()):
            folder.mkdir(mode=0o700, exist_ok=True)
            own = self._folder.path / "apart" / folder.name
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            placed.append(Placed(str(own), str(folder.resolve())))
        return tuple(placed)

    def before_end(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Register a callback that asks the agent to end, before TERM."""
        self._ask_to_end = ask

    async def end(self) -> None:
        """End every started process: the callback, TERM, the grace period, KILL. Blocks later spawns."""
        living = [process for process in self._running if process.returncode is None]
        if not self._closed and not living and self._running:
            code = self._running[-1].returncode or 0
            self.exit_code = 128 - code if code < 0 else code
        self._closed = True
        if living and self._ask_to_end is not None:
            ask, self._ask_to_end = self._ask_to_end, None
            await ask()
            await asyncio.wait([asyncio.create_task(child.wait()) for child in living], timeout=_ASKED_S)
        await asyncio.gather(*(asyncio.to_thread(self._end, process) for process in living))
        for egress in self._egresses:
            await egress.close()
        for folder in self._placeholders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*self._drains), timeout=1)
        (self._folder.path / "agent.log").write_bytes(self._log.value())

    def last_words(self) -> str:
        """Return the end of the agent's stderr, for an error message."""
        return self._log.value()[-2_000:].decode("utf-8", "replace").strip()

    def _acting_folders(self) -> tuple[Path, ...]:
        """Create every folder of settings and hooks, so that it can be mounted read-only.

        A missing folder could not be mounted, and the agent could create it. If a crash leaves it behind, git
        ignores an empty folder.
        """
        if not self._brief.writable or self.level != "bwrap":
            return ()
        folders = [self._brief.workspace / name for name in ACTING_FOLDERS]
        for folder in folders:
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                self._placeholders.append(folder)
        return tuple(folders)

    def _end(self, process: asyncio.subprocess.Process) -> None:
        process_tree.end(
            process.pid,
            level=self.level,
            grace_s=self._terms.grace_s,
            gone=lambda: process.returncode is not None,
        )

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is not None:
            while piece := await process.stderr.read(_PIECE):
                self._log.feed(piece)


def hold(results: Path | None) -> int | None:
    """Lock results against deletion as long as the descriptor is open; None where there are none."""
    if results is None or not results.is_dir():
        return None
    descriptor = os.open(results, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def with_results(request: Request, brief: Brief, own: Path) -> Request:
    """Add the setup's results to the request; `own` is a folder of the attempt.

    A no-op without overlays: a copy in the workspace would look like the agent's own work.
    """
    results, workspace = brief.results, brief.workspace
    if results is None or not results.is_dir() or not can_overlay(own):
        return request
    if workspace.stat().st_dev != own.stat().st_dev:
        return request
    above = () if brief.writable else (workspace,)
    views = {
        str(workspace): _view(own, "checkout", *above, results / "checkout", upper=workspace),
        PLACED.home: _view(own, "home", results / "home", upper=own / "upper-home"),
        PLACED.cache: _view(own, "cache", results / "cache", upper=own / "upper-cache"),
    }
    if not brief.writable:
        views[str(workspace)] = views[str(workspace)]._replace(upper="", work="")
    placed = [Placed(view.point, at) for at, view in views.items()]
    # The second path of the workspace needs the same protection as the first.
    for path in (str(workspace), *(held for held in request.read_only if held.startswith(f"{workspace}/"))):
        at = PLACED.checkout + path.removeprefix(str(workspace))
        is_view = path == str(workspace)
        folder = views[path].point if is_view else path
        placed.append(Placed(folder, at, writable=is_view and brief.writable))
    leading = for_results(
        PLACED, request.environment.get("PATH", ""), has_venv=(results / "home" / "venv").is_dir()
    )
    return request.changed(
        placed=(*request.placed, *placed),
        overlays=tuple(views.values()),
        environment={**request.environment, **leading},
    )


def _view(own: Path, name: str, *lower: Path, upper: Path) -> Overlay:
    point, work = own / f"point-{name}", own / f"work-{name}"
    shutil.rmtree(work, ignore_errors=True)
    for folder in (point, work, upper):
        folder.mkdir(mode=0o700, exist_ok=True)
    return Overlay(lower=tuple(map(str, lower)), upper=str(upper), work=str(work), point=str(point))


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of every file below `names` in a folder, at most 20,000; missing names have none."""
    found: dict[str, str] = {}
    for name in names:
        for path in _files(folder / name):
            if len(found) >= _FILES:
                return found
            found[str(path.relative_to(folder))] = _digest(path)
    return found


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the names that were added, removed or changed."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _files(path: Path) -> Iterator[Path]:
    if path.is_symlink() or path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*files, *links]))


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"-> {path.readlink()}"
        about = path.stat()
        if about.st_size <= _FILE and path.is_file():
            return f"{about.st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{about.st_mode:o} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"


class Seals:
    """Digests of the files, kept with the attempt: taken before its first start, compared at its end."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def put(self, folder: Path, names: Iterable[str], *, remade: tuple[str, ...] = ()) -> None:
        """Record the digests of `names` in a folder, unless an earlier start did."""
        if not self._file.exists():
            named = list(names)
            whole: dict[str, object] = {"folder": str(folder), "names": named, "remade": remade}
            whole["digests"] = digests(folder, named)
            write_whole(self._file, json.dumps(whole).encode("ascii"))

    def broken(self) -> list[str]:
        """Return the files that were added, removed or changed since; empty when nothing was sealed."""
        if not self._file.exists():
            return []
        try:
            kept = json.loads(read_shared(self._file, cap=_CAP))
            folder, remade = Path(kept["folder"]), tuple(f"{name}/" for name in kept["remade"])
            changed = differing(kept["digests"], digests(folder, kept["names"]))
        except (Unreadable, ValueError, KeyError, TypeError) as error:
            return [f"{self._file.name}, which cannot be read any more: {error}"]
        return [str(folder / name) for name in changed if not name.startswith(remade)]
