"""Ask the user a run's question at the terminal. Without an answer, the run keeps waiting."""

from __future__ import annotations

import sys
import termios
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from asbuilt import wiring
from asbuilt.cli.runs.decisions import decide
from asbuilt.cli.shell.site import Site, asker
from asbuilt.cli.ui.confirm import typed
from asbuilt.cli.ui.questions import below, is_slip
from asbuilt.cli.ui.screen import printable
from asbuilt.flows.requests import answer

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.journal.approvals import Answer, Approval
    from asbuilt.journal.queries.overview import RunView

_KEYS: Final = "y yes   n no, and why   Enter later >"
_OPEN_KEYS: Final = "a letter, words of your own, or no; Enter later >"


def answered(door: Door, site: Site, view: RunView) -> bool:
    """Ask the run's first question. Return True if it is answered, here or meanwhile elsewhere."""
    if view.is_paused or not view.questions or not door.may_ask or not door.screen.err.is_live:
        return False
    asked = view.questions[0]
    if asked.kind == "plan":
        if view.run.options.by_pull:
            return False
        return decide(door, site, asked, is_followed=True)
    said = _said(door, view.name, asked)
    if said is None:
        return False
    word, note = said
    run = view.run
    counts, now = answer(
        site.journal.store, run.org, run.repo, asked.number, said=word, note=note, asker=asker(door)
    )
    if counts:
        wiring.ensure_worker(site.journal.home, door.environ)
    else:
        door.screen.talk(printable(f"{now.name} was already answered: {now.answer}, by {now.answered_by}."))
    return True


def _said(door: Door, name: str, asked: Approval) -> tuple[Answer, str | None] | None:
    """Read a yes, or a no and its reason; None if the user gave neither."""
    pen = door.screen.err
    for row in pen.hanging(f"{pen.symbols.waits} ", f"{name} asks {asked.name}: {asked.gist}"):
        pen.line(row)
    for row in below(pen, asked):
        pen.line(row)
    is_open = asked.kind == "question"
    keys = _OPEN_KEYS if is_open else _KEYS
    try:
        while True:
            # Discard input that was typed before the question was shown.
            with suppress(termios.error):
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
            word = typed(door, keys)
            match word.casefold():
                case "":
                    return None
                case "y" | "yes":
                    return "yes", None
                case "n" | "no":
                    return "no", (None if is_open else typed(door, "Why? >") or None)
                case _ if is_open and not is_slip(asked, word):
                    return "yes", word
            door.screen.talk(printable(f'"{word}" is no answer; nothing was recorded.'))
    except KeyboardInterrupt:
        pen.line()
    return None
