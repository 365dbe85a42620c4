"""Start asbuilt from a terminal.

Its one rule: what needs no command is answered before more is loaded than a bare interpreter has.
"""

import os
import sys

from asbuilt._version import VERSION
from asbuilt.cli.shell.help import TEXT


def main() -> int:
    """Answer the arguments this process was started with, and return the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["--version"], ["-V"]):
        major, minor, patch = sys.version_info[:3]
        return _print(f"asbuilt {VERSION}   Python {major}.{minor}.{patch}")
    if arguments in (["--help"], ["-h"]):
        return _print(TEXT)
    try:
        import gc  # noqa: PLC0415 - the door's dispatch

        # A command makes many objects, frees few and is soon over: collecting in between only costs.
        gc.disable()
        from asbuilt.cli.shell import app, boundary  # noqa: PLC0415 - the door's dispatch
    except KeyboardInterrupt:
        return 130
    code = boundary.run(lambda: app.run(arguments, os.environ), argv=arguments, environ=os.environ)
    # The system takes everything back at once: looking through it object by object at the end only costs.
    gc.freeze()
    return code


def _print(text: str) -> int:
    try:
        print(text, flush=True)  # noqa: T201 - the screen is not loaded for this
    except OSError as error:
        # What is left in the buffer would fail again when the interpreter shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if isinstance(error, BrokenPipeError) else 1
    return 0
