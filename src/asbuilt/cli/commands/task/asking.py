"""Request work on tasks, and follow the runs. Rule: every task is checked before any run is requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from msgspec import structs

from asbuilt import wiring
from asbuilt.cli.commands.run import ask_for, look_on, target_of
from asbuilt.cli.commands.task.known import finish_views
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.terms import with_team
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, AsbuiltError
from asbuilt.events.options import DEFAULT_TASK_TIMEOUT_S, RunOptions
from asbuilt.flows.requests import Declined, request
from asbuilt.git.files import entries
from asbuilt.git.repository import tip
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.ledger import tasks
from asbuilt.library.shelves import describe
from asbuilt.lifecycle.tasks.delegating import order_for
from asbuilt.lifecycle.tasks.model import numbers_in, workable
from asbuilt.lifecycle.tasks.numbering import ROADMAP
from asbuilt.settings.running import chosen_for_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.site import Site
    from asbuilt.events.options import TaskOrder
    from asbuilt.journal.runs import Run

_Function = TypeVar("_Function", bound="Callable[..., Any]")


class Wish(NamedTuple):
    """The options of the command line."""

    effort: str | None
    model: str | None
    clean: bool
    roadmap: bool
    agent: str | None
    script: str | None
    timeout: int


def with_flags(command: _Function) -> _Function:
    """Add the options of all task commands."""
    for option in (
        click.option("--foreground", is_flag=True, help="work in this process, without a worker"),
        click.option(
            "--timeout", type=click.IntRange(1), default=DEFAULT_TASK_TIMEOUT_S, help="seconds for its agent"
        ),
        click.option(
            "--script",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False),
            help="what the scripted agent plays",
        ),
        click.option("--agent", metavar="NAME", help="the agent that works (roles.plan)"),
        click.option("--clean", is_flag=True, help="tell it nothing of what is remembered"),
        click.option("--model", metavar="NAME", help="another model than the agent's own"),
        click.option("--hard", "effort", flag_value="hard", help="let it think longer"),
        click.option("--fast", "effort", flag_value="fast", help="let it be quick"),
    ):
        command = option(command)
    return command


def ask(door: Door, operation: str, words: tuple[str, ...], wish: Wish, *, is_here: bool) -> int:
    """Request a run for each task that can be worked on; the others are reported and skipped."""
    numbers = numbers_in(words)
    site = open_site(door)
    finish_views(site)
    options = _options(door, site, wish)
    orders, codes = _orders(door, site, operation, numbers, wish)
    if is_here:
        codes += [ask_for(door, site, *_asked(site, order, options), is_here=True) for order in orders]
    else:
        codes += _together(door, site, orders, options)
    return next((code for code in codes if code), DONE)


def _orders(
    door: Door, site: Site, operation: str, numbers: list[int], wish: Wish
) -> tuple[list[TaskOrder], list[int]]:
    """Build the order of each task. If the only task cannot be worked on, raise."""
    with site.journal.store.read() as session:
        here = tasks.every(session, LOCAL, site.repo)
    base = tip(site.repository, f"refs/heads/{target_of(site.repository.root)}")
    files = [one.decode("utf-8", "replace") for one in entries(site.repository.git, base)] if base else []
    if wish.roadmap and ROADMAP not in files:
        door.screen.talk(f"There is no {ROADMAP} here, so --roadmap has no effect.")
        wish = wish._replace(roadmap=False)
    flags = {"effort": wish.effort, "model": wish.model, "clean": wish.clean, "roadmap": wish.roadmap}
    orders, codes = [], []
    for number in numbers:
        try:
            task = workable(here, number)
        except AsbuiltError as error:
            if len(numbers) == 1:
                raise
            codes.append(error.exit_code)
            _skip(door, number, error)
        else:
            orders.append(order_for(task, operation, files, timeout_s=wish.timeout, **flags))
    return orders, codes


def _skip(door: Door, number: int, error: AsbuiltError) -> None:
    if door.json:
        told = {"task": number, "run": None, "state": "skipped", "why": error.what, "exit": error.exit_code}
        door.screen.emit_json({"schema": "asbuilt.run/1", **told})
    else:
        door.screen.answer(printable(f"Skipped: {error.what}."))


def _options(door: Door, site: Site, wish: Wish) -> RunOptions:
    settings = site.desk.settings
    chosen = chosen_for_runs(settings)
    options = RunOptions(
        kind="task",
        mode="task",
        checkout=str(site.repository.root),
        branch=target_of(site.repository.root),
        host=machine(),
        sign=chosen.sign,
        ring_required=chosen.ring_required,
        sandbox=chosen.sandbox,
        desktop=chosen.desktop,
        caps=chosen.caps,
    )
    whole = with_team(options, settings, door.environ, agent=wish.agent, script=wish.script)
    if not wish.model:
        return whole
    plans = whole.agents["plan"]
    plans = structs.replace(plans, program=structs.replace(plans.program, model=wish.model))
    return structs.replace(whole, agents={**whole.agents, "plan": plans})


def _asked(site: Site, order: TaskOrder, options: RunOptions) -> tuple[Address, str, RunOptions]:
    """Return the plan's address and slug, and the options with the order."""
    at = describe(site.desk.library, site.repository.root / order.path)
    whole = structs.replace(options, slug=at.slug, task=order)
    return Address(LOCAL, site.repo, at.shown), at.slug, whole


def _together(door: Door, site: Site, orders: list[TaskOrder], options: RunOptions) -> list[int]:
    """Request all runs, then follow one after the other."""
    journal, codes = site.journal, []
    begun: list[Run] = []
    for order in orders:
        address, slug, whole = _asked(site, order, options)
        asked = request(
            journal.store, journal.home.runs, address, slug=slug, options=whole, asker=asker(door)
        )
        if isinstance(asked, Declined):
            codes.append(outcome.declined(door, slug, asked))
        else:
            begun.append(asked)
    if begun:
        pid = wiring.ensure_worker(journal.home, door.environ)
        codes += [look_on(door, site, run, pid) for run in begun]
    return codes
