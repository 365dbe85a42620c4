"""`asbuilt doctor`: check that this machine is set up. Only `--fix` and `--tests` can change settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from asbuilt import wiring
from asbuilt.cli.commands.config.set import command as set_value
from asbuilt.cli.commands.doctor import page
from asbuilt.cli.commands.doctor.fixes import FIXES, explained
from asbuilt.cli.commands.doctor.machine import look_at_sandbox
from asbuilt.cli.commands.doctor.page import Row, State
from asbuilt.cli.commands.doctor.probes import look as probe
from asbuilt.cli.commands.doctor.rows import conclusion, judge, most_urgent
from asbuilt.cli.commands.status import views_here
from asbuilt.cli.runs import test_command
from asbuilt.cli.runs.check_trial import given_here
from asbuilt.cli.runs.next_step import Next, first_step, has_agent, lacked_tests, script_option
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import Desk, desk_for
from asbuilt.cli.shell.read_context import look
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import next_command, talk
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, FAILED, GATE_STOPPED, UsageWrong
from asbuilt.git.user_name import NAMING, is_named
from asbuilt.journal.engine import segments
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import FAR
from asbuilt.lifecycle.run.preflight import SETTLE, set_tests
from asbuilt.proof.failure import TRY_AGAIN
from asbuilt.proof.projects.model import Suite
from asbuilt.proof.test_command_trials import Seen, best
from asbuilt.settings import load

_BY_HAND: Final = 'asbuilt config set checks.tests "<command>"'
_AGENTS: Final = "asbuilt doctor agents"
_BY_EXIT_CODE: Final = "asbuilt config set checks.counts exit-code"


def check(door: Door, *, tests: bool, save: bool, fix: str | None, yes: bool) -> int:
    """Check that this machine is set up. Everything is tried: the sandbox has to refuse a write now."""
    if fix == "engine":
        return _fix_engine(door)
    if fix is not None:
        return _fix_sandbox(door, yes=yes)
    desk = desk_for(door) if tests or save else None
    if desk is not None and desk.library.repository is not None and not test_command.is_settled(desk):
        return _settle(door, desk, save=save)
    facts = probe(door, tests=None if desk is None else given_here(door, desk))
    rows = judge(facts)
    summary = conclusion(rows, facts)
    if not door.emitted(page.SCHEMA, page.as_json(rows, summary)):
        door.screen.answer_all(page.lines(door.screen.out, rows, summary))
        _next(door, rows).show(door)
    return FAILED if any(row.state is State.PROBLEM for row in rows) else DONE


def _next(door: Door, rows: tuple[Row, ...]) -> Next:
    """Return the one next command: what fixes the first problem, or else the first step here."""
    worst = most_urgent(rows)
    if worst is not None:
        return Next("", advice=worst.next_step, other=worst.otherwise)
    desk = desk_for(door)
    is_able = has_agent(desk.settings, door.environ)
    step = _first_step(desk, is_able=is_able)
    if desk.library.repository is None or not is_able or test_command.is_settled(desk):
        return step
    return step._replace(other="choose the test command first: `asbuilt doctor --tests`")


def _first_step(desk: Desk, *, is_able: bool) -> Next:
    if desk.library.repository is not None and not is_able:
        return Next(_AGENTS, other="see a small plan run: `asbuilt demo`")
    return first_step(desk.library, is_able=is_able, script=script_option(desk.settings))


def _after_settling(door: Door, desk: Desk) -> Next:
    """Return the next command once the tests are settled: the run that failed without them.

    Git needs the user's name for every commit.
    """
    if desk.library.repository is not None and not is_named(desk.library.repository.common):
        return Next("", advice=NAMING)
    _, looking = look(door)
    runs = [view.run for view in views_here(looking) if view.run] if looking is not None else []
    lacked = [run for run in runs if lacked_tests(run.waits_for.next_step)]
    if lacked:
        return Next(f"asbuilt run {lacked[0].run.options.slug}")
    return _first_step(desk, is_able=has_agent(desk.settings, door.environ))


def _settle(door: Door, desk: Desk, *, save: bool) -> int:
    """Choose the test command: by the user, or with `save` the best one."""
    if not save and door.is_attended:
        settled = test_command.settle(door, desk)
        chosen, seen = settled.chosen, settled.seen
    else:
        seen, chosen = test_command.try_all(door, desk), None
        found = best(seen)
        if not door.json:
            test_command.show(door, seen)
        if save and found is not None:
            chosen = found.way
            name = test_command.save(door, desk, chosen)
            talk(door, "", f"Commit {name}, so that other clones use it too.")
    unknown = () if seen else test_command.unknown_tests(door, desk)
    rows = [{"command": way.way.shown, "found": way.way.found, "did": way.words} for way in seen]
    if door.emitted("asbuilt.tests/1", {"ways": rows, "saved": chosen.shown if chosen else None}):
        pass
    elif unknown:
        shown = printable(", ".join(unknown))
        door.screen.answer(f"Tests exist, but no command that runs them was found: {shown}.")
        next_command(door, _BY_HAND)
    elif not seen:
        door.screen.answer("No tests found; only the plan's checks will run.")
        _first_step(desk, is_able=has_agent(desk.settings, door.environ)).show(door)
    elif chosen is None and test_command.is_setup_broken(seen):
        test_command.explain_setup(door, seen).show(door)
    elif chosen is None and (missing := test_command.missing_program(seen)):
        test_command.explain_missing(door, missing).show(door)
    elif chosen is None and best(seen) is None and any(observed.is_red for observed in seen):
        door.screen.answer("Every test fails, so none can prove anything.")
        next_command(
            door, TRY_AGAIN, comment="after you repair the tests", other=f"set another: `{_BY_HAND}`"
        )
    elif chosen is None and best(seen) is None:
        door.screen.answer("None of them shows which tests ran, so none can prove anything.")
        weaker = any(observed.is_uncounted for observed in seen)
        next_command(door, _BY_EXIT_CODE if weaker else _BY_HAND)
    elif chosen is None:
        next_command(door, _saving(seen))
    else:
        _after_settling(door, desk).show(door)
    return DONE if chosen is not None or best(seen) or not (seen or unknown) else FAILED


def _saving(seen: Sequence[Seen]) -> str:
    """Return the command that saves the best way; for a single command, it does not run the tests again."""
    found = best(seen)
    match () if found is None else found.way.suites:
        case (Suite(folder="", command=command, counts="tests"),):
            return set_tests(command)
        case _:
            return SETTLE


def _fix_engine(door: Door) -> int:
    """Enqueue every open segment again: after a backup was restored, or the engine's tables were damaged."""
    journal = wiring.open_journal(load(repository=None, environ=door.environ), door.environ)
    with journal.store.write() as session:
        again = segments.ask_again(session, LOCAL, before=FAR)
    if again:
        wiring.ensure_worker(journal.home, door.environ)
    if not door.emitted("asbuilt.engine/1", {"enqueued": again}):
        door.screen.answer(f"{again} {'run' if again == 1 else 'runs'} enqueued again; none starts twice.")
        next_command(door, "asbuilt status")
    return DONE


