"""A world to strike: a shop whose workers come from a nursery, played to its end whatever happens to it.

The one rule: after a fault the world gets what a person would give it, a worker and answers, and no more.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg

from asbuilt.agents.activity import starts_of
from asbuilt.journal import approvals
from asbuilt.journal.ids import LOCAL
from tests.crash import attempts
from tests.crash.attempts import Attack
from tests.crash.invariants import Broken, broken
from tests.crash.journeys import JOURNEYS
from tests.crash.nursery import KILLED, ROOT, Nursery, Worker
from tests.crash.points import SYSCALLS, Outcome, Point
from tests.crash.strike import Board, compiled
from tests.journeys.shop import REPO, Shop
from tests.tasks.bench import add_task, unsettled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.crash.journeys import Journey

LIMIT_S: Final = 150.0
"""A journey that takes longer is not finished; undisturbed it takes seconds."""
_LOOK_S: Final = 0.02


class World(Shop):
    """A shop with a plan of its own, whose worker is struck."""

    def __init__(self, folder: Path, where: str, journey: Journey, nursery: Nursery) -> None:
        super().__init__(folder, where)
        self.journey = journey
        self.board: Board | None = None
        self.abandon_s = 60.0
        self._nursery = nursery
        self._victim: Worker | None = None
        self._folder = folder
        self.passed = folder / "passed"
        self.passed.touch()
        (folder / "tmp").mkdir()
        self.script.write_text(journey.script, encoding="utf-8")
        if journey.is_of_a_task:
            add_task(self)
        else:
            (self.checkout / self.plan).write_text(journey.plan, encoding="utf-8")
            self.git("commit", "-q", "--amend", "--no-edit", "--", self.plan)
        self.lands(*journey.lands)

    def fork(self, at: str = "") -> None:
        """Let a worker serve, to be struck at a place."""
        self._victim = self._nursery.fork(
            home=str(self.home),
            where=self.where,
            tmp=str(self._folder / "tmp"),
            log=str(self._folder / "worker.log"),
            passed=str(self.passed),
            board=str(self.board.file) if self.board else "",
            abandon_s=str(self.abandon_s),
            at=at,
        )
        if self.board is not None:
            self.board.serve(self._victim.pid)

    @property
    def worker_pid(self) -> int:
        return self._victim.pid if self._victim else 0

    def serves(self) -> bool:
        """Tell whether a worker lives."""
        return self._victim is not None and self._victim.is_alive()

    def kill(self) -> None:
        if self._victim is not None:
            self._victim.kill()
            self._victim.close()
        self._victim = None

    def rests(self, run: str, number: int) -> bool:
        """Tell whether a run is over, its worker has said the last of so many, and a worker lives."""
        if not self.run(run).is_over or not self.serves():
            return False
        return sum(".End:recorded#" in place for place in self.places()) >= number

    def struck_at(self) -> list[str]:
        """Say where workers have struck themselves dead."""
        lines = self.passed.read_text(encoding="utf-8").splitlines()
        return [line.removeprefix(KILLED) for line in lines if line.startswith(KILLED)]

    def places(self) -> list[str]:
        """Say every place that workers have passed."""
        return self.passed.read_text(encoding="utf-8").splitlines()

    def starts(self) -> int:
        """Count the agents' starts of all attempts."""
        return sum(starts_of(folder) for folder in self.home.glob("runs/*/attempts/*"))

    def answer_all(self, run: str) -> None:
        """Say yes to what is asked, as a person at a door."""
        with self.store.read() as session:
            asked = approvals.waiting(session, LOCAL, REPO)
        if asked:
            self.answer(run, "yes")

    def leftovers(self) -> list[Broken]:
        """Say what lies about that nobody will ever need or remove."""
        strays = [
            *(self._folder / "tmp").iterdir(),
            *self.home.glob("scratch/*"),
        ]
        return [Broken("left", str(path.relative_to(self._folder))) for path in strays]

    def log_of_worker(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return (self._folder / "worker.log").read_text("utf-8", "replace").splitlines()
        return []


class Theatre:
    """Makes worlds on both stores, strikes each at one point, and judges it."""

    def __init__(self, postgres: str = "") -> None:
        """Play on SQLite, and on the Postgres server at a URL."""
        self._postgres = postgres
        self._folder = Path(tempfile.mkdtemp(prefix="asbuilt-crash-"))
        self._plain: Nursery | None = None
        self._striking: Nursery | None = None

    def close(self) -> None:
        for nursery in (self._plain, self._striking):
            if nursery is not None:
                nursery.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def play(self, point: Point) -> Outcome:
        """Strike one world at a point, and say what came of it."""
        began = time.monotonic()
        with self.world(point) as world:
            attack = Attack(world, point.kind, point.at) if point.kind in attempts.KINDS else None
            found = list(_played(world, point, attack))
            world.kill()
            found += judged(world)
            struck = [attack.struck] if attack and attack.struck else struck_by(world)
            hosts = sum(words.startswith("host") for words in struck) or int(point.kind == "grace")
            if not struck and world.board is None:
                found.append(Broken("not struck", "the journey ended before the fault"))
            return Outcome(
                point=point,
                struck=", then ".join(struck),
                hosts_killed=hosts,
                workers_killed=len(struck) - hosts,
                extra_starts=world.starts() - world.journey.starts,
                broken=tuple((one.how, one.what) for one in found),
                seconds=time.monotonic() - began,
                notes=(*world.kinds()[-8:], world.reason(), *world.log_of_worker()[-12:]) if found else (),
            )

    def places(self, journey: str) -> list[str]:
        """Say every place that a worker passes in an undisturbed journey."""
        with self._undisturbed(Point("step", journey, "sqlite", "")) as world:
            return world.places()

    def calls(self, journey: str) -> dict[str, int]:
        """Count the system calls of each class in an undisturbed journey."""
        with self._undisturbed(Point(SYSCALLS[0], journey, "sqlite", "0")) as world:
            return world.board.read().counts if world.board else {}

    @contextlib.contextmanager
    def _undisturbed(self, point: Point) -> Iterator[World]:
        with self.world(point) as world:
            found = list(_played(world, point))
            world.kill()
            found += judged(world)
            if found or world.starts() != world.journey.starts:
                raise AssertionError(point.journey, found, world.starts())
            yield world

    @contextlib.contextmanager
    def world(self, point: Point) -> Iterator[World]:
        """Make a world for a point; it is gone afterwards."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        with self._database(point.backend, folder) as where:
            world = World(folder, where, JOURNEYS[point.journey], self._nursery(point.kind))
            if point.kind in SYSCALLS:
                world.board = Board(folder / "board")
            try:
                yield world
            finally:
                world.close()
        shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _database(self, backend: str, folder: Path) -> Iterator[str]:
        if backend == "sqlite":
            yield str(folder / "journal.db")
            return
        name = f"crash{secrets.token_hex(6)}"
        with psycopg.connect(self._postgres, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
            yield self._postgres.replace("/postgres?", f"/{name}?")
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    def _nursery(self, kind: str) -> Nursery:
        if kind not in SYSCALLS:
            self._plain = self._plain or Nursery()
            return self._plain
        if self._striking is None:
            self._striking = Nursery(LD_PRELOAD=str(compiled(self._folder, ROOT)))
        return self._striking


def places_of(point: Point) -> tuple[str, str]:
    """Say where the first worker is struck, and where the one that recovers."""
    if point.kind == "step":
        return point.at, ""
    if point.kind == "pair":
        first, _, second = point.at.partition("+")
        return first, second
    return "", ""


def struck_by(world: World) -> list[str]:
    """Name who was killed, and where."""
    if world.board is None:
        return [f"worker at {place}" for place in world.struck_at()]
    said = world.board.read()
    if not said.victim:
        return []
    if "asbuilt.agents.host.main" in said.words:
        return ["host"]
    if "tests.crash.nursery" in said.words:
        return ["worker"]
    return [f"{said.words.split()[0]} {said.words.rpartition('recurse=false ')[2]}"[:100]]


def judged(world: World) -> Iterator[Broken]:
    """Say everything that does not hold of a world at rest."""
    yield from broken(world)
    yield from world.leftovers()
    if world.journey.is_of_a_task:
        yield from (Broken("torn", words) for words in unsettled(world))
    expected = [*world.journey.subjects, "start"]
    if world.log() != expected:
        yield Broken("lost", f"the branch has {world.log()}")
    try:
        world.compare()
    except AssertionError as error:
        yield Broken("touched", str(error)[:300])


def _played(world: World, point: Point, attack: Attack | None = None) -> Iterator[Broken]:
    """Play every leg to its end, with a worker again whenever one was struck."""
    first, second = places_of(point)
    if world.board is not None:
        world.board.aim(point.kind, int(point.at))
    attacks = ["", "", second, first]
    until = time.monotonic() + LIMIT_S
    for number, leg in enumerate(world.journey.legs, start=1):
        run = world.request(**leg.options)
        while not world.rests(run, number):
            if not world.serves():
                world.kill()
                if not attacks:
                    yield Broken("bricked", "workers end by themselves")
                    return
                world.fork(attacks.pop())
            if time.monotonic() > until:
                yield Broken("not finished", f"{world.run(run).state} after {LIMIT_S:g} s")
                return
            world.answer_all(run)
            if attack is not None:
                yield from attack.strike(run)
            time.sleep(_LOOK_S)
        if world.run(run).state != leg.ends:
            yield Broken("not finished", f"{world.run(run).state}: {world.reason()}")
            return
