"""One seed from its first point to its end. The one rule: the same seed takes the same course, always."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.engine.lease import Lease
from asbuilt.flows.kinds import Performer
from asbuilt.flows.notify import Reach
from asbuilt.flows.segment import Runs
from asbuilt.git.commits import Commit
from asbuilt.journal import runs
from asbuilt.journal.engine import segments
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL, Address, Segment
from asbuilt.journal.queries.overview import events_of, facts_of
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from tests.simulator import linking
from tests.simulator.bench import Ring
from tests.simulator.durable import TIMES, Durable, Going, Site
from tests.simulator.hosts import Attempts, Hosts
from tests.simulator.laws import Laws
from tests.simulator.ledger import Ledger, MemoryBlobs
from tests.simulator.model_git import PERSON, Model
from tests.simulator.people import People
from tests.simulator.stage import Stage, Unlawful, moment
from tests.simulator.story import REPO, story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from tests.simulator.linking import World
    from tests.simulator.stage import Actor, Process
    from tests.simulator.story import Act, Fault, Story

    Look = Callable[[Session, Blobs], None]

_TURNS: Final = 6_000
_ROUNDS: Final = 25
"""How often people are asked again before a run has to be over."""


class Course(NamedTuple):
    """How a simulation went."""

    seed: int
    broken: str | None
    """The law that was broken."""
    trace: list[str]
    end: tuple[str, ...]
    """How each run ended, and what has landed."""


class Simulator:
    """Plays one seed after the other."""

    def __init__(self, world: World, folder: Path, look: Look | None = None) -> None:
        """`look` is called after every transaction that has written."""
        self._world = world
        self._folder = folder
        self._look = look
        self._ledger = Ledger()

    def play(self, seed: int) -> Course:
        """Play the story of a seed."""
        return self.judged(story(seed))

    def judged(self, told: Story) -> Course:
        """Play a story; a calm one is played again without faults, and has to end the same."""
        course = self.course(told)
        if course.broken is not None or not told.is_calm or not told.faults:
            return course
        twin = self.course(replace(told, faults=()))
        if twin.broken is not None or _is_same(course.end, twin.end):
            return course if twin.broken is None else twin
        broken = f"with faults it ends {course.end}, without {twin.end}"
        return course._replace(broken=broken)

    def course(self, told: Story) -> Course:
        """Play one story."""
        play = Play(told, self._ledger, self._world, self._folder, self._look)
        try:
            play.through()
        except Unlawful as error:
            return Course(told.seed, str(error), play.stage.trace, ())
        except Exception:  # noqa: BLE001 - whatever nobody has foreseen is found here
            return Course(told.seed, traceback.format_exc(limit=-6), play.stage.trace, ())
        finally:
            play.stage.close()
        return Course(told.seed, None, play.stage.trace, play.end())

    def shrink(self, told: Story) -> Story:
        """Drop the faults and acts without which the story is still unlawful."""
        for at in range(len(told.faults) - 1, -1, -1):
            less = replace(told, faults=told.faults[:at] + told.faults[at + 1 :])
            if self.judged(less).broken is not None:
                told = less
        for at in range(len(told.acts) - 1, -1, -1):
            less = replace(told, acts=told.acts[:at] + told.acts[at + 1 :])
            if self.judged(less).broken is not None:
                told = less
        return told


@contextmanager
def simulator(look: Look | None = None) -> Iterator[Simulator]:
    """Lend a simulator; the flows of this process are linked to its worlds meanwhile."""
    room = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - memory, and a name of our own
    with (
        tempfile.TemporaryDirectory(prefix="asbuilt-simulator-", dir=room) as made,
        linking.linked() as world,
    ):
        yield Simulator(world, Path(made), look)


class Play:
    """One story, and the world in which it takes place."""

    def __init__(
        self, told: Story, ledger: Ledger, world: World, folder: Path, look: Look | None = None
    ) -> None:
        self._told = told
        self._look = look
        self._ledger = ledger
        self.stage = stage = Stage(Random(told.seed))
        self._full_until = 0.0
        between = {one for one in told.faults if one.kind == "kill_between"}
        self._faults = {fault.point: fault for fault in told.faults if fault not in between}
        self._between = {fault.point: fault for fault in between}
        self._acts: dict[int, list[Act]] = {}
        for act in told.acts:
            self._acts.setdefault(act.point, []).append(act)
        self._sites: list[Site] = []
        ledger.open(stage)
        self._model = model = Model(stage, folder / "checkout", self._is_full)
        self._blobs = MemoryBlobs(stage, self._is_full)
        self._hosts = Hosts(stage, model, told)
        self._people = People(stage, ledger, self._blobs, model, told)
        self._durable = Durable(stage)
        self._laws = Laws(told, ledger, self._blobs, model, self._hosts, self._people)
        self._state = folder / "state"
        self._known_dues: set[str] = set()
        self._last_event: int | None = None
        world.model, world.spliced = model, self._laws.spliced
        world.people = self._people
        self._connect()
        self._lay_out()

    def through(self) -> None:
        """Play it to its end."""
        self._start("w1")
        if self._told.is_fleet:
            self._start("w2")
        for act in self._told.acts:
            if not act.point:
                self.stage.later(act.at_s, partial(self._people.do, act))
        for _ in range(_ROUNDS):
            self.stage.play(limit=_TURNS)
            self._laws.at_rest(self._durable)
            if not self._people.settle():
                break
        self._laws.at_end()

    def end(self) -> tuple[str, ...]:
        """Tell how it all ended, in words that do not hang on when anything happened."""
        session = self._ledger.look()
        told = []
        for script in self._told.scripts:
            address = Address(LOCAL, REPO, script.path)
            standing = fold_plan(events_of(session, self._blobs, address))
            landed = sorted(one.phase for landing in standing.landings for one in landing.landed)
            for run in runs.of_plan(session, address):
                facts = facts_of(session, self._blobs, run)
                told.append(
                    f"{script.slug} {run.state} {sorted(done_now(standing, []))} {landed} {facts.reason[:80]}"
                )
        return tuple(told)

    def _connect(self) -> None:
        stage, laws = self.stage, self._laws
        self._ledger.written = self._written
        self._ledger.enqueue = self._durable.enqueue
        self._durable.recorded = laws.recorded
        self._durable.acted = self._acted
        self._model.moved = laws.moved
        self._model.is_busy = self._hosts.is_busy
        self._hosts.is_current = self._is_current
        self._hosts.are_beside = laws.lanes.are_beside
        stage.passes = self._hosts.passes
        stage.strike = self._strike
        stage.struck = frozenset(self._faults.keys() | self._acts.keys())

    def _written(self) -> None:
        """See that all is lawful, and that time does not pass by what is due."""
        self._laws.written()
        if self._look is not None:
            self._look(self._ledger.look(), self._blobs)
        self._fence_holds()
        for due in sorted(self._laws.dues - self._known_dues):
            wait_s = moment(due) - self.stage.now - self.stage.skew
            self.stage.later(max(0.0, wait_s), lambda: None)
        self._known_dues |= self._laws.dues

    def _fence_holds(self) -> None:
        """See that whoever wrote an event goes through a segment that no other execution has begun since."""
        last = self._ledger.connection.execute("SELECT max(rowid) FROM events").fetchone()[0]
        going = self.stage.current and self.stage.current.memory
        if isinstance(going, Going):
            segment = Segment(*going.workflow.arguments, "", "")
            token = segments.token_of(self._ledger.look(), segment)
            going.token = going.token or token
            if last != self._last_event and token not in (None, going.token):
                raise Unlawful(f"{going.workflow.id} writes after another execution of it has begun")
        self._last_event = last

    def _is_current(self) -> bool:
        going = self.stage.current and self.stage.current.memory
        assert isinstance(going, Going)
        segment = Segment(*going.workflow.arguments, "", "")
        return going.is_owner and segments.is_open(self._ledger.look(), segment)

    def _lay_out(self) -> None:
        """Make the repository and its checkout."""
        model = self._model
        for folder in (model.root, self._state):
            shutil.rmtree(folder, ignore_errors=True)
        model.root.mkdir(parents=True)
        files = {"base": b"0"}
        for script in self._told.scripts:
            if script.tracked == "absent":
                continue
            model.plans.append(script.path)
            (model.root / script.path).write_bytes(script.text)
            if script.tracked != "untracked":
                files[script.path] = script.text if script.tracked == "clean" else b"# Not yet\n"
        tree = model.tree(files)
        name = model.store(
            Commit(name="", tree=tree, parents=(), author=PERSON, committer=PERSON, message=b"start\n")
        )
        model.refs["refs/heads/main"] = model.carried = name

    def _start(self, name: str) -> None:
        """Start a worker, unless one of that name is there."""
        if any(one.name == name and not one.dead for one in self._sites):
            return
        stage, ledger, blobs = self.stage, self._ledger, self._blobs
        ring = Ring("none" if self._told.ring == "none" else "bwrap")
        attempts = Attempts(stage, self._hosts, name, self._is_full)
        lease = Lease(ledger, name, org=LOCAL, times=TIMES) if self._told.is_fleet else None
        performer = Performer(Home(self._state / name), ledger, blobs, attempts, ring, lease=lease)
        site = Site(name, stage, lambda: self._start(name))
        self._sites = [one for one in self._sites if not one.dead] + [site]
        stage.tell(f"worker {name} starts")
        site.serve(
            self._durable,
            ledger,
            Runs(ledger, blobs, performer, Reach(desktop=Bell()), lease=lease, step=self._durable.step),
            lease,
        )

    def _is_full(self) -> bool:
        return self.stage.now < self._full_until

    def _strike(self, point: int, actor: Actor) -> None:
        for act in self._acts.pop(point, ()):
            self._people.do(act)
        fault = self._faults.get(point)
        if fault is not None and isinstance(actor.process, Site):
            self._befall(fault, actor.process)

    def _acted(self, step: int, process: Process) -> None:
        fault = self._between.get(step)
        if fault is not None and isinstance(process, Site):
            self._befall(fault, process)

    def _befall(self, fault: Fault, site: Site) -> None:
        stage, lasts_s = self.stage, fault.lasts_s
        stage.tell(f"FAULT {fault.kind} at {fault.point}, {lasts_s:.0f} s")
        stage.change()
        match fault.kind:
            case "kill" | "kill_long" | "kill_between":
                site.dead = True
                stage.later(lasts_s, lambda: self._start(site.name))
            case "engine_lost":
                self._durable.workflows = {}
                # Later: a transaction that is open now is rolled back, and would take the mending with it.
                stage.later(0.5, self._mend)
                for one in self._sites:
                    one.dead = True
                    stage.later(1.0, partial(self._start, one.name))
            case "store_down":
                self._ledger.down_until = stage.now + lasts_s
                stage.later(lasts_s, lambda: None)
            case "store_before" | "store_after":
                self._ledger.breaks_off = fault.kind.removeprefix("store_")
            case "disk_full":
                self._full_until = stage.now + lasts_s
                stage.later(lasts_s, lambda: None)
            case "freeze":
                self._freeze(site, lasts_s)
            case "jump":
                stage.skew += lasts_s
            case "host":
                self._hosts.lose()
            case "given_up":
                for workflow in self._durable.workflows.values():
                    if workflow.status == "PENDING":
                        workflow.status = "CANCELLED"
                stage.later(60.0, self._mend)
            case "unrecorded":
                self._durable.is_broken = True
            case _:
                raise ValueError(fault)

    def _mend(self) -> None:
        """Ask for everything again, as `asbuilt doctor --fix engine` does."""
        segments.ask_again(self._ledger.look(), LOCAL, before=runs.FAR)

    def _freeze(self, site: Site, lasts_s: float) -> None:
        """Stop a worker for a while; where there is another one, it takes over what is not let go of."""
        site.frozen = True

        def thaw() -> None:
            site.frozen = False
            self.stage.tell(f"worker {site.name} wakes")

        self.stage.later(lasts_s, thaw)


class Bell:
    """A way to reach a person. The port `Attention`."""

    way = "bell"

    def call(self, message: object) -> str | None:
        """Say it."""
        del message
        return None


def _is_same(end: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether two ends are the same; one that named its trouble may differ.

    Starts that a fault repeats cost money, so what a run may spend can be spent earlier.
    """
    return all(
        one == two or "stopped by transient errors" in one or "are spent" in one
        for one, two in zip(end, other, strict=True)
    )
