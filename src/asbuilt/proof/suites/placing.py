"""Findings from the role of a changed file: golden files, test data, shadows of a runner."""

from __future__ import annotations

import re
from typing import Final, assert_never

from asbuilt.proof.suites.model import Change, Finding, Kind, Severity
from asbuilt.proof.suites.places import Role, is_test_code

_BUILD: Final = re.compile(r"(^|/)(CMakeLists\.txt|[^/]+\.cmake|meson\.build|Makefile\.am)$")
_EXCUSES: Final = re.compile(
    r"will_fail|disabled|should_fail|xfail|regular_expression|skip|custom|remove|return|\bif\b|false|#",
    re.IGNORECASE,
)
"""What can turn a failing test into a passing one in a build file, or remove one."""


def by_place(change: Change, role: Role, command: str) -> list[Finding]:
    """Return findings for a changed file by its role; only build files are read."""
    is_new = change.before is None
    match role:
        case Role.SHADOW if change.after is not None:
            return [
                _finding(
                    change, Kind.RUNNER_REPLACED, Severity.FAILS, "it stands in place of the runner's code"
                )
            ]
        case Role.STARTUP if change.after is not None:
            is_python = change.path.endswith((".py", ".pth"))
            severity = Severity.FAILS if is_python else Severity.SIGN_OFF
            return [_finding(change, Kind.RUNNER_REPLACED, severity, "it runs before the runner does")]
        case Role.GOLDEN | Role.DATA:
            if is_new or _names_more_tests(change):
                return []
            now = "it is gone" if change.after is None else "what the tests compare with is another"
            return [_finding(change, Kind.GOLDEN_CHANGED, Severity.SIGN_OFF, now)]
        case Role.TEST | Role.AROUND | Role.PRODUCT if is_test_code(change.path) and not is_new:
            now = "the base's tests did not run on the new code"
            return [_finding(change, Kind.NOT_COMPARED, Severity.SIGN_OFF, now)]
        case Role.PRODUCT | Role.OTHER if not is_new and change.path in command.replace("./", "").split():
            return [_finding(change, Kind.RUNNER_CHANGED, Severity.SIGN_OFF, "the test command runs it")]
        case Role.TEST | Role.AROUND | Role.SETTINGS | Role.PRODUCT | Role.OTHER | Role.SHADOW | Role.STARTUP:
            return []
        case _:
            assert_never(role)


def _names_more_tests(change: Change) -> bool:
    """Return whether a build file keeps every line in order and adds only lines that excuse nothing."""
    if not _BUILD.search(change.path) or change.before is None or change.after is None:
        return False
    kept = iter(change.after.decode(errors="replace").splitlines())
    added: list[str] = []
    for line in change.before.decode(errors="replace").splitlines():
        for found in kept:
            if found == line:
                break
            added.append(found)
        else:
            return False
    return not any(_EXCUSES.search(line) for line in (*added, *kept))


def _finding(change: Change, kind: Kind, severity: Severity, now: str) -> Finding:
    return Finding(kind, severity, change.path, "", None, None, "", now)
