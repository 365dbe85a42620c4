"""Compare the settings of runners and build tools, file by file: what they leave out, forgive or rewrite.

Rule: a setting counts if it can change outcomes; one that only changes their display is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from asbuilt.proof.projects.manifests import json_object, table
from asbuilt.proof.suites import pytest_settings
from asbuilt.proof.suites.model import Change, Finding, Kind, Order, Severity
from asbuilt.proof.suites.weakened_test_command import RUNNER, PartialFinding, compared

_FAILS, _SIGN_OFF = Severity.FAILS, Severity.SIGN_OFF
_TEST_SCRIPT: Final = re.compile(r"(?i)test|check|verify|^ci$|spec|e2e")
_IDLE: Final = re.compile(r"\s*(true|:|exit\s+0|echo\b[^;&|]*|printf\b[^;&|]*|node\s+-e\s+['\"]{2})?\s*")
"""A command that exits with 0 and checks nothing."""
_VALUES: Final = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.])|'[^']*'")
_FORGIVING: Final = re.compile(
    r"(?im)testFailureIgnore[>\s=]+true|<skipTests>\s*true|skipTests\s*=\s*true|maven\.test\.skip|maven\.test\.failure\.ignore|"
    r"<skip>\s*true|ignoreFailures\s*=?\s*true|onlyIf\s*\{\s*false|enabled\s*=\s*false|failOnNoDiscoveredTests\s*=\s*false|"
    r"ignoreTestFailures|junit\.jupiter\.conditions\.deactivate|passWithNoTests:?\s*true|allowOnly:?\s*true|"
    r"dangerouslyIgnoreUnhandledErrors:?\s*true|harness\s*=\s*false|^\s*test\s*=\s*false|autotests\s*=\s*false|"
    r"success_codes|ignore_outcome\s*=\s*true|ignore_errors\s*=\s*true|exit-zero|forbidOnly:?\s*false|retries\s*:|retry\s*:|"
    r"maxRetries|failOnFlaky\s*=\s*false|\.IGNORE\b|MAKEFLAGS.*\s-?\w*[ik]\b|^\s*\.?SHELL(FLAGS)?\s*[:?]?="
)
_NARROWING: Final = re.compile(
    r"(?i)testPathIgnorePatterns|modulePathIgnorePatterns|testMatch|testRegex|testNamePattern|\bexcludes?\b|<excludes?>|"
    r"excludeTestsMatching|excludeTags|excludeGroups|\bgrep\b|\binvert\b|includes?\s*[:=]|<includes?>|\"?spec\"?\s*:|"
    r"\"?ignore\"?\s*:|roots\s*:|default-filter|useJUnitPlatform\s*\{"
)
_LOADED: Final = re.compile(
    r"(?im)setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|reporters?\b|testRunner|runner\s*:|require\b|snapshotResolver|"
    r"moduleNameMapper|\balias\b|transform\b|^\s*replace\b|=>|testEnvironment|poolOptions|\[patch|\[replace|overrides|resolutions"
)
_RUNNER_FILE: Final = re.compile(
    r"(^|/)(jest|vitest|karma|playwright|vite)\.\w+\.\w+$|(^|/)\.mocharc|(^|/)pom\.xml$|\.gradle(\.kts)?$|nextest\.toml$|"
    r"(^|/)go\.(mod|work)$|(^|/)Cargo\.toml$|gradle\.properties$|junit-platform\.properties$|bunfig\.toml$|noxfile\.py$|"
    r"(^|/)\.cargo/|(^|/)tox\.toml$|c8rc|nycrc|deno\.jsonc?$"
)
_TARGET: Final = re.compile(r"^([^:=#\t]+?)\s*::?(?!=)\s*([^=#;]*)(?:;\s*(.*))?$")
_CALLED: Final = re.compile(r"(?:^|[;&|(]\s*|\s)(?:make|just|task)\s+([^;&|)]*)")
"""Arguments that a shell command passes to make, just or task."""
_TESTING: Final = re.compile(r"^(test|tests|check|ci|verify|all)$|test|check")


class Recipes(NamedTuple):
    """The contents of a recipe file."""

    targets: dict[str, tuple[str, ...]]
    """Every target with its dependencies."""
    bodies: dict[str, tuple[str, ...]]
    loose: list[str]
    """Lines outside of targets: variables and settings."""


def compare_pytest(changes: Sequence[Change], order: Order, moved: tuple[str, ...]) -> list[Finding]:
    """Find what pytest's settings, from all their files together, leave out or forgive."""
    findings = []
    for folder in sorted({change.path.rpartition("/")[0] for change in changes}):
        sides: list[dict[str, pytest_settings.Settings]] = [{}, {}]
        for path, data in order.unchanged.items():
            if path.rpartition("/")[0] == folder:
                sides[0][path] = sides[1][path] = pytest_settings.settings_in(path, data)
        for change in changes:
            if change.path.rpartition("/")[0] == folder:
                sides[0][change.path] = pytest_settings.settings_in(change.path, change.before)
                sides[1][change.path] = pytest_settings.settings_in(change.path, change.after)
        before, after = (
            {key: value for row in side.values() for key, value in row.items()} for side in sides
        )
        place = next((path for side in reversed(sides) for path, own in side.items() if own), folder)
        by_path = {change.path: change for change in changes}
        findings += [
            Finding(kind, severity, place, now, line=_line(by_path.get(place), now))
            for kind, severity, now in pytest_settings.compared(before, after, moved)
        ]
    return findings


