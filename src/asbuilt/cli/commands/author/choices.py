"""Command-line options of an authoring, and the session that they choose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from asbuilt.cli.shell.options import script_option, with_options
from asbuilt.errors import SettingInvalid, UsageWrong
from asbuilt.events.options import Authoring, Effort
from asbuilt.library.bounded_read import read_bytes
from asbuilt.lifecycle.authoring.modes import MODES, Mode, authoring_of, mode_for
from asbuilt.lifecycle.authoring.options import choose
from asbuilt.lifecycle.authoring.session_state import Session, start
from asbuilt.lifecycle.authoring.stages import SKIPPABLE
from asbuilt.lifecycle.critique.principles import TEMPLATE, read_principles
from asbuilt.lifecycle.effort import FOR_A_PLAN
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.lint import Length
from asbuilt.settings import Settings
from asbuilt.settings.authoring import AMOUNTS, MOST_AGENTS
from asbuilt.settings.files import correcting

SETTING: Final = "author.principles"
_MOST: Final = 20_000
"""Largest principles file, in bytes; every critic reads all of it."""


class Wish(NamedTuple):
    """The chosen options about stages and agents."""

    mode: str | None
    name: str | None
    agent: str | None
    script: str | None
    explorers: int | None
    planners: int | None
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


choosable: Final = with_options(
    click.option("--light", "mode", flag_value="light", help="one pass, at most two questions"),
    click.option("--standard", "mode", flag_value="standard", help="explorers, then planners, side by side"),
    click.option("--staged", "mode", flag_value="staged", help="eight stages, each validated, with a critic"),
    click.option(
        "--interview", "mode", flag_value="interview", help="questions first, at most three at a time"
    ),
    click.option("--name", metavar="NAME", help="the plan's name, if not made of the request"),
    click.option("--agent", metavar="NAME", help="the agent that plans (roles.plan)"),
    script_option(),
    click.option(
        "--explorers",
        type=click.IntRange(1, MOST_AGENTS),
        help="agents that explore side by side (author.explorers)",
    ),
    click.option(
        "--planners",
        type=click.IntRange(1, MOST_AGENTS),
        help="agents that draft side by side (author.planners)",
    ),
    click.option("--refine-iterations", type=int, default=2, help="rounds of critique and revision, 1 to 4"),
    click.option("--phases", metavar="LIST", help="stages in place of the eight, by commas"),
    click.option("--skip-understand", "skip", flag_value="understand", multiple=True, help="skip that stage"),
    click.option("--skip-explore", "skip", flag_value="explore", multiple=True, help="skip that stage"),
    click.option(
        "--skip-alternatives", "skip", flag_value="alternatives", multiple=True, help="skip that stage"
    ),
    click.option(
        "--max-phases", type=int, help="most outputs of a staged session [default: 10]; 0: no limit"
    ),
    click.option("--open-critique", is_flag=True, help="a critique in prose, without the principles"),
    click.option(
        "--completion-promise", metavar="WORD", default="PLAN_OK", help="promise that ends the last revision"
    ),
    click.option("--required-sections", metavar="LIST", help="headings that the plan must have, by commas"),
    click.option("--attempts", type=int, default=5, help="outputs of a stage that may be refused"),
    click.option(
        "--length",
        type=click.Choice([length.value for length in Length]),
        help="how long the plan may be (plan.length)",
    ),
    click.option("--model", metavar="NAME", help="model of the planning agent"),
    click.option(
        "--effort", type=click.Choice(list(FOR_A_PLAN)), help="how thoroughly the planning agent works"
    ),
    click.option("--pr", "by_pull", is_flag=True, help="propose the draft to reviewers as a pull request"),
    click.option("--no-memory", is_flag=True, help="neither use nor store memories"),
    click.option("--clear-memory", is_flag=True, help="delete all memories of this repository first"),
    click.option("--principles", is_flag=True, help="print the principles of critics, and do nothing else"),
)
"""The options of a command that authors."""


def preferred(words: str, settings: Settings) -> Mode:
    """Return the mode of the user's settings, or the one that fits the size of the request."""
    return MODES.get(settings.text("author.mode")) or mode_for(words, settings.text("author.profile"))


