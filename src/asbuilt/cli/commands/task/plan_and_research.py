"""`asbuilt task` plan and research: request runs, and follow them.

Rule: every task is checked before any run is requested.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from msgspec import UNSET, structs

from asbuilt import wiring
from asbuilt.cli.commands.plan.new import template_text
from asbuilt.cli.commands.run.fleet import need_worker
from asbuilt.cli.commands.run.follow import ask_for, look_on, target_of
from asbuilt.cli.commands.task.tracking import finish_views
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.run_terms import with_team
from asbuilt.cli.shell.options import Door, script_option, subcommand, with_options
from asbuilt.cli.shell.run_context import Site, asker, open_site
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, AsbuiltError, UsageWrong
from asbuilt.events.options import DEFAULT_TASK_TIMEOUT_S, RunOptions, TaskOrder
from asbuilt.flows.requests import Declined, request
from asbuilt.git.files import entries
from asbuilt.git.repository import tip
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.runs import Run
from asbuilt.ledger import tasks
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.search_path import describe
from asbuilt.lifecycle.tasks.numbering import ROADMAP, numbers_in
from asbuilt.lifecycle.tasks.planner_context import order_for
from asbuilt.lifecycle.tasks.statuses import PLAN, RESEARCH
from asbuilt.lifecycle.tasks.transitions import workable
from asbuilt.plan.editing.template import TEMPLATE
from asbuilt.settings.running import chosen_for_runs


class Wish(NamedTuple):
    """The options of the command line."""

    effort: str | None
    model: str | None
    clean: bool
    roadmap: bool
    agent: str | None
    script: str | None
    timeout: int
    written: Path | None


with_flags: Final = with_options(
    click.option("--fast", "effort", flag_value="fast", help="less thought"),
    click.option("--hard", "effort", flag_value="hard", help="more thought"),
    click.option("--model", metavar="NAME", help="another model for the agent"),
    click.option("--clean", is_flag=True, help="without memories"),
    click.option("--agent", metavar="NAME", help="the agent that works (roles.plan)"),
    script_option(),
    click.option(
        "--timeout", type=click.IntRange(1), default=DEFAULT_TASK_TIMEOUT_S, help="seconds for its agent"
    ),
    click.option(
        "--from",
        "written",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="take the text of this file; no agent works",
    ),
    click.option("--foreground", is_flag=True, help="work in this process, without a worker"),
)
"""The options of all commands that work on tasks."""


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
    files = [entry.decode("utf-8", "replace") for entry in entries(site.repository.git, base)] if base else []
    if wish.roadmap and ROADMAP not in files:
        door.screen.talk(f"There is no {ROADMAP} here, so --roadmap has no effect.")
        wish = wish._replace(roadmap=False)
    template = template_text(site.desk.settings, site.repository.root)
    flags: dict[str, Any] = {
        "effort": wish.effort,
        "model": wish.model,
        "clean": wish.clean,
        "roadmap": wish.roadmap,
        "template": UNSET if template == TEMPLATE else template,
    }
    if wish.written is not None:
        if len(numbers) > 1:
            raise UsageWrong(
                f"--from is for one task, not for {len(numbers)}",
                why="Each task has its own plan and report.",
                next_step="`asbuilt task list` shows the tasks; name the one whose text it is.",
            )
        flags["written"] = read_bytes(wish.written).decode("utf-8", "replace")
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
    skipped = {"task": number, "run": None, "state": "skipped", "why": error.what, "exit": error.exit_code}
    if not door.emitted("asbuilt.run/1", skipped):
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
        sandbox_required=chosen.sandbox_required,
        sandbox=chosen.sandbox,
        desktop=chosen.desktop,
        caps=chosen.caps,
    )
    if wish.written is not None:
        return options
    return with_team(options, settings, door.environ, agent=wish.agent, script=wish.script, model=wish.model)


def _asked(site: Site, order: TaskOrder, options: RunOptions) -> tuple[Address, str, RunOptions]:
    """Return the plan's address and slug, and the options with the order.

    Rule: the run of a report has another slug than the run of the plan, whose file has the same name. With
    one slug, `asbuilt run SLUG` would be ambiguous.
    """
    at = describe(site.desk.library, site.repository.root / order.path)
    slug = at.slug if order.operation == PLAN else f"{at.slug}-{order.operation}"
    return Address(LOCAL, site.repo, at.shown), slug, structs.replace(options, slug=slug, task=order)


def _together(door: Door, site: Site, orders: list[TaskOrder], options: RunOptions) -> list[int]:
    """Request all runs, then follow one after the other."""
    need_worker(site, options)
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


@subcommand(
    "plan",
    ("asbuilt task plan 7", "planned, linked and committed"),
    ("asbuilt task plan 7, 22-24, 59", "several; tasks that cannot be planned are skipped"),
    ("asbuilt task plan 7 --hard --model opus", "more thought, by another model"),
    ("asbuilt task plan 7 --roadmap", "with phases that review and update specs/ROADMAP.md"),
    ("asbuilt task plan 7 --from plan.md", "a plan that is written already; no agent works"),
)
@click.argument("numbers", nargs=-1, required=True)
@click.option("--roadmap", is_flag=True, help="a first and a last phase about specs/ROADMAP.md")
@with_flags
def plan(door: Door, numbers: tuple[str, ...], *, foreground: bool, **given: Any) -> int:  # noqa: ANN401 - click passes each option by its name
    """Plan tasks: a read-only agent submits a plan, and asbuilt validates it.

    The task is "planning" while the agent works and "planned" afterwards. The plan, its link and both views
    are one commit. If the plan cannot be used, the task stays "planning" and the reason is shown.
    """
    return ask(door, PLAN, numbers, Wish(**given), is_here=foreground)


@subcommand(
    "research",
    ("asbuilt task research 7", "a report, linked and committed"),
    ("asbuilt task research 7 8 --fast", "two, quickly"),
)
@click.argument("numbers", nargs=-1, required=True)
@with_flags
def research(door: Door, numbers: tuple[str, ...], *, foreground: bool, **given: Any) -> int:  # noqa: ANN401 - click passes each option by its name
    """Research tasks: a read-only agent submits a report. A plan of the same round follows."""
    return ask(door, RESEARCH, numbers, Wish(roadmap=False, **given), is_here=foreground)
