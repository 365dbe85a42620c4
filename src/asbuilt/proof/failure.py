"""A failed command, as every screen, page and script reports it. Pure.

Rule: advice comes from the table `_REMEDIES`. A new cause is a row there, not code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from signal import Signals
from typing import Any, Final, Literal, NamedTuple

from asbuilt.policy.sandbox.services import NOT_STARTED, TABLE
from asbuilt.proof.evidence import SETUP, Evidence, last_lines
from asbuilt.proof.failed_test_lines import failure_lines
from asbuilt.proof.judgement import is_red
from asbuilt.proof.projects import known_runners

What = Literal["setup", "baseline", "tests", "check", "agent", "verifier", "sandbox"]
Tests = Literal["", "red", "uncounted"]
"""`red`: every test fails; `uncounted`: they pass, and the output does not show how many ran."""
WORDS: Final[Mapping[What, str]] = {"baseline": "tests on the base"}
"""Titles of failures whose own name is not plain."""
_SIGNALLED: Final = 128
_LAST_SIGNAL: Final = 31
TRY_AGAIN: Final = "asbuilt doctor --tests"
"""The command that shows whether a repair outside of asbuilt helped."""
_HASH: Final = 7
_MINUTE_S: Final = 60
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_NOT_STARTED: Final = (126, 127)
_BEFORE: Final = ("setup", "baseline")
_CHECKS: Final = ("baseline", "tests", "check")
_COMMANDS: Final = ("setup", *_CHECKS)
_UNKNOWN_PROGRAM: Final = re.compile(
    r"(?:env: ['‘\"]?|exec: )(?P<needed>[\w.+-]+)['’\"]?: (?:No such file or directory|not found)"
    r"|(?:^|[\s:])(?P<program>[\w.+-]+): (?:command )?not found"
)
_SETTINGS: Final[Mapping[str, str]] = {"setup": "checks.setup", "check": "checks.setup"}
"""The setting whose command has to change; for the others it is `checks.tests`."""


class Failure(NamedTuple):
    """What failed, how it ended, its telling lines, and one command that helps."""

    what: What
    command: str = ""
    folder: str = ""
    """Where it ran, in words: the checkout of a tree, or the path of a workspace."""
    exit_code: int | None = None
    """None: the time limit ended it, or an older journal does not have the code."""
    signal: str = ""
    timed_out: bool = False
    duration_s: float | None = None
    lines: tuple[str, ...] = ()
    """Of its output: those about a failed test, or the last ones."""
    cause: str = ""
    """What the last lines point at, in a sentence; empty if no row of the table matches."""
    next_command: str = ""

    @property
    def how(self) -> str:
        """How it ended, in words; empty if unknown."""
        took = "" if not self.duration_s or self.duration_s < 1 else _lasting(self.duration_s)
        if self.timed_out:
            return f"ended after {took}, its time limit" if took else "ended by its time limit"
        if self.signal:
            often = ", often out of memory" if self.signal == "SIGKILL" else ""
            return f"killed by {self.signal}{often}" + (f", after {took}" if took else "")
        if self.exit_code is None:
            return ""
        return f"exit {self.exit_code}" + (f", after {took}" if took else "")

    @property
    def same(self) -> tuple[str, str, str]:
        """What is equal in repetitions of this failure: numbers, such as times, may differ."""
        return self.what, self.command, _NUMBER.sub("0", "\n".join(self.lines))

    @property
    def missing(self) -> str:
        """The program to install: the command names it, or a script's first line does; empty if none."""
        if self.what not in _COMMANDS or self.exit_code not in _NOT_STARTED:
            return ""
        for line in reversed(self.lines):
            if (found := _UNKNOWN_PROGRAM.search(line)) is not None:
                # One that a program of the project starts comes from the project's packages.
                is_named = found["needed"] or found["program"] in _words(self.command)
                return (found["needed"] or found["program"]) if is_named else ""
        return ""

    @property
    def title(self) -> str:
        """What failed."""
        return WORDS.get(self.what, self.what)

    @property
    def plain(self) -> dict[str, Any]:
        """The failure as JSON; unknown values are null."""
        plain = {name: None if value == "" else value for name, value in self._asdict().items()}
        taken = None if self.duration_s is None else round(self.duration_s, 1)
        return plain | {"duration_s": taken, "lines": list(self.lines), "next": plain.pop("next_command")}


def failure_from(plain: Mapping[str, Any]) -> Failure:
    """Build a failure from its JSON."""
    read = {
        name: "" if value is None and name not in ("exit_code", "duration_s") else value
        for name, value in plain.items()
    }
    return Failure(**read | {"lines": tuple(plain["lines"]), "next_command": read.pop("next")})


def explained(failure: Failure, output: bytes, *, agent: str = "", tests: Tests = "") -> Failure:
    """Add what a failure's output shows: the signal, the last lines, the cause, and the next command."""
    found = failure._replace(signal=_signal(failure.exit_code), lines=last_lines(output))
    cause, following = _advice(found, agent, tests)
    return found._replace(cause=cause, next_command=following)