def _fix_sandbox(door: Door, *, yes: bool) -> int:
    if door.json:
        raise UsageWrong(
            "asbuilt doctor --fix has no --json",
            why="It shows a change and asks the user to confirm it.",
            next_step="`asbuilt doctor --json` has the facts.",
        )
    sandbox = look_at_sandbox(required=True)
    if sandbox.holds:
        door.screen.answer("The sandbox works: a write and a connection were refused just now.")
        next_command(door, "asbuilt doctor")
        return DONE
    door.screen.answer_all(explained(door.screen.out, sandbox.refusals[0]))
    door.screen.answer("Or, without root, continue without a sandbox: sandbox.required = false.")
    if not (yes or agreed(door, "Set sandbox.required to false?")):
        next_command(door, "asbuilt doctor --fix sandbox --yes", comment="to continue without a sandbox")
        return GATE_STOPPED
    click.get_current_context().invoke(set_value, key="sandbox.required", value="false", user=True)
    return DONE


group: Final = LazyGroup(
    "doctor",
    commands={
        "agents": Lazy("doctor.agents:command", "list agents and test their sandbox"),
        "notify": Lazy("doctor.notify:command", "send a test notification"),
        "bug-report": Lazy("doctor.bug_report:command", "pack what a bug report needs, redacted"),
    },
    examples=[
        ("asbuilt doctor", "what is set up, what is missing, and how to fix it"),
        ("asbuilt doctor --tests", "run the tests on a clean checkout, and choose the command"),
        ("asbuilt doctor --tests --save", "save the best test command that was found, unasked"),
        ("asbuilt doctor --fix sandbox", "show the change that helps, then ask"),
        ("asbuilt doctor --fix engine", "enqueue again every run that should continue and does not"),
        ("asbuilt doctor agents", "installed agents and their roles"),
        ("asbuilt doctor --json", "the same, for a script"),
    ],
    help="Check this machine, its agents and this repository. Exits with 1 when a problem stops runs.",
    params=[
        click.Option(
            ["--tests"], is_flag=True, help="also run the tests, in the sandbox, on a clean checkout"
        ),
        click.Option(
            ["--save"], is_flag=True, help="with --tests: save the best test command to asbuilt.toml"
        ),
        click.Option(["--fix"], type=click.Choice(FIXES), help="show what would fix it, then ask"),
        click.Option(["--yes"], is_flag=True, help="with --fix: do what needs no root without asking"),
    ],
    alone=check,
)
