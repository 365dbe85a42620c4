"""Redraw rows at the end of a terminal without flicker; finished rows scroll above them.

Rule: between two frames the cursor is on the region's first row. After a resize the terminal has rewrapped
its rows, and the next frame still starts at the right place.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

from asbuilt.cli.live.rows import Canvas, Row
from asbuilt.cli.ui.screen import WIDTH, Pen

if TYPE_CHECKING:
    from asbuilt.cli.live.note_line import Keyboard

_LEAST: Final = 20
_ROWS: Final = 24
# Clear before a row, not after it: in the last column the cursor is still on the last character.
_CLEAR: Final = "\x1b[K"
_CLEAR_ALL: Final = "\x1b[J"
# Synchronized update: show a frame at once, where the terminal supports it. Without line wrap a row never
# takes two.
_BEGIN: Final = "\x1b[?2026h\x1b[?25l\x1b[?7l"
_END: Final = "\x1b[?7h\x1b[?2026l"
_SHOW_CURSOR: Final = "\x1b[?25h"
_TERMINATED: Final = 128 + signal.SIGTERM


class Region:
    """The last rows of a terminal."""

    def __init__(self, pen: Pen, keyboard: Keyboard | None = None) -> None:
        """Draw with `pen`; `keyboard` is taken while the region is held."""
        self._pen = pen
        self._keyboard = keyboard
        self._drawn: str | None = None
        self._is_gone = False

    @property
    def canvas(self) -> Canvas:
        """Return the canvas for the current size of the terminal."""
        try:
            size = os.get_terminal_size(self._pen.stream.fileno() if self._pen.stream else 2)
        except OSError:
            size = os.terminal_size((WIDTH, _ROWS))
        width = max(_LEAST, min(size.columns or WIDTH, WIDTH))
        return Canvas(width, max(1, size.lines or _ROWS), self._pen.symbols)

    def draw(self, rows: Sequence[Row], *, above: Sequence[Row] = ()) -> None:
        """Replace the region's rows; rows in `above` become permanent."""
        finished = "".join(f"{_CLEAR}{self._painted(row)}\n" for row in above)
        *lines, last = map(self._painted, rows)
        up = f"\x1b[{len(lines)}A" if lines else ""
        drawn = "".join(f"{_CLEAR}{line}\n" for line in lines) + f"{_CLEAR_ALL}{last}{up}\r"
        if finished or drawn != self._drawn:
            self._write(f"{_BEGIN}\r{finished}{drawn}{_END}")
            self._drawn = drawn

    def ring(self) -> None:
        """Ring the terminal's bell."""
        self._write("\a")

    def close(self) -> None:
        """Clear the region. The next frame is drawn below what is printed in between."""
        if self._drawn is not None:
            self._write(f"\r{_CLEAR_ALL}{_SHOW_CURSOR}")
            self._drawn = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Restore the terminal at the end, also on SIGTERM and on suspend (Ctrl-Z)."""
        before = {
            signal.SIGTERM: signal.signal(signal.SIGTERM, self._terminated),
            signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._suspended),
        }
        try:
            self._take_keys()
            yield
        finally:
            self.close()
            self._release_keys()
            for number, way in before.items():
                signal.signal(number, way)

    def _painted(self, row: Row) -> str:
        pen = self._pen
        styles = {"bold": pen.bold, "dim": pen.dim, "green": pen.green, "red": pen.red, "yellow": pen.yellow}
        return "".join(styles[piece.style](piece.text) if piece.style else piece.text for piece in row)

    def _write(self, text: str) -> None:
        stream = self._pen.stream
        if stream is None or self._is_gone:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            # The terminal is closed. The run continues.
            self._is_gone = True

    def _terminated(self, _number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(_TERMINATED)

    def _suspended(self, number: int, _frame: FrameType | None) -> None:
        self.close()
        self._release_keys()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._suspended)
        self._take_keys()

    def _take_keys(self) -> None:
        if self._keyboard is not None:
            self._keyboard.take()

    def _release_keys(self) -> None:
        if self._keyboard is not None:
            self._keyboard.release()
