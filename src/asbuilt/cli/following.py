"""Look on while a run goes its way: a line for every event, until it ends or waits for a person.

The one rule: looking on changes nothing; whoever stops looking leaves the run as it is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from asbuilt.cli.clock import parsed
from asbuilt.cli.screen import WIDTH, printable
from asbuilt.cli.telling import told
from asbuilt.journal import runs
from asbuilt.journal.events import history
from asbuilt.journal.views import run_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.cli.screen import Screen
    from asbuilt.journal.events import Event
    from asbuilt.journal.runs import Run
    from asbuilt.journal.views import RunView
    from asbuilt.wiring import Journal

_LOOK_S: Final = 0.2


def follow(screen: Screen, journal: Journal, run: Run, *, alive: Callable[[], bool]) -> RunView:
    """Show what happens to a run until it is over or waits for a person; `alive` keeps a worker going."""
    seen = 0
    while True:
        with journal.store.read() as session:
            news = history(session, run.address, after=seen)
            found = runs.find(session, run.org, run.repo, run.run)
            view = run_view(session, journal.blobs, found or run)
        for event in news:
            seen = event.seq
            if event.data.get("run") == run.run:
                show(screen, view.name, event)
        if view.run.is_over or view.waits_for_a_person:
            return view
        alive()
        time.sleep(_LOOK_S)


def show(screen: Screen, name: str, event: Event) -> None:
    """Show an event as one line; bookkeeping only when more was asked for."""
    line = told(event)
    if line.is_news or screen.verbose:
        text = f"{clock_time(event.at)} {name} {line.phase:<3} {line.word:<9} {line.text}"
        screen.talk(shortened(printable(text), screen))


def shortened(text: str, screen: Screen) -> str:
    """Keep a line within the screen; its end tells least."""
    ellipsis = screen.err.symbols.ellipsis
    return text if len(text) <= WIDTH else text[: WIDTH - len(ellipsis)] + ellipsis


def clock_time(at: str) -> str:
    """Give the local time of an event to the second."""
    return parsed(at).astimezone().strftime("%H:%M:%S")
