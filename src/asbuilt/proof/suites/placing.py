"""What a changed file means by its place alone: golden files, test data, shadows of a runner."""

from __future__ import annotations

from typing import assert_never

from asbuilt.proof.suites.model import Change, Finding, Kind, Severity
from asbuilt.proof.suites.places import Role, is_foreign


def by_place(change: Change, role: Role, command: str) -> list[Finding]:
    """Find what is worth telling of a file without a look into it."""
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
            if is_new:
                return []
            now = "it is gone" if change.after is None else "what the tests compare with is another"
            return [_finding(change, Kind.GOLDEN_CHANGED, Severity.SIGN_OFF, now)]
        case Role.TEST | Role.AROUND if is_foreign(change.path):
            severity = Severity.NOTE if is_new else Severity.SIGN_OFF
            return [_finding(change, Kind.NOT_COMPARED, severity, "tests in this language are not compared")]
        case Role.PRODUCT | Role.OTHER if not is_new and change.path in command.replace("./", "").split():
            return [_finding(change, Kind.RUNNER_CHANGED, Severity.SIGN_OFF, "the test command runs it")]
        case Role.TEST | Role.AROUND | Role.SETTINGS | Role.PRODUCT | Role.OTHER | Role.SHADOW | Role.STARTUP:
            return []
        case _:
            assert_never(role)


def _finding(change: Change, kind: Kind, severity: Severity, now: str) -> Finding:
    return Finding(kind, severity, change.path, "", None, None, "", now)
