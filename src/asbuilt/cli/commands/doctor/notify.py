"""`asbuilt doctor notify`: send a test message through every channel, and show each result.

Rule: no address and no secret is printed.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from datetime import UTC, datetime
from typing import NamedTuple

import click
from msgspec.structs import asdict

from asbuilt import wiring
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.messages import answer, coloured, next_command
from asbuilt.errors import DONE, FAILED, NotFound
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.notifications import Undelivered, undelivered
from asbuilt.lifecycle.notify import Message, Notice
from asbuilt.settings import Settings, load

_TEST_NOTICE = Notice("asbuilt: this is a test", "Sent by asbuilt doctor notify.")


class Tried(NamedTuple):
    """The result of one channel."""

    way: str
    error: str | None
    """Why the message was not accepted; None: it was."""


@subcommand(
    "notify",
    ("asbuilt doctor notify", "through every configured channel"),
    ("asbuilt doctor notify webhook", "through this one"),
)
@click.argument("way", required=False)
def command(door: Door, way: str | None) -> int:
    """Send a test notification through every channel, at any hour, and show each result."""
    settings = load(repository=None, environ=door.environ)
    ways = wiring.reach(settings, door.environ).ways
    if way is not None and way not in ways:
        raise NotFound(
            f'no notification channel "{way}" is configured',
            why=f"Configured: {', '.join(ways)}."
            if ways
            else "None is configured, and no desktop was found.",
            next_step="`asbuilt config set notify.ntfy URL` (or notify.webhook, notify.slack).",
        )
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = Message(secrets.token_hex(8), at, (_TEST_NOTICE,))
    tried = [Tried(name, attention.call(message)) for name, attention in ways.items() if way in (None, name)]
    _show(door, tried, _lost(settings, door), settings.text("notify.quiet"))
    return DONE if all(trial.error is None for trial in tried) else FAILED


def _lost(settings: Settings, door: Door) -> list[Undelivered]:
    journal = wiring.find_journal(settings, door.environ)
    if journal is None:
        return []
    with closing(journal.store), journal.store.read() as session:
        return undelivered(session, LOCAL)


def _show(door: Door, tried: list[Tried], lost: list[Undelivered], quiet: str) -> None:
    rows = [{"way": trial.way, "taken": trial.error is None, "said": trial.error} for trial in tried]
    if door.emitted("asbuilt.notify-test/1", {"ways": rows, "unheard": [asdict(error) for error in lost]}):
        return
    pen = door.screen.out
    for trial in tried:
        mark = pen.symbols.proven if trial.error is None else pen.symbols.failed
        answer(door, f"{coloured(pen, mark)} {trial.way:<8} ", trial.error or "sent")
    for past in lost:
        answer(door, f"{pen.symbols.note} {past.way:<8} ", f"failed at {past.at}: {past.said}")
    if quiet and tried:
        words = f"{quiet}: notifications of these hours are sent afterwards"
        answer(door, f"{pen.symbols.note} {'quiet':<8} ", words)
    if not tried:
        door.screen.answer("No notification channel: no desktop was found, and none is configured.")
        next_command(door, "asbuilt config set notify.ntfy https://ntfy.sh/TOPIC")
