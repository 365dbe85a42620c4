"""Ask the user for confirmation. Without a terminal, or with --no-input, the answer is no."""

from __future__ import annotations

import sys
import termios
from contextlib import suppress

from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.screen import printable
from asbuilt.lifecycle.replies import No, Yes, reply_in


def agreed(door: Door, question: str) -> bool:
    """Ask a question and return whether the answer was yes; what is unclear is a no."""
    return door.may_ask and isinstance(reply_in(typed(door, f"{question} [y/N]")), Yes)


def accepted(door: Door, question: str) -> bool:
    """Ask until the answer is yes or no; Enter means yes. The caller has checked `door.may_ask`."""
    while True:
        word = typed(door, f"{question} [Y/n]")
        reply = reply_in(word)
        if not word or isinstance(reply, Yes):
            return True
        if isinstance(reply, No):
            return False
        door.screen.talk(printable(f'"{word}" is no answer; type y or n.'))


def typed(door: Door, question: str) -> str:
    """Ask a question and return the line that was typed. The caller has checked `door.may_ask`.

    Input that was typed before the question was shown is discarded. The end of the input interrupts.
    """
    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    door.screen.out.flush()
    door.screen.err.prompt(question)
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip()
