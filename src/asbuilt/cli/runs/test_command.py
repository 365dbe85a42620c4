"""Choose the repository's test command: try the candidates, let the user choose, save the choice.

Used by `author`, `doctor --tests`, `run` and `run --dry-run`. Callers of `settle` check that the user can
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.cli.runs.check_trial import trying
from asbuilt.cli.runs.next_step import TESTS, Next, if_misspelt, is_set
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.settings_files import edit, file_for
from asbuilt.cli.ui.agent_questions import DOUBTS
from asbuilt.cli.ui.columns import cut_middle
from asbuilt.cli.ui.confirm import accepted, typed
from asbuilt.cli.ui.messages import as_advice, talk
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import GateStopped, GitFailed
from asbuilt.flows.checks.dry_run import Trying
from asbuilt.git.commits import commit_files, uncommitted
from asbuilt.git.repository import open_repository, resolve
from asbuilt.git.user_name import is_named
from asbuilt.lifecycle.replies import Later, No, Unclear, Yes, reply_in
from asbuilt.proof.failure import SET_UP, TRY_AGAIN
from asbuilt.proof.projects.model import Suite
from asbuilt.proof.test_command_trials import Seen, Way, best
from asbuilt.settings import SuiteTable, setting_named
from asbuilt.settings.running import command_in

if TYPE_CHECKING:
    from asbuilt.cli.shell.plan_context import Desk

_NONE: Final = "none"
_NO_SETUP: Final = "if the tests need none: `asbuilt config set checks.setup none`"
_LINES: Final = 15
_COLUMN: Final = 40


class Settled(NamedTuple):
    """The tried test commands, and the choice."""

    seen: tuple[Seen, ...] = ()
    chosen: Way | None = None
    """The saved choice; without suites: no tests. None: nothing was saved."""


def is_settled(desk: Desk) -> bool:
    """Return whether the test command is set."""
    return is_set(desk.settings, *TESTS)


def settle(door: Door, desk: Desk, *, plan: str = "") -> Settled:
    """Try every candidate test command and let the user choose; offer to commit the choice with `plan`."""
    root = desk.library.repository and desk.library.repository.root
    if root is None or resolve(open_repository(root), "HEAD") is None:
        return Settled()
    with trying(door, desk) as trial:
        seen = list(_tried(door, desk, trial))
        if not seen:
            return Settled()
        usual = best(seen)
        if usual is None:
            # A weaker proof: listed, and never the default.
            seen += [observed.by_exit_code for observed in seen if observed.is_uncounted]
        show(door, seen)
        # A question about the command would not help: the setup comes before any command.
        chosen = None if is_setup_broken(seen) else _chosen(door, desk, trial, seen, usual)
    if chosen is not None:
        name = save(door, desk, chosen)
        _offer_commit(door, desk, [name, *([plan] if plan else [])])
    return Settled(tuple(seen), chosen)


def is_setup_broken(seen: Sequence[Seen]) -> bool:
    """Return whether no candidate ran because the setup failed."""
    return bool(seen) and all(observed.setup for observed in seen)


def missing_program(seen: Sequence[Seen]) -> str:
    """Return the program that a candidate needs and that is not installed, if none of them is usable."""
    return "" if best(seen) else next((ran.missing for each in seen for ran in each.ran if ran.missing), "")


def explain_missing(door: Door, program: str) -> Next:
    """Print that a program is missing, and return what to do about it."""
    door.screen.answer(f"The sandbox has no program {printable(program)}, so no test ran.")
    return Next(TRY_AGAIN, comment=f"after you install {program}", other=if_misspelt())


def explain_setup(door: Door, seen: Sequence[Seen]) -> Next:
    """Print that a setup failed, and return what to do about it."""
    if missing := missing_program(seen):
        return explain_missing(door, missing)
    door.screen.answer("The setup failed, so no test ran. Fix what its output names, or set another one.")
    return Next(SET_UP, other=_NO_SETUP)


def need_setup(seen: Sequence[Seen]) -> None:
    """Refuse a run whose setup has failed: the worker would only run it again, and then end the run."""
    missing = missing_program(seen)
    if is_setup_broken(seen) and missing:
        raise GateStopped(
            f"the setup failed on a clean checkout: there is no program {missing}",
            why="Without the setup no test runs, so nothing could be proven. No agent was started.",
            next_step=as_advice(TRY_AGAIN, comment=f"after you install {missing}"),
        )
    if is_setup_broken(seen):
        raise GateStopped(
            f"the setup failed on a clean checkout: {seen[0].setup}",
            why="Without it no test runs, so nothing could be proven. No agent was started. "
            "Fix what its output names, or set another one; none, if the tests need no setup.",
            next_step=as_advice(SET_UP),
        )


def try_all(door: Door, desk: Desk) -> tuple[Seen, ...]:
    """Try the candidate test commands, up to the first that passes; nothing is asked or saved."""
    with trying(door, desk) as trial:
        return tuple(_tried(door, desk, trial))


def unknown_tests(door: Door, desk: Desk) -> tuple[str, ...]:
    """Return signs of tests that no known runner runs."""
    with trying(door, desk) as trial:
        return trial.signs()


def save(door: Door, desk: Desk, way: Way) -> str:
    """Write the test command to the repository's settings file, and return the file's name."""
    repository, value = desk.library.repository, _value(way)
    setting = setting_named(TESTS[isinstance(value, tuple)])
    place = file_for(repository, door.environ, setting)
    edit(place, setting, value, repository)
    talk(door, "", f"Saved in {place.name}: {way.shown or _NONE}")
    return place.name


def _value(way: Way) -> str | tuple[SuiteTable, ...]:
    """Return the saved value: one command at the root, `none`, or a table for each suite."""
    match way.suites:
        case ():
            return _NONE
        case (Suite(folder="", command=command, counts="tests"),):
            return command
        case suites:
            return tuple(SuiteTable(suite.folder, suite.command, counts=suite.counts) for suite in suites)


def show(door: Door, seen: Sequence[Seen]) -> None:
    """Show each candidate and its result; if none is usable, also the last 15 lines of each."""
    door.screen.talk(f"Tests  found {counted(len(seen), 'way')} to test this repository")
    for number in range(1, len(seen) + 1):
        door.screen.talk_all(_rows(door.screen.err, number, seen))


def _rows(pen: Pen, number: int, seen: Sequence[Seen]) -> Iterator[str]:
    observed, lead = seen[number - 1], f"  {number}  "
    column = min(_COLUMN, max(len(each.way.shown) for each in seen))
    found = f"  ({', '.join(observed.way.found[:2])})" if observed.way.found else ""
    row = printable(f"{lead}{observed.way.shown:<{column}}  {observed.words}{found}")
    if len(row) <= pen.width:
        yield row
    else:
        yield from pen.hanging(lead, observed.way.shown, commands=False)
        yield from pen.hanging(" " * len(lead), observed.words + found, commands=False)
    for line in () if best(seen) else observed.lines[-_LINES:]:
        if line in observed.words:
            continue
        yield cut_middle(printable(f"{' ' * len(lead)}  {line}"), pen.width, pen.symbols)


def _tried(door: Door, desk: Desk, trial: Trying) -> Iterator[Seen]:
    by_exit_code = desk.settings.text("checks.counts") == "exit-code"
    setup = command_in(desk.settings, "checks.setup")
    for way in trial.ways():
        if trial.is_broken(way, setup=setup):
            continue
        weaker = tuple(suite._replace(counts="exit-code") for suite in way.suites)
        seen = _seen(door, desk, trial, way._replace(suites=weaker) if by_exit_code else way)
        yield seen
        # The first usable way is proposed; trying further ones takes minutes and changes nothing.
        if seen.is_green:
            return


def _seen(door: Door, desk: Desk, trial: Trying, way: Way) -> Seen:
    talk(door, "Trying ", f"{way.shown} on a clean checkout")
    setup = command_in(desk.settings, "checks.setup")
    return trial.seen(way, setup=setup, required=desk.settings.flag("sandbox.required"))


def _chosen(door: Door, desk: Desk, trial: Trying, seen: list[Seen], usual: Seen | None) -> Way | None:
    """Ask for a choice until there is one. A typed command is tried, too."""
    while True:
        number = seen.index(usual) + 1 if usual else 0
        keys = "/".join([*(str(at) for at in range(1, len(seen) + 1)), "command", _NONE])
        question = f"Use {number}?" if number else "Which command runs the tests?"
        word = typed(door, f"{question} [{keys}]")
        match reply_in(word):
            case _ if not word:
                return usual.way if usual else None
            case Yes("") if usual:
                return usual.way
            case No() | Later():
                return None
            case Unclear("empty" | "refusal" | "condition" | "question" as reason):
                door.screen.talk(printable(f'"{word}" is no answer: {DOUBTS[reason]}.'))
                continue
        if word.casefold() == "none":
            return Way(())
        if word.isdecimal() and 1 <= int(word) <= len(seen):
            return seen[int(word) - 1].way
        if word.isdecimal() or isinstance(reply_in(word), Yes):
            door.screen.talk(printable(f'"{word}" is no answer: type one of {keys}.'))
            continue
        observed = _seen(door, desk, trial, Way((Suite("", word),)))
        seen.append(observed)
        # A command that shows nothing is saved by its number only.
        usual = best([observed]) or usual
        door.screen.talk_all(_rows(door.screen.err, len(seen), seen))


def _offer_commit(door: Door, desk: Desk, paths: list[str]) -> None:
    if desk.library.repository is None:
        return
    repository = open_repository(desk.library.repository.root)
    paths = [*uncommitted(repository, paths)]
    shown = " and ".join(map(printable, paths))
    if not paths:
        return
    if not is_named(repository.common):
        door.screen.talk(f"Not committed: {shown}. git does not know your name and address.")
        return
    if not accepted(door, f"Commit {shown}?"):
        door.screen.talk("Not committed.")
        return
    try:
        commit = commit_files(repository, paths, subject="Set the test command")
    except GitFailed as error:
        door.screen.talk(
            printable(f"{door.screen.err.symbols.failed} Not committed: {error.what}. {error.why}")
        )
    else:
        door.screen.talk(printable(f"Committed {commit[:7]}: {', '.join(paths)}"))
