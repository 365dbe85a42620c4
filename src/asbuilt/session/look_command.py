"""`look 'COMMAND'`: runs one command of a planning conversation in its read-only sandbox.

One script is in the state folder, so that one permission rule can name it. It execs the conversation's
script, which starts the sandbox. It is first a stub that has the real script written (`hook.look`):
the gate does not wait for a sandbox probe, and no command runs before one.

Rule: a command enters the scripts as one quoted word, and no other shell parses it.
"""

from __future__ import annotations

import os
import sys

from asbuilt.policy.shell.quote_word import quoted
from asbuilt.session.conversation import put, text_in

NAME = "look"
_OURS = 0o100700
_FIRST = """\
#!/bin/sh
# asbuilt: runs one command of a planning conversation in its read-only ring.
[ $# -eq 1 ] || exit 125
text=$1
key=$ASBUILT_CONVERSATION
if [ -z "$key" ]; then
    key=$CLAUDE_PID-0
    if [ -r "/proc/$CLAUDE_PID/stat" ]; then
        read -r line < "/proc/$CLAUDE_PID/stat"
        set -- ${line##*) }
        shift 19
        key=$CLAUDE_PID-$1
    fi
fi
exec "${0%/*}/conversations/$key/look" "$text"
"""
_STUB = """\
#!/bin/sh
# asbuilt: has the ring of this conversation tried and written down, and goes on in it.
exec {python} -I -m asbuilt.hook.look_starter "$0" "$@"
"""


def wrapped(folder: str, text: str, *, since: float) -> str:
    """Return the command that runs a text in the conversation's sandbox; plan mode is on since `since`."""
    state = _state(folder)
    offer(state)
    if not _was_changed_after(f"{folder}/{NAME}", since):
        # An agent could have changed the script before plan mode was on.
        place(folder, _STUB.format(python=quoted(sys.executable)))
    return f"{quoted(f'{state}/{NAME}')} {quoted(text)}"


def is_wrapped(folder: str, command: str) -> bool:
    """Return whether a command is exactly one that `wrapped` returns for this conversation."""
    start = f"{quoted(f'{_state(folder)}/{NAME}')} "
    word = command[len(start) :]
    text = word[1:-1].replace("'\\''", "'") if word.startswith("'") else word
    return command.startswith(start) and quoted(text) == word


def rule(state: str) -> str:
    """Return the permission rule that lets `look` run without a prompt."""
    return f"Bash({state}/{NAME} *)"


def offer(state: str) -> None:
    """Write the shared script unless it is there unchanged."""
    try:
        is_ours = text_in(state, NAME) == _FIRST and os.lstat(f"{state}/{NAME}").st_mode == _OURS
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        place(state, _FIRST)


def place(folder: str, script: str) -> None:
    """Replace a script atomically."""
    put(folder, NAME, script)
    os.chmod(f"{folder}/{NAME}", _OURS & 0o777)


def _state(folder: str) -> str:
    return os.path.dirname(os.path.dirname(folder))


def _was_changed_after(script: str, since: float) -> bool:
    try:
        about = os.lstat(script)
    except FileNotFoundError:
        return False
    return about.st_ctime >= since and about.st_mode == _OURS
