"""`asbuilt fleet`: workers on several machines that share one database. Hidden from the short help."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Final

import click

from asbuilt import wiring
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.settings_files import edit
from asbuilt.cli.ui.clock import ago, stamp
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, GateStopped, UsageWrong
from asbuilt.flows.engine.lease import Times
from asbuilt.flows.fleet import membership
from asbuilt.flows.fleet.membership import large_blobs
from asbuilt.journal.engine import fleet
from asbuilt.journal.engine.fleet import Member
from asbuilt.journal.engine.workers import earlier
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.fleet import check_label
from asbuilt.settings import SETTINGS, load
from asbuilt.settings.files import user_place
from asbuilt.wiring import Journal

_DAY_S: Final = 86_400.0

group = LazyGroup(
    "fleet",
    commands={
        "join": Lazy("fleet:join", "let this machine's worker take runs of the fleet"),
        "leave": Lazy("fleet:leave", "take no more runs of the fleet here"),
        "workers": Lazy("fleet:workers", "list workers with load, version and labels"),
        "secrets": Lazy("fleet:secrets", "values of variables that runs ask for by name"),
    },
    examples=[
        ("asbuilt fleet join postgresql://db.example.com/asbuilt", "take runs of everyone on that database"),
        ("asbuilt fleet workers", "load, version, last heartbeat and labels of each"),
    ],
    help=(
        "Several machines on one Postgres database. A run is asked for on any of them, a worker of the fleet"
        " takes it, works in its own mirror of the repository's remote, and lands on the remote."
    ),
)


@subcommand(
    "join",
    ("asbuilt fleet join postgresql://db.example.com/asbuilt --label gpu", "with a label"),
    ("asbuilt fleet join - < url.txt", "the address from a file, not in the list of processes"),
)
@click.argument("url")
@click.option("--label", "labels", multiple=True, metavar="WORD", help="what this machine has; repeatable")
def join(door: Door, url: str, *, labels: tuple[str, ...]) -> int:
    """Save the database's address as your `store.url`, and start a worker that takes runs of the fleet."""
    address = sys.stdin.readline().strip() if url == "-" else url
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageWrong(
            "a fleet needs the address of a Postgres database",
            why="The machines of a fleet share their journal.",
            next_step="`asbuilt fleet join postgresql://USER@HOST/DATABASE`",
        )
    words = [check_label(label) for label in labels]
    environ = {**door.environ, SETTINGS["store.url"].variable: address}
    settings = load(repository=None, environ=environ)
    journal = wiring.open_journal(settings, environ)
    large = large_blobs(journal.home, settings, environ)
    if large is not None:
        large.check()
    edit(user_place(door.environ), SETTINGS["store.url"], address, None)
    membership.join(journal.home, words)
    before = wiring.worker_pid(journal.home)
    pid = before or wiring.ensure_worker(journal.home, environ)
    if door.emitted("asbuilt.fleet-joined/1", {"labels": words, "pid": pid, "restart": before is not None}):
        return DONE
    door.screen.answer(f"This machine takes runs of the fleet (worker {pid}).")
    if before:
        door.screen.talk(f"Worker {before} was running already; it takes runs of the fleet after a restart.")
    next_command(door, "asbuilt fleet workers", other="start it with the system: `asbuilt worker install`")
    return DONE


@subcommand("leave", ("asbuilt fleet leave", "its worker finishes the runs that it has"), json=False)
def leave(door: Door) -> int:
    """Take no more runs of the fleet on this machine. Its worker finishes the runs that it has."""
    journal = _journal(door)
    was = membership.leave(journal.home)
    message = "This machine takes no more runs of the fleet." if was else "This machine had not joined."
    door.screen.answer(message)
    return DONE


