"""Run the user's own Claude Code in the read-only sandbox, at the user's terminal: `asbuilt session --plan`.

Its state is in a folder of its own (ADR 14), shared by all such sessions, so that any of them can be resumed.
The user's settings, plug-ins and skills are symlinks there; the sandbox mounts their targets read-only.

Rule: the session can write to the plans folder, its own folder, that state and its login, and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from asbuilt.agents.claude.state import State, state_of
from asbuilt.agents.host.agent_process import digests
from asbuilt.agents.host.permission_answers import try_sandbox
from asbuilt.agents.sandbox.launch import found_bubblewrap, history_of, open_filter, settle, without_mounts
from asbuilt.agents.sandbox.masks import cleaned
from asbuilt.agents.sandbox.proxy import Egress, egress_for, served
from asbuilt.agents.sandbox.toolchains import shown_for
from asbuilt.policy.agent_kinds import KINDS, hosts_of
from asbuilt.policy.sandbox.rules import Level, Request, bubblewrap, environment_in
from asbuilt.policy.sandbox.seccomp import MACHINES
from asbuilt.policy.sandbox.variables import passed
from asbuilt.ports import Opened

# Inside this sandbox, root without privileges cannot create the nested sandbox that its commands need.
_UNPRIVILEGED: Final = ("--uid", "1000", "--gid", "1000")
_PREFERENCES: Final = ".claude.json"
_OWN: Final = ("ANTHROPIC_", "CLAUDE_CODE_DISABLE_", "CLAUDE_CODE_MAX_", "DISABLE_", "IS_SANDBOX")
"""Prefixes of the variables that configure Claude Code."""
_LINKED: Final = (*KINDS["claude"].sealed, "keybindings.json", "themes")


class PlanningSeat(Struct, frozen=True, kw_only=True):
    """The files and settings of one session."""

    root: Path
    plans: Path
    folder: Path
    """The session's folder, in the user's state."""
    config: Path
    """Where this Claude Code keeps its state."""
    home: Path
    environ: Mapping[str, str]
    look: Path
    """The script that runs the session's commands in a sandbox of their own."""
    opened: Opened = field(default_factory=Opened)

    @property
    def state(self) -> State:
        """Paths of Claude Code's state and login."""
        return state_of(self.config, self.home, self.environ)

    def furnish(self) -> None:
        """Link the user's settings into the state; deletes what an earlier session put in their place."""
        state = self.state
        state.config.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in _LINKED:
            known, own = state.login / name, state.config / name
            _remove(own)
            if name != _PREFERENCES and known.exists():
                own.symlink_to(known)
        known = (self.home if state.is_default else state.login) / _PREFERENCES
        if known.is_file():
            shutil.copyfile(known, state.config / _PREFERENCES)
        else:
            (state.config / _PREFERENCES).write_text(json.dumps({"hasCompletedOnboarding": True}))
        (state.config / _PREFERENCES).chmod(0o600)

    def way_out(self, level: Level, refused: Callable[[str, str], None]) -> Egress | None:
        """Return the proxy if the network is a list; else None, also where bubblewrap is missing."""
        hosts = (*hosts_of(KINDS["claude"], self.environ), *self.opened.hosts)
        return egress_for(level, self.opened.network, hosts, refused, self.environ)

    def request(self, more: Mapping[str, str], program: str = "", egress: Egress | None = None) -> Request:
        """Return the sandbox request: what the session may access, and what `program` needs to start."""
        state = self.state
        own = [name for name in self.environ if name.startswith(_OWN)]
        request_data = {
            name: value
            for name, value in state.environment.items()
            if name.endswith(("CONFIG_DIR", "UPDATER"))
        }
        return settle(
            Request(
                chdir=str(self.root),
                writable=tuple(map(str, (self.plans, self.folder, self.config, *state.own))),
                read_only=tuple(str(path) for path in state.others if path.name in _LINKED),
                readable=(
                    *(str(self.root), str(self.look), *history_of(self.root)),
                    *(str(state.login / name) for name in _LINKED),
                    *self.opened.paths(self.home),
                    *shown_for(self.environ, (self.home,), program),
                ),
                home=str(self.home),
                placed=cleaned((str(self.root / ".git"), *history_of(self.root)), self.folder),
                network=egress is None and self.opened.network != "none",
                environment={
                    **passed(self.environ, [*KINDS["claude"].variables, *own]),
                    **request_data,
                    **more,
                    **(egress.environment if egress else {}),
                },
            ),
            homes=[self.home],
            hidden=[path for path in state.others if path.name not in _LINKED],
        )

    def seals(self) -> dict[str, str]:
        """Return digests of the user's files that would act at a later start.

        A login in a file makes its folder writable, and a missing path cannot be mounted read-only.
        """
        return digests(self.state.login, KINDS["claude"].sealed) if self.state.own else {}

    def try_out(self, level: Level, request: Request) -> None:
        """Try forbidden writes in the session's own sandbox; raises `Unheld`."""
        asyncio.run(try_sandbox(level, request, (self.root, self.home, self.folder.parent)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(
    level: Level, request: Request, argv: Sequence[str], *, terminal: bool, egress: Egress | None = None
) -> int:
    """Run the agent in its sandbox on our terminal; return its exit code.

    The agent is in our process group, so Ctrl-C and Ctrl-Z reach both processes. Only the agent handles
    Ctrl-C; Ctrl-Z stops both.
    """
    kept: tuple[int, ...] = ()
    ways = (egress.descriptor,) if egress else ()
    if egress is not None:
        argv = egress.argv(argv)
    if level == "bwrap":
        kept = open_filter()
        program = found_bubblewrap() or "bwrap"
        filter_fd = next(iter(kept), None)
        held = bubblewrap(request, argv, program=program, filter_fd=filter_fd, shares_terminal=terminal)
        held[1:1] = _UNPRIVILEGED if os.geteuid() == 0 else ()
    else:
        held = without_mounts(level, request, argv)
    # A no-op handler, not SIG_IGN: the child would inherit an ignored signal.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        with (
            subprocess.Popen(  # noqa: S603  what the user asked for, held
                held, env=environment_in(request), cwd=request.chdir, pass_fds=(*kept, *ways)
            ) as process,
            served(egress),
        ):
            code = process.wait()
    finally:
        for descriptor in kept:
            os.close(descriptor)
        for number, answer in before.items():
            signal.signal(number, answer)
    return 128 - code if code < 0 else code


def can_share_a_terminal(level: Level) -> bool:
    """Return whether the sandbox can keep the agent from injecting input into the user's terminal."""
    return level != "bwrap" or platform.machine() in MACHINES
