"""Canaries: asbuilt's own tests beside the project's, one that must fail and one that must pass.

Rule: a runner that reports either wrongly proves nothing, whatever it reports of other tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.proof.suites.path_roles import is_test_file

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.runner_command_lines import Runner

_FOLDERS: Final = 12
"""Most folders that get a pair; those of changed tests come first."""
_STEM: Final = re.compile(r"^(.*?)((?:[._-](?:test|spec))?(?:\.\w+))$")
_IS_MODULE: Final = re.compile(r"(?m)^\s*import\b")
_PACKAGE: Final = re.compile(r"(?m)^package\s+([\w.]+)")

_MODULE: Final = 'import test from "node:test";\nimport assert from "node:assert";\n'
_SCRIPT: Final = 'const test = require("node:test");\nconst assert = require("node:assert");\n'

_TEMPLATES: Final[dict[Runner, str]] = {
    "pytest": "def test_<name>():\n    assert <number> == <value>\n\n\n",
    **dict.fromkeys(
        ("unittest", "django"),
        "    def test_<name>(self):\n        self.assertEqual(<number>, <value>)\n\n",
    ),
    "node": 'test("<name>", () => { assert.strictEqual(<number>, <value>); });\n',
    **dict.fromkeys(("vitest", "jest"), 'test("<name>", () => { expect(<number>).toBe(<value>); });\n'),
    "go": "\nfunc Test_<name>(t *testing.T) {\n\tif <number> != <value> {\n\t\tt.Fatal()\n\t}\n}\n",
    "mocha": '(globalThis.it || globalThis.test)("<name>", () => {\n'
    '  if (<number> !== <value>) throw new Error("<number> is not <value>");\n});\n',
    "ava": 'test("<name>", t => { t.is(<number>, <value>); });\n',
    **dict.fromkeys(
        ("cargo", "nextest"), "#[test]\nfn <name>() {\n    assert_eq!(<number>, <value>);\n}\n\n"
    ),
    **dict.fromkeys(
        ("maven", "gradle"),
        "    @org.junit.Test\n    public void t<name>() {\n"
        "        if (<number> != <value>) throw new AssertionError(<value>);\n    }\n",
    ),
}
"""One test of each runner that has canaries; the others run only what a build file lists."""

State = Literal["right", "wrong", "absent"]


class Canary(NamedTuple):
    """Names of one run's canaries: random, so that no code can know them or which one must fail."""

    word: str
    passes: str
    fails: str

    @property
    def name(self) -> str:
        """Stored name, so that a replay can use the same canaries."""
        return "-".join(self)


class CanaryResult(NamedTuple):
    """How a runner reported the canaries."""

    state: State
    why: str


def has_canary(runner: Runner) -> bool:
    """Return whether a runner has canaries; some run only what a build file lists."""
    return runner in _TEMPLATES


def no_canary(runner: Runner, *, can_narrow: bool) -> str:
    """Explain why a runner was not tried with canaries."""
    why = "it has no option to run only some tests"
    if not has_canary(runner):
        why = "there is none for it"
    elif can_narrow:
        why = "its tests are in no folder that is known"
    return f"no canary: the runner is {runner}, and {why}"


def canaries(
    runner: Runner,
    paths: Iterable[str],
    text_of: Callable[[str], str],
    canary: Canary,
    first: Collection[str] = (),
) -> dict[str, bytes]:
    """Return a pair for each folder with tests, in the style of a test in it: path and content.

    Empty for a runner that runs only tests that a build file lists.
    """
    if not has_canary(runner):
        return {}
    beside: dict[str, str] = {}
    for path in sorted(
        (path for path in paths if is_test_file(runner, path)), key=lambda path: path not in first
    ):
        beside.setdefault(path.rpartition("/")[0], path)
    made = {}
    for number, (folder, path) in enumerate(list(beside.items())[:_FOLDERS]):
        variant = canary._replace(word=f"{canary.word}{number}")
        name = _name(runner, path.rpartition("/")[2], variant.word)
        if (pair := _pair(runner, path, text_of, variant)) is not None:
            made[f"{folder}/{name}" if folder else name] = pair.encode()
    return made


