"""The hook as Claude Code starts it: the argv that `asbuilt gate command` prints, a process for each input.

The one rule: what a process does when its pipes, its disk or its time go wrong is an answer like any other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tests.attack.gate.hooked import Opened, Talk, input_of, is_closed

if TYPE_CHECKING:
    from collections.abc import Sequence

HUGE = 100 << 20
LIMIT_S = 60
_AT_ONCE = 2


class Said(NamedTuple):
    """What a process answered."""

    code: int
    out: str


@cache
def gate_argv() -> tuple[str, ...]:
    """Ask the product what the plugin runs."""
    asked = [sys.executable, "-m", "asbuilt", "gate", "command", "--json"]
    done = subprocess.run(asked, capture_output=True, check=True)
    return tuple(json.loads(done.stdout)["argv"])


def called(talk: Talk, data: bytes, *, before: Sequence[str] = (), **more: str) -> Said:
    """Call the hook with some bytes; `before` stands before its argv."""
    done = subprocess.run(
        [*before, *gate_argv()],
        input=data,
        env={**talk.environ, **more},
        cwd=talk.stage.repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=LIMIT_S,
        check=False,
    )
    return Said(done.returncode, done.stdout.decode())


def by_shell(talk: Talk, redirections: str, data: bytes = b"") -> Said:
    """Call the hook with its streams as a shell redirects them."""
    script = f'"$@" {redirections}'
    return called(talk, data, before=("/bin/sh", "-c", script, "sh"))


def opened(talk: Talk, size: int, first: int) -> list[Opened]:
    """Call the hook with so many inputs, and give those that got through."""
    numbers = range(first, first + size)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        inputs = list(pool.map(lambda number: input_of(talk, number), numbers))
        answers = list(pool.map(lambda data: called(talk, data), inputs))
    return [
        Opened(number, data[:2000], said.out)
        for number, data, said in zip(numbers, inputs, answers, strict=True)
        if not is_closed(talk, data, said.code, said.out)
    ]
