"""The terms of a run, shown before it starts: agents, proof, cost limit and landing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt.agents.roster import SCRIPTED, assigned, frozen, roster, with_model
from asbuilt.agents.scripted.adapter import read_script
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.messages import talk
from asbuilt.errors import UsageWrong
from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.run.money import caps_in

if TYPE_CHECKING:
    from asbuilt.cli.runs.costs import Expected
    from asbuilt.settings import Settings

UNNAMED: Final = "-"
"""Stands for a script that the user has not named yet."""


def with_team(
    options: RunOptions,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    agent: str | None,
    script: str | None,
    model: str | None = None,
) -> RunOptions:
    """Return options with the agent of each role, and the script of the scripted agent.

    `model` overrides the planning agent's model from the settings.
    """
    team = assigned(roster(settings, environ), settings, agent)
    if model:
        team = with_model(team, settings, model)
    if team["implement"].program.kind == SCRIPTED and script is None:
        raise UsageWrong(
            "the scripted agent needs a script",
            why="It performs only the actions in the script.",
            next_step="`asbuilt demo --keep` leaves an example, agent.toml; add it with --script FILE.",
        )
    if script not in (None, UNNAMED):
        read_script(Path(script))
    return structs.replace(
        options,
        agent=team["implement"].name,
        agents=frozen(team),
        named_agent=agent or "",
        script=str(Path(script).absolute()) if script else None,
    )


def terms_of(options: RunOptions, expected: Expected) -> list[tuple[str, str]]:
    """Return the terms of a run: agents, proof, cost and landing."""
    works, mends, judges = (options.agent_of(role) for role in ("implement", "fix", "verify"))
    words = f"{works} implements and verifies, in separate processes"
    if works != judges:
        words = f"{works} implements, {judges} verifies"
    if mends != works:
        words += f", {mends} fixes"
    cap = caps_in(options).words
    capped = f"Limit: {cap} a run" if cap else "No limit (limits.usd)"
    return [
        ("Agents", words),
        *([("Proof", expected.proof)] if expected.proof else ()),
        ("Cost", f"Estimate: {expected.cost or 'none yet'}. {capped}"),
        ("Lands", landing_of(options)),
    ]


def landing_of(options: RunOptions) -> str:
    """Return where and how a run lands."""
    way = {"direct": "phase by phase", "pr": "by a pull request"}.get(
        options.landing, f"by {options.landing}"
    )
    lands = f"{way}, when proven" if not options.holds else "when you confirm"
    if options.landing == "direct" and options.holds:
        lands += "; --direct lands each phase once it is proven"
    if options.landing == "pr" and not options.auto and not options.holds:
        lands = "by a pull request that you merge"
    return f"on {options.branch}, {lands}"


def announce(door: Door, options: RunOptions, expected: Expected) -> None:
    """Print the terms before the run starts."""
    for lead, words in terms_of(options, expected):
        talk(door, f"{lead:<9}", words)
