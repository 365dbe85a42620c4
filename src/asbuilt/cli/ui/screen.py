"""Write to a terminal: answers to stdout, everything else to stderr.

Rule: text from outside asbuilt passes through `printable` before it reaches a terminal.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple, TextIO

from asbuilt.cli.ui import columns
from asbuilt.cli.ui.symbols import ASCII, UNICODE, Symbols
from asbuilt.errors import AnswerLost

WIDTH: Final = 80
_NARROWEST: Final = 40
# C0 and C1 control a terminal. Bidi overrides, tags and a stray byte order mark make text read as other text.
# A lone surrogate is a byte of a file name that is not UTF-8.
_HIDDEN: Final = (
    (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF), (0xE0000, 0xE007F), (0xD800, 0xDFFF),
)  # fmt: skip
_NAMED: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _is_hidden(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _HIDDEN)


def printable(text: str, *, lines: bool = False) -> str:
    """Escape control characters and characters that hide text; `lines` keeps line ends and tabs."""
    # Fast path for nearly all text. A regular expression with these ranges is expensive to compile.
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(
        _shown(char) if (char < " " or _is_hidden(char)) and char not in kept else char for char in text
    )


def _shown(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


class Pen(NamedTuple):
    """An output stream and what it can show."""

    stream: TextIO | None
    """None if the process was started with the stream closed."""
    styled: bool
    symbols: Symbols
    utf8: bool
    width: int = WIDTH
    is_live: bool = False
    """Whether rows can be redrawn: a terminal that supports cursor movement."""

    def bold(self, text: str) -> str:
        """Mark the subject, or the command to type next."""
        return self._style("1", text)

    def dim(self, text: str) -> str:
        """Mark ids, ages and digests."""
        return self._style("2", text)

    def green(self, text: str) -> str:
        """Mark what asbuilt itself has proven, and nothing else."""
        return self._style("32", text)

    def red(self, text: str) -> str:
        """Mark what failed or was refused."""
        return self._style("31", text)

    def yellow(self, text: str) -> str:
        """Mark what needs user action."""
        return self._style("33", text)

    def _style(self, code: str, text: str) -> str:
        safe = printable(text)
        return f"\x1b[{code}m{safe}\x1b[0m" if self.styled and safe else safe

    def line(self, text: str = "") -> None:
        """Write one line. Foreign text in it has already been through `printable` or a style."""
        if self.stream is None:
            return
        try:
            self.stream.write(text + "\n")
        except BrokenPipeError:
            raise
        except OSError as error:
            raise answer_lost(error) from error

    def flush(self) -> None:
        """Flush the stream, so that stdout and stderr stay in order."""
        if self.stream is None:
            return
        try:
            self.stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise answer_lost(error) from error

    def prompt(self, text: str) -> None:
        """Write a question and leave the cursor behind it."""
        if self.stream is not None:
            self.stream.write(f"{printable(text)} ")
            self.stream.flush()

    def hanging(self, lead: str, text: str, *, commands: bool = True, under: int | None = None) -> list[str]:
        """Wrap prose under its lead, or from column `under`.

        A `command in backticks` is shown bold without them and never broken. If it does not fit, it gets its
        own row. Only a command longer than a row makes a row wider than the stream.
        """
        indent = columns.width(lead) if under is None else under
        rows: list[str] = []
        row, taken, gap = lead, columns.width(lead), ""
        for shown, length in self._words(text, room=self.width - indent, commands=commands):
            is_alone = length > self.width - indent
            if (gap or taken > indent or is_alone) and taken + len(gap) + length > self.width:
                rows += [row.rstrip()] * bool(row.strip())
                row, taken, gap = " " * indent, indent, ""
            row, taken, gap = row + gap + shown, taken + len(gap) + length, " "
        return [*rows, row]

    def fitted(self, text: str) -> list[str]:
        """Break a sentence that is wider than the terminal between words; a file or a pipe gets it whole.

        A long path stays in one piece, so that it can be copied.
        """
        sentence = text.lstrip()
        room = self.width - (len(text) - len(sentence))
        is_short = columns.width(text) <= self.width
        if not self.is_live or is_short or "\x1b" in text or columns.width(max(text.split(), key=len)) > room:
            return [text]
        return self.hanging(text[: len(text) - len(sentence)], sentence, commands=False)

    def _words(self, text: str, *, room: int, commands: bool) -> list[tuple[str, int]]:
        parts = text.split("`") if commands and text.count("`") % 2 == 0 else [text]
        words: list[tuple[str, int]] = []
        glued = False
        for number, part in enumerate(parts):
            is_command = number % 2 == 1
            for index, word in enumerate([part] if is_command else part.split()):
                safe = printable(word)
                broken = [safe] if is_command else columns.pieces(safe, room)
                pieces = [
                    (self.bold(broken_word) if is_command else broken_word, columns.width(broken_word))
                    for broken_word in broken
                ]
                if glued and index == 0 and words and not part[:1].isspace():
                    before, so_far = words.pop()
                    pieces[0] = (before + pieces[0][0], so_far + pieces[0][1])
                words += pieces
            glued = is_command or not part[-1:].isspace()
        return words


def answer_lost(error: OSError) -> AnswerLost:
    """Build the error for an answer that could not be written."""
    return AnswerLost(
        f"the answer could not be written: {error.strerror or error}",
        why="A reader would get only a part of it.",
        next_step="Look at where the output goes (a full disk, a closed terminal), then repeat the command.",
    )


def pen_for(stream: TextIO | None, *, environ: Mapping[str, str], plain: bool, no_color: bool) -> Pen:
    """Detect what a stream can show: colour, Unicode, width and redrawing."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    utf8 = encoding.lower().replace("-", "").replace("_", "") == "utf8"
    dumb = environ.get("TERM") == "dumb"
    on_terminal = stream is not None and stream.isatty()
    colourless = no_color or bool(environ.get("NO_COLOR"))
    return Pen(
        stream=stream,
        styled=on_terminal and not (plain or dumb or colourless),
        symbols=UNICODE if utf8 and not (plain or dumb) else ASCII,
        utf8=utf8,
        width=_columns(stream) if stream is not None and on_terminal else WIDTH,
        is_live=on_terminal and bool(environ.get("TERM")) and not (plain or dumb),
    )


