"""What a stream can show is decided by the stream, and text of others never steers it."""

from __future__ import annotations

import io
import json
import pty
import termios
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.cli.ui.columns import cut_middle
from asbuilt.cli.ui.screen import Pen, Screen, pen_for, printable
from asbuilt.cli.ui.symbols import ASCII, UNICODE

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


class Terminal(io.TextIOWrapper):
    """A terminal that keeps what it was shown."""

    def __init__(self, encoding: str = "utf-8", *, tty: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty

    def shown(self) -> bytes:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue()


def _pen(
    terminal: Terminal | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    plain: bool = False,
    no_color: bool = False,
) -> Pen:
    return pen_for(terminal or Terminal(), environ=environ or {}, plain=plain, no_color=no_color)


def test_a_terminal_shows_styles_and_symbols() -> None:
    pen = _pen()
    assert pen.bold("a") + pen.dim("b") + pen.green("c") + pen.red("d") + pen.yellow("e") == snapshot(
        "\x1b[1ma\x1b[0m\x1b[2mb\x1b[0m\x1b[32mc\x1b[0m\x1b[31md\x1b[0m\x1b[33me\x1b[0m"
    )
    assert pen.symbols == UNICODE


@pytest.mark.parametrize(
    ("pen", "symbols"),
    [
        (_pen(environ={"NO_COLOR": "1"}), UNICODE),
        (_pen(no_color=True), UNICODE),
        (_pen(Terminal(tty=False)), UNICODE),
        (_pen(environ={"TERM": "dumb"}), ASCII),
        (_pen(plain=True), ASCII),
        (pen_for(None, environ={}, plain=False, no_color=False), UNICODE),
    ],
)
def test_styles_are_off_where_they_are_not_wanted(pen: Pen, symbols: object) -> None:
    assert (pen.bold("a"), pen.symbols) == ("a", symbols)


def test_an_empty_no_color_is_no_wish() -> None:
    assert _pen(environ={"NO_COLOR": ""}).styled


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1250"])
def test_a_stream_without_utf8_gets_ascii_symbols(encoding: str) -> None:
    assert _pen(Terminal(encoding)).symbols == ASCII


@given(ANY_TEXT, st.sampled_from(["utf-8", "ascii", "latin-1", "utf-16"]))
def test_no_text_can_stop_a_line(text: str, encoding: str) -> None:
    terminal = Terminal(encoding)
    _pen(terminal).line(printable(text))
    assert terminal.shown().decode(encoding).endswith("\n")


@given(ANY_TEXT)
def test_printable_text_is_one_harmless_line(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 or 0xD800 <= ord(one) < 0xE000 for one in shown)
    assert not any(0x202A <= ord(one) <= 0x202E or 0x2066 <= ord(one) <= 0x2069 for one in shown)
    assert printable(shown) == shown


@given(ANY_TEXT.map(lambda text: "".join(filter(str.isprintable, text))))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_what_is_hidden_is_made_visible() -> None:
    assert printable("a\tb\nc\r\x1b[31m\x9b\u202e\ufeff\udcff\ud800\U000e0041") == snapshot(
        "a\\tb\\nc\\r\\x1b[31m\\x9b\\u202e\\ufeff\\xff\\ud800\\U000e0041"
    )
    assert printable("a\tb\nc\r", lines=True) == snapshot("""\
a	b
c\\r\
""")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | ANY_TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from(["utf-8", "ascii", "latin-1"]),
)
def test_json_is_one_harmless_line_that_reads_back(value: object, encoding: str) -> None:
    terminal = Terminal(encoding)
    pen = _pen(terminal)
    Screen(out=pen, err=pen).emit_json(value)
    text = terminal.shown().decode(encoding)
    assert printable(text.removesuffix("\n")) + "\n" == text
    assert json.loads(text) == json.loads(json.dumps(value))


def _talkative(screen: Screen) -> None:
    screen.answer("answer")
    screen.talk("talk")


@pytest.mark.parametrize(
    ("quiet", "heard"),
    [(False, b"talk\n"), (True, b"")],
)
def test_the_answer_is_on_stdout_and_all_talk_on_stderr(quiet: bool, heard: bytes) -> None:  # noqa: FBT001 - cases of a table
    out, err = Terminal(), Terminal()
    _talkative(Screen(out=_pen(out), err=_pen(err), quiet=quiet))
    assert (out.shown(), err.shown()) == (b"answer\n", heard)


def test_talk_that_nobody_hears_stops_no_work() -> None:
    class Deaf(Terminal):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    out = Terminal()
    _talkative(Screen(out=_pen(out), err=_pen(Deaf())))
    assert out.shown() == b"answer\n"


@given(st.text("aé漢.` ", max_size=400))
def test_wrapping_keeps_every_word_within_eighty_columns(text: str) -> None:
    rows = _pen(no_color=True).hanging("  Why:  ", text, commands=False)
    assert " ".join(rows).split() == ["Why:", *text.split()]
    assert [row for row in rows if len(row) > 80 and len(row[8:].split()) > 1] == []
    assert [row for row in rows[1:] if not row.startswith(" " * 8)] == []


@given(st.text("aé漢. ", max_size=400), st.integers(40, 80), st.integers(0, 20))
def test_wrapping_keeps_within_the_width_and_goes_on_under_a_column(
    text: str, width: int, under: int
) -> None:
    rows = _pen(no_color=True)._replace(width=width).hanging("lead ", text, commands=False, under=under)
    assert " ".join(rows).split() == ["lead", *text.split()]
    assert [row for row in rows if len(row) > width and len(row[under:].split()) > 1] == []
    assert [row for row in rows[1:] if row[:under].strip()] == []


@pytest.mark.parametrize(("columns", "width"), [(0, 80), (20, 40), (60, 60), (200, 80)])
def test_prose_is_as_wide_as_the_terminal_and_no_wider_than_can_be_read(columns: int, width: int) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with open(ours, "rb"), open(theirs, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - descriptors
        assert pen_for(terminal, environ={}, plain=False, no_color=False).width == width


@given(
    st.lists(
        st.tuples(st.sampled_from(["asbuilt plan list", "cd"]), st.sampled_from(["", ",", " or"])), min_size=1
    )
)
def test_wrapping_never_breaks_a_command(told: list[tuple[str, str]]) -> None:
    rows = _pen(no_color=True).hanging("", " ".join(f"`{command}`{after}" for command, after in told))
    assert " ".join(rows) == " ".join(command + after for command, after in told)
    assert sum(row.count("asbuilt plan list") for row in rows) == [command for command, _ in told].count(
        "asbuilt plan list"
    )


def test_a_path_is_cut_in_its_middle() -> None:
    path = "src/api/limits/store/redis/client.py"
    assert [
        cut_middle(path, 20, UNICODE),
        cut_middle(path, 20, ASCII),
        cut_middle(path, 36, ASCII),
    ] == snapshot(["src/api/l…/client.py", "src/api/...client.py", "src/api/limits/store/redis/client.py"])


def test_a_long_sentence_breaks_between_words_at_a_terminal_and_nowhere_else() -> None:
    text = "  Continues login.1; its accepted outputs and your answers are reused."
    pen = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True, width=40, is_live=True)
    assert pen.fitted(text) == [
        "  Continues login.1; its accepted",
        "  outputs and your answers are reused.",
    ]
    assert pen._replace(is_live=False).fitted(text) == [text]
    assert pen.fitted("  short") == ["  short"]
    path = f"Your text is kept: plans/{'x' * 40}.md"
    assert pen.fitted(path) == [path]
