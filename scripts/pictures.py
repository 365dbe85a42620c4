"""Take pictures of the demo in a real terminal, at five moments. --check compares them with docs/pictures.

A moment is known from the journal, and taken when the screen has come to rest: the agent then pauses.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from stable import stable
from svg import DARK, LIGHT, drawn, plain

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.window import PATIENCE_S, Window

ROOT: Final = Path(__file__).parent.parent
PICTURES: Final = ROOT / "docs/pictures"
NOT_RUN: Final = 3
COLUMNS: Final = 80
_ROWS: Final = 36
_PACES: Final = (5, 10, 30)
_REST_S: Final = 1.0
_NO_SIGN: Final = "no sign yet"
"""What the screen shows of an agent until its first event; on a busy machine it lasts for seconds."""


class Moment(NamedTuple):
    """When a picture is taken: while an attempt is under way, or at the end."""

    name: str
    title: str
    attempt: tuple[str, int] | None


MOMENTS: Final = (
    Moment("1-working", "asbuilt demo: an agent works on the first phase", ("1", 1)),
    Moment("2-gap", "asbuilt demo: a verifier has found a gap, and it is being fixed", ("2a", 2)),
    Moment("3-last-phase", "asbuilt demo: three phases are proven", ("3", 1)),
    Moment("4-lie", "asbuilt demo: the agent said that all tests pass; asbuilt rejects its change", ("3", 2)),
    Moment("5-landed", "asbuilt demo: all four phases are proven and have landed", None),
)


class Terminal(Window):
    """A window in which the demo runs."""

    def __init__(self, folder: Path, pace: int) -> None:
        self._demo: Path | None = None
        python = Path(sys.executable).parent
        environ = {
            "HOME": str(folder), "PATH": f"{python}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        typed = f"echo '$ asbuilt demo'; asbuilt demo --pace {pace}; exec cat"
        super().__init__("/bin/sh", "-c", typed, folder=folder, environ=environ, size=(COLUMNS, _ROWS))

    def shows(self) -> str:
        """Give what the screen shows now, with its styles."""
        return self.tmux("capture-pane", "-p", "-e")

    def at_rest(self) -> str:
        """Give what it shows when only what always varies has changed for a while."""
        shown, since = self.shows(), time.monotonic()
        until = since + PATIENCE_S
        while time.monotonic() - since < _REST_S and time.monotonic() < until:
            time.sleep(0.1)
            now = self.shows()
            if stable(plain(now)) != stable(plain(shown)):
                since = time.monotonic()
            shown = now
        return shown

    def demo(self) -> Path | None:
        """Find the demo's folder by what it says of itself."""
        if self._demo is None:
            said = re.search(r"It works in (/\S+/asbuilt-demo-\w+)", plain(self.shows()))
            self._demo = Path(said[1]) if said else None
        return self._demo

    def last_event(self) -> tuple[str, str, int] | None:
        """Give the newest event that tells of an attempt: its kind, phase and number."""
        demo = self.demo()
        if demo is None or not (demo / "state/journal.db").exists():
            return None
        with closing(sqlite3.connect(f"file:{demo / 'state/journal.db'}?mode=ro", uri=True)) as journal:
            if not journal.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchall():
                return None
            rows = journal.execute(
                "SELECT kind, json_extract(data, '$.phase'), json_extract(data, '$.number') FROM events"
                " WHERE kind LIKE 'attempt.%' ORDER BY seq DESC LIMIT 1"
            ).fetchall()
        return rows[0] if rows else None

    def is_over(self) -> bool:
        """Tell whether the demo has removed its folder, which is the last thing it does."""
        demo = self.demo()
        return demo is not None and not demo.exists()


class Missed(Exception):
    """The machine was too busy to see a moment before it was over."""


def _taken(terminal: Terminal, moment: Moment) -> str:
    """Wait for a moment and take it while it lasts."""
    now = None if moment.attempt is None else ("attempt.begun", *moment.attempt)
    until = time.monotonic() + PATIENCE_S
    while not (terminal.is_over() if now is None else terminal.last_event() == now):
        if time.monotonic() > until or (now is not None and terminal.is_over()):
            raise Missed(moment.name)
        time.sleep(0.1)
    shown = terminal.at_rest()
    while now is not None and _NO_SIGN in plain(shown) and terminal.last_event() == now:
        shown = terminal.at_rest()
    if now is not None and terminal.last_event() != now:
        raise Missed(moment.name)
    return shown


def take(pace: int) -> dict[str, str]:
    """Run the demo once and give every file that is made of it."""
    made: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory(prefix="pictures-", ignore_cleanup_errors=True) as folder,
        Terminal(Path(folder), pace) as terminal,
    ):
        for moment in MOMENTS:
            shown = _taken(terminal, moment)
            made[f"{moment.name}.txt"] = plain(shown)
            for name, theme in (("light", LIGHT), ("dark", DARK)):
                svg = drawn(shown, columns=COLUMNS, theme=theme, title=moment.title)
                made[f"{moment.name}-{name}.svg"] = svg
    return made


def take_patiently() -> dict[str, str]:
    """Take them as quickly as this machine can; a busy one needs longer pauses."""
    for pace in _PACES[:-1]:
        with suppress(Missed):
            return take(pace)
    return take(_PACES[-1])


def _said(picture: str) -> str:
    """Give what a picture says and in which colours; an age of two digits moves what is beside it."""
    return stable(re.sub(r' (?:x|textLength)="[^"]*"', "", picture))


def main() -> int:
    """Take the pictures anew, keeping those that show the same; or say which ones do not."""
    if shutil.which("tmux") is None:
        print("NOT RUN: there is no tmux to show the demo in")
        return NOT_RUN
    stale = 0
    for name, text in take_patiently().items():
        file = PICTURES / name
        if file.exists() and _said(file.read_text(encoding="utf-8")) == _said(text):
            continue
        if "--check" in sys.argv:
            stale = 1
            print(f"docs/pictures/{name} does not show what is seen now. Next: just pictures", text, sep="\n")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
