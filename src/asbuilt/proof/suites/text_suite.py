"""Compare tests in languages that are read by rules: shell, and those with braces."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.brace_reading import read_braces, read_product
from asbuilt.proof.suites.matching import compared
from asbuilt.proof.suites.model import MAX_BYTES, Change, Finding, Kind, Reading, Severity, Test, Trace
from asbuilt.proof.suites.places import is_called_test, is_in_tests, is_named_test, language_of
from asbuilt.proof.suites.python_suite import new_traces
from asbuilt.proof.suites.shell import asserting, read_program, read_script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BRACES: Final = ("javascript", "go", "rust", "java")
_OF_BEFORE: Final = ("no set -e", "no pipefail")
"""What only counts where it was otherwise before."""


def compare_scripts(changes: Sequence[Change], command: str) -> list[Finding]:
    """Find what shell tests, and scripts that the test command names, demand less than before."""
    scripts = [change for change in changes if language_of(change.path) == "shell"]
    wanted = [change for change in scripts if is_named_test(change.path, "shell") or change.path in command]
    aids = frozenset(name for change in scripts for name in asserting(change.after or b""))
    # Where names told what is run, a file that loses its name is run no more.
    by_name = any(change.after is None and is_called_test(change.path) for change in wanted)
    hidden = {change.path for change in wanted if change.before is None and not is_called_test(change.path)}
    product = [change for change in scripts if change not in wanted]
    return [
        *_compared(wanted, functools.partial(_read_script, aids=aids, hidden=hidden if by_name else set())),
        *_compared(product, read_program),
    ]


def _read_script(path: str, data: bytes, *, aids: frozenset[str], hidden: set[str]) -> Reading:
    reading = read_script(path, data, aids)
    if path not in hidden:
        return reading
    return reading._replace(tests=tuple(test._replace(is_aid=True) for test in reading.tests))


def compare_braces(changes: Sequence[Change]) -> list[Finding]:
    """Find what tests in JavaScript, TypeScript, Go, Rust and Java demand less than before."""
    findings: list[Finding] = []
    for language in _BRACES:
        files = [change for change in changes if language_of(change.path) == language]
        tests = [change for change in files if is_named_test(change.path, language)]
        around = [change for change in files if change not in tests and is_in_tests(change.path)]
        product = [change for change in files if change not in tests and change not in around]
        findings += _compared([*tests, *around], functools.partial(_read, language=language))
        findings += _compared(product, functools.partial(read_product, language=language))
    return findings


def _read(path: str, data: bytes, *, language: str) -> Reading:
    reading = read_braces(path, data, language)
    if is_named_test(path, language):
        return reading
    # What no runner takes for tests is at most called by them.
    return reading._replace(tests=tuple(test._replace(is_aid=True) for test in reading.tests))


def _compared(changes: Sequence[Change], read: Callable[[str, bytes], Reading]) -> list[Finding]:
    findings: list[Finding] = []
    tests: tuple[list[Test], list[Test]] = ([], [])
    traces: tuple[list[tuple[str, Trace]], list[tuple[str, Trace]]] = ([], [])
    for change in changes:
        sides = [_side(change.path, data, read) for data in (change.before, change.after)]
        problem = sides[1].problem or sides[0].problem
        if problem is not None:
            severity = Severity.SIGN_OFF if sides[0].problem or change.before is None else Severity.FAILS
            findings.append(Finding(Kind.NOT_COMPARED, severity, change.path, "", None, None, "", problem))
            continue
        for at, reading in enumerate(sides):
            tests[at].extend(reading.tests)
            traces[at].extend(
                (change.path, trace)
                for trace in reading.traces
                if trace.key not in _OF_BEFORE or change.before is not None
            )
    return [*findings, *compared(*tests), *new_traces(*traces)]


def _side(path: str, data: bytes | None, read: Callable[[str, bytes], Reading]) -> Reading:
    if data is None:
        return Reading()
    if len(data) > MAX_BYTES:
        return Reading(problem=f"{len(data):,} bytes are more than a test file has")
    return read(path, data)
