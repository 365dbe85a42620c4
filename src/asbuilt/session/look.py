"""The `look` of a conversation: a small script that runs one command in the read-only ring.

At first it is a stub that has the real one made (`hook.look`) and goes on as that: the gate does not wait for
a ring to be tried, and no command runs before one was.

The one rule: a command gets into the script as one word, quoted, and is never read by another shell.
"""

from __future__ import annotations

import os
import sys

from asbuilt.policy.quoting import quoted
from asbuilt.session.conversation import put

NAME = "look"
_OURS = 0o100700
_STUB = """\
#!/bin/sh
# asbuilt: runs one command of this conversation in the read-only ring, which is tried first.
exec {python} -I -m asbuilt.hook.look "$0" "$@"
"""


def wrapped(folder: str, text: str, *, since: float) -> str:
    """Give the command that runs a text in the ring of a conversation."""
    script = f"{folder}/{NAME}"
    if not _was_changed_after(script, since):
        # Before planning was held an agent could have changed it.
        place(folder, _STUB.format(python=quoted(sys.executable)))
    return f"{quoted(script)} {quoted(text)}"


def is_wrapped(folder: str, command: str) -> bool:
    """Tell whether a command is one that `wrapped` gave for this conversation, and nothing besides."""
    start = f"{quoted(f'{folder}/{NAME}')} "
    word = command[len(start) :]
    text = word[1:-1].replace("'\\''", "'") if word.startswith("'") else word
    return command.startswith(start) and quoted(text) == word


def _was_changed_after(script: str, since: float) -> bool:
    try:
        about = os.lstat(script)
    except FileNotFoundError:
        return False
    return about.st_ctime >= since and about.st_mode == _OURS


def place(folder: str, script: str) -> None:
    """Put a script in place, whole."""
    put(folder, NAME, script)
    os.chmod(f"{folder}/{NAME}", _OURS & 0o777)
