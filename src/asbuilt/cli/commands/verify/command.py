"""`asbuilt verify`: run the checks of finished phases again on the current code. No agent, no landing."""

from __future__ import annotations

import click
from msgspec import structs

from asbuilt.cli.commands.run import ask_for, target_of
from asbuilt.cli.commands.verify.replay import replay
from asbuilt.cli.shell.desk import complete_phase, complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import open_site
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.plan.editing.edit import the_phase
from asbuilt.settings.running import chosen_for_runs


@click.command(
    "verify",
    cls=Command,
    examples=[
        ("asbuilt verify rate-limit", "every phase that is done"),
        ("asbuilt verify rate-limit 2a", "one phase, done or not"),
        ("asbuilt verify --replay rate-limit.1", "what a run has shown, on the trees of then"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("phase", required=False, shell_complete=complete_phase)
@click.option(
    "--replay", "is_replay", is_flag=True, help="run the stored checks of a run on its stored trees"
)
@shared(json=True)
def command(door: Door, plan: str, phase: str | None, *, is_replay: bool) -> int:
    """Run the tests and the checks of every finished phase again, on a clean checkout.

    With --replay, the stored checks of a run are run again at the original commits, and its verdicts are
    judged again. It reports what no longer holds, works in any clone that has the commits, and records
    nothing.
    """
    if is_replay:
        return replay(door, plan, phase)
    site = open_site(door)
    opened = site.desk.open(plan)
    if phase is not None:
        the_phase(opened.plan, phase)
    options = structs.replace(
        chosen_for_runs(site.desk.settings),
        kind="verify",
        checkout=str(site.repository.root),
        branch=target_of(site.repository.root),
        slug=opened.at.slug,
        host=machine(),
        mode="verify",
        phase=phase,
    )
    return ask_for(door, site, Address(LOCAL, site.repo, opened.at.shown), opened.at.slug, options)
