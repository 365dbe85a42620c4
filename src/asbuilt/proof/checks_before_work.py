"""Results of a plan's checks before the work: a check that passes then proves nothing about its phase.

Rule: a check that could not be tried is reported as that, never as fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.plan.problems import Problem, Rule, Severity, problem
from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.failure import Failure, failure_from

if TYPE_CHECKING:
    from asbuilt.plan.model import Check, Plan

_SHELL: Final = ("/bin/sh", "-c")
_NOT_STARTED: Final = 126
_NOT_FOUND: Final = 127
_MISSING: Final = re.compile(r"(?m)([^\s:]+): (?:command )?(?:not found|No such file or directory)\s*$")
_PATH: Final = re.compile(r"(?:\./)?[\w@+-][\w.@+-]*(?:/[\w.@+-]+)*")
_MODULES: Final = ("import", "from", "-m")
_WORDS: Final = re.compile(r"[\s;&|()<>'\"=]+")
_PROGRAM: Final = re.compile(r"(?<=\s)-[ce]\s+(?:'[^']*'|\"(?:\\.|[^\"\\])*\")")
_FILE: Final = re.compile(r"\.[A-Za-z]{1,5}$")
_SHOWN: Final = 120


class Before(StrEnum):
    """Result of a check before the work."""

    FAILS = "fails"
    ABSENT = "absent"
    PASSES = "passes"
    UNREADABLE = "unreadable"
    NO_PROGRAM = "no program"
    UNCLEAR = "unclear"


class Tried(NamedTuple):
    """A check and its result on the base."""

    phase: str
    """Empty for a check that is not a phase's own: it may pass before and after the work."""
    command: str
    line: int
    before: Before
    why: str
    failure: Failure | None = None
    """How the command or its setup failed, if it could not show anything."""

    @property
    def plain(self) -> dict[str, Any]:
        """The check as JSON."""
        return {**self._asdict(), "failure": self.failure and self.failure.plain}

    @property
    def is_fit(self) -> bool:
        """Whether its result is as it should be before the work."""
        return self.before in (Before.FAILS, Before.ABSENT) or (
            self.before is Before.PASSES and not self.phase
        )


def tried_from(plain: Mapping[str, Any]) -> Tried:
    """Build a check's result from its stored form."""
    failure = plain.get("failure")
    failed = {"failure": failure_from(failure)} if failure else {}
    return Tried(**{**plain, "before": Before(plain["before"]), **failed})


class Shown(NamedTuple):
    """Result of running a check on the base."""

    exit_code: int | None
    output: str
    parses: bool = True


def to_try(plan: Plan, done: Collection[str] | None = None) -> list[tuple[str, Check]]:
    """List the checks to try, each with its phase: those of open phases, then those of the whole plan.

    `done` names the phases that are done; None: those that the plan marks as done.
    """
    over = plan.marked_done if done is None else done
    own: list[tuple[str, Check]] = []
    common: dict[str, Check] = {}
    for phase in plan.phases:
        for check in phase.checks:
            if phase.id in over:
                continue
            if phase.lines[0] <= check.line <= phase.lines[1]:
                own.append((phase.id, check))
            else:
                common.setdefault(check.command, check)
    for check in plan.checks:
        common.setdefault(check.command, check)
    return [*own, *(("", check) for check in common.values())]


def needs_shell(command: str) -> bool:
    """Return whether a shell runs a check, and can therefore parse it without running it."""
    return argv_of(command)[:2] == _SHELL


def parse_only(command: str) -> tuple[str, ...]:
    """Return the argv that makes the shell parse a check without running it."""
    return ("/bin/sh", "-n", *argv_of(command)[1:])


def judge(phase: str, check: Check, shown: Shown, there: Collection[str]) -> Tried:
    """Judge a check by its result on the base; `there` has every file and folder of that tree."""

    def tried(before: Before, why: str) -> Tried:
        return Tried(phase, check.command, check.line, before, why)

    code = shown.exit_code
    if not shown.parses:
        last = [*shown.output.strip().splitlines()[-1:], ""][0][-_SHOWN:]
        return tried(Before.UNREADABLE, last or "the shell cannot read it")
    if code is None:
        return tried(Before.UNCLEAR, "it was ended by its time limit")
    if code == 0:
        return tried(Before.PASSES, "exit 0 without any of the work")
    named = sorted(paths_in(check.command), key=lambda path: "/" not in path)
    missing = next((path for path in named if path not in there), None)
    if code in (_NOT_FOUND, _NOT_STARTED):
        program = _program(check.command, shown.output)
        if "/" in program and program.removeprefix("./") not in there:
            return tried(Before.ABSENT, f"{program} is not there yet")
        state = "is not installed" if code == _NOT_FOUND else "cannot be started"
        return tried(Before.NO_PROGRAM, f"{program} {state}")
    if missing is not None:
        return tried(Before.ABSENT, f"{missing} is not there yet")
    return tried(Before.FAILS, f"exit {code}")