def authoring_options(mode: Mode, session: Session, wish: Wish, settings: Settings) -> Authoring:
    """Build the options of the authoring. Only the standard mode has several agents in parallel."""
    amounts = {
        name: (settings.number(f"author.needs_{name}"), settings.number(f"author.asks_{name}"))
        for name in AMOUNTS
    }
    chosen: dict[str, Any] = {"effort": wish.effort, "amounts": amounts}
    if mode.name == "standard":
        chosen["explorers"] = wish.explorers or settings.number("author.explorers")
        chosen["planners"] = wish.planners or settings.number("author.planners")
    return authoring_of(mode, session, **chosen)


def mode_of(prompt: str, wish: Wish, fitting: Mode) -> Mode:
    """Return the named mode. Options about stages select the staged mode."""
    given = {
        "--phases": wish.phases is not None,
        **{f"--skip-{stage}": stage in wish.skip for stage in SKIPPABLE},
        "--max-phases": wish.max_phases is not None,
        "--open-critique": wish.open_critique,
    }
    chosen = [option for option, is_given in given.items() if is_given]
    name = wish.mode or ("staged" if chosen else fitting.name)
    if chosen and name != "staged":
        raise UsageWrong(
            f"--{name} has its own stages, so {' and '.join(chosen)} cannot change them",
            why="Only --staged takes a choice of stages.",
            next_step=f'`asbuilt author "{prompt[:40]}" --staged`, or leave {" and ".join(chosen)} out.',
        )
    return MODES[name]


def session_of(prompt: str, mode: Mode, wish: Wish, sections: Sequence[str]) -> Session:
    """Create the session. Raise with every invalid option before an agent is started."""
    phases = None if wish.phases is None else _listed(wish.phases)
    options = choose(
        refine_iterations=wish.refine_iterations,
        phases=phases if mode.stages is None else [str(stage) for stage in mode.stages],
        skip=[skipped for skipped in wish.skip if skipped in SKIPPABLE],
        max_phases=wish.max_phases if mode.stages is None else len(mode.stages),
        critique_mode="open" if wish.open_critique else "principles",
        use_memory=not wish.no_memory,
        completion_promise=wish.completion_promise,
        attempt_limit=wish.attempts,
        required_sections=sections if wish.required_sections is None else _listed(wish.required_sections),
    )
    begun = start(prompt, options, started_at=datetime.now(UTC).isoformat())
    if isinstance(begun, Session):
        return begun
    raise _refused(begun)


def _refused(flaws: Iterable[Flaw]) -> UsageWrong:
    all_flaws = list(flaws)
    what = "; ".join(f"{flaw.what}: found {flaw.found}, needed {flaw.needed}" for flaw in all_flaws)
    example = all_flaws[0].example
    command = example if example.startswith("asbuilt") else f'asbuilt author "what you want" {example}'
    return UsageWrong(
        f"the options do not work: {what}",
        why="asbuilt checks them before it starts an agent.",
        next_step=f"`{command}`",
    )


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def principles_text(settings: Settings, root: Path) -> str:
    """Return the principles that plans are judged by: the twelve built-in ones, or those of a file."""
    named = settings.text(SETTING)
    if not named:
        return TEMPLATE
    text = read_bytes(root / named, limit=_MOST, name=named).decode("utf-8", "replace")
    flaws = [principle for principle in read_principles(text) if isinstance(principle, Flaw)]
    if flaws:
        first = flaws[0]
        raise SettingInvalid(
            f"{named} holds no principles: {first.what}: found {first.found}, needed {first.needed}",
            why=f"{SETTING} names this file, and critics need its principles.",
            next_step=f"{correcting(root / named)}; an example: {first.example}",
        )
    return text
