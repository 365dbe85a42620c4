"""Why a plan is in its state, with the data that shows it. Rule: `fine` needs data that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.cli.ui.clock import ago, at, lasting, parsed
from asbuilt.cli.ui.words import counted
from asbuilt.lifecycle.status.health import SILENT_S, judge

if TYPE_CHECKING:
    from asbuilt.agents.activity import Signs
    from asbuilt.cli.runs.waiting import Kind, Waiting
    from asbuilt.cli.shell.reading import Moment
    from asbuilt.journal.queries.overview import PlanView, RunView

_WORDS: Final[dict[Kind, str]] = {
    "claim": "waits for a claim", "schedule": "scheduled", "person": "waits for you", "disk": "disk full",
    "worker": "cut off", "limit": "parked", "time": "parked", "line": "in line",
    "asbuilt": "running",
}  # fmt: skip


class Cause(NamedTuple):
    """The reason for a plan's state: a word, a sentence, and the data behind it."""

    word: str
    sentence: str
    data: tuple[tuple[str, str], ...] = ()
    """Labels and texts."""


def cause(view: PlanView, told: Waiting, moment: Moment) -> Cause:
    """Return the reason for a plan's state. `fine` needs data that shows it."""
    run = view.run
    if run is None or told.kind == "claim" or told.kind == "schedule":  # noqa: PLR1714 - mypy narrows by ==
        return Cause(_WORDS.get(told.kind, "not run"), told.text)
    match told.kind:
        case "agent" | "verifier":
            return _health(run, told, moment)
        case "nobody" | "person" if run.run.is_over:
            return Cause(run.run.state, told.text)
        case "nobody" | "person" | "disk" | "worker" | "limit" | "time" | "line" | "asbuilt":
            return Cause(_WORDS.get(told.kind, run.run.state), told.text)
        case _:
            assert_never(told.kind)


def _health(run: RunView, told: Waiting, moment: Moment) -> Cause:
    """Judge an agent at work by duration, time since its last sign, and number of retries."""
    waits, now = run.waits_for, moment.now
    signs = moment.signs(run.attempt)
    began = waits.since or told.heard_at or run.run.at
    heard = told.heard_at or began
    retries = waits.retries + max(0, signs.starts - 1)
    again = counted(retries, "retry", "retries")
    health = judge(
        ran_s=(now - parsed(began)).total_seconds(),
        silent_s=(now - parsed(heard)).total_seconds(),
        retries=retries,
        # An attempt without a start yet is about to be started.
        is_alive=signs.is_alive or signs.starts == 0,
    )
    verdict = {
        "gone": "Not fine: the agent's process is gone; the worker starts it again.",
        "stalled": f"Stalled: silent for {ago(heard, now)} (allowed: {lasting(SILENT_S)}).",
        "long": f"Not fine: at work for {ago(began, now)}.",
        "retried": f"Not fine: {again}.",
        "fine": "Fine.",
    }[health]
    data = [
        ("started", f"{at(began, now)}, {ago(began, now)} ago; {_calls(signs)}; {again}"),
        *_last_call(signs, moment),
        *(("refused", f"{one}; allow a host: asbuilt config set sandbox.hosts") for one in signs.refused),
    ]
    word = "fine" if health == "fine" else "stalled" if health == "stalled" else "not fine"
    return Cause(word, f"{verdict} {told.text}", tuple(data))


def _calls(signs: Signs) -> str:
    return counted(signs.tool_calls, "tool call")


def _last_call(signs: Signs, moment: Moment) -> list[tuple[str, str]]:
    if not signs.last_call:
        return []
    when = f", {ago(signs.last_call_at, moment.now)} ago" if signs.last_call_at else ""
    return [("last call", f"{signs.last_call[:200]}{when}")]