def not_tried(phase: str, check: Check, why: str, failure: Failure | None = None) -> Tried:
    """Return the result for a check that could not be tried."""
    return Tried(phase, check.command, check.line, Before.UNCLEAR, why, failure)


def paths_in(command: str) -> list[str]:
    """List the words of a command that may be files of the project: with a folder or an extension."""
    argv = argv_of(command)
    words = _WORDS.split(_PROGRAM.sub(_slashed, argv[2])) if needs_shell(command) else argv
    # The first word of an argv is the program; a word after `import` is a module.
    after = list(zip(words, ("", *words), strict=False))[0 if needs_shell(command) else 1 :]
    found = (word.partition("::")[0].rstrip("/") for word, last in after if last not in _MODULES)
    return [
        path.removeprefix("./")
        for path in found
        if _PATH.fullmatch(path) and ("/" in path or _FILE.search(path)) and not path.startswith("-")
    ]


def _slashed(program: re.Match[str]) -> str:
    """Return the words of a program after `-c` that are paths for certain: `sys.exit` is no file."""
    return " ".join(word for word in _WORDS.split(program[0]) if "/" in word)


def problems_of(tried: Sequence[Tried]) -> list[Problem]:
    """Return the problems of checks that were tried, in the linter's format."""
    # A phase with a check that fails now can be proven.
    proven = frozenset(trial.phase for trial in tried if trial.phase and trial.is_fit)
    return [found for trial in tried for found in _problems(trial, proven)]


def trial_summary(tried: Sequence[Tried]) -> str:
    """Summarize the tried checks, for the approval of the plan."""
    counts = {before: sum(trial.before is before for trial in tried) for before in Before}
    fail, passes = counts[Before.FAILS] + counts[Before.ABSENT], counts[Before.PASSES]
    cannot = counts[Before.UNREADABLE] + counts[Before.NO_PROGRAM]
    unclear = [trial.why for trial in tried if trial.before is Before.UNCLEAR]
    one_fails = "1 fails before the work, as it should"
    parts = (
        (fail, one_fails if fail == 1 else f"{fail} fail before the work, as they should"),
        (passes, f"{passes} {'passes' if passes == 1 else 'pass'} before the work and can prove nothing"),
        (cannot, f"{cannot} cannot run"),
        (len(unclear), f"{len(unclear)} could not be tried ({', '.join(dict.fromkeys(unclear))})"),
    )
    return "; ".join(words for count, words in parts if count)


def _problems(trial: Tried, proven: frozenset[str]) -> Iterator[Problem]:
    shown = trial.command.partition("\n")[0][:_SHOWN]
    whose = f"of phase {trial.phase}" if trial.phase else "of the whole"
    match trial.before:
        case Before.UNREADABLE:
            yield problem(trial.line, Rule.UNREADABLE_CHECK, f"`{shown}` {whose} cannot be read: {trial.why}")
        case Before.NO_PROGRAM:
            yield problem(trial.line, Rule.NO_PROGRAM, f"`{shown}` {whose} cannot run: {trial.why}")
        case Before.UNCLEAR:
            yield problem(
                trial.line, Rule.UNTRIED_CHECK, f"`{shown}` {whose} could not be tried: {trial.why}"
            )
        case Before.PASSES if trial.phase:
            # Beside a check that fails now, a check that passes guards existing behaviour.
            severity = Severity.INFO if trial.phase in proven else None
            message = f"`{shown}` passes before the work, so it proves nothing of phase {trial.phase}"
            yield problem(trial.line, Rule.PROVES_NOTHING, message, severity=severity)
        case _:
            return


def _program(command: str, output: str) -> str:
    """Return the program that did not start: from the shell's message, else the command's first word."""
    missing = _MISSING.findall(output)
    argv = argv_of(command)
    return str(missing[-1]) if missing else argv[2].split()[0] if needs_shell(command) else argv[0]