def compare_settings(change: Change, order: Order) -> list[Finding]:
    """Find what one settings file newly configures in a runner."""
    findings = list(_changes(change, order))
    return [
        Finding(kind, severity, change.path, now, line=_line(change, now)) for kind, severity, now in findings
    ] + _recipes(change, order)


def _changes(change: Change, order: Order) -> Iterator[PartialFinding]:
    name = change.path.rpartition("/")[2]
    if "pytest11" in change.new and "pytest11" not in change.old:
        yield Kind.RUNNER_CHANGED, _SIGN_OFF, "pytest11: a plugin of the project's own"
    if name == "package.json":
        yield from _package(change, order)
    elif name in ("tox.ini", "setup.cfg"):
        old, new = _tox(change.old), _tox(change.new)
        for section in old:
            yield from compared(old[section], new.get(section, ""))
        yield from (
            finding
            for finding in _lines(change)
            if finding[1] is _FAILS and finding[0] is Kind.RUNNER_CHANGED
        )
    elif _RUNNER_FILE.search(change.path):
        yield from _lines(change)


def _tox(text: str) -> dict[str, str]:
    sections = pytest_settings.ini_sections(text)
    return {
        name: "\n".join(line for line in body["commands"].split("\n") if line)
        for name, body in sections.items()
        if name.startswith("testenv") and "commands" in body
    }


def _package(change: Change, order: Order) -> Iterator[PartialFinding]:
    old, new = json_object(change.old), json_object(change.new)
    scripts, now = table(old, "scripts"), table(new, "scripts")
    for name in sorted({*scripts, *now}):
        before, after = str(scripts.get(name, "")), str(now.get(name, ""))
        is_check = any(re.search(rf"\brun\s+{re.escape(name)}(?![\w:-])", check) for check in order.checks)
        if before == after or not (
            is_check or _TEST_SCRIPT.search(name) or re.search(rf"\b{re.escape(name)}\b", order.command)
        ):
            continue
        if not after:
            severity = _FAILS if RUNNER.search(before) and name == "test" else _SIGN_OFF
            yield Kind.RUNNER_REPLACED, severity, f"scripts.{name} is gone"
        elif not before:
            if name in ("pretest", "posttest"):
                yield Kind.RUNNER_CHANGED, _SIGN_OFF, f"scripts.{name}: {after}"
        else:
            findings = [*compared(before, after)]
            yield from findings or ([_another(name, before, after)] if is_check else [])
    for key in ("jest", "mocha", "vitest", "ava", "nyc", "c8", "overrides", "resolutions"):
        if old.get(key) != new.get(key) and key in new:
            yield from _compared_lines(_spread(old.get(key)), _spread(new.get(key)))
    yield from _led_elsewhere(old.get("imports"), new.get("imports"))
    if old.get("type") != new.get("type"):
        yield Kind.RUNNER_CHANGED, Severity.NOTE, f"type: {new.get('type')}"


