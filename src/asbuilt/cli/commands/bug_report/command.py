"""`asbuilt bug-report`: pack what is needed to understand a problem. Nothing is sent."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.bug_report.contents import packed, parts
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import size
from asbuilt.library.writing import create
from asbuilt.policy.redaction import Redaction, secrets_in

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOBODYS: Final = frozenset({"", "root", "localhost"})
"""User and host names that are not private."""


@click.command(
    "bug-report",
    cls=Command,
    examples=[
        ("asbuilt bug-report", "into this folder; nothing is sent"),
        ("asbuilt bug-report --to /tmp/report.tar.gz", "into that file"),
    ],
)
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="where to write the bundle")
@shared(json=False)
def command(door: Door, to: Path | None) -> None:
    """Pack a bundle for a bug report: versions, doctor, settings, events, logs.

    Home folder, user and host names, e-mail addresses, keys and tokens are masked. Nothing is sent; read it
    before you do.
    """
    name = f"asbuilt-bug-report-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    file = to or Path.cwd() / f"{name}.tar.gz"
    files = parts(door, redaction_for(door.environ))
    bundle = packed(files, name)
    create(file, bundle)
    screen = door.screen
    screen.answer(f"Wrote {printable(str(to or file.name))}, {size(len(bundle))}:")
    width = max(len(part.name) for part in files)
    for part in files:
        screen.answer(f"  {part.name:<{width}}  {part.meaning}")
    for line in screen.out.hanging(
        "",
        "Masked: your home folder, user and host names, e-mail addresses, keys, tokens and all that looks"
        " random. Nothing was sent.",
    ):
        screen.answer(line)
    screen.talk(f"Read it first: {screen.err.bold(f'tar -xzOf {quote(str(to or file.name))}')}")


def redaction_for(environ: Mapping[str, str]) -> Redaction:
    """Collect what must not leave this machine: the user's home folder, names and secrets."""
    home = environ.get("HOME", "")
    host = socket.gethostname()
    return Redaction(
        homes=tuple(dict.fromkeys(path for path in (home, os.path.realpath(home)) if len(path) > 1)),
        names=tuple(
            (found, mask)
            for found, mask in (
                (_user(environ), "[user]"),
                (host, "[host]"),
                (host.partition(".")[0], "[host]"),
            )
            if found not in _NOBODYS
        ),
        secrets=secrets_in(environ),
        salt=secrets.token_bytes(16),
    )


def _user(environ: Mapping[str, str]) -> str:
    try:
        return environ.get("USER") or getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""
