"""`asbuilt log`: show the events of a plan, in order. Read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.log.attempts import restore_files, show_attempts, show_changes
from asbuilt.cli.shell.addresses import named
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.reading import complete_address, look_for
from asbuilt.cli.ui.clock import stamp, to_the_second
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.wording.events import data_of, plain, told
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal.events import last
from asbuilt.journal.queries.overview import failures_in

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address

PAGE: Final = 200


@subcommand(
    "log",
    ("asbuilt log rate-limit", "what happened, in order"),
    ("asbuilt log rate-limit --phase 2a", "to one phase"),
    ("asbuilt log rate-limit.1.2a.2", "of one attempt"),
    ("asbuilt log rate-limit --before 141", "what came before event 141"),
    ("asbuilt log rate-limit --attempts", "what agents wrote, the newest first"),
    ("asbuilt log rate-limit.1.2a.2 --patch", "what an attempt changed, line by line"),
    ("asbuilt log rate-limit.1.2a.2 --restore look", "create the branch look with its files"),
    ("asbuilt log rate-limit --json", "events whole, each with its number"),
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--phase", metavar="ID", help="only what concerns this phase")
@click.option("--before", metavar="N", type=click.IntRange(min=1), help="only what came before event N")
@click.option("--attempts", is_flag=True, help="list attempts; of one attempt, the files that it changed")
@click.option("--patch", is_flag=True, help="of one attempt: the changed lines too")
@click.option("--restore", "branch", metavar="BRANCH", help="of one attempt: create a branch with its files")
def command(  # noqa: PLR0913 - click passes each option by its name
    door: Door,
    plan: str | None,
    *,
    phase: str | None,
    before: int | None,
    attempts: bool,
    patch: bool,
    branch: str | None,
) -> int:
    """Show what happened to a plan: what agents say, what asbuilt ran, and what that proved.

    At most the last 200 events are shown; the command for earlier ones is printed below them.
    """
    is_attempt = plan is not None and named(plan).attempt is not None
    if plan is not None and (branch or patch or (attempts and is_attempt)):
        return restore_files(door, plan, branch) if branch else show_changes(door, plan, whole=patch)
    if attempts:
        return show_attempts(door, plan)
    if plan is None:
        raise UsageWrong(
            "asbuilt log needs the name of a plan",
            why="Each plan has its own events.",
            next_step="`asbuilt status` lists the plans that have run.",
        )
    return _show_events(door, plan, phase, before)


def _show_events(door: Door, plan: str, phase: str | None, before: int | None) -> int:
    looking = look_for(door, plan)
    address, name = looking.find(plan)
    run = looking.run(plan).run if name.run is not None else None
    wanted = {"run": run, "phase": phase or name.phase, "number": _number(name.attempt)}
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
        answer(door, "", "No matching events.")
        next_command(door, f"asbuilt log {name.plan}")
    lines = [told(entry) for entry in entries]
    wide = max((len(line.phase) for line in lines), default=0)
    for entry, line, failed in zip(entries, lines, failures, strict=True):
        label = f"{line.phase:<{max(3, wide)}} {line.word.lower():<11}"
        lead = f"{to_the_second(entry.at, looking.moment.now)}  {label}"
        answer(door, printable(lead), line.text, under=min(len(lead), door.screen.out.width // 3))
        show_failures(door, failed)
    if earlier is not None:
        only = f" --phase {phase}" if phase else ""
        next_command(door, f"asbuilt log {plan}{only} --before {earlier}")
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
    return None if attempt is None else int(attempt.rstrip("vt"))


def _about(entry: Entry) -> dict[str, object]:
    data = data_of(entry)
    return {name: data.get(name) for name in ("run", "phase", "number")}
