"""Two processes that meet at a barrier, round after round. Its one rule: they live long and collide for real.

They spin in shared memory until both are there, and then act. Each writes down what it was told and when.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from tests.crash import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).parents[2]
ROUNDS: Final = int(os.environ.get("ASBUILT_RACE_ROUNDS", "100"))
SEED: Final = int(os.environ.get("ASBUILT_RACE_SEED", "20261115"))
_PATIENCE_S: Final = 120.0
_FULL: Final = 1_000
_SPIN_S: Final = 0.002
_PLACE: Final = struct.Struct("q")

Said = dict[str, Any]


class Rival(Protocol):
    """One of the two. Whatever needs doing before a round is done in `prepare`."""

    def prepare(self, number: int) -> None:
        """Get ready for a round; the other one waits."""

    def act(self, number: int) -> Said:
        """Do what the other one does at the same instant, and say what came of it."""


class Turn(NamedTuple):
    """What one of the two did in a round."""

    who: int
    began_ns: int
    ended_ns: int
    said: Said


class Round(NamedTuple):
    """What both did at the same instant."""

    number: int
    turns: tuple[Turn, Turn]

    @property
    def said(self) -> tuple[Said, Said]:
        """What came of it, for each."""
        return self.turns[0].said, self.turns[1].said

    @property
    def collided(self) -> bool:
        """Tell whether neither had ended when the other began."""
        one, two = self.turns
        return one.began_ns < two.ended_ns and two.began_ns < one.ended_ns


def race(game: str, *places: str, rounds: int = ROUNDS) -> list[Round]:
    """Let two processes play a game of `tests.races.games`; `places` are what it is played on."""
    shared = Path(places[0]) / f"barrier-{game}"
    shared.write_bytes(bytes(2 * _PLACE.size))
    command = [sys.executable, "-m", "tests.races.games", game, str(rounds), str(SEED), str(shared)]
    told = [shared.with_name(f"{game}-{who}.jsonl") for who in (0, 1)]
    rivals = [subprocess.Popen([*command, str(who), str(told[who]), *places], cwd=ROOT) for who in (0, 1)]
    try:
        while any(rival.poll() is None for rival in rivals) and not any(rival.poll() for rival in rivals):
            time.sleep(0.05)
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    turns = [
        [Turn(who, *json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
        for who, file in enumerate(told)
    ]
    history = [Round(number, both) for number, both in enumerate(zip(*turns, strict=False))]
    assert len(history) == rounds, f"{len(history)} of {rounds} rounds; {again()}"
    assert any(one.collided for one in history), f"the two never met; {again()}"
    return history


def again() -> str:
    """Say how to play it again."""
    test = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
    return f"again: ASBUILT_RACE_ROUNDS={ROUNDS} ASBUILT_RACE_SEED={SEED} pytest '{test}'"


def held(game: str, backend: str, times: int) -> None:
    """Keep a row of what held each time, where it was tried in full."""
    if ROUNDS >= _FULL:
        name = re.sub(r"\W+", "-", f"race {game} {backend}")
        seen: dict[str, Any] = {**rows.where()}
        rows.keep(name, [rows.Row(f"two or more at one instant: {game}", backend, times, **seen)])


def play(rival: Callable[[int, list[str]], Rival], arguments: list[str]) -> None:
    """Be one of the two."""
    rounds, seed, who = int(arguments[0]), arguments[1], int(arguments[3])
    chance = random.Random(f"{seed}/{who}")  # noqa: S311 - instants, not secrets
    me = rival(who, arguments[5:])
    with (
        Path(arguments[2]).open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as shared,
        Path(arguments[4]).open("w", encoding="utf-8") as told,
    ):
        meeting = _meetings(shared, who)
        for number in range(rounds):
            next(meeting)
            if who == 0:
                me.prepare(number)
            next(meeting)
            if who == 1:
                me.prepare(number)
            next(meeting)
            _spin(chance.choice((0, 0, 50_000, 500_000)))
            began = time.monotonic_ns()
            said = me.act(number)
            told.write(json.dumps([began, time.monotonic_ns(), said]) + "\n")


def _meetings(shared: mmap.mmap, who: int) -> Iterator[None]:
    """Meet the other one: both go on when both are there."""
    mine, theirs = who * _PLACE.size, (1 - who) * _PLACE.size
    for number in range(1, 1 << 62):
        _PLACE.pack_into(shared, mine, number)
        until = time.monotonic() + _PATIENCE_S
        while _PLACE.unpack_from(shared, theirs)[0] < number:
            # Close to each other they spin; whoever is far behind is not kept off the processor.
            time.sleep(0 if time.monotonic() < until - _PATIENCE_S + _SPIN_S else 0.0002)
            if time.monotonic() > until:
                raise TimeoutError("the other one does not come")
        yield


def _spin(pause_ns: int) -> None:
    until = time.monotonic_ns() + pause_ns
    while time.monotonic_ns() < until:
        pass
