"""Run what the gate allows, outside the ring, and look for writes and connections.

The one rule: a command is named by its number, and one number always gives one command.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.policy.shell.judge import verdict
from asbuilt.session.wildcard_expansion import names_in
from tests.attack.gate.mutants import made, seeded
from tests.attack.gate.rows import read_rows
from tests.attack.gate.stage import Stage, build
from tests.attack.gate.traced import run

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE = 2


class Effect(NamedTuple):
    """An allowed command that did more than read."""

    number: int
    command: str
    seen: tuple[str, ...]


def is_allowed(stage: Stage, command: str) -> bool:
    """Ask the gate, with the stage as the conversation's repository."""
    root = str(stage.repository)
    home = str(stage.home)
    asked = verdict(
        command,
        cwd=root,
        home=home,
        root=root,
        resolve=os.path.realpath,
        exists=os.path.exists,
        names=names_in,
    )
    return asked is None


def effects(size: int, first: int) -> list[Effect]:
    """Run so many allowed mutants, counted from a number on, and give those that changed something."""
    with tempfile.TemporaryDirectory(prefix="sample-") as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        stage = build(Path(folder) / "stage")
        stages = [stage.copied(Path(folder) / f"stage-{place}") for place in range(_AT_ONCE)]
        chosen = list(islice(_allowed(stage, first), size))
        parts = [chosen[place::_AT_ONCE] for place in range(_AT_ONCE)]
        found = list(pool.map(_effects, stages, parts))
    return sorted(effect for part in found for effect in part)


def _allowed(stage: Stage, first: int) -> Iterator[tuple[int, str]]:
    safe = [row.cmd for row in read_rows() if row.safe]
    known = set()
    for number in count(first):
        command = made(seeded(number), safe)
        if command not in known and is_allowed(stage, command):
            known.add(command)
            yield number, command


def _effects(stage: Stage, commands: list[tuple[int, str]]) -> list[Effect]:
    before = stage.digest()
    found = []
    for number, command in commands:
        seen = run(stage, command).effects
        if seen:
            found.append(Effect(number, command, seen))
    if not found and stage.digest() != before:
        found.append(Effect(-1, "one of them", ("the stage is another",)))
    return found
