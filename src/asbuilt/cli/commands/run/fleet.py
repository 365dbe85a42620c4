"""Requests for runs that any machine of a fleet may take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, structs

from asbuilt import wiring
from asbuilt.cli.shell.addresses import has_fleet
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.messages import next_command
from asbuilt.errors import GateStopped
from asbuilt.events.options import RunOptions
from asbuilt.flows.fleet.membership import is_fleets, ordered
from asbuilt.flows.registration import shared_name
from asbuilt.journal.engine.workers import refused_user
from asbuilt.journal.ids import Address
from asbuilt.library.bounded_read import read_bytes
from asbuilt.lifecycle.fleet import check_label
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.cli.shell.run_context import Site

ON_THIS_MACHINE: Final = (
    "The repository has no remote that other machines reach; the run stays on this machine."
)


def from_here(site: Site, options: RunOptions) -> RunOptions:
    """Return options of an earlier run of the fleet, to be ordered again from this checkout."""
    if not site.has_clone and options.fleet is UNSET:
        raise GateStopped(
            "the repository has no clone here, and its runs stay on the machine that has one",
            why="It has no remote that other machines reach.",
            next_step="Type the command in the clone.",
        )
    if options.fleet is UNSET or not site.has_clone:
        return options
    return structs.replace(options, checkout=str(site.repository.root), fleet=UNSET)


def for_fleet(door: Door, site: Site, address: Address, options: RunOptions) -> RunOptions:
    """Return the options with an order for the fleet; as they are, where a run stays on this machine."""
    if not site.has_clone or not is_fleets(site.journal.store, site.repository, options):
        return options
    settings = site.desk.settings
    plan = read_bytes(site.repository.root / Path(address.plan).expanduser(), name=address.plan)
    labels = dict.fromkeys((*settings.globs("fleet.labels"), *read(plan).labels))
    return ordered(
        site.journal.store,
        site.journal.blobs,
        site.repository,
        options,
        plan=plan,
        environ=door.environ,
        attempts=settings.text("fleet.attempts"),
        labels=tuple(check_label(label) for label in labels),
    )


def need_worker(site: Site, options: RunOptions) -> None:
    """Refuse a run that stays on this machine if the database does not let its user work here."""
    store = site.journal.store
    if options.fleet is not UNSET or not store.is_shared:
        return
    with store.read() as session:
        refused = refused_user(session)
    if refused is not None:
        raise GateStopped(
            f"{refused} may not work on this machine",
            why="Authoring, tasks and `verify` are done by a worker of the machine that asks, and this login"
            " may only ask and look.",
            next_step=f"The owner of the database types `GRANT asbuilt_worker TO {refused}`; then try again.",
        )


def serving(door: Door, site: Site, options: RunOptions) -> int:
    """Start a worker on this machine for a run that stays here; return its PID, or 0 for the fleet's."""
    if options.fleet is UNSET:
        if site.journal.store.is_shared and shared_name(site.journal.store, site.repository.common) is None:
            door.screen.talk(ON_THIS_MACHINE)
        return wiring.ensure_worker(site.journal.home, door.environ)
    if not has_fleet(site.journal.store) and not door.json:
        door.screen.talk("No worker of the fleet is online; the run waits for one.")
        next_command(door, "asbuilt fleet workers", other="on a server: `asbuilt fleet join URL`")
    return 0
