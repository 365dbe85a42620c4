"""The plans of `asbuilt selftest agent`, their results, and the test that no agent sees.

The hidden test runs offline, in the sandbox.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from asbuilt import wiring
from asbuilt.cli.ui.clock import lasting
from asbuilt.cli.ui.columns import table
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.environments.results import Ran
from asbuilt.git.repository import open_repository, resolve
from asbuilt.journal.home import Home
from asbuilt.lifecycle.run.money import Spent, forecast, total
from asbuilt.proof.judgement import judge_check, judge_setup
from asbuilt.proof.projects.resolving import resolve_setup
from asbuilt.settings import load
from asbuilt.settings.running import command_in

if TYPE_CHECKING:
    from asbuilt.cli.shell.scratch import Scratch

SCHEMA: Final = "asbuilt.selftest.agent/1"
RANGE_USD: Final = (0.10, 1.00)
"""Assumed cost of a plan if the journal has no costs; not measured."""
_HEAD: Final = ("plan", "outcome", "cost", "time", "reason")
_REASON: Final = 200


class Outcome(StrEnum):
    """The outcome of a plan."""

    PROVEN = "proven"
    """Landed with asbuilt's own checks, and the hidden test passes."""
    WRONG = "landed and wrong"
    UNCLEAR = "landed, not tested"
    """The hidden test could not run."""
    REFUSED = "refused"
    ASKED = "asked"
    """The run waits for an answer that only the user may give."""
    NOT_RUN = "not run"


class Row(NamedTuple):
    """A plan and its result."""

    name: str
    outcome: Outcome
    why: str = ""
    spent: Spent = Spent()
    seconds: float = 0.0
    implements: tuple[str, ...] = ()
    """The models that its implementers reported."""
    verifies: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of its row in the table."""
        if self.outcome is Outcome.NOT_RUN:
            return (self.name, self.outcome, "", "", self.why)
        return (self.name, self.outcome, self.spent.brief or "$0.00", lasting(self.seconds), self.why)


class Agents(NamedTuple):
    """The measured agents, without names and paths of the user."""

    version: str
    """Version of asbuilt."""
    implements: str
    verifies: str
    sandbox: str
    day: str

    @property
    def line(self) -> str:
        """The agents in one line."""
        return (
            f"asbuilt {self.version}, {self.day}, sandbox: {self.sandbox}."
            f" Implements: {self.implements}. Verifies: {self.verifies}."
        )


def estimate(past: Sequence[Spent], plans: int, silent: Sequence[str]) -> str:
    """Return the expected cost of a number of plans; `silent` names agents that report no dollars."""
    expected = forecast(past, plans)
    if expected is None:
        least, most = (each * plans for each in RANGE_USD)
        expected = f"${least:.2f} to ${most:.2f}, assumed without past runs"
    if not silent:
        return expected
    return f"unknown: {' and '.join(silent)} report{'s' * (len(silent) == 1)} no dollars"


def spent_of(run: Mapping[str, Any]) -> Spent:
    """Read the cost from a run's JSON; without JSON it is unknown."""
    cost = run.get("cost") or {"usd": None, "is_whole": False}
    return Spent(usd=cost["usd"] or 0.0, usd_unreported=int(not cost["is_whole"]))


def outcome_of(run: Mapping[str, Any], seen: Seen | None) -> tuple[Outcome, str]:
    """Judge a run by its JSON and, if it landed, by the hidden test; the reason is one line."""
    if not run:
        return Outcome.REFUSED, "no run was started; its error message says why"
    if run["state"] == "landed":
        match seen:
            case None:
                return Outcome.UNCLEAR, "the hidden test was not run"
            case (how, why):
                landed = {"right": Outcome.PROVEN, "wrong": Outcome.WRONG, "unclear": Outcome.UNCLEAR}
                return landed[how], _line(why)
    if run["questions"]:
        return Outcome.ASKED, _line(run["questions"][0]["question"])
    return Outcome.REFUSED, _line(run["waits_for"]["why"] or run["state"])


def is_good(rows: Sequence[Row]) -> bool:
    """Return whether a plan was proven, and no wrong code landed."""
    outcomes = [row.outcome for row in rows]
    return Outcome.WRONG not in outcomes and Outcome.PROVEN in outcomes


