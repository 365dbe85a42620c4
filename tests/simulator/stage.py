"""Time and turns. The one rule: whatever happens, happens here, one thing at a time, in an order by chance.

An actor is a process or a thread of the world. It runs until a point, and at every point it may be stopped,
killed, or kept waiting while others act. Where all wait, time passes to what happens next.
"""

from __future__ import annotations

import heapq
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
_POINT_S: Final = 0.002
_SWITCHES: Final = 0.12
"""How often an actor that could go on lets others go first."""
_IDLE: Final = 6
"""How often who polls looks again although nothing has changed, before all is at rest."""


class Killed(BaseException):
    """The process that this runs in is dead."""


class Unlawful(BaseException):
    """Something has happened that never may."""


class Process:
    """A process of asbuilt's own, which can be killed or stopped."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dead = False
        self.frozen = False


class Actor:
    """Somebody who acts, in a process that can be killed or without one."""

    def __init__(self, name: str, process: Process | None) -> None:
        self.name = name
        self.process = process
        self.wake_at = 0.0
        self.polls = False
        self.is_clockwork = False
        """It beats for ever; nothing comes to an end by it."""
        self.seen = 0
        self.memory: Any = None
        self.turn: greenlet


class Stage:
    """Where everything of one simulation takes place."""

    def __init__(self, order: Random) -> None:
        self.now = 0.0
        """How long it all has taken: what nobody can set."""
        self.skew = 0.0
        """How far the clock on the wall was set forward."""
        self.points = 0
        self.changes = 0
        """How often something has changed that somebody who polls could see."""
        self.news = 0
        """How often something else than a beat has."""
        self.trace: list[str] = []
        self.current: Actor | None = None
        self.actors: list[Actor] = []
        self.is_held = False
        """Inside a transaction: others wait."""
        self.strike: Callable[[int, Actor], None] = lambda _point, _actor: None
        self.struck: frozenset[int] = frozenset()
        """The points at which something befalls whoever passes them."""
        self.passes: Callable[[float], None] = lambda _until: None
        """What becomes of things while time passes."""
        self._order = order
        self._urgent: list[Actor] = []
        self._happenings: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._at = (0.0, stamp(0.0))
        self._is_over = False
        self._idle = 0
        self._settled = 0
        self._main = getcurrent()

    @property
    def at(self) -> str:
        """The time as the journal writes it."""
        wall = self.now + self.skew
        if self._at[0] != wall:
            self._at = (wall, stamp(wall))
        return self._at[1]

    def tell(self, what: str) -> None:
        """Note what happens."""
        name = self.current.name if self.current else "-"
        self.trace.append(f"{self.now:10.3f} {name:<12} {what}")

    def change(self) -> None:
        """Note that something has changed that others could see; a beat is no news."""
        self.changes += 1
        self.news += self.current is None or not self.current.is_clockwork

    def later(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let something happen after a while."""
        heapq.heappush(self._happenings, (self.now + delay_s, next(self._numbers), act))

    def intrude(self, actor: Actor, points: int) -> None:
        """Let somebody act after so many points, whoever acts then: what is rare is aimed at."""
        actor.wake_at = self.now + points * _POINT_S
        self._urgent.append(actor)

    def enter(self, name: str, process: Process | None, act: Callable[[], None]) -> Actor:
        """Let somebody begin to act."""
        actor = Actor(name, process)

        def play() -> None:
            try:
                act()
            except Killed:
                self.tell("dies")

        actor.turn = greenlet(play, parent=self._main)
        actor.wake_at = self.now
        self.actors.append(actor)
        return actor

    def point(self) -> None:
        """Pass a place at which an actor can be killed, stopped, or overtaken."""
        actor = self.current
        if actor is None:
            return
        self._live(actor)
        if actor.process is not None:
            self.points += 1
            self.now += _POINT_S
            if self.points in self.struck:
                self.strike(self.points, actor)
                self._live(actor)
        if self.is_held:
            return
        if self._order.random() < _SWITCHES or (self._urgent and self._intruder() is not None):
            self._leave(actor)

    def sleep(self, seconds: float, *, polls: bool = False) -> None:
        """Wait; who only polls is not woken before something has changed."""
        actor = self.current
        if actor is None:
            return
        actor.wake_at, actor.polls, actor.seen = self.now + seconds, polls, self.changes
        self._leave(actor)

    def play(self, *, limit: int) -> None:
        """Let everybody act until nothing is left that would happen by itself."""
        self._idle = 0
        for _ in range(limit):
            self._bury()
            self._happen()
            ready = [
                one
                for one in self.actors
                if one.wake_at <= self.now and not (one.process and one.process.frozen)
            ]
            if ready:
                self._resume(self._intruder() or self._order.choice(ready))
            elif not self._pass():
                return
        raise Unlawful(f"no end after {limit} turns")

    def close(self) -> None:
        """End everybody, so that nothing of this world happens in the next one."""
        self._is_over = True
        for actor in self.actors:
            self._end(actor)

    def _intruder(self) -> Actor | None:
        return next((one for one in self._urgent if one.wake_at <= self.now), None)

    def _pass(self) -> bool:
        """Let time pass until something happens; False when nothing would."""
        awake = [one for one in self.actors if not (one.process and one.process.frozen)]
        times = [one.wake_at for one in awake if not one.polls and not one.is_clockwork]
        times += [at for at, _, _ in self._happenings[:1]]
        if times or self._settled != self.news:
            self._idle, self._settled = 0, self.news
        times += [one.wake_at for one in awake if one.polls and one.seen != self.changes]
        beats = [one.wake_at for one in awake if one.is_clockwork]
        if not times:
            # Where there are beats, what nobody hears of any more is missed only after some of them.
            if not awake or self._idle == _IDLE * (2 if beats else 1):
                return False
            self._idle += 1
            times = beats if self._idle > _IDLE else [one.wake_at for one in awake]
        until = max(self.now, min(times + beats))
        self.passes(until)
        self.now = until
        for one in awake:
            if one.polls and (one.seen != self.changes or self._idle):
                one.wake_at = min(one.wake_at, until)
        return True

    def _happen(self) -> None:
        while self._happenings and self._happenings[0][0] <= self.now:
            heapq.heappop(self._happenings)[2]()
            self.change()

    def _bury(self) -> None:
        for actor in [one for one in self.actors if one.process and one.process.dead]:
            self._end(actor)
            self.actors.remove(actor)

    def _end(self, actor: Actor) -> None:
        self.current = actor
        if actor.turn:
            actor.turn.throw(Killed)
        self.current = None

    def _resume(self, actor: Actor) -> None:
        self.current, actor.polls = actor, False
        if actor in self._urgent:
            self._urgent.remove(actor)
        actor.turn.switch()
        self.current = None
        if actor.turn.dead:
            self.change()
            self.actors.remove(actor)

    def _leave(self, actor: Actor) -> None:
        self._main.switch()
        self._live(actor)

    def _live(self, actor: Actor) -> None:
        if self._is_over or (actor.process is not None and actor.process.dead):
            raise Killed


def stamp(now: float) -> str:
    """Write a time as the journal does."""
    moment = _EPOCH + timedelta(seconds=now)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> float:
    """Read a time that the journal wrote."""
    return (datetime.fromisoformat(text) - _EPOCH).total_seconds()
