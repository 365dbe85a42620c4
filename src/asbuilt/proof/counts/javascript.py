"""Count tests in the output of jest, vitest, mocha, ava, uvu and node's test runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.counts.model import Counts, agreeing, named, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.proof.counts.model import State

_NODE: Final = re.compile(r"^(?:#|ℹ) (tests|pass|fail|skipped|cancelled|todo) (\d+)$", re.MULTILINE)
_NODE_TAP: Final = re.compile(
    r"^\s*(ok|not ok) \d+ - (.+?)( # (?:SKIP|TODO).*)?$(?!\n\s*---\n(?:\s+duration_ms.*\n)?\s+type: 'suite')",
    re.MULTILINE,
)
_NODE_SPEC: Final = re.compile(r"^\s*(✔|✖|﹣) (.+?) \([\d.]+ms\)( # (?:SKIP|TODO).*)?$", re.MULTILINE)
_NODE_PARENT: Final = re.compile(r"^\s*▶ (.+?)(?: \([\d.]+ms\))?$", re.MULTILINE)
_JEST: Final = re.compile(
    r"^\s*Tests:?\s+((?:\d+ [a-z]+(?:,| \|)? ?)+)(?:\((\d+)\)|,? ?(\d+) total)?\s*$", re.MULTILINE
)
_BROKEN_FILES: Final = re.compile(r"^\s*Test (?:Suites:|Files) +(\d+) failed", re.MULTILINE)
_MOCHA: Final = re.compile(
    r"^  (\d+) passing \([^)]+\)(?:\n  (\d+) pending)?(?:\n  (\d+) failing)?$", re.MULTILINE
)
_AVA: Final = re.compile(
    r"^  (\d+) (?:tests?|(known failures?|uncaught exceptions?|unhandled rejections?))"
    r"(?: (passed|failed|skipped|todo))?$",
    re.MULTILINE,
)
_AVA_NAMED: Final = re.compile(
    r"^  (✔|✘ \[fail\]:|- \[skip\]|- \[todo\]) (.+?)(?: \([\d.]+m?s\))?$", re.MULTILINE
)
_UVU: Final = re.compile(r"^  Total: +(\d+)\n  Passed: +(\d+)\n  Skipped: +(\d+)\n  Duration: ", re.MULTILINE)
_UVU_FAILED: Final = re.compile(r'^(\S+\.[cm]?[jt]sx?)$|^   FAIL  (?:(\S.*?)  )?"(.+)"$', re.MULTILINE)
_FILE: Final = re.compile(r"^(?:PASS|FAIL) (?:\[[^\]]+\] )?(\S+)")
_TREE: Final = re.compile(
    r"^( +)(?:(?P<passed>[✔✓√])|(?P<failed>[✕✖×]|\d+\))|(?P<other>○(?: skipped)?|✎ todo|-)) "
    r"(.+?)(?: \([\d.]+ ?m?s\))?$"
    r"|^( +)(\S.*)$"
)
_INDENT: Final = 2


def from_jest(text: str) -> Counts | None:
    """Read the line `Tests:` of jest or vitest, and jest's verbose lines."""
    found = list(_JEST.finditer(text))
    if not found:
        return None
    words = words_of(found[-1][1])
    # A file that cannot be loaded has no failing tests.
    broken = _BROKEN_FILES.findall(text)
    failed = words.get("failed", 0) or int(broken[-1] if broken else 0)
    hidden = 0 if failed else sum("failed" in one[1] for one in found)
    skipped = words.get("skipped", 0) + words.get("todo", 0)
    counts = Counts(words.get("passed", 0) + failed, failed, skipped, hidden=hidden)
    return agreeing(counts, _tree(text[: found[-1].start()]))


def from_mocha(text: str) -> Counts | None:
    """Read the summary of mocha, and the names that its spec reporter prints before it."""
    found = list(_MOCHA.finditer(text))
    if not found:
        return None
    passed, pending, failed = (int(number or 0) for number in found[-1].groups())
    hidden = 0 if failed else sum(one[3] is not None for one in found)
    counts = Counts(passed + failed, failed, pending, hidden=hidden)
    return agreeing(counts, _tree(text[: found[-1].start()]))


def from_node(text: str) -> Counts | None:
    """Read the summary of `node --test` in both of its formats, and the test names."""
    words = {word: int(number) for word, number in _NODE.findall(text)}
    if not {"tests", "fail", "skipped"} <= {*words}:
        return None
    skipped = words["skipped"] + words.get("todo", 0)
    failed = words["fail"] + words.get("cancelled", 0)
    # A failing todo test is in both numbers.
    counts = Counts(max(words["tests"] - skipped, failed), failed, skipped)
    found = (*_NODE_TAP.findall(text), *_NODE_SPEC.findall(text))
    parents = {*_NODE_PARENT.findall(text)}
    return named(
        counts,
        ((name, _node_state(word, left_out)) for word, name, left_out in found if name not in parents),
    )


def from_ava(text: str) -> Counts | None:
    """Read the summary of ava, after its horizontal rule."""
    at = text.rfind("\n  ─")
    rows = _AVA.findall(text[at:]) if at >= 0 else []
    if not rows:
        return None
    numbers = dict.fromkeys(("passed", "failed", "skipped", "todo"), 0)
    for number, other, word in rows:
        numbers["failed" if other else word or "passed"] += int(number)
    tests = [(name, _ava_state(mark)) for mark, name in _AVA_NAMED.findall(text[:at])]
    # ava prints the number of passed tests only if none failed.
    passed = numbers["passed"] or sum(state == "passed" for _, state in tests)
    counts = Counts(passed + numbers["failed"], numbers["failed"], numbers["skipped"] + numbers["todo"])
    return agreeing(counts, tests)


def from_uvu(text: str) -> Counts | None:
    """Read the summary of uvu, and the names of failed tests with their files."""
    found = list(_UVU.finditer(text))
    if not found:
        return None
    total, passed, skipped = map(int, found[-1].groups())
    failures: list[str] = []
    file = ""
    for row in _UVU_FAILED.finditer(text):
        file = row[1] or file
        if row[3]:
            failures.append(" > ".join(part for part in (file, row[2], row[3]) if part))
    failed, names = max(total - passed, 0), tuple(dict.fromkeys(failures))
    hidden = 0 if failed else sum(one[1] != one[2] for one in found)
    return Counts(total, failed, skipped, names if len(names) == failed else (), hidden=hidden)


def _node_state(word: str, left_out: str) -> State:
    if left_out:
        return "other"
    return "passed" if word in ("ok", "✔") else "failed" if word in ("not ok", "✖") else "other"


def _ava_state(mark: str) -> State:
    return "passed" if mark == "✔" else "failed" if "fail" in mark else "other"


def _tree(text: str) -> Iterator[tuple[str, State]]:
    """Yield tests with the titles around them, from the indentation."""
    above: list[str] = []
    file = ""
    for line in text.splitlines():
        if of_file := _FILE.match(line):
            file, above = of_file[1], []
            continue
        found = _TREE.match(line)
        if found is None:
            continue
        title, depth = found[7], len(found[1] or found[6]) // _INDENT - 1
        if title is not None:
            # A test's own output is rarely as deep as the next title would be.
            above = [*above[:depth], title] if depth <= len(above) else above
            continue
        names = (*([file] if file else []), *above[:depth], found[5])
        state: State = "passed" if found["passed"] else "failed" if found["failed"] else "other"
        yield " > ".join(names), state