def summary(rows: Sequence[Row]) -> str:
    """Count the outcomes, and add up costs and times."""
    counts = {outcome: sum(row.outcome is outcome for row in rows) for outcome in Outcome}
    parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    cost = total(row.spent for row in rows).words
    return f"{', '.join(parts)}; {cost}, {lasting(sum(row.seconds for row in rows))}."


def drawn(rows: Sequence[Row]) -> list[str]:
    """Draw the table for a terminal."""
    return table([_HEAD, *(row.cells for row in rows)])


def markdown(rows: Sequence[Row], agents: Agents) -> str:
    """Write the table as Markdown that can be shared."""
    cells = [_HEAD, ("---",) * len(_HEAD), *(row.cells for row in rows)]
    lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in cells]
    return "\n".join(["## asbuilt selftest agent", "", agents.line, "", *lines, "", summary(rows), ""])


def as_json(rows: Sequence[Row], agents: Agents) -> dict[str, Any]:
    """Return the results as JSON data."""
    return {
        "schema": SCHEMA,
        "good": is_good(rows),
        **agents._asdict(),
        "plans": [
            {
                "name": row.name,
                "outcome": row.outcome.value,
                "why": row.why,
                "cost": row.spent.plain,
                "seconds": round(row.seconds, 1),
            }
            for row in rows
        ],
        "cost": total(row.spent for row in rows).plain,
    }


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON else line[: _REASON - 3].rstrip() + "..."


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


NAMES: Final = ("python", "node", "go", "bug", "dependency")
PLAN: Final = "exercise"
"""The plan's name in its repository."""


class HiddenTest(NamedTuple):
    """A test that is added to the landed tree; until then it exists only in this package."""

    path: str
    text: str
    command: str
    shows: str
    """What it prints if all of it ran and passed; exit 0 alone could be a product that exits early."""


class Exercise(NamedTuple):
    """A small plan and its repository."""

    name: str
    title: str
    needs: str
    """The program that the agent and the checks need."""
    plan: str
    files: Mapping[str, str]
    hidden: HiddenTest

    def lacks(self, path: str) -> str | None:
        """Return why the exercise cannot run with the programs on a PATH, or None."""
        return None if shutil.which(self.needs, path=path) else f"{self.needs} is not installed"


def read_exercises(only: Sequence[str] = ()) -> list[Exercise]:
    """Read all exercises or the named ones, in the order of `NAMES`."""
    return [_read(name) for name in NAMES if not only or name in only]


def _read(name: str) -> Exercise:
    table = tomllib.loads(files(__package__).joinpath("plans", f"{name}.toml").read_text(encoding="utf-8"))
    return Exercise(name=name, **{**table, "hidden": HiddenTest(**table["hidden"])})


class Seen(NamedTuple):
    """The result of a hidden test on the landed code."""

    how: Literal["right", "wrong", "unclear"]
    why: str = ""


def run_hidden(scratch: Scratch, hidden: HiddenTest, room: Path) -> Seen:
    """Add a hidden test to the landed tree and run it there."""
    repository = open_repository(scratch.checkout)
    commit = resolve(repository, "HEAD")
    if commit is None:
        return Seen("unclear", "nothing is committed")
    tree = tree_of(repository, commit)
    processes = wiring.check_processes(Home(scratch.state), room / "scratch", scratch.environ)
    given = command_in(load(repository=scratch.checkout, environ=scratch.environ), "checks.setup")
    setup = resolve_setup(given, project_of(repository, tree))
    with CheckEnvironments(room / "setups", repository, processes, history=commit).take(setup) as environment:
        made = environment.set_up(tree)
        ready = None if made is None else judge_setup(made.ended.exit_code)
        if made is not None and ready is not None and ready.outcome != "PASS":
            return Seen("unclear", f"setup: {ready.why}: {_last_line(made)}")
        ran = environment.run(tree, hidden.command, over={hidden.path: hidden.text.encode()})
    judged = judge_check(ran.ended.exit_code)
    if judged.outcome in ("NOT_RUN", "INDETERMINATE"):
        return Seen("unclear", f"{hidden.command}: {judged.why}")
    if judged.outcome == "PASS" and hidden.shows in ran.ended.output.decode("utf-8", "replace"):
        return Seen("right")
    return Seen("wrong", f"{hidden.command}: {judged.why}: {_last_line(ran)}")


def _last_line(ran: Ran) -> str:
    lines = ran.ended.output.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")
