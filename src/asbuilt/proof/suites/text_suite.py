"""Compare tests in languages that are read by rules: shell, and those with braces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.matching import compared
from asbuilt.proof.suites.model import MAX_BYTES, Change, Finding, Kind, Reading, Severity, Test
from asbuilt.proof.suites.places import is_named_test
from asbuilt.proof.suites.python_suite import new_traces
from asbuilt.proof.suites.shell import read_script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OF_BEFORE: Final = ("no set -e", "no pipefail")
"""What only counts where it was otherwise before."""


def compare_scripts(changes: Sequence[Change], command: str) -> list[Finding]:
    """Find what shell tests, and scripts that the test command names, demand less than before."""
    wanted = [change for change in changes if is_named_test(change.path, "shell") or change.path in command]
    return _compared(wanted, read_script)


def _compared(changes: Sequence[Change], read: Callable[[str, bytes], Reading]) -> list[Finding]:
    findings: list[Finding] = []
    tests: tuple[list[Test], list[Test]] = ([], [])
    traces = ([], [])  # type: ignore[var-annotated]
    known = {change.path for change in changes if change.before is not None}
    for change in changes:
        sizes = [len(data) for data in (change.before, change.after) if data is not None]
        if max(sizes) > MAX_BYTES:
            was_read = change.before is not None and len(change.before) <= MAX_BYTES
            severity = Severity.FAILS if was_read else Severity.SIGN_OFF
            now = f"{max(sizes):,} bytes are more than a test file has"
            findings.append(Finding(Kind.NOT_COMPARED, severity, change.path, "", None, None, "", now))
            continue
        for data, into, held in zip((change.before, change.after), tests, traces, strict=True):
            if data is not None:
                reading = read(change.path, data)
                into += reading.tests
                held += [
                    (change.path, trace)
                    for trace in reading.traces
                    if trace.key not in _OF_BEFORE or change.path in known
                ]
    return [*findings, *compared(*tests), *new_traces(*traces)]
