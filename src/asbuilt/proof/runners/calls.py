"""Build a test runner's command line: with a report, for some tests only, or up to the first failure. Pure.

Rule: only the command line of a runner that is known for certain is changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.projects.manifests import json_object, table
from asbuilt.proof.runners.table import PACKAGERS, ROWS, Call, Line, Row, Runner, line_of, node_in

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_TAKES_NEXT: Final = frozenset(
    "-r --require --file --config -c --import --loader --ignore --exclude --rootdir".split()
)
"""Options whose value may be a path that is not a test."""
_RUST_TEST: Final = re.compile(r"(?:.*/)?tests/([^/]+)\.rs")
_EXEC: Final = {"npm": ("npx", "--no-install"), "pnpm": ("pnpm", "exec"), "yarn": ("yarn", "run")}
"""How each packager starts a program of the package without installing anything."""
_STARTS_ITSELF: Final = ("node", "npx", *PACKAGERS)


def runner_of(argv: tuple[str, ...], output: str) -> Runner | None:
    """Return the runner that a command starts: by its words, else by its output."""
    named = _named_in(line_of(argv))
    return named or next(
        (name for name, row in ROWS.items() if row.sign and re.search(row.sign, output, re.MULTILINE)), None
    )


def reporting(argv: tuple[str, ...], report: str) -> Call:
    """Return the call that also reports every test by name, or the same command if the runner is unknown."""
    line = line_of(argv)
    runner = _named_in(line)
    return Call(argv) if runner is None else _call(line, ROWS[runner], report)


def failing_fast(runner: Runner | None, argv: tuple[str, ...]) -> Call:
    """Return the call that ends at the first failure, or the same command if the runner cannot."""
    if runner is None:
        return Call(argv)
    row, line = ROWS[runner], line_of(argv)
    if row.find(line.words) is None:
        if runner == "pytest":
            return Call(argv, {"PYTEST_ADDOPTS": "-x"})
        return _in_package(row, argv, row.fast.split()) or Call(argv)
    words = tuple(word for word in line.words if word not in row.slow.split())
    return Call(line.argv(_with(row, words, row.fast.split(), is_first=row.first)))


def narrowed(
    runner: Runner, argv: tuple[str, ...], word: str, report: str, also: Sequence[str] = ()
) -> Call | None:
    """Return the call for tests with a word in their name; None if the runner has no such option.

    With pytest, the tests of the modules `also` run before them in the same process.
    """
    row, line = ROWS[runner], line_of(argv)
    wanted = " or ".join((word, *also)) if runner == "pytest" else word
    if not row.word or (runner == "gradle" and not _is_test_task(line)):
        return None
    words = [one.replace("{word}", wanted) for one in row.word.split()]
    if row.find(line.words) is not None:
        return _call(line, row, report, words)
    if runner == "pytest":
        return Call(argv, {"PYTEST_ADDOPTS": f"--maxfail=0 --junitxml='{report}' -k '{wanted}'"})
    return _in_package(row, argv, words)


def only(
    runner: Runner, argv: tuple[str, ...], files: Sequence[str], report: str, there: Collection[str]
) -> Call | None:
    """Return the call for the tests of some files; None if the runner has no such option.

    `there` has every path of the tree: words of the command that are paths are replaced by the files.
    """
    row, line = ROWS[runner], line_of(argv)
    at = row.find(line.words)
    if at is None:
        return _in_package(row, argv, files) if runner in ("vitest", "jest") else None
    if line.moves:
        return None
    own, before = line.words[at + 1 :], line.words[: at + 1]
    stems = dict.fromkeys(file.rpartition("/")[2].partition(".")[0] for file in files)
    match runner:
        case "pytest" | "mocha" | "ava" | "tap":
            own = (*_without_paths(own, there), *files)
        case "vitest" | "jest":
            own = (*own, *files)
        case "unittest":
            own = tuple(files)
        case "node":
            own = (*(word for word in own if word.startswith("-")), *files)
        case "go":
            own = tuple(dict.fromkeys(f"./{file.rpartition('/')[0]}" for file in files))
        case "cargo" | "nextest":
            targets = [_RUST_TEST.fullmatch(file) for file in files]
            if not all(targets) or "--" in own:
                return None
            own = (*own, *(word for found in targets if found for word in ("--test", found[1])))
        case "maven":
            own = (*own, f"-Dtest={','.join(stems)}", *row.word.split()[1:])
        case "gradle":
            if not _is_test_task(line):
                return None
            own = (*(word for stem in stems for word in ("--tests", f"*{stem}")), *own)
        case "django" | "ctest" | "meson":
            return None
    return _call(line._replace(words=(*before, *own)), row, report)


def _named_in(line: Line) -> Runner | None:
    return next((runner for runner, row in ROWS.items() if row.find(line.words) is not None), None)


def _call(line: Line, row: Row, report: str, more: Sequence[str] = ()) -> Call:
    chosen = any(word.startswith(tuple(row.chosen.split())) for word in line.words)
    names = () if chosen else [word.replace("{report}", report) for word in row.names.split()]
    words = _with(row, line.words, names, is_first=not row.at_end)
    return Call(line.argv(_with(row, words, more, is_first=row.first)), {}, row.reports)


def _with(row: Row, words: tuple[str, ...], more: Sequence[str], *, is_first: bool) -> tuple[str, ...]:
    """Add words right after the runner, or after its own arguments, where the last of two options wins."""
    at = (row.find(words) or 0) + 1
    if not is_first:
        at = words.index("--", at) if "--" in words[at:] else len(words)
    return (*words[:at], *more, *words[at:])


def _in_package(row: Row, argv: tuple[str, ...], words: Sequence[str]) -> Call | None:
    """Add words after those of the script that a packager runs."""
    if argv[0] not in PACKAGERS or not row.in_packages:
        return None
    return Call((*argv, *(("--",) if argv[0] == "npm" and "--" not in argv else ()), *words))


def _is_test_task(line: Line) -> bool:
    at = ROWS["gradle"].find(line.words)
    return at is not None and line.words[at].rpartition(":")[2] == "test"


def _without_paths(words: Sequence[str], there: Collection[str]) -> list[str]:
    paths = {path.rstrip("/") for path in there}
    return [
        word
        for before, word in zip(("", *words), words, strict=False)
        if before in _TAKES_NEXT or word.partition("::")[0].removeprefix("./").rstrip("/") not in paths
    ]


def real_argv(argv: tuple[str, ...], package: str) -> tuple[str, ...]:
    """Return the command line behind `npm test` if its script is one plain call of a known runner.

    With a `pretest` or `posttest` script, which the packager would run, the command stays as it is.
    """
    at = argv.index("--") if "--" in argv else len(argv)
    own, more = argv[:at], argv[at + 1 :]
    if own[0] not in PACKAGERS or own[1:] not in (("test",), ("t",), ("run", "test")):
        return argv
    scripts = table(json_object(package), "scripts")
    script = scripts.get("test")
    if not isinstance(script, str) or not script.strip() or {"pretest", "posttest"} & {*scripts}:
        return argv
    words = (*argv_of(script), *more)
    if node_in(words) is None and not any(
        row.in_packages and row.find(words) is not None for row in ROWS.values()
    ):
        return argv
    return words if words[0] in _STARTS_ITSELF else (*_EXEC[own[0]], *words)
