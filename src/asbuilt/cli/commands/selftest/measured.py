"""Results of `asbuilt selftest agent`: outcome, cost and time of each plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.cli.ui.clock import lasting
from asbuilt.cli.ui.columns import table
from asbuilt.lifecycle.run.money import NO_PAST, Spent, forecast, total

if TYPE_CHECKING:
    from asbuilt.cli.commands.selftest.exercises import Seen

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
    if expected == NO_PAST:
        least, most = (each * plans for each in RANGE_USD)
        expected = f"${least:.2f} to ${most:.2f}, assumed without past runs"
    if not silent:
        return expected
    return f"unknown: {' and '.join(silent)} report{'s' * (len(silent) == 1)} no dollars"


def spent_of(run: Mapping[str, Any]) -> Spent:
    """Read the cost from a run's JSON; without JSON it is unknown."""
    cost = run.get("cost") or {"usd": None, "is_whole": False}
    return Spent(usd=cost["usd"] or 0.0, usd_untold=int(not cost["is_whole"]))


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
    """Shorten a reason to one line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON else line[: _REASON - 3].rstrip() + "..."


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
