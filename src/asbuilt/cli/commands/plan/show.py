"""`asbuilt plan show`: a picture for users, JSON for scripts, or a phase's exact bytes. Read-only."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from asbuilt.cli.commands.plan.picture import draw, state_of
from asbuilt.cli.runs.costs import expected
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import (
    Desk,
    complete_phase,
    complete_plan,
    desk_for,
    naming,
    problem_counts,
)
from asbuilt.cli.shell.read_context import look
from asbuilt.cli.ui.columns import cut_middle, shorten, width
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import WIDTH, Pen, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import UsageWrong
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of
from asbuilt.library.read_plan import Opened
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.graph import next_phase
from asbuilt.plan.inference import FileSeen, Inference, infer, paths_in
from asbuilt.plan.model import Count, Format, Phase, Plan, Status
from asbuilt.plan.plan_json import as_json, phase_json
from asbuilt.plan.problems import Problem, Severity

_SHOWN_PROBLEMS = 5


@subcommand(
    "show",
    ("asbuilt plan show rate-limit", "phases, waves, progress, problems"),
    ("asbuilt plan show plans/login.md --json", "the same as a contract for scripts"),
    ("asbuilt plan show rate-limit --phase 2a", "one phase: items, criteria, checks"),
    ("asbuilt plan show rate-limit --phase 2a --verbatim", "the exact bytes of its section"),
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--phase", "phase_id", metavar="ID", shell_complete=complete_phase, help="only this phase")
@click.option("--verbatim", is_flag=True, help="with --phase: its exact bytes in the file")
def command(door: Door, plan: str, phase_id: str | None, *, verbatim: bool) -> None:
    """Show a plan: its phases, how far they are, and what is wrong with it.

    Phases that asbuilt has run are shown as the journal has them; others by the file's own marks.
    """
    if verbatim and phase_id is None:
        raise UsageWrong(
            "--verbatim needs --phase",
            why="It prints the bytes of one section; the whole plan is the file itself.",
            next_step="`asbuilt plan show NAME --phase 1 --verbatim`",
        )
    desk = desk_for(door)
    opened = desk.open(plan)
    with naming(desk.name_of(opened.at)):
        phase = None if phase_id is None else the_phase(opened.plan, phase_id)
    if phase is not None and verbatim:
        door.screen.out.flush()
        sys.stdout.buffer.write(opened.plan.verbatim(phase))
        sys.stdout.buffer.flush()
    elif door.json:
        door.screen.emit_json(_plan_json(desk, opened) if phase is None else phase_json(phase))
    elif phase is not None:
        _show_phase(door, phase)
    else:
        known = opened._replace(plan=_as_known(door, opened))
        _show_plan(door, desk, known, marked=opened.plan.progress.done)
        _show_expected(door, known, desk.settings.text("proof.depth"))


def _as_known(door: Door, opened: Opened) -> Plan:
    """Replace the file's marks by the journal's state of each phase, as `status` counts them."""
    plan, (_, looking) = opened.plan, look(door)
    if looking is None or looking.repo is None or plan.format is Format.CHECKLIST:
        return plan
    with looking.journal.store.read() as session:
        address = Address(LOCAL, looking.repo, opened.at.shown)
        events = events_of(session, looking.journal.blobs, address)
    done = done_now(fold_plan(events), plan.marked_done)
    is_done = {phase.id: phase.id in done for phase in plan.phases}
    phases = tuple(
        phase
        if is_done[phase.id] is (phase.status is Status.DONE)
        else phase._replace(status=Status.DONE if is_done[phase.id] else Status.PENDING)
        for phase in plan.phases
    )
    needs = {phase.id: phase.depends_on.on for phase in phases}
    return replace(
        plan,
        phases=phases,
        next=next_phase({phase.id: phase.status for phase in phases}, needs),
        progress=Count.of([is_done[phase.id] for phase in phases]),
    )


def _show_expected(door: Door, opened: Opened, depth: str) -> None:
    left = sum(phase.status is not Status.DONE for phase in opened.plan.phases)
    if not left:
        return
    cost, proof = expected(door, left, depth)
    if proof:
        answer(door, "Proof ", f"{proof}.")
    if cost is not None:
        answer(door, "Cost ", f"{cost}.")


def _plan_json(desk: Desk, opened: Opened) -> dict[str, Any]:
    plan_data = as_json(opened.plan, path=opened.at.shown, slug=opened.at.slug)
    for phase, phase_data in zip(opened.plan.phases, plan_data["phases"], strict=True):
        inference = _inference(desk, opened.plan, phase)
        if inference is not None:
            phase_data["inferred"] = inference._asdict()
    return plan_data


def _inference(desk: Desk, plan: Plan, phase: Phase) -> Inference | None:
    """For a phase of a narrative plan, check whether the files that it names exist; nothing is run."""
    if plan.format is not Format.NARRATIVE or desk.library.repository is None:
        return None
    text = plan.verbatim(phase).decode(errors="replace")
    root = desk.library.repository.root
    return infer(text, [FileSeen(path, (root / path).is_file()) for path in paths_in(text)])


def _show_plan(door: Door, desk: Desk, opened: Opened, *, marked: int) -> None:
    screen, plan = door.screen, opened.plan
    screen.answer_all(_head(screen.out, opened))
    screen.answer_all(draw(plan, screen.out))
    for phase in plan.phases:
        inference = _inference(desk, plan, phase)
        if inference is not None:
            reasons = "; ".join(inference.because)
            words = f"inferred {inference.outcome}, {inference.confidence} confidence: {reasons}"
            answer(door, f"  {phase.id}  ", words)
    answer(door, "", _summary(opened, marked))
    _show_problems(door, desk, opened)


def _head(pen: Pen, opened: Opened) -> list[str]:
    title = printable(opened.plan.title) or "(no title)"
    status = f"   {shorten(printable(opened.plan.status), 40, pen.symbols)}" if opened.plan.status else ""
    path = printable(opened.at.shown)
    if width(title) + 3 + width(path) + width(status) <= WIDTH:
        return [f"{pen.bold(title)}   {path}{status}"]
    rows = [pen.bold(row) for row in pen.hanging("", title, commands=False)]
    return [*rows, cut_middle(path, WIDTH - width(status), pen.symbols) + status]


def _summary(opened: Opened, marked: int) -> str:
    plan = opened.plan
    unit = "task" if plan.format is Format.CHECKLIST else "phase"
    if not plan.progress.total:
        progress = "No trackable tasks found."
    else:
        noun = unit if plan.progress.total == 1 else f"{unit}s"
        done = plan.progress.done
        of, share = f"{done} of {plan.progress.total} {noun}", f"({plan.progress.percent}%)"
        progress = f"{of} marked done {share}" if done == marked else f"{of} done {share}, {marked} marked"
        if plan.items.total and unit == "phase":
            progress += f", {plan.items.done} of {counted(plan.items.total, 'item')}"
        progress += "."
    then = [progress]
    if plan.next is not None:
        then.append(f"Next {plan.next}.")
    elif plan.phases and all(phase.status is Status.DONE for phase in plan.phases):
        then.append("Nothing is left to do.")
    if plan.current is not None and unit == "task":
        then.append(f"Current: {plan.current}.")
    if opened.progress_document is not None:
        then.append(f"Progress also in {opened.progress_document[0].shown}.")
    then.append(f"{counted(len(plan.source.lines), 'line')}.")
    then.append("" if problem_counts(plan) else "No problems.")
    return " ".join(part for part in then if part)


def _show_problems(door: Door, desk: Desk, opened: Opened) -> None:
    """Show the first problem of each kind, errors before warnings; `plan check` shows all."""
    screen, plan = door.screen, opened.plan
    kinds: dict[tuple[bool, str], list[Problem]] = {}
    for problem in plan.problems:
        if problem.severity is not Severity.INFO:
            kinds.setdefault((problem.severity is Severity.ERROR, problem.rule), []).append(problem)
    errors_first = sorted(kinds.items(), key=lambda kind: not kind[0][0])
    for (is_error, _), alike in errors_first[:_SHOWN_PROBLEMS]:
        mark = screen.out.symbols.failed if is_error else screen.out.symbols.note
        more = f" ({len(alike) - 1} more like it)" if len(alike) > 1 else ""
        words = f"{alike[0].message}{more}"
        answer(door, f"{mark} line {alike[0].line}: ", words)
    if kinds:
        screen.answer(f"{problem_counts(plan)}.")
        next_command(door, f"asbuilt plan check {desk.name_of(opened.at)}")


def _show_phase(door: Door, phase: Phase) -> None:
    screen, pen = door.screen, door.screen.out
    first, last = phase.lines
    title = printable(f"{phase.id}  {phase.title}")
    tail = f"lines {first}-{last}   {state_of(phase)}"
    if width(title) + 3 + width(tail) <= WIDTH:
        screen.answer(f"{pen.bold(title)}   {tail}")
    else:
        screen.answer_all((*map(pen.bold, pen.hanging("", title, commands=False)), tail))
    on = phase.depends_on.on
    depends = ", ".join(on) or "nothing"
    implied = " (not stated: everything before it)" if on and not phase.depends_on.stated else ""
    rows = pen.hanging("After    ", f"{depends}{implied}", commands=False)
    if phase.execution != "worktree":
        rows += pen.hanging("Runs     ", f"{phase.execution} {phase.delegate or ''}", commands=False)
    if phase.touches_ui:
        rows.append("UI       yes: a person signs it off")
    for lead, entries in (
        ("Items", [(item.done, item.text) for item in phase.work_items]),
        ("Criteria", [(criterion.done, criterion.text) for criterion in phase.criteria]),
    ):
        for at, (done, text) in enumerate(entries):
            mark = pen.symbols.proven if done else pen.symbols.not_started
            rows += pen.hanging(f"{lead if at == 0 else '':<9}{mark} ", text, commands=False)
    # A command is never cut or broken, so that it can be copied.
    lines = [line for check in phase.checks for line in check.command.split("\n")]
    rows += [f"{'Checks' if at == 0 else '':<9}{printable(line)}" for at, line in enumerate(lines)]
    screen.answer_all(rows)
    if not lines:
        screen.answer("Checks   none that can be run")
