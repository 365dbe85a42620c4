"""`asbuilt selftest agent`: run five small plans with the user's own agent and measure them."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

import click
import tomlkit

from asbuilt import wiring
from asbuilt._version import VERSION
from asbuilt.agents.activity import models_of
from asbuilt.agents.roster import Agent, assigned, roster
from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.doctor.bug_report import redaction_for
from asbuilt.cli.commands.selftest import exercises as measured
from asbuilt.cli.commands.selftest.exercises import NAMES, PLAN, Agents, Exercise, Outcome, Row, run_hidden
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.scratch import Scratch
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import talk
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, NameTaken, StoreFailed, UsageWrong
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.spending import past_of
from asbuilt.journal.repositories import every
from asbuilt.library.atomic_files import create
from asbuilt.lifecycle.run.money import Spent
from asbuilt.policy.agent_kinds import KINDS
from asbuilt.settings import Layer, Settings, load

_REPOSITORIES: Final = 20
"""Number of the journal's repositories that are searched for past costs."""
_CARRIED: Final = ("agents", "roles", "limits", "sandbox")
"""Tables of the user's settings that apply to the exercises; all other settings have their defaults."""
_STDOUT: Final = Path("-")
_PATH: Final = re.compile(r"(?<![\w./:])(?:~|/[\w.@+-]+)(?:/[\w.@+-]+)*/(?=[\w.@+-])")


class Terms(NamedTuple):
    """The agents, and the cost limit of all exercises together."""

    settings: Settings
    works: Agent
    judges: Agent
    limit_usd: float | None
    named: str | None
    """The value of `--agent`."""
    scripts: Path | None
    """A folder with a script for each exercise, for the scripted agent."""


@subcommand(
    "agent",
    ("asbuilt selftest agent", "five small plans with your agent and login; asks first"),
    ("asbuilt selftest agent --agent codex --only python", "one plan, another agent"),
    ("asbuilt selftest agent --yes --markdown result.md", "no question; write the table to share"),
)
@click.option("--agent", "named", metavar="NAME", help="the agent that works (agents.implement)")
@click.option(
    "--only",
    metavar="NAME",
    type=click.Choice(NAMES),
    multiple=True,
    help=f"only this plan, may be repeated: {', '.join(NAMES)}",
)
@click.option("--yes", is_flag=True, help="do not ask before money is spent")
@click.option(
    "--markdown",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="write the table to a new file; -: print it as Markdown",
)
@click.option("--scripts", type=click.Path(exists=True, file_okay=False, path_type=Path), hidden=True)
def command(
    door: Door,
    *,
    named: str | None,
    only: tuple[str, ...],
    yes: bool,
    markdown: Path | None,
    scripts: Path | None,
) -> int:
    """Run five small plans with your own agent and login, and show which were proven, at what cost and time.

    Each plan has a temporary repository and state folder. What lands is then tested by a test that the agent
    never saw. limits.usd holds for all plans together. Exit 1 when nothing was proven, or when something
    landed that is wrong. The table has no paths and no names: share it.
    """
    terms = _terms(door, named, scripts)
    _refuse_taken(markdown)
    exercises = measured.read_exercises(only)
    if not _confirmed(door, terms, exercises, yes=yes):
        door.screen.answer("Nothing was run.")
        return DONE
    rows: list[Row] = []
    try:
        for exercise in exercises:
            rows.append(_row(door, terms, exercise, rows))
    finally:
        # Also after Ctrl-C: the measurements until then have cost money.
        _show(door, rows, _agents(terms, rows), markdown)
    return DONE if measured.is_good(rows) else FAILED


def _terms(door: Door, named: str | None, scripts: Path | None) -> Terms:
    settings = load(repository=None, environ=door.environ)
    team = assigned(roster(settings, door.environ), settings, named)
    limit = settings.dollars("limits.usd") or None
    return Terms(settings, team["implement"], team["verify"], limit, named, scripts and scripts.absolute())


def _refuse_taken(file: Path | None) -> None:
    if file is not None and file.exists():
        raise NameTaken(
            f"{file} exists already",
            why="Nothing is ever overwritten, and the plans would have cost money by then.",
            next_step=f"`asbuilt selftest agent --markdown {quote(str(file.with_stem(f'{file.stem}-2')))}`",
        )


def _confirmed(door: Door, terms: Terms, exercises: Sequence[Exercise], *, yes: bool) -> bool:
    """Show agents, plans and the estimated cost, and ask. Without a terminal, `--yes` is required."""
    lacking = {exercise.name: why for exercise in exercises if (why := exercise.lacks(_path(door)))}
    runnable = [exercise for exercise in exercises if exercise.name not in lacking]
    silent = dict.fromkeys(
        agent.program.kind
        for agent in (terms.works, terms.judges)
        if not KINDS[agent.program.kind].reports_usd
    )
    expected = measured.estimate(_past(door, terms.settings), len(runnable), list(silent))
    limit = (
        f"limit ${terms.limit_usd:.2f} for all of them" if terms.limit_usd else "no limit is set (limits.usd)"
    )
    missing = [f"{name} ({why})" for name, why in lacking.items()]
    plans = ", ".join(exercise.name for exercise in runnable) or "none"
    agents = _agents(terms)
    for lead, words in (
        ("Agents", f"{agents.implements} implements, {agents.verifies} verifies"),
        ("Plans", plans + (f"; not run: {', '.join(missing)}" if missing else "")),
        ("Cost", f"{expected}; {limit}"),
    ):
        talk(door, f"{lead:<9}", words)
    if yes or not runnable:
        return True
    if door.is_attended:
        return agreed(door, f"Run {counted(len(runnable), 'plan')} with your own login?")
    raise UsageWrong(
        "selftest agent costs money, and there is no terminal to confirm it",
        why="The plans run with your own agent and login.",
        next_step="`asbuilt selftest agent --yes`",
    )


