"""The host's side of an adapter's seat: it starts the agent in the ring and knows every process it started.

The one rule: `end` leaves none of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents import tree
from asbuilt.agents.canaries import try_ring
from asbuilt.agents.capture import Capture
from asbuilt.agents.installation import shown_for
from asbuilt.agents.results import hold, with_results
from asbuilt.agents.ring import prepare, settle
from asbuilt.agents.sealed import Seals
from asbuilt.agents.toolchains import toolchains_in
from asbuilt.policy.ring import DEFAULT_PATH, for_agent
from asbuilt.policy.roles import ACTING_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from asbuilt.agents.folder import Folder, Terms
    from asbuilt.policy.ring import Level, Request
    from asbuilt.ports import Brief

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

    async def spawn(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        own: tuple[Path, ...] = (),
        sealed: tuple[Path, ...] = (),
    ) -> asyncio.subprocess.Process:
        """Start the agent in the ring, with pipes."""
        if self._closed:
            raise RuntimeError("the attempt is ending; nothing more is started")
        request = self._request(own, sealed, environment or {}, argv[0])
        await self._try(request)
        prepared = prepare(self.level, request, argv)
        process = await asyncio.create_subprocess_exec(
            *prepared.argv,
            env=prepared.environment,
            cwd=prepared.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._running.append(process)
        self.on_spawn([one.pid for one in self._running])
        self._drains.append(asyncio.create_task(self._drain(process)))
        return process

    async def try_out(self) -> None:
        """Try the ring as an agent gets it, without one; raises `Unheld` where it does not hold."""
        await self._try(self._request((), (), {}))

    async def _try(self, request: Request) -> None:
        brief = self._brief
        if self.level != "none":
            also = () if brief.writable else (brief.workspace,)
            await try_ring(self.level, request, (brief.workspace.parent, self.person, *also))

    def _request(
        self,
        own: tuple[Path, ...],
        sealed: tuple[Path, ...],
        environment: Mapping[str, str],
        program: str = "",
    ) -> Request:
        brief = self._brief
        told = {**brief.environment, **environment}
        held = (*brief.protected, *sealed, *self._acting_folders())
        request = settle(
            for_agent(
                workspace=str(brief.workspace),
                writable=brief.writable,
                out=str(self.out),
                home=str(self.home),
                tmp=str(self._tmp),
                own=tuple(map(str, own)),
                sealed=tuple(str(brief.workspace / path) for path in held),
                readable=shown_for(program, told.get("PATH", DEFAULT_PATH)),
                # A plug-in of the user's own stays silent: here the host answers every question.
                environment={
                    **toolchains_in(map(Path, self._terms.homes)),
                    **told,
                    "ASBUILT_ATTEMPT": "1",
                },
            ),
            homes=map(Path, self._terms.homes),
            hidden=map(Path, self._terms.hidden),
        )
        return with_results(request, brief, self._views) if self.level == "bwrap" else request

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
        tree.end(
            process.pid,
            level=self.level,
            grace_s=self._terms.grace_s,
            gone=lambda: process.returncode is not None,
        )

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is not None:
            while piece := await process.stderr.read(_PIECE):
                self._log.feed(piece)
