"""The host's side of an adapter's seat: it starts the agent in the ring and knows every process it started.

The one rule: `end` leaves none of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.attempt_folder import Unreadable, read_shared, write_whole
from asbuilt.agents.capture import Capture
from asbuilt.agents.contract import NOTHING, Needs
from asbuilt.agents.host.canaries import try_ring
from asbuilt.agents.host.sealing import differing, digests
from asbuilt.agents.host.setup_results import hold, with_results
from asbuilt.agents.sandbox import process_tree
from asbuilt.agents.sandbox.launch import history_of, prepare, settle
from asbuilt.agents.sandbox.masks import cleaned
from asbuilt.agents.sandbox.proxy import Egress
from asbuilt.agents.sandbox.toolchains import shown_for, variables_in
from asbuilt.policy.roles import ACTING_FOLDERS
from asbuilt.policy.sandbox.hosts import hosts_named
from asbuilt.policy.sandbox.rules import Placed, for_agent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from asbuilt.agents.attempt_folder import Folder, Terms
    from asbuilt.policy.sandbox.rules import Level, Request
    from asbuilt.ports import Brief

_CAP: Final = 16 << 20


_LOG_CAP: Final = 1_000_000
_PIECE: Final = 1 << 18
_ASKED_S: Final = 3.0
"""How long an agent has to end by itself when it is asked to."""


class HostSeat:
    """Where an adapter sits in its host."""

    def __init__(self, folder: Folder, brief: Brief, terms: Terms, *, start: int) -> None:
        self._folder = folder
        self._brief = brief
        self._terms = terms
        self._running: list[asyncio.subprocess.Process] = []
        self._drains: list[asyncio.Task[None]] = []
        self._egresses: list[Egress] = []
        self._log = Capture(_LOG_CAP)
        self._closed = False
        self._seals = Seals(folder.path / "seals.json")
        self._ask_to_end: Callable[[], Awaitable[None]] | None = None
        self._placeholders: list[Path] = []
        self.exit_code: int | None = None
        """How the agent ended by itself; None when it was ended, or was never started."""
        self.start = start
        self.session = folder.session()
        self.level: Level = terms.level
        self.person = Path(terms.homes[0]) if terms.homes else Path.home()
        self.out, self.home, self._tmp = (folder.path / name for name in ("out", "home", "tmp"))
        self._views = folder.path / "views"
        self._held = hold(brief.results)
        # Nothing that an earlier start left there may pass for the words of this one.
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
        """Start the agent in the ring, with pipes."""
        if self._closed:
            raise RuntimeError("the attempt is ending; nothing more is started")
        egress = self._egress(needs)
        told = {**(environment or {}), **(egress.environment if egress else {})}
        request = self._request(needs, told, argv[0], *self._brief.program.command)
        await self._try(request)
        prepared = prepare(self.level, request, egress.argv(argv) if egress else argv)
        try:
            process = await asyncio.create_subprocess_exec(
                *prepared.argv,
                env=prepared.environment,
                cwd=prepared.cwd,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=(*prepared.descriptors, *((egress.descriptor,) if egress else ())),
            )
        finally:
            prepared.close()
        if egress is not None:
            self._egresses.append(egress)
            await egress.open()
        self._running.append(process)
        self.on_spawn([one.pid for one in self._running])
        self._drains.append(asyncio.create_task(self._drain(process)))
        return process

    def _egress(self, needs: Needs) -> Egress | None:
        """Make the way out of an agent whose network is a list; only bubblewrap gives it one of its own."""
        opened = self._brief.opened
        if opened.network != "list" or self.level != "bwrap":
            return None
        hosts = hosts_named((*needs.hosts, *opened.hosts))
        return Egress(hosts, self.on_refused, self._brief.environment)

    async def try_out(self) -> None:
        """Try the ring as an agent gets it, without one; raises `Unheld` where it does not hold."""
        await self._try(self._request(NOTHING, {}))

    async def _try(self, request: Request) -> None:
        brief = self._brief
        if self.level != "none":
            also = () if brief.writable else (brief.workspace,)
            await try_ring(self.level, request, (brief.workspace.parent, self.person, *also))

    def _request(self, needs: Needs, environment: Mapping[str, str], *programs: str) -> Request:
        brief, homes = self._brief, tuple(map(Path, self._terms.homes))
        opened = brief.opened
        # A plug-in of the user's own stays silent: here the host answers every question.
        told = {**variables_in(homes), **brief.environment, **environment, "ASBUILT_ATTEMPT": "1"}
        # npm asks its registry for a newer npm whatever it does.
        told.setdefault("npm_config_update_notifier", "false")
        held = (*brief.protected, *needs.sealed, *self._acting_folders())
        shown = shown_for(told, homes, *programs, *needs.programs)
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
                # Only bubblewrap gives an agent a network of its own.
                network=opened.network == "open" or (opened.network == "list" and self.level != "bwrap"),
                environment=told,
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
        """Have a folder of this attempt's in the place of each, at every start of it.

        What is not there cannot be mounted on, and would be filled by the first start alone.
        """
        placed = []
        for folder in (one for one in folders if one.parent.is_dir()):
            folder.mkdir(mode=0o700, exist_ok=True)
            own = self._folder.path / "apart" / folder.name
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            placed.append(Placed(str(own), str(folder.resolve())))
        return tuple(placed)

    def seal(self, folder: Path, names: tuple[str, ...], *, remade: tuple[str, ...] = ()) -> None:
        """Have what is named in a folder compared when the attempt ends."""
        self._seals.put(folder, names, remade=remade)

    def broken_seals(self) -> list[str]:
        """Name what is not as it was when it was sealed."""
        return self._seals.broken()

    def before_end(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Say how the agent is asked to end, before it is made to."""
        self._ask_to_end = ask

    async def end(self) -> None:
        """End everything that was started: asked, TERM, the grace, KILL. Nothing is started afterwards."""
        living = [process for process in self._running if process.returncode is None]
        if not self._closed and not living and self._running:
            code = self._running[-1].returncode or 0
            self.exit_code = 128 - code if code < 0 else code
        self._closed = True
        if living and self._ask_to_end is not None:
            ask, self._ask_to_end = self._ask_to_end, None
            await ask()
            await asyncio.wait([asyncio.create_task(one.wait()) for one in living], timeout=_ASKED_S)
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
        """Give the end of what the agent wrote to stderr, for a reason."""
        return self._log.value()[-2_000:].decode("utf-8", "replace").strip()

    def _acting_folders(self) -> tuple[Path, ...]:
        """Have every folder of settings and hooks there, so that the kernel can hold it.

        What is not there cannot be mounted read-only, and would be the agent's to make. An empty folder is
        nothing to git, should nobody be left to take it away.
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


# Keep the measure of what could act later with the attempt, and compare it with what is there at its end.
#
# The one rule: it is taken before the first start of an attempt: what a start has done is no measure.


class Seals:
    """What of one attempt's agent would act later, as it was before the first start."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def put(self, folder: Path, names: Iterable[str], *, remade: tuple[str, ...] = ()) -> None:
        """Take the measure of some names in a folder, unless an earlier start has.

        `remade` is what the agent's own program lays down there when it starts.
        """
        if not self._file.exists():
            named = list(names)
            whole = {
                "folder": str(folder), "names": named, "remade": remade, "digests": digests(folder, named)
            }  # fmt: skip
            write_whole(self._file, json.dumps(whole).encode("ascii"))

    def broken(self) -> list[str]:
        """Name what came, went or changed since; nothing where nothing was sealed."""
        if not self._file.exists():
            return []
        try:
            kept = json.loads(read_shared(self._file, cap=_CAP))
            folder, remade = Path(kept["folder"]), tuple(f"{name}/" for name in kept["remade"])
            changed = differing(kept["digests"], digests(folder, kept["names"]))
        except (Unreadable, ValueError, KeyError, TypeError) as error:
            return [f"{self._file.name}, which cannot be read any more: {error}"]
        return [str(folder / name) for name in changed if not name.startswith(remade)]
