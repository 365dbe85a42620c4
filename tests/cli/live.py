"""Moments of a run, made of plain values: nothing has to run so that they can be drawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from asbuilt.cli.live.frame import Activity, Moment
from asbuilt.cli.live.rows import Canvas, Row, text_of
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from asbuilt.events.options_json import read_options
from asbuilt.journal.approvals import Approval
from asbuilt.journal.queries.overview import RunView
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import PhaseProgress, WaitsFor
from asbuilt.proof.evidence import Evidence
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.events.event import Entry, Outcome

NOW = datetime(2026, 11, 14, 22, 6, 2, tzinfo=UTC)
TITLES = {"1": "Token bucket", "2a": "Redis store", "2b": "Limits per API key", "3": "Middleware and 429"}
WIDE = Canvas(80, 24, UNICODE)
NARROW = Canvas(40, 24, UNICODE)
PLAIN = Canvas(80, 24, ASCII)
OPTIONS = {"slug": "rate-limit", "agent": "claude", "branch": "main", "hold": False, "kind": "run"}


def ago(seconds: float) -> str:
    """Give a time of the journal before NOW."""
    return (NOW - timedelta(seconds=seconds)).isoformat()


def run(state: str = "running", **options: Any) -> Run:  # noqa: ANN401 - options are JSON
    """Make the run that all moments are of."""
    ended = ago(0) if state in ("landed", "failed") else None
    asked = {**OPTIONS, **options}
    return Run(
        "local", "6f9c", "r1", "plans/rate-limit.md", 1, state, 1, read_options(asked), None, ago(1020), ended
    )


def phases(state: Any = "implementing", **more: Any) -> list[PhaseProgress]:  # noqa: ANN401 - a phase's own
    """Make the four phases while the second is in a state."""
    return [
        PhaseProgress("1", TITLES["1"], "proven", ago(300), "4f1c9a2" * 5),
        PhaseProgress("2a", TITLES["2a"], state, ago(240), **{"attempt": 1, **more}),
        PhaseProgress("2b", TITLES["2b"], "ready", ""),
        PhaseProgress("3", TITLES["3"], "pending", "", needs=("2a", "2b")),
    ]


def moment(
    waits: WaitsFor,
    shown: list[PhaseProgress],
    activity: Activity | None = None,
    *,
    of: Run | None = None,
    asks: list[Approval] | None = None,
    cost: float = 1.31,
    **more: Any,  # noqa: ANN401 - of a moment
) -> Moment:
    """Make a moment of the run."""
    view = RunView(of or run(), "rate-limit.1", shown, waits, asks or [], Spent(cost), None)
    return Moment(view, NOW, activity, **more)


def question(text: str = "continue with phase 2b?") -> Approval:
    """Make a question that nobody has answered."""
    return Approval(
        7, "r1/between/2b", "plans/rate-limit.md", "r1", "2b", "continue", text, None, "asbuilt", ago(7200),
        None, None, None, None,
    )  # fmt: skip


def event(kind: str, seconds: float = 0, **data: Any) -> Entry:  # noqa: ANN401 - data is JSON
    """Make an event of the run, so long before NOW."""
    (made,) = happened([(kind, {"run": "r1", "at": ago(seconds), **data})])
    return replace(made, key=f"r1/{kind}/{seconds}/{data.get('number')}")


def evidence(name: str, *, exit_code: int = 0, ran: int | None = None, why: str = "exit 0") -> Evidence:
    """Make what one check has shown."""
    outcome: Outcome = "PASS" if exit_code == 0 else "FAIL"
    return Evidence(name, (name,), exit_code, outcome, why, ran, 0, 0, "sha256:0", 1.0, "7" * 40)


def drawn(rows: list[Row]) -> str:
    """Give rows as one text, without styles."""
    return "\n".join(text_of(row) for row in rows) + "\n"


CLAUDE = Activity("claude", "Edit src/api/limits/store.py", NOW - timedelta(seconds=6), 23)
BEGINS = moment(WaitsFor("asbuilt", why="Baseline"), [], cost=0.0)
WORKS = moment(WaitsFor("agent", "2a", ago(240), attempt="1"), phases(), CLAUDE)
FIXES = moment(
    WaitsFor("agent", "2a", ago(60), attempt="2"),
    phases("fixing", attempt=2, cycle=1),
    CLAUDE._replace(doing='says "I will look at the store"', tool_calls=1),
    failures=("uv run pytest tests/limits/test_store.py -q: FAIL, exit 1",),
)
PARKED = moment(
    WaitsFor("limit", "2a", ago(60), (NOW + timedelta(hours=3)).isoformat(), "usage limit of the agent"),
    phases("parked"),
    of=run("waiting"),
)
ASKS = moment(
    WaitsFor("person", "2b", ago(7200)),
    phases("proven"),
    of=run("waiting", hold=True),
    asks=[question()],
)
LANDS = moment(WaitsFor("asbuilt", why="Land"), [one._replace(state="proven") for one in phases()])
CUT_OFF = moment(WaitsFor("asbuilt", "2a", why="Check"), phases("checking"), is_served=False)
