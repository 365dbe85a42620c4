"""`asbuilt plan check`: list every problem of a plan, with line and advice."""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import Any, Final, NamedTuple

import click

from asbuilt.cli.commands.run.preconditions import refuse_lost_plan
from asbuilt.cli.runs.agent_choice import with_agent
from asbuilt.cli.runs.check_trial import failures_in, show_tried, trying
from asbuilt.cli.runs.next_step import Next, helping, installing
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import Desk, complete_plan, desk_for, problem_counts, show_the_first_step
from asbuilt.cli.shell.run_context import look_at
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, NotFound, PlanUnreadable
from asbuilt.flows.checks.dry_run import Trying
from asbuilt.library.atomic_files import replace
from asbuilt.library.read_plan import Opened
from asbuilt.library.search_path import PlanFile, plans
from asbuilt.plan.editing.edit import fill_in
from asbuilt.plan.model import Phase, Plan, Status
from asbuilt.plan.plan_json import problem_json
from asbuilt.plan.problems import Problem, Rule
from asbuilt.proof.checks_before_work import Tried, problems_of
from asbuilt.settings.running import command_in

_SCHEMA: Final = "asbuilt.check/1"


class _Checked(NamedTuple):
    """A plan and what was written into it, or why it could not be read."""

    at: PlanFile
    plan: Plan | None
    error: str = ""
    written: tuple[str, ...] = ()
    tried: tuple[Tried, ...] | None = None
    """What its checks do before the work; None without --try."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of a plan that could be read."""
        return () if self.plan is None else tuple(self.plan.problems)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of a plan that could be read."""
        return () if self.plan is None else tuple(self.plan.phases)

    @property
    def has_error(self) -> bool:
        """Whether an error stops a run."""
        return self.plan is None or any(problem.severity == "error" for problem in self.problems)

    @property
    def is_broken(self) -> bool:
        """Whether its text has an error, whatever its tried checks show."""
        of_checks = problems_of(self.tried or ())
        errors = (problem for problem in self.problems if problem.severity == "error")
        return self.plan is None or any(problem not in of_checks for problem in errors)


@subcommand(
    "check",
    ("asbuilt plan check rate-limit", "errors and warnings, with their lines"),
    ("asbuilt plan check", "every plan of this repository"),
    ("asbuilt plan check plans/login.md -v", "remarks too"),
    ("asbuilt plan check rate-limit --fix", "write missing metadata as TBD"),
    ("asbuilt plan check rate-limit --try", "run its checks before the work: do they fail?"),
)
@click.argument("names", metavar="[PLAN]...", nargs=-1, shell_complete=complete_plan)
@click.option("--fix", is_flag=True, help="write metadata that is missing as TBD; nothing else is touched")
@click.option(
    "--try",
    "is_trial",
    is_flag=True,
    help="run the checks of open phases on what is committed, in the sandbox: none of them may pass yet",
)
def command(door: Door, names: tuple[str, ...], *, fix: bool, is_trial: bool) -> int:
    """Report the problems of a plan. Exit code 1: errors; exit code 0: none, or only warnings."""
    desk = desk_for(door)
    for name in names:
        refuse_lost_plan(door, name)
    checked = [_check(desk, desk.open(name), fix=fix) for name in names] if names else _every(desk, fix=fix)
    if is_trial:
        with trying(door, desk) as trial:
            checked = [_tried(desk, trial, plan) for plan in checked]
    if not door.emitted(_SCHEMA, {"plans": [_as_json(plan) for plan in checked]}):
        for plan in checked:
            _show(door, plan)
        _sum_up(door, desk, checked)
    return FAILED if any(plan.has_error for plan in checked) else DONE


def _every(desk: Desk, *, fix: bool) -> list[_Checked]:
    """Check the repository's plans, or outside of one the user's own. Unreadable plans are reported."""
    every = plans(desk.library)
    checked = []
    for at in [at for at in every if at.repository] if desk.library.repository is not None else every:
        try:
            opened = desk.read(at)
        except (PlanUnreadable, NotFound) as error:
            checked.append(_Checked(at, None, error.what.removeprefix(f"{at.shown} ")))
        else:
            checked.append(_check(desk, opened, fix=fix))
    return checked


def _check(desk: Desk, opened: Opened, *, fix: bool) -> _Checked:
    at, plan = opened.at, opened.plan
    edit = fill_in(plan) if fix else None
    if edit is None or not edit.splices:
        return _Checked(at, plan)
    data, _ = edit.apply(plan.source.data)
    replace(at.file, data, expected=plan.digest, name=at.shown)
    before = {problem.message for problem in plan.problems if problem.rule is Rule.MISSING_METADATA}
    again = desk.read(at).plan
    left = {problem.message for problem in again.problems}
    written = sorted(f"{message.removeprefix('has no ')}: TBD" for message in before - left)
    return _Checked(at, again, written=tuple(written))


def _tried(desk: Desk, trial: Trying, checked: _Checked) -> _Checked:
    if checked.plan is None:
        return checked
    tried = tuple(trial.tried(checked.plan, setup=command_in(desk.settings, "checks.setup")))
    problems = tuple(sorted((*checked.plan.problems, *problems_of(tried))))
    return checked._replace(plan=replaced(checked.plan, problems=problems), tried=tried)


def _show(door: Door, checked: _Checked) -> None:
    screen, plan = door.screen, checked.plan
    path = printable(checked.at.shown)
    if plan is None:
        screen.answer(f"{path}: {screen.out.red('error')}: {printable(checked.error)}")
        return
    if checked.written:
        answer(door, f"{path}: wrote ", ", ".join(checked.written))
    listed = [problem for problem in plan.problems if problem.severity != "info" or screen.verbose]
    for problem in listed:
        screen.answer_all(_rows(door, path, problem))
    if checked.tried is not None:
        show_tried(door, checked.tried)
    counts = problem_counts(plan)
    phases = counted(len(plan.phases), "phase")
    remarks = sum(problem.severity == "info" for problem in plan.problems)
    hidden = f"; {counted(remarks, 'remark')} with -v" if remarks and not screen.verbose else ""
    if counts:
        screen.answer(f"{counts} in {phases}{hidden}.")
    else:
        screen.answer(f"{path}: no problems in {phases}{hidden}.")


def _sum_up(door: Door, desk: Desk, checked: list[_Checked]) -> None:
    if not checked:
        door.screen.answer("No plans here to check.")
        show_the_first_step(door, desk)
        return
    if len(checked) > 1:
        wrong = sum(plan.has_error for plan in checked)
        words = f"{wrong} with errors" if wrong else "none with errors"
        door.screen.answer(f"{len(checked)} plans, {words}.")
    _next(door, desk, checked).show(door)


def _next(door: Door, desk: Desk, checked: list[_Checked]) -> Next:
    """Return the next command: mend the first error, or run the first plan that has an open phase."""
    failed = [failure for plan in checked for failure in failures_in(plan.tried or ())]
    helped = helping(failed)
    # Checks of a plan whose text is wrong show nothing yet.
    wrong = next((plan for plan in checked if plan.is_broken or (plan.has_error and not helped)), None)
    if wrong is None and helped:
        return Next(helped, comment=installing(failed))
    if wrong is not None:
        name, errors = (
            desk.name_of(wrong.at),
            (problem for problem in wrong.problems if problem.severity == "error"),
        )
        if door.may_ask:
            return Next(f"asbuilt plan open {name}", also=f"asbuilt plan check {name}")
        line = next((f":{error.line}" for error in errors), "")
        return Next(f"asbuilt plan check {name}", comment=f"correct {printable(wrong.at.shown)}{line} first")
    left = [plan for plan in checked if any(phase.status is not Status.DONE for phase in plan.phases)]
    if desk.library.repository is None or not left:
        return Next(f"asbuilt plan show {desk.name_of((left or checked)[0].at)}")
    name = desk.name_of(left[0].at)
    _, site = look_at(door)
    if site is not None and any(run.plan == left[0].at.shown for run in site.open_runs()):
        return Next(f"asbuilt status {name}")
    return with_agent(door, desk.settings, f"asbuilt run {name}", plan=left[0].at.shown)


def _rows(door: Door, path: str, problem: Problem) -> list[str]:
    pen = door.screen.out
    style = {"error": pen.red, "warning": pen.yellow}.get(problem.severity.value, pen.dim)
    head = f"{path}:{problem.line}: {style(problem.severity.value)}: {printable(problem.message)}"
    return [head, *pen.hanging("  ", f"{problem.advice} [{problem.rule}]", commands=False)]


def _as_json(checked: _Checked) -> dict[str, Any]:
    at, plan = checked.at, checked.plan
    shown: dict[str, Any] = {"path": at.shown, "slug": at.slug}
    if plan is None:
        return {**shown, "trouble": checked.error}
    return {
        **shown,
        "phases": len(plan.phases),
        "written": list(checked.written),
        "problems": [problem_json(problem) for problem in plan.problems],
        **({} if checked.tried is None else {"tried": [trial.plain for trial in checked.tried]}),
    }