def canary_state(canary: Canary, pairs: int, exit_code: int | None, counts: Counts | None) -> CanaryResult:
    """Judge a runner's report of the canaries, by names if it reports them, else by numbers."""
    if exit_code is None or counts is None:
        return CanaryResult("absent", "the run of the canaries came to no summary")
    passed, failed = (
        [name for name in names if canary.word in name] for names in (counts.passed, counts.failures)
    )
    if passed or failed:
        ran = len(passed) + len(failed)
        lies = any(name.endswith(canary.fails) for name in passed)
        maligns = any(name.endswith(canary.passes) for name in failed)
    else:
        ran = counts.ran
        lies = ran >= 2 * pairs and counts.failed < pairs
        maligns = counts.failed > pairs
    if lies:
        return CanaryResult("wrong", "the test run reports a failing test as passed")
    if maligns:
        return CanaryResult("wrong", "the test run reports a passing test as failed")
    if ran < 2 * pairs:
        return CanaryResult("absent", f"{2 * pairs - ran} of {2 * pairs} canaries did not run")
    if exit_code == 0:
        return CanaryResult("wrong", "the test run ends with exit 0 though a test fails")
    return CanaryResult("right", f"{pairs} failed and {pairs} passed, as they must")


def _name(runner: Runner, sibling: str, word: str) -> str:
    """Name a file like its sibling, so that what collects the sibling collects it too."""
    if runner in ("pytest", "unittest", "django"):
        return f"{word}_test.py" if not sibling.startswith("test") else f"test_{word}.py"
    if runner == "go":
        return f"{word}_test.go"
    if runner in ("maven", "gradle"):
        return f"T{word}Test.java"
    if runner == "node" and sibling.startswith("test-"):
        return f"test-{word}.{sibling.rpartition('.')[2]}"
    ending = _STEM.match(sibling)
    suffix = ending[2] if ending else ".js"
    if runner == "node" and sibling.startswith("test."):
        suffix = f".test{suffix}"
    return f"{word}{suffix}"


def _pair(runner: Runner, path: str, text_of: Callable[[str], str], canary: Canary) -> str | None:
    """Return the code of a passing and a failing test; None for a language that is not supported."""
    template = _TEMPLATES.get(runner)
    if template is None or (runner in ("maven", "gradle") and not path.endswith(".java")):
        return None
    sibling = text_of(path) if runner in ("node", "ava", "go", "maven", "gradle") else ""
    number = int(canary.passes, 16)
    if runner == "mocha" and re.search(r"\.[cm]?tsx?$", path):
        template = template.replace("globalThis", "(globalThis as any)")
    if "org.junit.jupiter" in sibling:
        template = template.replace("org.junit.Test", "org.junit.jupiter.api.Test")
    tests = "".join(
        _filled(template, name=f"{canary.word}_{own}", number=str(number), value=str(value))
        for own, value in ((canary.passes, number), (canary.fails, number + 1))
    )
    package = _PACKAGE.search(sibling)
    match runner:
        case "unittest" | "django":
            return f"import unittest\n\n\nclass T{canary.word}(unittest.TestCase):\n{tests}"
        case "node":
            return (_MODULE if _is_module(path, sibling) else _SCRIPT) + tests
        case "ava":
            is_module = _is_module(path, sibling)
            return ('import test from "ava";\n' if is_module else 'const test = require("ava");\n') + tests
        case "vitest":
            return f'import {{ test, expect }} from "vitest";\n{tests}'
        case "go":
            return f'package {package[1] if package else "main"}\n\nimport "testing"\n{tests}'
        case "maven" | "gradle":
            head = f"{package[0]};" if package else ""
            return f"{head}\n\npublic class T{canary.word}Test {{\n{tests}}}\n"
        case _:
            return tests


def _filled(template: str, **fields: str) -> str:
    for name, value in fields.items():
        template = template.replace(f"<{name}>", value)
    return template


def _is_module(path: str, text: str) -> bool:
    return path.endswith(".mjs") or (not path.endswith(".cjs") and _IS_MODULE.search(text) is not None)


class Sung(NamedTuple):
    """Result of the canaries."""

    canary: str
    result: CanaryResult | None
    note: str


def with_canaries(shown: Evidence, before: Evidence | None, sung: Sung | None) -> Evidence:
    """Add the canaries' result; canaries that did not run count as a failure only if they ran on the base."""
    if sung is None:
        return shown._replace(notes=(*shown.notes, "no canary: none ran on the base either"))
    shown = shown._replace(canary=sung.canary, notes=(*shown.notes, sung.note))
    if sung.result is None:
        return shown
    shown = shown._replace(canaries=sung.result.state)
    sang = before is not None and before.canaries == "right"
    was_wrong = before is not None and before.canaries == "wrong"
    if (sung.result.state == "wrong" and not was_wrong) or (sung.result.state == "absent" and sang):
        return shown._replace(outcome="FAIL", why=sung.result.why)
    return shown
