"""Seat a person's own Claude Code in the read-only ring, at the person's terminal: `asbuilt session --plan`.

Its state is a folder of its own (ADR 14), the same for all sessions, so that one can be resumed in another.
In it the user's settings, plug-ins and skills stand as links to where the ring holds them read-only.

The one rule: it writes to the folder of plans, to that state and to its login, and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.claude.state import State
from asbuilt.agents.host.canaries import try_ring
from asbuilt.agents.host.sealing import digests
from asbuilt.agents.sandbox.launch import found_bubblewrap, history_of, open_filter, settle, without_mounts
from asbuilt.agents.sandbox.masks import cleaned
from asbuilt.agents.sandbox.proxy import Egress, served
from asbuilt.agents.sandbox.toolchains import shown_for
from asbuilt.policy.kinds import KINDS, hosts_of
from asbuilt.policy.sandbox.hosts import hosts_named
from asbuilt.policy.sandbox.rules import Request, bubblewrap, environment_in
from asbuilt.policy.sandbox.seccomp import MACHINES
from asbuilt.policy.sandbox.variables import passed
from asbuilt.ports import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from asbuilt.policy.sandbox.rules import Level

# Root without rights cannot make a ring of its own inside this one, and its commands have to be in one.
_NOBODYS_ROOT: Final = ("--uid", "1000", "--gid", "1000")
_PREFERENCES: Final = ".claude.json"
_OWN: Final = ("ANTHROPIC_", "CLAUDE_CODE_DISABLE_", "CLAUDE_CODE_MAX_", "DISABLE_", "IS_SANDBOX")
"""How variables begin by which a person sets Claude Code up."""
_LINKED: Final = (*KINDS["claude"].sealed, "keybindings.json", "themes")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningSeat:
    """Where one conversation is held."""

    root: Path
    plans: Path
    folder: Path
    """Of the conversation, in the state of the user."""
    config: Path
    """Where its Claude Code keeps what it writes."""
    home: Path
    environ: Mapping[str, str]
    look: Path
    """The script by which its commands run in a sandbox of their own."""
    opened: Opened = field(default_factory=Opened)

    @property
    def state(self) -> State:
        """Where its Claude Code keeps what."""
        moved = self.environ.get("CLAUDE_CONFIG_DIR", "")
        login = Path(os.path.realpath(moved or self.home / ".claude"))
        return State(config=self.config, login=login, is_default=not moved)

    def furnish(self) -> None:
        """Have its state there, as the user knows it; what one left there to act in a later one goes."""
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
        """Make its way out where its network is a list; only bubblewrap gives it one of its own."""
        if self.opened.network != "list" or level != "bwrap":
            return None
        hosts = hosts_named((*hosts_of(KINDS["claude"], self.environ), *self.opened.hosts))
        return Egress(hosts, refused, self.environ)

    def request(self, more: Mapping[str, str], program: str = "", egress: Egress | None = None) -> Request:
        """Say what it may touch and reach, and what `program` needs to start."""
        state = self.state
        own = [name for name in self.environ if name.startswith(_OWN)]
        told = {
            name: one for name, one in state.environment.items() if name.endswith(("CONFIG_DIR", "UPDATER"))
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
                    **told,
                    **more,
                    **(egress.environment if egress else {}),
                },
            ),
            homes=[self.home],
            hidden=[path for path in state.others if path.name not in _LINKED],
        )

    def seals(self) -> dict[str, str]:
        """Give a digest of all of the user's that would act at a later start.

        A login in a file makes its folder writable, and what is not there yet cannot be mounted read-only.
        """
        return digests(self.state.login, KINDS["claude"].sealed) if self.state.own else {}

    def try_out(self, level: Level, request: Request) -> None:
        """Write where it must not be able to, in its own ring; raises `Unheld`."""
        asyncio.run(try_ring(level, request, (self.root, self.home, self.folder.parent)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(
    level: Level, request: Request, argv: Sequence[str], *, terminal: bool, egress: Egress | None = None
) -> int:
    """Run the agent in its ring on the terminal of ours, and give its exit code.

    Ctrl-C and Ctrl-Z reach it as they reach us, because we are one group to the terminal: the first is the
    agent's alone to answer, and the second stops us together.
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
        held[1:1] = _NOBODYS_ROOT if os.geteuid() == 0 else ()
    else:
        held = without_mounts(level, request, argv)
    # Not ignored: who is started would ignore them, too.
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGQUIT)}
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
        for one, answer in before.items():
            signal.signal(one, answer)
    return 128 - code if code < 0 else code


def can_share_a_terminal(level: Level) -> bool:
    """Tell whether it can be kept from typing in the person's place."""
    return level != "bwrap" or platform.machine() in MACHINES
