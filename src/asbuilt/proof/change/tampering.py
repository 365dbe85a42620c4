"""Find changes that make a suite pass in place of the product. It compares texts and runs nothing.

Five changes turn a failing suite green without a correct product: fewer tests are collected, a test checks
less, a failure no longer counts, the runner is configured otherwise, the expected value comes from the
product.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from asbuilt.proof.suites.ignored_failures import traces
from asbuilt.proof.suites.model import Change, Citation, Finding, Kind, Order, Severity
from asbuilt.proof.suites.ordered_changes import settled
from asbuilt.proof.suites.parsing import imports_of, parsed
from asbuilt.proof.suites.path_roles import Role, is_in_tests, is_test_code, language_of, parents, role_of
from asbuilt.proof.suites.runner_settings import compare_pytest, compare_settings

__all__ = ["Change", "Citation", "Finding", "Kind", "Order", "Severity", "tampering"]
_BUILD: Final = re.compile(r"(^|/)(CMakeLists\.txt|[^/]+\.cmake|meson\.build|Makefile\.am)$")
_EXCUSES: Final = re.compile(
    r"(?i)will_fail|disabled|should_fail|xfail|regular_expression|skip|custom|remove|return|\bif\b|false|#"
)
"""What can turn a failing test into a passing one in a build file, or remove one."""
_TAKEN: Final = re.compile(
    r"\b(?:const|let|var)\s+(\{[^}]*\}|\w+)\s*=\s*require\(\s*['\"](\.[^'\"]+)['\"]|"
    r"\bimport\s+(?:type\s+)?(\{[^}]*\}|\w+)\s+from\s+['\"](\.[^'\"]+)['\"]"
)


def tampering(changes: Iterable[Change], order: Order) -> tuple[Finding, ...]:
    """Compare the suite of two trees. Pass every file that differs, product and data too.

    A renamed file is two changes, one without `after`, one without `before`. `order.text` is the frozen text
    of the phase, never a later reading. `order.unchanged` has the unchanged runner settings, which determine
    what is collected. `fails` is tampering, `sign_off` needs a sign-off, `note` goes into the evidence, and
    `allowed` is a change that the plan orders, with the line that orders it.
    """
    every = [change for change in changes if change.before != change.after]
    findings = [*traces(every), *redirected(every)]
    moved = {change.after for change in every if change.before is None and change.after is not None}
    folders = tuple(
        sorted({top for change in every if change.after is not None for top in parents(change.path)})
    )
    findings += compare_pytest(
        [change for change in every if role_of(change.path) is Role.SETTINGS], order, folders
    )
    for change in every:
        role = role_of(change.path)
        if role is Role.SETTINGS:
            findings += compare_settings(change, order)
        elif not (change.after is None and change.before in moved):
            findings += by_place(change, role, order.command)
    unique = dict.fromkeys(settled(finding, order) for finding in findings)
    return tuple(
        sorted(unique, key=lambda tampered: (tampered.path, tampered.line or 0, tampered.kind, tampered.test))
    )


def by_place(change: Change, role: Role, command: str) -> list[Finding]:
    """Return findings for a changed file by its role; only build files are read."""
    is_new = change.before is None
    match role:
        case Role.SHADOW if change.after is not None:
            return [
                _at(change, Kind.RUNNER_REPLACED, Severity.FAILS, "it stands in place of the runner's code")
            ]
        case Role.STARTUP if change.after is not None:
            is_python = change.path.endswith((".py", ".pth"))
            severity = Severity.FAILS if is_python else Severity.SIGN_OFF
            return [_at(change, Kind.RUNNER_REPLACED, severity, "it runs before the runner does")]
        case Role.GOLDEN | Role.DATA:
            if is_new or _names_more_tests(change):
                return []
            now = "it is gone" if change.after is None else "what the tests compare with is another"
            return [_at(change, Kind.GOLDEN_CHANGED, Severity.SIGN_OFF, now)]
        case Role.TEST | Role.AROUND | Role.PRODUCT if is_test_code(change.path) and not is_new:
            now = "the base's tests did not run on the new code"
            return [_at(change, Kind.NOT_COMPARED, Severity.SIGN_OFF, now)]
        case Role.PRODUCT | Role.OTHER if not is_new and change.path in command.replace("./", "").split():
            return [_at(change, Kind.RUNNER_CHANGED, Severity.SIGN_OFF, "the test command runs it")]
        case Role.TEST | Role.AROUND | Role.SETTINGS | Role.PRODUCT | Role.OTHER | Role.SHADOW | Role.STARTUP:
            return []
        case _:
            assert_never(role)


def _names_more_tests(change: Change) -> bool:
    """Return whether a build file keeps every line in order and adds only lines that excuse nothing."""
    if not _BUILD.search(change.path) or change.before is None or change.after is None:
        return False
    kept = iter(change.new.splitlines())
    added: list[str] = []
    for line in change.old.splitlines():
        for found in kept:
            if found == line:
                break
            added.append(found)
        else:
            return False
    return not any(_EXCUSES.search(line) for line in (*added, *kept))


def _at(change: Change, kind: Kind, severity: Severity, now: str) -> Finding:
    return Finding(kind, severity, change.path, now)


def redirected(changes: Iterable[Change]) -> Iterator[Finding]:
    """Find names that tests imported from elsewhere and now import from a test folder."""
    for change in changes:
        if change.before is None or change.after is None or not is_in_tests(change.path):
            continue
        before, after = _taken(change.path, change.before), _taken(change.path, change.after)
        for name in sorted(before.keys() & after.keys()):
            was, now = before[name], after[name]
            if is_in_tests(now) and not is_in_tests(was):
                line = change.new.partition(name)[0].count("\n") + 1
                was, now = f"{name} from {was}", f"{name} from {now}"
                yield Finding(Kind.PRODUCT_REPLACED, Severity.SIGN_OFF, change.path, now, was, line=line)


def _taken(path: str, data: bytes) -> dict[str, str]:
    match language_of(path):
        case "python":
            tree = parsed(data)
            origins = imports_of(tree) if tree is not None else {}
            return {name: _place(path, origin) for name, origin in origins.items()}
        case "javascript":
            found: dict[str, str] = {}
            for left, at, other, there in _TAKEN.findall(data.decode("utf-8", "replace")):
                where = posixpath.normpath(posixpath.join(posixpath.dirname(path), at or there))
                found |= dict.fromkeys(re.findall(r"\w+", left or other), where)
            return found
        case _:
            return {}


def _place(path: str, origin: str) -> str:
    """Return the path of a dotted import, from the top or relative to the file."""
    beyond = len(origin) - len(origin.lstrip("."))
    folder = posixpath.dirname(path) if beyond else ""
    for _ in range(beyond - 1):
        folder = posixpath.dirname(folder)
    return posixpath.join(folder, origin.lstrip(".").replace(".", "/"))
