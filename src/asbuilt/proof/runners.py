"""Ask a test runner for a report that is not its prose, or for some tests only.

The one rule: only a runner that is known for certain is asked.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

from asbuilt.policy.shell import argv_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Runner = Literal["pytest", "unittest", "node", "vitest", "jest", "go", "cargo"]
_PYTEST: Final = ("pytest", "py.test")
_BEFORE: Final = ("-m", "run", "--frozen", "--locked", "--offline", "--no-sync")
"""Words behind which a pytest is the program that is started, and not some other program's argument."""
_STARTERS: Final = ("python", "uv", "poetry", "pdm", "hatch", "pipenv", "coverage")
_PACKAGERS: Final = ("npm", "pnpm", "yarn")
_SIGNS: Final[tuple[tuple[Runner, re.Pattern[str]], ...]] = (
    ("pytest", re.compile(r"^=+ .*\bin [\d.]+s\b.*=+$|^\d+ (?:passed|failed)\b.* in [\d.]+s", re.MULTILINE)),
    ("unittest", re.compile(r"^Ran \d+ tests? in [\d.]+s$", re.MULTILINE)),
    ("vitest", re.compile(r"^\s*Test Files\s+\d+", re.MULTILINE)),
    ("jest", re.compile(r"^Test Suites: ", re.MULTILINE)),
    ("node", re.compile(r"^(?:#|ℹ) tests \d+$", re.MULTILINE)),
    ("go", re.compile(r"^ok  \t\S+", re.MULTILINE)),
    ("cargo", re.compile(r"^test result: ", re.MULTILINE)),
)
"""By what the output of a runner is known, where its command line does not name it."""


class Call(NamedTuple):
    """A command line, and what it finds in its environment besides."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = {}


def reporting(argv: tuple[str, ...], report: str) -> tuple[str, ...]:
    """Give the command line that also names every test, or the same one where that is not certain.

    unittest names them in its output, pytest in a JUnit report. That is an argument, not a variable: a
    variable would reach every pytest that a test starts, and the last one to end would overwrite the report.
    """
    if _unittest_in(argv) is not None:
        return argv if {"-v", "--verbose", "-q"} & {*argv} else (*argv, "-v")
    at = _pytest_in(argv)
    if at is None or any(word.startswith(("--junitxml", "--junit-xml")) for word in argv):
        return argv
    return (*argv[: at + 1], f"--junitxml={report}", *argv[at + 1 :])


def real_argv(argv: tuple[str, ...], package: str) -> tuple[str, ...]:
    """Give the command line behind `npm test`, where its script is a plain one of node's; else the same."""
    if argv[0] not in _PACKAGERS or "test" not in argv:
        return argv
    try:
        script = json.loads(package)["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return argv
    words = argv_of(script) if isinstance(script, str) and script.strip() else argv
    return words if _is_node(words) else argv


def runner_of(argv: tuple[str, ...], output: str) -> Runner | None:
    """Name the runner that a command starts: by its words, else by what it printed."""
    names = [word.rpartition("/")[2] for word in argv]
    if _pytest_in(argv) is not None:
        return "pytest"
    if _unittest_in(argv) is not None:
        return "unittest"
    if _is_node(argv):
        return "node"
    if names[:2] in (["go", "test"], ["cargo", "test"]):
        return "go" if names[0] == "go" else "cargo"
    if "vitest" in names[:4] or "jest" in names[:4]:
        return "vitest" if "vitest" in names[:4] else "jest"
    return next((runner for runner, sign in _SIGNS if sign.search(output)), None)


def narrowed(
    runner: Runner, argv: tuple[str, ...], word: str, report: str, also: Sequence[str] = ()
) -> Call | None:
    """Give the call that runs only tests with a word in their name; None where the runner cannot be told so.

    With pytest, the tests of the modules `also` run before them in the same process.
    """
    match runner:
        case "pytest":
            wanted = " or ".join((word, *also))
            at = _pytest_in(argv)
            if at is not None:
                return Call((*reporting(argv, report), "--maxfail=0", "-k", wanted))
            return Call(argv, {"PYTEST_ADDOPTS": f"--maxfail=0 --junitxml='{report}' -k '{wanted}'"})
        case "unittest":
            return Call((*reporting(argv, report), "-k", word)) if _unittest_in(argv) is not None else None
        case "node":
            at = argv.index("--test") if _is_node(argv) else None
            return Call((*argv[:at], f"--test-name-pattern={word}", *argv[at:])) if at is not None else None
        case "vitest" | "jest":
            return _with_words(runner, argv, ("-t", word))
        case "go" | "cargo":
            if argv[:2] != (runner, "test"):
                return None
            told = ("-run", word) if runner == "go" else ("--no-fail-fast", word)
            return Call((*argv[:2], *told, *argv[2:]))
        case _:
            assert_never(runner)


def only(
    runner: Runner, argv: tuple[str, ...], files: Sequence[str], report: str, there: Collection[str]
) -> Call | None:
    """Give the call that runs only the tests of some files; None where the runner cannot be told so.

    `there` has every path of the tree: words of the command that are paths give way to the files.
    """
    match runner:
        case "pytest":
            if (at := _pytest_in(argv)) is None:
                return None
            paths = {path.rstrip("/") for path in there}
            words = [word for word in argv[at + 1 :] if word.partition("::")[0].rstrip("/") not in paths]
            return Call(reporting((*argv[: at + 1], *words, *files), report))
        case "unittest":
            at = _unittest_in(argv)
            return None if at is None else Call((*argv[: at + 1], "-v", *files))
        case "node":
            if not _is_node(argv):
                return None
            return Call((*(word for word in argv if word == argv[0] or word.startswith("-")), *files))
        case "vitest" | "jest":
            return _with_words(runner, argv, tuple(files))
        case "go":
            folders = dict.fromkeys(f"./{file.rpartition('/')[0]}" for file in files)
            return Call(("go", "test", "-v", *folders)) if argv[:2] == ("go", "test") else None
        case "cargo":
            return None
        case _:
            assert_never(runner)


def failing_fast(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Give the command line that ends at the first failure, or the same one where the runner is not known."""
    at = _pytest_in(argv)
    if at is not None:
        return (*argv[: at + 1], "-x", *argv[at + 1 :])
    at = _unittest_in(argv)
    return argv if at is None else (*argv, "-f")


def _with_words(runner: str, argv: tuple[str, ...], words: tuple[str, ...]) -> Call | None:
    if argv[0] in _PACKAGERS:
        return Call((*argv, *(("--",) if argv[0] == "npm" and "--" not in argv else ()), *words))
    names = [word.rpartition("/")[2] for word in argv]
    return Call((*argv, *words)) if runner in names[:4] else None


def _is_node(argv: tuple[str, ...]) -> bool:
    return argv[0].rpartition("/")[2] == "node" and "--test" in argv


def _unittest_in(argv: tuple[str, ...]) -> int | None:
    if not argv[0].rpartition("/")[2].startswith(_STARTERS) or "unittest" not in argv:
        return None
    at = argv.index("unittest")
    return at if argv[at - 1] == "-m" else None


def _pytest_in(argv: tuple[str, ...]) -> int | None:
    """Find the word behind which pytest's own arguments begin."""
    names = [word.rpartition("/")[2] for word in argv]
    if names[0] in _PYTEST:
        return 0
    if not names[0].startswith(_STARTERS):
        return None
    return next((at for at, name in enumerate(names) if name in _PYTEST and argv[at - 1] in _BEFORE), None)