def _led_elsewhere(old: object, new: object) -> Iterator[PartialFinding]:
    """Compare an import map: a name with another target may lead tests past the product."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() & new.keys()):
            was, now = (json.dumps(value) for value in (old[name], new[name]))
            if was.rpartition("/")[2] != now.rpartition("/")[2]:
                yield Kind.RUNNER_CHANGED, _SIGN_OFF, f"imports.{name}: {now}"


def _another(name: str, before: str, after: str) -> PartialFinding:
    """Judge a changed script that checks a phase: fails if it is idle, a note if its program is the same."""
    now = f"scripts.{name}: {after}"
    if _IDLE.fullmatch(after):
        return Kind.RUNNER_REPLACED, _FAILS, now
    is_kept = before.split()[:1] == after.split()[:1]
    return Kind.RUNNER_CHANGED, Severity.NOTE if is_kept else _SIGN_OFF, now


def _spread(value: object) -> list[str]:
    """Return settings one per line, as people write them."""
    return json.dumps(value, indent=1).splitlines() if value is not None else []


def _lines(change: Change) -> Iterator[PartialFinding]:
    old, new = (
        [line.strip().removesuffix(",") for line in text.splitlines()] for text in (change.old, change.new)
    )
    yield from _compared_lines(old, new)


def _compared_lines(old: list[str], new: list[str]) -> Iterator[PartialFinding]:
    known, now = set(old), set(new)
    for line in new:
        if line in known or line.startswith(("//", "#", "*", "<!--")):
            continue
        if _FORGIVING.search(line):
            yield Kind.RUNNER_CHANGED, _FAILS, line
        elif _NARROWING.search(line):
            yield Kind.NOT_COLLECTED, _FAILS if _is_narrower(line, old) else _SIGN_OFF, line
        elif _LOADED.search(line):
            yield Kind.RUNNER_CHANGED, _SIGN_OFF, line
        else:
            yield from (
                finding for other in old if other not in now and RUNNER.search(other)
                for finding in compared(other, line)
            )  # fmt: skip
    for line in old:
        if line not in now and re.search(
            r"\bthresholds?\b|failOn\w+\s*[:=]\s*true|bail|forbidOnly:?\s*true", line
        ):
            yield Kind.TOLERANCE_LOOSENED, _SIGN_OFF, f"gone: {line}"


def _is_narrower(line: str, old: list[str]) -> bool:
    """Return whether a line certainly leaves tests out: it is an exclusion, and names tests or is new."""
    leaves = re.search(r"ignore|exclude|invert|grep", line, re.IGNORECASE)
    if leaves is None:
        return False
    names_tests = re.search(r"test|spec|IT\b", line.partition(leaves[0])[2]) is not None
    return names_tests or not any(leaves[0] in other for other in old)


def _recipes(change: Change, order: Order) -> list[Finding]:
    if not re.search(
        r"(^|/)(GNUmakefile|[Mm]akefile|\.?[Jj]ustfile|[^/]*\.mk|Taskfile\.ya?ml)$", change.path
    ):
        return []
    old, new = recipes_in(change.old), recipes_in(change.new)
    wanted = targets_of(order.command, order.checks, old.targets)
    findings = []
    for name in sorted(wanted):
        before, after = old.bodies.get(name), new.bodies.get(name)
        if after is None:
            was = f"target {name}"
            changes = [(Kind.RUNNER_REPLACED, _FAILS, was, "it is gone")]
        else:
            changes = [*_recipe(before or (), after)]
        findings += [
            Finding(kind, severity, change.path, now, was, name, _line(change, now))
            for kind, severity, was, now in changes
        ]
    for kind, severity, now in _compared_lines(old.loose, new.loose):
        findings.append(Finding(kind, severity, change.path, now, line=_line(change, now)))
    for left, other in product(old.loose, new.loose):
        if not _variable(left) or _variable(left) != _variable(other):
            continue
        findings += [
            Finding(kind, severity, change.path, now, left, line=_line(change, other))
            for kind, severity, now in compared(left.partition("=")[2], other.partition("=")[2])
        ]
    return findings


def _recipe(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Kind, Severity, str, str]]:
    """Compare the commands of one target: no command may be removed or fail unnoticed."""
    if any(map(_acts, before)) and not any(map(_acts, after)):
        yield Kind.TEST_EMPTIED, _FAILS, before[0], "it checks nothing"
        return
    for recipe_line in before:
        if recipe_line in after or not _acts(recipe_line):
            continue
        other = next((line for line in after if line not in before and _alike(recipe_line, line)), None)
        if other is None:
            yield Kind.ASSERTION_REMOVED, _FAILS, recipe_line, "it is gone"
        elif _is_ignored(other) and not _is_ignored(recipe_line):
            yield Kind.FAILURE_SWALLOWED, _FAILS, recipe_line, f"{other}: make ignores its failure"
        else:
            findings = compared(*(line.lstrip("@-+ ") for line in (recipe_line, other)))
            kept = [found for found in findings if RUNNER.search(recipe_line) or found[0] is Kind.EXIT_FORCED]
            yield from ((kind, severity, recipe_line, now) for kind, severity, now in kept)
            if not kept and not {*_VALUES.findall(recipe_line)} <= {*_VALUES.findall(other)}:
                yield Kind.EXPECTATION_CHANGED, _SIGN_OFF, recipe_line, other


def _acts(line: str) -> bool:
    return not _IDLE.fullmatch(line.lstrip("@-+ "))


def _is_ignored(line: str) -> bool:
    return "-" in line[: len(line) - len(line.lstrip("@-+ "))]


def _alike(left: str, other: str) -> bool:
    first, second = (line.lstrip("@-+ ").split()[:1] for line in (left, other))
    return first == second or all(map(RUNNER.search, (left, other)))


def _variable(line: str) -> str:
    found = re.match(r"^([A-Z_]*(?:TEST|FLAGS|ARGS|OPTS)[A-Z_]*)\s*[:?+]?=", line)
    return found[1] if found else ""


def _line(change: Change | None, text: str) -> int | None:
    lines = change.new.splitlines() if change else []
    return next(
        (at for at, line in enumerate(lines, 1) if text and line.strip() and line.strip() in text), None
    )


def recipes_in(text: str) -> Recipes:
    """Parse a recipe file."""
    targets: dict[str, tuple[str, ...]] = {}
    bodies: dict[str, list[str]] = {}
    loose: list[str] = []
    current: list[str] = []
    waiting = ""
    for raw in text.splitlines():
        if raw.endswith("\\"):
            part = raw.removesuffix("\\").rstrip()
            waiting += f"{part.lstrip() if waiting else part} "
            continue
        line, waiting = (waiting + (raw.strip() if waiting else raw)).rstrip(), ""
        if line[:1] in ("\t", " ") and current:
            for name in current:
                bodies[name].append(line.strip())
            continue
        found = _TARGET.match(line) if line and not line.startswith(("#", ".")) else None
        if found is None:
            current = current if not line else []
            if line and not line.startswith("#"):
                loose.append(line)
            continue
        current = found[1].split()
        for name in current:
            targets[name] = tuple(found[2].split())
            bodies.setdefault(name, [])
            if found[3]:
                bodies[name].append(found[3])
    return Recipes(targets, {name: tuple(body) for name, body in bodies.items()}, loose)


def targets_of(command: str, checks: Iterable[str], targets: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the targets that test the project or check the phase, with their dependencies."""
    named = [
        word
        for check in checks
        for call in _CALLED.findall(check)
        for word in call.split()
        if word in targets
    ]
    return _with_needs(_testing(command, targets), targets) | _with_needs(named, targets)


def _testing(command: str, targets: dict[str, tuple[str, ...]]) -> list[str]:
    words = command.split()
    named = [word for word in words if word in targets]
    if words[:1] in (["make"], ["just"]) and not named:
        named = list(targets)[:1]
    if not named:
        named = [name for name in targets if _TESTING.search(name)]
    return named


def _with_needs(named: list[str], targets: dict[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    while named:
        name = named.pop()
        if name not in found and name in targets:
            found.add(name)
            named += targets[name]
    return found
