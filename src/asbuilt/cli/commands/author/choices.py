"""Command-line options of an authoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from asbuilt.lifecycle.authoring.modes import EFFORTS, MOST_AGENTS
from asbuilt.plan.rules.length import Length

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.events.options import Effort

_F = TypeVar("_F", bound="Callable[..., Any]")


class Wish(NamedTuple):
    """The chosen options about stages and agents."""

    mode: str | None
    name: str | None
    agent: str | None
    script: str | None
    explorers: int
    planners: int
    refine_iterations: int
    phases: str | None
    skip: tuple[str, ...]
    max_phases: int | None
    open_critique: bool
    completion_promise: str
    required_sections: str | None
    attempts: int
    no_memory: bool
    length: str | None
    model: str | None
    effort: Effort | None
    by_pull: bool


_CHOICES: Final = (
    click.option("--light", "mode", flag_value="light", help="one pass, at most two questions"),
    click.option("--standard", "mode", flag_value="standard", help="explorers, then planners, side by side"),
    click.option("--staged", "mode", flag_value="staged", help="the eight stages, each judged by code"),
    click.option(
        "--interview", "mode", flag_value="interview", help="questions first, at most three at a time"
    ),
    click.option("--name", metavar="NAME", help="the file's name, if not made of your words"),
    click.option("--agent", metavar="NAME", help="the agent that plans (roles.plan)"),
    click.option(
        "--script",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="what the scripted agent plays",
    ),
    click.option("--explorers", type=click.IntRange(1, MOST_AGENTS), default=2, help="who read side by side"),
    click.option("--planners", type=click.IntRange(1, MOST_AGENTS), default=1, help="who draft side by side"),
    click.option("--refine-iterations", type=int, default=2, help="rounds of critique and revision, 1 to 4"),
    click.option("--phases", metavar="LIST", help="stages in place of the eight, by commas"),
    click.option(
        "--skip-understand", "skip", flag_value="understand", multiple=True, help="leave that stage out"
    ),
    click.option("--skip-explore", "skip", flag_value="explore", multiple=True, help="leave that stage out"),
    click.option(
        "--skip-alternatives", "skip", flag_value="alternatives", multiple=True, help="leave that stage out"
    ),
    click.option("--max-phases", type=int, help="so many outputs at most; 0: no limit"),
    click.option("--open-critique", is_flag=True, help="a critique in prose, without the principles"),
    click.option(
        "--completion-promise", metavar="WORD", default="PLAN_OK", help="what ends the last revision"
    ),
    click.option("--required-sections", metavar="LIST", help="headings that the plan must have, by commas"),
    click.option("--attempts", type=int, default=5, help="outputs of a stage that may be refused"),
    click.option(
        "--length",
        type=click.Choice([one.value for one in Length]),
        help="how long the plan may be (plan.length)",
    ),
    click.option("--model", metavar="NAME", help="the model of whoever plans, if not its own"),
    click.option(
        "--effort", type=click.Choice(list(EFFORTS)), help="how thoroughly whoever plans is told to look"
    ),
    click.option("--pr", "by_pull", is_flag=True, help="put the draft to reviewers as a pull request"),
    click.option("--no-memory", is_flag=True, help="neither tell nor keep what was learnt"),
    click.option("--clear-memory", is_flag=True, help="forget all that is remembered here, first or only"),
    click.option("--principles", is_flag=True, help="print what a critic judges by, and do nothing else"),
)


def choosable(command: _F) -> _F:
    """Add every option to a command, in the order of the list."""
    for option in reversed(_CHOICES):
        command = option(command)
    return command
