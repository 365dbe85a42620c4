"""Two viewers of a run: a region that is redrawn on a terminal, and lines elsewhere.

Both get the same input. A viewer never changes the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Final, NamedTuple

from asbuilt.cli.live.finished import Story
from asbuilt.cli.live.frame import Moment, frame, last_sign
from asbuilt.cli.live.note_line import Keyboard, typed_on
from asbuilt.cli.live.region import Region
from asbuilt.cli.live.rows import Piece, Row
from asbuilt.cli.ui.clock import to_the_second
from asbuilt.cli.ui.columns import shorten_sentence
from asbuilt.cli.ui.failure import failure_rows
from asbuilt.cli.ui.screen import WIDTH, Screen, printable
from asbuilt.cli.wording.events import event_line
from asbuilt.cli.wording.moves import at_work
from asbuilt.events.event import Entry
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.failure import Failure

_SILENCE_S: Final = 300


class News(NamedTuple):
    """An event, the evidence it names, and its failures."""

    entry: Entry
    shown: Sequence[Evidence] = ()
    failures: Sequence[Failure] = ()


class Viewer:
    """Shows a run. Without more, it changes no terminal, rings no bell and reads no keys."""

    def __init__(self) -> None:
        self._failed: set[tuple[str, str, str]] = set()

    def held(self) -> AbstractContextManager[None]:
        """Use the terminal, and restore it at the end."""
        return nullcontext()

    def show(self, news: Sequence[News], moment: Moment) -> None:
        """Show new events, and the current state."""
        raise NotImplementedError

    def _failure(self, failure: Failure, width: int) -> Iterator[str]:
        """Draw a failure; the lines of a repeated one are not drawn again."""
        is_repeated = bool(failure.lines) and failure.same in self._failed
        self._failed.add(failure.same)
        return failure_rows(failure, width, is_repeated=is_repeated)

    def ring(self) -> None:
        """Alert the user."""

    def wait(self, seconds: float) -> Sequence[str]:
        """Wait until the next poll; return the notes that the user has typed."""
        time.sleep(seconds)
        return ()


class LiveViewer(Viewer):
    """Redraws the last rows of a terminal; finished rows scroll above them."""

    def __init__(self, region: Region, *, bell: bool, person: str, keyboard: Keyboard | None = None) -> None:
        """Draw in `region`. The user types notes on `keyboard`, if there is one."""
        super().__init__()
        self._region = region
        self._keyboard = keyboard
        self._note: str | None = None
        self._typed_at = 0.0
        self._sent: list[str] = []
        self._bell = bell
        self._story = Story(person)

    def held(self) -> AbstractContextManager[None]:
        """Restore the terminal and its cursor at the end."""
        return self._region.held()

    def show(self, news: Sequence[News], moment: Moment) -> None:
        """Scroll finished rows out, and redraw the current state."""
        canvas = self._region.canvas
        titles = {phase.id: phase.title for phase in moment.view.phases}
        above: list[Row] = []
        for new in news:
            self._story.record(new.entry, new.shown)
            above += self._story.finished(titles, canvas)
            for failure in new.failures[:1]:
                rows = self._failure(failure, canvas.width)
                above += [canvas.fitted((Piece(canvas.verbatim(row)),)) for row in rows]
        for text in self._sent:
            above += canvas.wrapped(
                f"{canvas.symbols.note} ", canvas.safe(f"note for the next attempt: {text}")
            )
        self._sent = []
        mending = self._story.mending(moment.view.waits_for.phase)
        shown = moment._replace(failures=mending, may_note=self._keyboard is not None, note=self._note)
        self._region.draw(frame(shown, canvas), above=above)

    def ring(self) -> None:
        """Ring the bell, unless it is turned off."""
        if self._bell:
            self._region.ring()

    def wait(self, seconds: float) -> Sequence[str]:
        """Wait for the next poll or a key; return finished notes."""
        if self._keyboard is None:
            return super().wait(seconds)
        if not (keys := self._keyboard.keys(seconds)):
            return ()
        now = time.monotonic()
        self._note, finished = typed_on(self._note, keys, after_s=now - self._typed_at)
        self._typed_at = now
        self._sent += finished
        return finished


class LineViewer(Viewer):
    """Writes the run's name, a line for every event, and one after five minutes without an event."""

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen
        self._spoke_at: datetime | None = None
        self._was_served = True
        self._is_named = False

    def show(self, news: Sequence[News], moment: Moment) -> None:
        """Write new events as lines."""
        wide = _wide(moment)
        lines = [line for new in news for line in self._lines(new, moment.now, wide)]
        if lines and not self._is_named:
            self._is_named = True
            lines.insert(0, moment.view.name)
        if moment.is_served != self._was_served:
            self._was_served = moment.is_served
            news_of_it = "running again" if moment.is_served else "not running; the run waits"
            lines.append(_line(moment, "WORKER", news_of_it))
        if self._spoke_at is None or lines:
            self._spoke_at = moment.now
        elif (moment.now - self._spoke_at).total_seconds() >= _SILENCE_S:
            self._spoke_at = moment.now
            lines.append(_line(moment, "ALIVE", alive(moment)))
        for line in lines:
            self._screen.talk(shorten_sentence(printable(line), WIDTH, self._screen.err.symbols))

    def _lines(self, news: News, now: datetime, wide: int) -> Iterator[str]:
        line = line_of(self._screen, news.entry, now, wide=wide)
        if line is not None:
            yield line
            for failure in news.failures[:1]:
                yield from self._failure(failure, WIDTH)


def viewer_for(screen: Screen, *, bell: bool, person: str, may_note: bool = False) -> Viewer:
    """Choose a viewer by terminal and verbosity; with `may_note`, `person` can type notes in a live view."""
    if screen.err.is_live and not screen.quiet and not screen.verbose:
        keyboard = Keyboard() if may_note else None
        return LiveViewer(Region(screen.err, keyboard), bell=bell, person=person, keyboard=keyboard)
    return LineViewer(screen)


def alive(moment: Moment) -> str:
    """Return who is at work, and its last sign."""
    if moment.activity is not None:
        return f"{moment.activity.who} {last_sign(moment.activity, moment)}"
    waits = moment.view.waits_for
    if waits.kind == "asbuilt":
        return f"asbuilt {at_work(waits)}"
    return f"parked: {waits.why}"


def _line(moment: Moment, word: str, text: str) -> str:
    phase = moment.view.waits_for.phase or "-"
    lead = f"{to_the_second(moment.now.isoformat(), moment.now)} {phase:<{_wide(moment)}}"
    return f"{lead} {word:<9} {text}"


def _wide(moment: Moment) -> int:
    return max([3, *(len(phase.id) for phase in moment.view.phases)])


def line_of(screen: Screen, entry: Entry, now: datetime, *, wide: int = 3) -> str | None:
    """Format an event as one line; None for bookkeeping, except with --verbose. `wide`: width of the ids."""
    line = event_line(entry)
    if not line.is_news and not screen.verbose:
        return None
    return f"{to_the_second(entry.at, now)} {line.phase:<{wide}} {line.word:<9} {line.text}"
