"""`asbuilt session loop`: repeat one prompt in fresh contexts. Each round needs a /clear by the user."""

from __future__ import annotations

import time

import click

from asbuilt.cli.commands.session.here import here
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import answer
from asbuilt.errors import DONE, UsageWrong
from asbuilt.session.locking import Locked
from asbuilt.session.loop import COMPLETE, MOST, begin
from asbuilt.session.state import keep_loop


@click.command(
    "loop",
    cls=Command,
    examples=[
        ('asbuilt session loop "go on with the plan"', "ten rounds at most, each behind a /clear of yours"),
        ('asbuilt session loop "fix a test" --most 3 --until "ALL GREEN"', "until the agent says so"),
        ("asbuilt session loop --end", "no more rounds"),
    ],
)
@click.argument("prompt", required=False)
@click.option("--most", type=click.IntRange(1, MOST), default=10, metavar="N", help="rounds at most")
@click.option("--until", default=COMPLETE, metavar="TEXT", help="what the agent says when it is done")
@click.option("--end", is_flag=True, help="end the loop of this conversation")
@shared(json=False)
def command(door: Door, prompt: str | None, most: int, until: str, *, end: bool) -> int:
    """Repeat one prompt, each time in a fresh context.

    A round ends with its phase, when the context is full, or when the agent says that it is done and the
    plan agrees. The next round starts after you type /clear.
    """
    place = here(door)
    if not place.key or bool(prompt) == end:
        raise UsageWrong(
            "a loop is begun with a prompt, or ended, inside a conversation",
            why="Its rounds are those of the conversation that it is typed in.",
            next_step='Inside Claude Code: asbuilt session loop "go on with the plan"',
        )
    plan = place.plans.look(place.state.plan) if place.state.plan else None
    phase = plan.phase if plan else ""
    loop = begin(prompt or "", most=most, promise=until, plan=place.state.plan, phase=phase, now=time.time())
    with Locked(place.folder):
        keep_loop(place.folder, None if end else loop)
    told = "The loop is over." if end else f"Round 1 of {loop.most} has begun. /clear begins the next one."
    answer(door, "", told)
    return DONE
