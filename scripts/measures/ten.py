"""Ten phases with an agent that does next to nothing, beside bare DBOS with the same process starts."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import psycopg
from tests.journeys.shop import Shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from measures.server import Server

_PHASES: Final = 10
_SUBREAPER: Final = 36
_PROGRAM: Final = str(Path(__file__).with_name("recorded.py"))


class Ten(NamedTuple):
    """How ten phases went through one of the two."""

    wall_s: float
    cpu_s: float


class Compared(NamedTuple):
    """Both, and what they had in common."""

    ours: Ten
    bare: Ten
    steps: int
    starts: int


def compared(server: Server | None, keep: Path | None = None) -> Compared:
    """Run ten phases, then the same process starts through the engine alone; without a server on SQLite."""
    with tempfile.TemporaryDirectory(prefix="asbuilt-ten-") as folder:
        world, aside = Path(folder) / "world", Path(folder) / "aside"
        world.mkdir()
        where = server.database() if server else str(world / "journal.db")
        shop = Shop(world, where)
        shop.commit("plan.md", _plan(), "ten phases")
        shop.script.write_text(_script(), encoding="utf-8")
        shutil.copytree(world, aside, symlinks=True)
        noted = Path(folder) / "starts.jsonl"
        ours = _spent(lambda: _through_asbuilt(shop, noted))
        steps = _steps(shop, where if server else None)
        shop.store.close()
        shutil.rmtree(world)
        shutil.copytree(aside, world, symlinks=True)
        engine = server.database() if server else str(world / "bare.db")
        home = world / "bare"
        home.mkdir()
        bare = _spent(lambda: _through_the_engine(home, engine, noted, steps))
        if keep is not None:
            shutil.copy(noted, keep)
        return Compared(ours, bare, steps, len(noted.read_bytes().splitlines()))


def _through_asbuilt(shop: Shop, noted: Path) -> float:
    worker = subprocess.Popen([sys.executable, _PROGRAM, "record", str(shop.home), shop.where, str(noted)])
    try:
        lock = shop.home / "worker.lock"
        shop.until(lambda: lock.exists() and lock.stat().st_size)
        time.sleep(2)
        began = time.monotonic()
        run = shop.request(mode="finish")
        state, reason = shop.over(run)
        took = time.monotonic() - began
        if state != "landed":
            raise RuntimeError(reason)
        return took
    finally:
        worker.kill()
        worker.wait()


def _through_the_engine(home: Path, where: str, noted: Path, steps: int) -> float:
    subprocess.run([sys.executable, _PROGRAM, "replay", str(home), where, str(noted), str(steps)], check=True)
    return float(noted.with_suffix(".took").read_text(encoding="ascii"))


def _spent(act: Callable[[], float]) -> Ten:
    # What detaches itself from a worker is ours to reap, so that its time is counted too.
    libc = ctypes.CDLL(None)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        wall = act()
        with suppress(ChildProcessError):
            while os.waitpid(-1, 0)[0]:
                pass
    finally:
        # A server that is started later would be ours to wait for.
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Ten(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _steps(shop: Shop, url: str | None) -> int:
    """Count the steps that the engine has remembered."""
    if url is not None:
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT count(*) FROM dbos.operation_outputs").fetchone()
    else:
        with closing(sqlite3.connect(shop.where)) as file:
            row = file.execute("SELECT count(*) FROM operation_outputs").fetchone()
    return int(row[0]) if row else 0


def _plan() -> str:
    parts = ["# Ten phases\n"]
    for number in range(1, _PHASES + 1):
        needs = f"Phase {number - 1}." if number > 1 else "None."
        parts.append(
            f"\n## Phase {number} — Part {number}\n### Dependencies\n{needs}\n### Work Items\n"
            f"- [ ] `part{number}.txt` says {number}\n"
            f"### Verification\n- `grep -q {number} part{number}.txt`\n"
        )
    return "".join(parts)


def _script() -> str:
    turns = [
        f'[[turn]]\nphase = "{number}"\nrole = "implement"\n'
        f'acts = [{{ write = "part{number}.txt", text = "{number}" }}, {{ say = "done" }}]\n'
        for number in range(1, _PHASES + 1)
    ]
    return "".join([*turns, '[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n'])
