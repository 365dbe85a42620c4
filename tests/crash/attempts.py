"""Faults while an agent works: its host is killed, its worker is, or no worker comes back.

An attempt says that it is there and hangs; then it is struck, and whoever comes next plays the usual script.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from asbuilt.agents.sandbox import process_tree
from tests.crash.invariants import GONE_WITHIN_S, Broken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crash.world import World

KINDS: Final = ("host", "working", "grace")
"""The host is killed; the worker is killed and another one comes at once; or none comes within the grace."""
GRACE_S: Final = 2.0
_TICKS_S: Final = 8.0
"""TERM, its grace and a busy machine, on top of the grace for a worker."""
ATTEMPTS: Final = ("1.1", "1.1v", "2a.1", "2a.2", "2a.2v", "2b.1", "2b.1v", "3.1", "3.1v")


class Attack:
    """Strikes one attempt, once, as soon as its agent is at work."""

    def __init__(self, world: World, kind: str, name: str) -> None:
        """Prepare the script: the attempt hangs, or is slow where it has to come to its end unharmed."""
        self._world = world
        self._kind = kind
        self._name = name
        self.struck = ""
        phase, _, number = name.partition(".")
        role = "verify" if number.endswith("v") else "fix" if name == "2a.2" else "implement"
        self._usual = world.script.read_text(encoding="utf-8")
        head = f'phase = "{phase}"\nrole = "{role}"\nattempt = {number.removesuffix("v")}'
        then = (
            ("{ sleep = 2 }", _acts_of(self._usual, phase, role))
            if kind == "working"
            else ("{ hang = true }",)
        )
        world.turn(head, '{ say = "here" }', *then)
        if kind == "grace":
            world.abandon_s = GRACE_S

    def strike(self, run: str) -> Iterator[Broken]:
        """Strike if the time has come; says which of its processes outlived it."""
        folder = self._world.attempt(run, self._name)
        if self.struck or not _has_said(folder):
            return
        self._world.script.write_text(self._usual, encoding="utf-8")
        host = json.loads((folder / "host.json").read_bytes())["pid"]
        family = {pid: process_tree.start_time(pid) for pid in (host, *process_tree.descendants(host))}
        self.struck = f"{'host' if self._kind == 'host' else 'worker'} during {self._name}"
        if self._kind == "host":
            with suppress(ProcessLookupError):
                os.kill(host, signal.SIGKILL)
            yield from _outlived(family, GONE_WITHIN_S)
            return
        self._world.kill()
        if self._kind == "grace":
            yield from _outlived(family, GRACE_S + _TICKS_S)


def _acts_of(script: str, phase: str, role: str) -> str:
    """Find what an agent does in the usual script; a verifier passes everything."""
    own = script.partition(f'phase = "{phase}"\nrole = "{role}"\nacts = [')[2].partition("]\n")[0]
    return own or '{ verdict = "pass" }'


def _has_said(folder: Path) -> bool:
    try:
        return b'"said"' in (folder / "events.jsonl").read_bytes()
    except FileNotFoundError:
        return False


def _outlived(family: dict[int, str | None], within_s: float) -> Iterator[Broken]:
    until = time.monotonic() + within_s
    while left := [pid for pid, began in family.items() if process_tree.still_runs(pid, began)]:
        if time.monotonic() > until:
            yield Broken(
                "orphan", f"{len(left)} of {len(family)} processes of an attempt after {within_s:g} s"
            )
            return
        time.sleep(0.05)