def failure_of(evidence: Evidence, output: bytes, *, on_base: bool = False) -> Failure:
    """Build a failure from evidence that is not a PASS and its stored output."""
    what: What = "check"
    if evidence.name == SETUP or evidence.is_suite:
        what = "setup" if evidence.name == SETUP else "baseline" if on_base else "tests"
    place, code = checkout_of(evidence.tree, evidence.folder or ""), evidence.exit_code
    failed = Failure(what, evidence.command, place, code, "", code is None, evidence.duration_s)
    tests: Tests = "red" if evidence.is_suite and is_red(evidence.ran, evidence.failed) else ""
    if evidence.is_suite and code == 0 and evidence.ran is None:
        tests = "uncounted"
    found = explained(failed, output, tests=tests)
    return found._replace(lines=failure_lines(output, evidence.new_failures or evidence.old_failures))


def missing_program(evidence: Evidence, output: bytes) -> str:
    """Return the program that a check's own command names and that could not be started; empty if none."""
    failed = Failure("check", evidence.command, exit_code=evidence.exit_code, lines=last_lines(output))
    return failed.missing if failed.missing in _words(evidence.command) else ""


def checkout_of(tree: str, folder: str = "") -> str:
    """Describe where checks run: a checkout, or a folder of it."""
    checkout = f"a clean checkout of tree {tree[:_HASH]}" if tree else "a clean checkout"
    return f"{folder} of {checkout}" if folder.strip("./") else checkout


class _Remedy(NamedTuple):
    """One cause: its pattern in the last lines, what it means, and what helps."""

    pattern: str
    cause: str
    next: str
    whats: tuple[str, ...] = _COMMANDS
    codes: tuple[int, ...] = ()
    """Exit codes that it applies to; empty: any."""
    tests: Tests = ""
    """The tests to which alone it applies; empty: any."""


_RUNNERS: Final = frozenset(row.name for row in known_runners.TABLE)
_VARIABLE: Final = r"([A-Z][A-Z0-9_]{2,})"
_SET: Final = 'asbuilt config set {setting} "<command>"'
SET_UP: Final = 'asbuilt config set checks.setup "<command>"'
"""The command that sets another setup."""
_NO_NETWORK: Final = "Checks run without a network; what they download belongs into the setup"
_ARTIFACTS: Final = (
    r"Could not (?:find|transfer) (?:artifact|metadata) ([^\s,]+)"
    r"|Non-resolvable [^:\n]*(?:POM|pom)[^:\n]*: ?(?:Could not \w+ artifact )?([\w.-]+:[\w.:-]+)"
    r"|Could not (?:find|resolve) ([\w.-]+:[\w.-]+:[\w.-]+)"
    r"|No matching distribution found for ([^\s]+)"
    r"|npm (?:ERR!|error) 404\s+'?([^'\s]+@[^'\s]+)' is not in"
    r"|no matching package named `([^`]+)` found"
    r"|Because ([\w.-]+) was not found in the (?:package registry|cache)"
)
_UNREACHED: Final = (
    r"Could not resolve|[Tt]emporary failure in name resolution|Name or service not known|Unknown host"
    r"|Network is unreachable|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|getaddrinfo"
    r"|Failed to establish a new connection|dial tcp|[Cc]onnection refused"
    r"|Could not connect to server|error sending request for url"
)
_REMEDIES: Final = (
    _Remedy(
        r"No space left on device|Disk quota exceeded|ENOSPC|Out of diskspace",
        "The disk is full.",
        "asbuilt clean",
        (*_COMMANDS, "agent", "verifier", "sandbox"),
    ),
    _Remedy(
        r"asbuilt: the service (\S+) did not start",
        "The service {found} of checks.services did not start in the check environment.",
        "asbuilt config show checks.services --origin",
        _CHECKS,
        codes=(NOT_STARTED,),
    ),
    _Remedy(
        r"([^\s:]+): (?:command )?(?:not found|No such file or directory|[Pp]ermission denied)",
        "The sandbox has no program {found} that can be started.",
        _SET,
        codes=_NOT_STARTED,
    ),
    _Remedy(
        r"Cannot connect to the Docker daemon|/var/run/docker\.sock|a valid Docker environment",
        "The command needs Docker, which the sandbox does not have; checks.services starts programs instead.",
        _SET,
    ),
    _Remedy(
        rf"(?:environ|<frozen os>|[/\\]os\.py)[\s\S]*KeyError: '{_VARIABLE}'"
        rf"|[Ee]nv(?:ironment)? (?:variables?|vars?)[^\n]{{0,20}}?\b{_VARIABLE}\b"
        rf"|\b{_VARIABLE}\b[^\n]{{0,10}} env(?:ironment)? (?:variable|var)\b"
        rf"|\b{_VARIABLE}: (?:unbound variable|parameter (?:null or )?not set)"
        rf"|\b{_VARIABLE} (?:(?:is|was) (?:not set|unset|not defined|missing|required)|must be set)",
        "The environment variable {found} is not set in the sandbox.",
        "asbuilt config set {env} +{found}",
    ),
    _Remedy(
        r"E401|401 (?:Client Error|Unauthorized)|403 Forbidden|[Aa]uthentication required"
        r"|could not read Username",
        "A registry asks for a login, and the setup has none.",
        'asbuilt config set setup.credentials "npm, pip, netrc, cargo"',
        ("setup",),
    ),
    _Remedy(_ARTIFACTS, "The registry could not supply {found}.", SET_UP, ("setup",)),
    _Remedy(_ARTIFACTS, f"The command downloads {{found}}. {_NO_NETWORK}.", SET_UP, _CHECKS),
    *(
        _Remedy(
            rf"{port}[\s\S]{{0,80}}?[Rr]efused|(?:REFUSED|[Rr]efused)[\s\S]{{0,80}}?{port}",
            f"No program answers on port {port} in the sandbox, which is the one of {name}.",
            f"asbuilt config set checks.services {name}",
            _CHECKS,
        )
        for name, port in ((service.name, service.port) for service in TABLE.values())
    ),
    _Remedy(
        r"(?:ECONNREFUSED|[Cc]onnection refused|connection to server at)[^\n]{0,60}?"
        r"((?:127\.0\.0\.1|localhost|::1)\S*)",
        "No program answers at {found} in the sandbox: a service that the command needs does not run there.",
        _SET,
        _CHECKS,
    ),
    _Remedy(_UNREACHED, "A host on the network could not be reached.", "asbuilt doctor", ("setup",)),
    _Remedy(_UNREACHED, f"{_NO_NETWORK}.", SET_UP, _CHECKS),
    _Remedy(
        r"No module named '?([\w.]+)|Cannot find (?:module|package) '([^'./][^']*)'"
        r"|cannot load such file -- (\S+)",
        "{found} is not installed in the check environment.",
        SET_UP,
        _BEFORE,
    ),
    # A build tool that starts a missing program exits with its own code and prints the shell's.
    _Remedy(
        r"(?:(?:\bline \d+|\bsh(?:: \d+)?): ([\w.+/-]+): (?:command )?not found"
        r"|\bmake(?:\[\d+\])?: ([\w.+/-]+): No such file or directory)[\s\S]*\b(?:Error|code|status) 127\b",
        "The sandbox has no program {found} that can be started.",
        _SET,
        _BEFORE,
    ),
    _Remedy(
        r"(?:execvp|exec:?) ([^\s:]+): (?:No such file or directory|not found|Permission denied)",
        "The sandbox of the agent has no program {found} that can be started.",
        "asbuilt doctor agents {agent}",
        ("agent", "verifier"),
    ),
    _Remedy(
        "",
        "The command passes, but its output does not show which tests ran.",
        "asbuilt config set checks.counts exit-code",
        ("baseline",),
        tests="uncounted",
    ),
    _Remedy("", "Every test fails before the work.", "", ("baseline",), tests="red"),
    _Remedy("", "", _SET, _BEFORE),
    _Remedy("", "", "asbuilt doctor", ("sandbox",)),
    _Remedy("", "", "asbuilt doctor agents {agent}", ("agent", "verifier")),
)
"""The first matching row is the advice."""


