"""`asbuilt log`: show the events of a plan, in order. Read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.reading import complete_address, look_for
from asbuilt.cli.ui.clock import stamp, to_the_second
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.wording.events import data_of, plain, told
from asbuilt.errors import DONE
from asbuilt.journal.events import last
from asbuilt.journal.queries.failures import failures_in

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address

PAGE: Final = 200


@click.command(
    "log",
    cls=Command,
    examples=[
        ("asbuilt log rate-limit", "what happened, in order"),
        ("asbuilt log rate-limit --phase 2a", "to one phase"),
        ("asbuilt log rate-limit.1.2a.2", "of one attempt"),
        ("asbuilt log rate-limit --before 141", "what came before event 141"),
        ("asbuilt log rate-limit --json", "events whole, each with its number"),
    ],
)
@click.argument("plan", shell_complete=complete_address)
@click.option("--phase", metavar="ID", help="only what concerns this phase")
@click.option("--before", metavar="N", type=click.IntRange(min=1), help="only what came before event N")
@shared(json=True)
def command(door: Door, plan: str, *, phase: str | None, before: int | None) -> int:
    """Show what happened to a plan: who said what, what asbuilt ran, and what that proved.

    At most the last 200 events are shown; what to type for the ones before stands below them.
    """
    looking = look_for(door, plan)
    address, named = looking.find(plan)
    run = looking.run(plan).run if named.run is not None else None
    wanted = {"run": run, "phase": phase or named.phase, "number": _number(named.attempt)}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    with looking.journal.store.read() as session:
        entries, earlier = _page(session, address, before, wanted)
    failures = [failures_in(looking.journal.blobs, entry.event) for entry in entries]
    if door.json:
        rows = [
            {**plain(entry), "at": stamp(entry.at), "failures": [one.plain for one in failed]}
            for entry, failed in zip(entries, failures, strict=True)
        ]
        door.screen.emit_json(
            {"schema": "asbuilt.log/1", "plan": address.plan, "events": rows, "earlier": earlier}
        )
        return DONE
    if not entries:
        answer(door, "", f"The log of {named.plan} has nothing of that.")
        next_command(door, f"asbuilt log {named.plan}", " shows all of it")
    lines = [told(entry) for entry in entries]
    wide = max((len(line.phase) for line in lines), default=0)
    for entry, line, failed in zip(entries, lines, failures, strict=True):
        name = f"{line.phase:<{max(3, wide)}} {line.word.lower():<11}"
        lead = f"{to_the_second(entry.at, looking.moment.now)}  {name}"
        answer(door, printable(lead), line.text, under=min(len(lead), door.screen.out.width // 3))
        show_failures(door, failed)
    if earlier is not None:
        only = f" --phase {phase}" if phase else ""
        next_command(door, f"asbuilt log {plan}{only} --before {earlier}", " for what came before")
    return DONE


def _page(
    session: Session, address: Address, before: int | None, wanted: dict[str, str | int | None]
) -> tuple[list[Entry], int | None]:
    """Return the last page of matching events before `before`, and the number to page back from, or None."""
    found: list[Entry] = []
    while len(found) < PAGE and (page := last(session, address, before=before, limit=PAGE)):
        found[:0] = [entry for entry in page if wanted.items() <= _about(entry).items()]
        before = page[0].seq
    found = found[-PAGE:]
    return found, found[0].seq if len(found) == PAGE and found[0].seq > 1 else None


def _number(attempt: str | None) -> int | None:
    return None if attempt is None else int(attempt.removesuffix("v"))


def _about(entry: Entry) -> dict[str, object]:
    data = data_of(entry)
    return {name: data.get(name) for name in ("run", "phase", "number")}
