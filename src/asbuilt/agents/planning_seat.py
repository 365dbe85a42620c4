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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.canaries import try_ring
from asbuilt.agents.claude_state import State
from asbuilt.agents.installation import shown_for
from asbuilt.agents.ring import found_bubblewrap, settle, without_mounts
from asbuilt.agents.sealing import digests
from asbuilt.policy.kinds import KINDS
from asbuilt.policy.ring import DEFAULT_PATH, Request, bubblewrap, environment_in, passed
from asbuilt.policy.terminal import MACHINES, terminal_filter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asbuilt.policy.ring import Level

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

    def request(self, more: Mapping[str, str], program: str = "") -> Request:
        """Say what it may touch; `program` is shown where a private /tmp would hide it."""
        state = self.state
        own = [name for name in self.environ if name.startswith(_OWN)]
        told = {
            name: one for name, one in state.environment.items() if name.endswith(("CONFIG_DIR", "UPDATER"))
        }
        return settle(
            Request(
                chdir=str(self.root),
                writable=tuple(map(str, (self.plans, self.folder, self.config, *state.own))),
                read_only=tuple(map(str, state.sealed)),
                readable=(
                    *(str(self.root), str(self.home)),
                    *shown_for(program, self.environ.get("PATH", DEFAULT_PATH)),
                ),
                home=str(self.home),
                network=True,
                environment={**passed(self.environ, [*KINDS["claude"].variables, *own]), **told, **more},
            ),
            homes=[self.home],
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


def run(level: Level, request: Request, argv: Sequence[str], *, terminal: bool) -> int:
    """Run the agent in its ring on the terminal of ours, and give its exit code.

    Ctrl-C and Ctrl-Z reach it as they reach us, because we are one group to the terminal: the first is the
    agent's alone to answer, and the second stops us together.
    """
    kept: tuple[int, ...] = ()
    if level == "bwrap":
        kept = (_filter(),) if terminal else ()
        program = found_bubblewrap() or "bwrap"
        held = bubblewrap(request, argv, program=program, filter_fd=kept[0] if kept else None)
        held[1:1] = _NOBODYS_ROOT if os.geteuid() == 0 else ()
    else:
        held = without_mounts(level, request, argv)
    # Not ignored: who is started would ignore them, too.
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGQUIT)}
    try:
        with subprocess.Popen(  # noqa: S603  what the user asked for, held
            held, env=environment_in(request), cwd=request.chdir, pass_fds=kept
        ) as process:
            code = process.wait()
    finally:
        for one, answer in before.items():
            signal.signal(one, answer)
    return 128 - code if code < 0 else code


def can_share_a_terminal(level: Level) -> bool:
    """Tell whether it can be kept from typing in the person's place."""
    return level != "bwrap" or platform.machine() in MACHINES


def _filter() -> int:
    made = os.memfd_create("asbuilt-terminal", 0)
    os.write(made, terminal_filter())
    os.lseek(made, 0, os.SEEK_SET)
    os.set_inheritable(made, True)
    return made
