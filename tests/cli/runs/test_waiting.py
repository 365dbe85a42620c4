"""What a plan waits for, in the words of every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.waiting import waiting
from asbuilt.cli.shell.read_context import Moment
from asbuilt.events.options import RunOptions
from asbuilt.journal.ids import Address
from asbuilt.journal.queries.overview import PlanView, RunView
from asbuilt.journal.schedules import Schedule
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import WaitsFor
from tests.cli.live import NOW, ago, run

MOMENT = Moment(NOW, is_served=True, state=Path("/nowhere"))
HOURLY = Schedule(
    "local", "6f9c", "plans/rate-limit.md", "s1", "rate-limit", "1h", "UTC", RunOptions(), "ann",
    since=ago(60), slot=ago(-3540), due_at=ago(-3540), set_at=ago(60),
)  # fmt: skip


def view(state: str, kind: str = "run", waits: WaitsFor | None = None) -> PlanView:
    made = run(state, kind=kind)
    ended = ago(120) if state in ("landed", "undone", "stopped", "failed", "held") else None
    run_view = RunView(
        made._replace(ended_at=ended), made.name, [], waits or WaitsFor("nobody"), [], Spent(), None
    )
    address = Address(made.org, made.repo, made.plan)
    return PlanView(address, "rate-limit", ago(120), None, run_view, [], Spent(), schedule=HOURLY)


@pytest.mark.parametrize(
    ("state", "kind", "before"),
    [
        ("landed", "run", ""),
        ("undone", "undo", "Reverted on main 22:04; the plan is open again. "),
        ("stopped", "run", "Stopped 22:04 by the user. All work is kept. "),
    ],
)
def test_a_plan_with_a_schedule_shows_its_next_time_also_after_an_undo(
    state: str, kind: str, before: str
) -> None:
    wait = waiting(view(state, kind, WaitsFor("nobody", is_unexplained=True)), MOMENT)
    assert (wait.kind, wait.brief) == ("schedule", "23:05 UTC")
    assert wait.sentence == f"{before}Scheduled: every 1h; next 23:05 UTC, in 59m."


@pytest.mark.parametrize("state", ["failed", "held"])
def test_a_plan_whose_work_waits_for_the_user_does_not_wait_for_its_schedule(state: str) -> None:
    assert waiting(view(state, "land"), MOMENT).kind != "schedule"


def test_the_command_that_continues_an_open_undo_says_so() -> None:
    wait = waiting(view("paused", "undo", WaitsFor("resume", since=ago(60))), MOMENT)
    assert wait.next == Next(
        "asbuilt run rate-limit",
        other="end it: `asbuilt stop rate-limit`",
        comment="continues the undo",
        runs_plan=True,
    )