@subcommand("workers", ("asbuilt fleet workers --json", "for a script"))
def workers(door: Door) -> int:
    """List the workers with a heartbeat in the last day: load, version, heartbeat and labels."""
    journal = _journal(door)
    with journal.store.read() as session:
        now = session.now
        found = fleet.members(session, LOCAL, since=earlier(now, _DAY_S))
        waits = fleet.waiting(session, LOCAL)
    rows = [_plain(member, now) for member in found]
    if door.emitted("asbuilt.fleet/1", {"workers": rows, "waiting": len(waits)}):
        return DONE
    if not found:
        door.screen.answer("No worker sent a heartbeat in the last day.")
    for member in found:
        load_ = (
            f"{member.busy} of {member.slots} runs"
            if member.slots
            else f"{member.busy} runs, not in the fleet"
        )
        labels = f", {' '.join(_labels(member))}" if _labels(member) else ""
        heartbeat = ago(member.beat_at, datetime.now(UTC))
        door.screen.answer(
            printable(
                f"{member.host}   {_state(member, now)}, {load_}, asbuilt {member.build}, {heartbeat}{labels}"
            )
        )
    if waits:
        wanted = sorted({word for wait in waits for word in wait.place.split()[1:]})
        needs = f"; they need {', '.join(wanted)}" if wanted else ""
        waiting = "1 run waits" if len(waits) == 1 else f"{len(waits)} runs wait"
        door.screen.answer(f"{waiting} for a worker{needs}.")
    return DONE


@subcommand(
    "secrets",
    ("asbuilt fleet secrets", "the names that this worker has"),
    ("asbuilt fleet secrets NPM_TOKEN < token.txt", "set one; the value is read from the input"),
    ("asbuilt fleet secrets NPM_TOKEN --remove", "remove it"),
)
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="remove the value")
def secrets(door: Door, name: str | None, *, remove: bool) -> int:
    """Show or set values of variables on this worker: logins of agents, registries, forges.

    They are in one file of the state folder that only you can read. The database gets only their names.
    """
    home = _journal(door).home
    if name is not None:
        if not name.isidentifier():
            raise UsageWrong(
                f"{name!r} is not the name of a variable",
                why="A name has letters, digits and _, and does not begin with a digit.",
                next_step="`asbuilt fleet secrets NPM_TOKEN < token.txt`",
            )
        value = None if remove else _value(door)
        was = membership.set_secret(home, name, value)
        words = "is removed" if remove else "is replaced" if was else "is set"
        if remove and not was:
            words = "was not set"
        if not door.json:
            door.screen.answer(f"{name} {words} on this worker.")
            return DONE
    names = sorted(membership.secrets(home))
    if not door.emitted("asbuilt.fleet-secrets/1", {"names": names}):
        door.screen.answer("\n".join(names) or "This worker has no secrets of its own.")
    return DONE


def _value(door: Door) -> str:
    if door.may_ask:
        return str(click.prompt("Value", hide_input=True, err=True))
    value = sys.stdin.read().strip("\n")
    if not value:
        raise UsageWrong(
            "there is no value on the input",
            why="A value on the command line would be in the list of processes.",
            next_step="`asbuilt fleet secrets NAME < FILE`",
        )
    return value


def _journal(door: Door) -> Journal:
    journal = wiring.open_journal(load(repository=None, environ=door.environ), door.environ)
    if not journal.store.is_shared:
        raise GateStopped(
            "this machine is in no fleet",
            why="Its journal is a file of its own; a fleet shares a Postgres database.",
            next_step="`asbuilt fleet join postgresql://USER@HOST/DATABASE`",
        )
    return journal


def _state(member: Member, now: str) -> str:
    if member.beat_at < earlier(now, Times().lost_s):
        return "lost"
    return "draining" if member.draining else "online"


def _labels(member: Member) -> list[str]:
    return sorted(word for word in member.labels if not word.startswith("env:"))


def _plain(member: Member, now: str) -> dict[str, object]:
    about = {
        "worker": member.worker,
        "host": member.host,
        "version": member.build,
        "state": _state(member, now),
    }
    return {
        **about,
        "heartbeat": stamp(member.beat_at),
        "busy": member.busy,
        "slots": member.slots,
        "labels": _labels(member),
    }
