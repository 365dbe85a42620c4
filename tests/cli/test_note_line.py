"""Notes for the agent, typed below the live view of a run."""

from __future__ import annotations

import fcntl
import os
import pty
import termios
import time

from asbuilt.cli.live.frame import frame
from asbuilt.cli.live.note_line import Keyboard, typed_on
from asbuilt.cli.live.rows import text_of
from tests.cli.live import WIDE, WORKS


def test_m_opens_the_line_and_enter_finishes_the_note() -> None:
    assert typed_on(None, "mhello\r") == (None, ["hello"])
    assert typed_on(None, "m") == ("", [])
    assert typed_on("hel", "lo") == ("hello", [])
    assert typed_on("hello", "\x7f\x7fp me \r") == (None, ["help me"])
    assert typed_on("hello", "\x15bye") == ("bye", [])


def test_a_command_that_is_typed_too_early_becomes_no_note() -> None:
    assert typed_on(None, "git status\r") == (None, [])
    assert typed_on(None, "rm plans/x.md\r") == (None, [])
    assert typed_on(None, "r") == (None, [])
    assert typed_on(None, "m", after_s=0.2) == (None, [])
    assert typed_on(None, "m", after_s=1.2) == ("", [])


def test_escape_and_an_empty_line_send_nothing_and_arrows_do_nothing() -> None:
    assert typed_on("hello", "\x1b") == (None, [])
    assert typed_on("  ", "\r") == (None, [])
    assert typed_on("hello", "\x1b[A\x1b[3~\x1bOB") == ("hello", [])
    assert typed_on("x" * 240, "y\x00") == ("x" * 240, [])


def test_the_end_of_a_long_note_is_shown() -> None:
    last = text_of(frame(WORKS._replace(note="x" * 100 + "end"), WIDE)[-1])
    assert last.startswith("Note for the next attempt: xxx")
    assert (last[-4:], len(last)) == ("end_", 80)


def test_keys_are_read_one_by_one_without_echo_and_the_terminal_is_restored() -> None:
    main, other = pty.openpty()
    before = termios.tcgetattr(other)
    child = os.fork()
    if child == 0:
        os.setsid()
        fcntl.ioctl(other, termios.TIOCSCTTY, 0)
        keyboard = Keyboard(other)
        keyboard.take()
        os.write(other, keyboard.keys(20).upper().encode())
        keyboard.release()
        os._exit(0)
    while termios.tcgetattr(other)[3] & termios.ECHO:
        time.sleep(0.01)
    os.write(main, b"m")
    assert os.read(main, 10) == b"M"
    assert os.waitpid(child, 0)[1] == 0
    assert termios.tcgetattr(other) == before
    os.close(main)
    os.close(other)


def test_a_terminal_of_another_process_group_is_left_alone() -> None:
    main, other = pty.openpty()
    before = termios.tcgetattr(other)
    keyboard = Keyboard(other)
    keyboard.take()
    os.write(main, b"m\n")
    assert (keyboard.keys(0), termios.tcgetattr(other)) == ("", before)
    os.close(main)
    os.close(other)