def _columns(terminal: TextIO) -> int:
    # Prose gets at most 80 columns, for legibility. A terminal of unknown size counts as 80 columns.
    try:
        columns = os.get_terminal_size(terminal.fileno()).columns or WIDTH
    except OSError:
        columns = WIDTH
    return max(_NARROWEST, min(columns, WIDTH))


class Screen(NamedTuple):
    """Both streams of a command, and its verbosity."""

    out: Pen
    err: Pen
    quiet: bool = False
    verbose: bool = False

    def answer(self, text: str = "") -> None:
        """Write one line of the answer."""
        self.out.line(text)

    def answer_all(self, rows: Iterable[str]) -> None:
        """Write lines of the answer."""
        for row in rows:
            self.answer(row)

    def talk(self, text: str = "") -> None:
        """Write one line of progress or a hint; -q silences it."""
        if self.quiet:
            return
        self.out.flush()
        # A closed stderr must not stop the work.
        with suppress(BrokenPipeError, AnswerLost):
            for row in self.err.fitted(text):
                self.err.line(row)

    def talk_all(self, rows: Iterable[str]) -> None:
        """Write lines of progress or of a hint."""
        for row in rows:
            self.talk(row)

    def emit_json(self, value: object) -> None:
        """Write a value as one line of JSON, with control and bidi characters escaped."""
        text = json.dumps(value, ensure_ascii=not self.out.utf8, separators=(",", ":"))
        if not text.isprintable():
            text = "".join(json.dumps(char)[1:-1] if _is_hidden(char) else char for char in text)
        self.out.line(text)


def screen_for(
    *, environ: Mapping[str, str], plain: bool, no_color: bool, quiet: bool, verbose: bool
) -> Screen:
    """Build the screen from this process's stdout and stderr."""
    return Screen(
        out=pen_for(sys.stdout, environ=environ, plain=plain, no_color=no_color),
        err=pen_for(sys.stderr, environ=environ, plain=plain, no_color=no_color),
        quiet=quiet,
        verbose=verbose,
    )
