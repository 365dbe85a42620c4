"""`asbuilt doctor bug-report`: pack what is needed to understand a problem. Nothing is sent.

Rule: every text in the bundle is redacted.
"""

from __future__ import annotations

import getpass
import gzip
import io
import json
import os
import platform
import secrets
import socket
import sqlite3
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

import click
from msgspec.structs import replace

from asbuilt._version import VERSION
from asbuilt.cli.commands.doctor import page
from asbuilt.cli.commands.doctor.probes import look
from asbuilt.cli.commands.doctor.rows import conclusion, judge
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.columns import table
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import size
from asbuilt.cli.wording.events import plain
from asbuilt.errors import AsbuiltError, SettingInvalid, StoreFailed
from asbuilt.events.event import Entry
from asbuilt.git.identity import identity
from asbuilt.git.repository import open_repository
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries import inventory
from asbuilt.library.atomic_files import create
from asbuilt.library.repository_discovery import find_repository
from asbuilt.policy.masking import MASK
from asbuilt.policy.redaction import Redaction, secrets_in
from asbuilt.settings import Settings, presented, setting_named, state_folder, survey
from asbuilt.wiring import open_store

_GENERIC_NAMES: Final = frozenset({"", "root", "localhost"})
"""User and host names that are not private."""


@subcommand(
    "bug-report",
    ("asbuilt doctor bug-report", "into this folder; nothing is sent"),
    ("asbuilt doctor bug-report --to /tmp/report.tar.gz", "into that file"),
    json=False,
)
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="where to write the bundle")
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
    screen.answer_all(table([(f"  {part.name}", part.meaning) for part in files]))
    answer(
        door,
        "",
        "Masked: your home folder, user and host names, e-mail addresses, keys, tokens and all that looks"
        " random. Nothing was sent.",
    )
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
            if found not in _GENERIC_NAMES
        ),
        secrets=secrets_in(environ),
        salt=secrets.token_bytes(16),
    )


def _user(environ: Mapping[str, str]) -> str:
    try:
        return environ.get("USER") or getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""


EVENTS: Final = 200
_TAIL: Final = 64_000


class Part(NamedTuple):
    """A file of the bundle, and its description."""

    name: str
    meaning: str
    data: bytes


def parts(door: Door, redaction: Redaction) -> tuple[Part, ...]:
    """Collect all parts, redacted. Parts without data are left out."""
    home = Home(state_folder(door.environ))

    def as_json(value: object) -> bytes:
        text = json.dumps(redaction.value(value), ensure_ascii=False, indent=1)
        return f"{text}\n".encode("utf-8", "replace")

    repository = find_repository(door.start)
    settings, problems = survey(repository=repository.root if repository else None, environ=door.environ)
    redaction = replace(redaction, secrets=(*redaction.secrets, *_private(settings)))
    facts = look(door)
    rows = judge(facts)
    gathered = [
        Part("versions.json", "asbuilt, Python, system, SQLite", as_json(_versions())),
        Part("doctor.json", "what asbuilt doctor says", as_json(page.as_json(rows, conclusion(rows, facts)))),
        Part("settings.json", "every setting, and who set it", as_json(_settings(settings, problems))),
    ]
    if settings.text("store.url") or home.journal.exists():
        counted, events = _journal(door, home, settings)
        gathered.append(Part("journal.json", "schema, and how many events of each kind", as_json(counted)))
        gathered.append(
            Part(
                "events.jsonl",
                f"the last {len(events)} events of this repository's plans",
                b"".join(_line(redaction, plan, entry) for plan, entry in events),
            )
        )
    for name, meaning, file in _logs(home):
        text = _tail(file).decode("utf-8", "replace")
        gathered.append(Part(name, meaning, redaction.text(text).encode("utf-8", "replace")))
    return tuple(gathered)


def packed(files: Sequence[Part], folder: str) -> bytes:
    """Pack the files below one folder, without owners and times."""
    whole = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=whole, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for part in files:
            entry = tarfile.TarInfo(f"{folder}/{part.name}")
            entry.size, entry.mode = len(part.data), 0o600
            archive.addfile(entry, io.BytesIO(part.data))
    return whole.getvalue()


def _versions() -> dict[str, str]:
    return {
        "asbuilt": VERSION,
        "python": sys.version,
        "platform": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
    }


def _settings(settings: Settings, problems: Sequence[SettingInvalid]) -> dict[str, Any]:
    return {
        "settings": {
            key: {
                "value": MASK
                if setting_named(key).private and settings.chosen[key].value
                else presented(setting_named(key), settings.chosen[key].value),
                "origin": settings.chosen[key].origin.where,
            }
            for key in settings.chosen
        },
        "problems": [problem.what for problem in problems],
    }


def _private(settings: Settings) -> Iterator[str]:
    """Return the URLs among private settings, which may also be in logs and events."""
    for key, chosen in settings.chosen.items():
        if setting_named(key).private and isinstance(chosen.value, str) and "://" in chosen.value:
            yield chosen.value


def _journal(door: Door, home: Home, settings: Settings) -> tuple[dict[str, Any], list[tuple[str, Entry]]]:
    try:
        repository = identity(open_repository(door.start))
    except AsbuiltError:
        repository = None
    events: list[tuple[str, Entry]] = []
    try:
        with closing(open_store(home, settings)) as store:
            facts: dict[str, Any] = {"schema": store.version()}
            with store.read() as session:
                facts["events"] = inventory.kinds(session)
                if repository is not None:
                    events = inventory.latest(session, LOCAL, repository.uuid, limit=EVENTS)
    except StoreFailed as error:  # a damaged journal may be the bug to report
        facts = {"trouble": error.what}
    return facts, events


def _line(redaction: Redaction, plan: str, entry: Entry) -> bytes:
    shown = redaction.value({"plan": plan, **plain(entry)})
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _logs(home: Home) -> Iterator[tuple[str, str, Path]]:
    if home.worker_log.is_file():
        yield "worker.log", "the end of the worker's log", home.worker_log
    crashes = sorted((home.path / "crashes").glob("*.log"))
    if crashes:
        yield "crash.log", "the newest crash log", crashes[-1]


def _tail(file: Path) -> bytes:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _TAIL))
        return opened.read(_TAIL)
