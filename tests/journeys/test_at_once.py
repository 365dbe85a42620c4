"""Several processes want the same thing at one instant: a plan, an answer, a file, the ledger."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from asbuilt.journal.engine.liveness import holder
from tests.journeys.test_commands import Office, office, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable

__all__ = ["office"]
pytestmark = pytest.mark.crash
MANY = 6


def ended(processes: Iterable[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    """Wait for commands; return their exit codes and outputs."""
    found = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        found.append((process.returncode, " ".join(f"{out} {err}".split())))
    return found


def of(office: Office, *arguments: str) -> dict[str, object]:
    """Return the JSON that a command prints."""
    shown: dict[str, object] = json.loads(ended([office.typed(*arguments, "--json")])[0][1])
    return shown


def test_of_many_runs_that_start_at_once_one_owns_the_plan_and_the_others_learn_which(office: Office) -> None:
    office.script.write_text("[[turn]]\nacts = [{ hang = true }]\n", encoding="utf-8")
    worker = office.typed("worker", "--foreground")
    until(lambda: holder(office.state / "worker.lock"))
    typed = ("run", "greet", "--detach", "--script", str(office.script))
    found = ended([office.typed(*typed) for _ in range(MANY)])
    assert [code for code, _ in found] == [0] * MANY
    declined = [said for _, said in found if "Declined: greet is already running as greet.1" in said]
    assert len(declined) == MANY - 1, found
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    assert [one["owner"] for one in of(office, "claim", "list")["claims"]] == ["greet.1"]  # type: ignore[attr-defined]
    assert office.asbuilt("stop", "greet").startswith("exit 0")
    worker.kill()
    worker.communicate()


def test_writers_of_one_plan_and_of_the_ledger_wait_for_each_other_and_readers_see_whole_files(
    office: Office,
) -> None:
    plan = office.shop / "plans" / "greet.md"
    steps = "".join(f"## Phase {number} — Step\n### Work Items\n- [ ] a\n\n" for number in range(1, MANY + 1))
    plan.write_text(f"# Steps\n\n{steps}", encoding="utf-8")
    office.git("commit", "-qam", "steps")
    office.asbuilt("task", "add", "first")
    office.asbuilt("task", "export")
    state = office.shop / "specs" / "state.json"
    writers = [office.typed("plan", "mark", "greet", str(number), "done") for number in range(1, MANY + 1)]
    writers += [office.typed("task", "add", f"task {number}") for number in range(MANY)]
    writers += [office.typed("task", "export") for _ in range(MANY)]
    while any(process.poll() is None for process in writers):
        text = plan.read_text(encoding="utf-8")
        assert (text[:7], text.count("## Phase")) == ("# Steps", MANY)
        assert len(of(office, "plan", "show", "greet")["phases"]) == MANY  # type: ignore[arg-type]
        assert json.loads(state.read_text(encoding="utf-8"))["active_projects"]
    found = ended(writers)
    assert [code for code, _ in found] == [0] * 3 * MANY, found
    shown = of(office, "plan", "show", "greet")
    assert [phase["status"] for phase in shown["phases"]] == ["done"] * MANY  # type: ignore[attr-defined]
    tasks = of(office, "task", "list", "--all")["tasks"]
    assert [one["number"] for one in tasks] == [*range(1, MANY + 2)]  # type: ignore[attr-defined]
    assert office.asbuilt("task", "export").startswith("exit 0")
    assert len(json.loads(state.read_text(encoding="utf-8"))["active_projects"]) == MANY + 1


def test_a_question_outlives_its_worker_and_of_many_answers_one_counts(office: Office) -> None:
    typed = ("run", "greet", "--finish", "--detach", "--script", str(office.script))
    assert ended([office.typed(*typed)])[0][0] == 0
    until(lambda: "a1" in office.asbuilt("approve"))
    worker = holder(office.state / "worker.lock")
    if worker:
        os.kill(worker, signal.SIGKILL)
    said = ("yes", "no") * (MANY // 2)
    found = ended([office.typed("approve", answer, "a1", "-m", "mine") for answer in said])
    late = [text for _, text in found if "a1 was already answered" in text]
    assert len(late) == MANY - 1, found
    log = ended([office.typed("log", "greet", "--json")])[0][1]
    assert log.count("approval.answered") == 1
