"""Show a command's whole output as a terminal of some kind and width gets it, at a fixed time of a night.

`python -m tests.cli.screens` writes the kept screens anew; read the difference before you commit it.
"""

from __future__ import annotations

import io
import os
import pty
import selectors
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unittest import mock

from asbuilt.cli.shell import app, boundary
from tests.cli.nights import NOW, Night, tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

KEPT: Final = Path(__file__).parent / "shown"
NO_PROGRAMS: Final = "/nowhere"
"""A PATH on which the first screen finds no agent and no sandbox, whatever this machine has."""
KINDS: Final = ("colour", "plain", "ascii")
WIDTHS: Final = (80, 40)
COMMANDS: Final = {
    "bare": (),
    "status": ("status",),
    "status-one": ("status", "rate-limit"),
    "status-run": ("status", "ci-cache.1"),
    "status-all": ("status", "--all"),
    "status-claim": ("status", "retry"),
    "status-parked": ("status", "login-audit"),
    "status-person": ("status", "importer"),
    "status-failed": ("status", "ci-cache"),
    "old-spelling": ("why", "importer"),
    "log": ("log", "ci-cache"),
    "log-attempt": ("log", "ci-cache.1.2.1"),
    "did-you-mean": ("status", "rate-limt"),
    "two-matches": ("status", "i"),
    "no-such-run": ("status", "rate-limit.7"),
}


class Clock(datetime):
    """The time of that night."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # aware, whoever asks
        return NOW.astimezone(tz)


class Terminal(io.TextIOWrapper):
    """A stream that keeps what it is shown, on a terminal of some width or on none."""

    def __init__(self, descriptor: int | None) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self.descriptor = descriptor

    def isatty(self) -> bool:
        return self.descriptor is not None

    def fileno(self) -> int:
        if self.descriptor is None:
            raise io.UnsupportedOperation
        return self.descriptor

    def shown(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@contextmanager
def terminal(columns: int) -> Iterator[tuple[int, int]]:
    """Open a terminal of so many columns: our end, and the end of a program."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def _environ(night: Night, kind: str) -> dict[str, str]:
    return {
        "HOME": str(night.home.path.parent), "PATH": os.environ["PATH"], "ASBUILT_HOME": str(night.home.path),
        "ASBUILT_ORGANISATION_FILE": "/nowhere", "TZ": "CET-1",
        **({"NO_COLOR": "1"} if kind == "plain" else {}),
    }  # fmt: skip


def _text(night: Night, code: int, out: str, err: str) -> str:
    text = f"exit {code}\n"
    for name, stream in (("stdout", out), ("stderr", err)):
        text += f"--- {name}\n{stream}" if stream else ""
    return text.replace(str(night.home.path.parent), "[TMP]")


def printed(night: Night, *arguments: str, **more: str) -> str:
    """Run a command as a process at the real time; stdout and stderr are plain terminals of 80 columns."""
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        streams = [stack.enter_context(terminal(80)) for _ in range(2)]
        heard = {ours: b"" for ours, _ in streams}
        for ours in heard:
            selector.register(ours, selectors.EVENT_READ)
        process = subprocess.Popen(
            [sys.executable, "-m", "asbuilt", *arguments], cwd=night.shop,
            env={**_environ(night, "plain"), "LC_ALL": "C.UTF-8", **more},
            stdin=subprocess.DEVNULL, stdout=streams[0][1], stderr=streams[1][1],
        )  # fmt: skip
        while True:
            is_over = process.poll() is not None
            ready = selector.select(0 if is_over else 0.02)
            for key, _ in ready:
                heard[key.fd] += os.read(key.fd, 65_536)
            if is_over and not ready:
                break
    out, err = (text.decode().replace("\r\n", "\n") for text in heard.values())
    return _text(night, process.returncode, out, err)


def shown(night: Night, arguments: Sequence[str], kind: str, columns: int, **more: str) -> str:
    """Run a command in this process, and give exit code, stdout and stderr as one text.

    `more` is what its environment has beside the usual.
    """
    argv = [*(["--plain"] if kind == "ascii" else []), *arguments, "--repo", str(night.shop)]
    argv = [*argv[-2:], *argv[:-2]]
    with terminal(columns) as (_, descriptor):
        out, err = Terminal(descriptor), Terminal(descriptor)
        with (
            mock.patch.dict(os.environ, {**_environ(night, kind), **more}, clear=True),
            mock.patch.multiple(sys, stdout=out, stderr=err),
            mock.patch("asbuilt.cli.ui.clock.datetime", Clock),
        ):
            time.tzset()
            code = boundary.run(lambda: app.run(argv, os.environ), argv=argv, environ=os.environ)
        time.tzset()
    return _text(night, code, out.shown(), err.shown())


def page(night: Night, name: str) -> str:
    """Show one screen in every kind and width, readable: an escape is written as \\e."""
    parts = [
        f"=== {kind}, {columns} columns\n{shown(night, COMMANDS[name], kind, columns, PATH=NO_PROGRAMS)}"
        for columns in WIDTHS
        for kind in KINDS
    ]
    return "\n".join(parts).replace("\x1b", "\\e")


@contextmanager
def a_night() -> Iterator[Night]:
    """Make the night in a folder whose name has always the same length."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        shop = root / "shop-api"
        you = ("-c", "user.name=you", "-c", "user.email=you@shop.test")
        subprocess.run(["git", "init", "-q", "-b", "main", shop], check=True)  # noqa: S607
        subprocess.run(["git", "-C", shop, *you, "commit", "-q", "--allow-empty", "-m", "start"], check=True)  # noqa: S607
        (shop / "plans").mkdir()
        (shop / "plans" / "ci-cache.md").touch()
        night = Night(root, shop)
        tell(night)
        night.wake()
        try:
            yield night
        finally:
            night.close()


def main() -> None:
    """Write every screen anew."""
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    with a_night() as night:
        for name in COMMANDS:
            (KEPT / f"{name}.txt").write_text(page(night, name), encoding="utf-8")


if __name__ == "__main__":
    main()
