"""Entry point of the `asbuilt` program.

Rule: `--version` and `--help` are answered before click or a command is imported.
"""

import os
import sys

from asbuilt._version import VERSION
from asbuilt.cli.shell.top_level_help import TEXT


def main() -> int:
    """Handle this process's arguments, and return the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["--version"], ["-V"]):
        major, minor, patch = sys.version_info[:3]
        return _print(f"asbuilt {VERSION}   Python {major}.{minor}.{patch}")
    if arguments in (["--help"], ["-h"]):
        return _print(TEXT)
    try:
        import gc  # noqa: PLC0415 - the door's dispatch

        # A command makes many objects, frees few and ends soon; garbage collection only costs time.
        gc.disable()
        from asbuilt.cli.shell import app, boundary  # noqa: PLC0415 - the door's dispatch
    except KeyboardInterrupt:
        return 130
    code = boundary.run(lambda: app.run(arguments, os.environ), argv=arguments, environ=os.environ)
    # The system frees all memory at exit; a collection at interpreter shutdown only costs time.
    gc.freeze()
    return code


def _print(text: str) -> int:
    try:
        print(text, flush=True)  # noqa: T201 - the screen is not loaded for this
    except OSError as error:
        # Data left in the buffer would fail again when the interpreter shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if isinstance(error, BrokenPipeError) else 1
    return 0