def _advice(failure: Failure, agent: str, tests: Tests) -> tuple[str, str]:
    """Return the cause and the command that helps; empty if only the work itself is at fault."""
    if failure.timed_out:
        minutes = 2 * ceil((failure.duration_s or 0) / _MINUTE_S)
        is_ours = failure.what in _COMMANDS and minutes
        return "", f"asbuilt config set checks.minutes {minutes}" if is_ours else ""
    text = "\n".join(failure.lines)
    for row in _REMEDIES:
        if failure.what not in row.whats or (row.codes and failure.exit_code not in row.codes):
            continue
        if row.tests not in ("", tests):
            continue
        matches = [*re.finditer(row.pattern, text)]
        if not matches:
            continue
        found = next((group for group in matches[-1].groups() if group), "").strip("'‘’\"").rstrip(".,;:)")
        setting = _SETTINGS.get(failure.what, "checks.tests")
        env = "setup.env" if failure.what == "setup" else "checks.env"
        fields = {"found": found, "setting": setting, "env": env, "agent": agent}
        is_absent = failure.missing == found and row.next == _SET and failure.what != "check"
        # `python -m unitest`: a slip in the command, and nothing to install.
        is_slip = row.next == SET_UP and f"-m {found}" in failure.command and found not in _RUNNERS
        wanted = (_SET if is_slip else row.next).format(**fields).rstrip()
        following = TRY_AGAIN if found and is_absent else wanted
        return row.cause.format(**fields), following
    return "", ""


def _words(command: str) -> list[str]:
    return re.split(r"[\s;&|()]+", command)


def _signal(exit_code: int | None) -> str:
    """Return the signal that a shell's exit code stands for; empty if it is a plain exit code."""
    number = 0 if exit_code is None else exit_code - _SIGNALLED
    return Signals(number).name if 1 <= number <= _LAST_SIGNAL else ""


def _lasting(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole}s" if whole < _MINUTE_S else f"{whole // _MINUTE_S}m"