def _past(door: Door, settings: Settings) -> list[Spent]:
    """Return what phases have cost in the repositories of the user's journal.

    Without a readable journal there is no estimate; the exercises have their own journal.
    """
    try:
        journal = wiring.find_journal(settings, door.environ)
        if journal is None:
            return []
        with journal.store.read() as session:
            known = every(session, LOCAL, limit=_REPOSITORIES)
            return [spent for known_plan in known for spent in past_of(session, LOCAL, known_plan.repo).spent]
    except StoreFailed:
        return []


def _limit_reached(terms: Terms, rows: Sequence[Row]) -> str:
    spent = sum(row.spent.usd for row in rows)
    if terms.limit_usd is None or spent < terms.limit_usd:
        return ""
    return f"${spent:.2f} of ${terms.limit_usd:.2f} are spent (limits.usd)"


def _path(door: Door) -> str:
    return door.environ.get("PATH", os.defpath)


def _row(door: Door, terms: Terms, exercise: Exercise, before: Sequence[Row]) -> Row:
    """Measure one exercise, unless a program is missing or the limit is reached."""
    lacks = exercise.lacks(_path(door)) or _limit_reached(terms, before)
    return Row(exercise.name, Outcome.NOT_RUN, lacks) if lacks else _measure(door, terms, exercise, before)


def _measure(door: Door, terms: Terms, exercise: Exercise, before: Sequence[Row]) -> Row:
    """Run one exercise in a temporary folder, and test what has landed."""
    door.screen.talk()
    door.screen.talk(f"{exercise.name}: {exercise.title}")
    # Some agents do not work below /tmp, which the sandbox replaces by an empty folder.
    place = door.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108 - mkdtemp makes a private folder in it
    folder = Path(tempfile.mkdtemp(prefix="asbuilt-selftest-", dir=place)).resolve()
    own = folder / "settings.toml"
    scratch = Scratch(folder, exercise.name, door.environ, {"ASBUILT_USER_FILE": str(own)})
    try:
        own.write_text(_own_settings(terms, before), encoding="utf-8")
        scratch.build({**exercise.files, f"plans/{PLAN}.md": exercise.plan}, message="Start")
        began = time.monotonic()
        run = scratch.type(door, _run(terms, exercise), json_wanted=True)
        seconds = time.monotonic() - began
        landed = run.get("state") == "landed"
        seen = run_hidden(scratch, exercise.hidden, folder / "hidden") if landed else None
        models = _models(scratch.state)
    finally:
        scratch.delete()
    outcome, why = measured.outcome_of(run, seen)
    reason = printable(redaction_for(door.environ).text(_PATH.sub("", why)))
    return Row(exercise.name, outcome, reason, measured.spent_of(run), seconds, *models)


def _run(terms: Terms, exercise: Exercise) -> list[str]:
    agent = ["--agent", terms.named] if terms.named else []
    script = ["--script", str(terms.scripts / f"{exercise.name}.toml")] if terms.scripts else []
    return ["run", PLAN, "--finish", "--auto", "--foreground", *agent, *script]


def _own_settings(terms: Terms, before: Sequence[Row]) -> str:
    """Write the user's choice of agents as a settings file, with the rest of the limit."""
    tables: dict[str, Any] = {"attention": {"desktop": False, "bell": False}}
    for key, chosen in terms.settings.chosen.items():
        section, *rest = key.split(".")
        if section in _CARRIED and chosen.origin.layer not in (Layer.DEFAULT, Layer.ORGANISATION):
            table = tables.setdefault(section, {})
            for part in rest[:-1]:
                table = table.setdefault(part, {})
            table[rest[-1]] = chosen.value
    if terms.limit_usd is not None:
        left = terms.limit_usd - sum(row.spent.usd for row in before)
        tables.setdefault("limits", {})["usd"] = round(left, 4)
    return tomlkit.dumps(tables)


def _models(state: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models that implementers and verifiers reported; a verifier's attempt ends with v."""
    attempts = sorted(state.glob("runs/*/attempts/*"))
    reported = [(folder.name.endswith("v"), model) for folder in attempts for model in models_of(folder)]
    implements, verifies = (
        tuple(dict.fromkeys(model for judges, model in reported if judges is wanted))
        for wanted in (False, True)
    )
    return implements, verifies


def _agents(terms: Terms, rows: Sequence[Row] = ()) -> Agents:
    """Name the agents with the models that they reported, else with those of the settings."""

    def shown(agent: Agent, reported: Iterable[str]) -> str:
        models = ", ".join(dict.fromkeys(reported)) or agent.program.model
        return printable(f"{agent.program.kind} ({models or 'its own choice of model'})")

    works = shown(terms.works, (model for row in rows for model in row.implements))
    judges = shown(terms.judges, (model for row in rows for model in row.verifies))
    return Agents(VERSION, works, judges, probe().for_work, f"{datetime.now(UTC):%Y-%m-%d}")


def _show(door: Door, rows: Sequence[Row], agents: Agents, file: Path | None) -> None:
    if not rows:
        return
    page = measured.markdown(rows, agents)
    if door.json:
        door.screen.emit_json(measured.as_json(rows, agents))
    elif file == _STDOUT:
        door.screen.answer(page.rstrip())
    else:
        door.screen.answer_all((agents.line, *measured.drawn(rows), measured.summary(rows)))
    if file not in (None, _STDOUT):
        create(file, page.encode())
