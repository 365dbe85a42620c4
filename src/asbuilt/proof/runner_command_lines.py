"""The known test runners, one row each, and their command lines: with a report, for some tests only. Pure.

Rules: only a certain runner is found; a word that may be another program's argument is not. Only the command
line of a runner that is known for certain is changed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.projects.manifests import json_object, table

PACKAGERS: Final = ("npm", "pnpm", "yarn")
_SHELL: Final = ("/bin/sh", "-c")
_LAST: Final = re.compile(r"(?s)(.*(?:&&|;|\n))?(\s*(?:[A-Za-z_]\w*=[\w./:,+@%-]*\s+)*)(.*)")
_MOVES: Final = re.compile(r"\b(?:cd|pushd)\b")
_PYTEST: Final = ("pytest", "py.test")
_BEFORE: Final = ("-m", "run", "--frozen", "--locked", "--offline", "--no-sync")
"""Words after which a pytest is the started program, not another program's argument."""
_VALUED: Final = ("--extra", "--group", "--only-group", "--python", "--package")
"""Options of uv and similar tools that take the next word."""
_STARTERS: Final = ("python", "uv", "poetry", "pdm", "hatch", "pipenv", "coverage")
_NODE_STARTERS: Final = ("npx", "node", "exec", "run", "c8", "nyc", "cross-env", *PACKAGERS)
_PHASES: Final = frozenset(("test", "package", "verify", "install"))


class Line(NamedTuple):
    """The last command of a command line, if it is a plain one."""

    head: str | None
    """What the shell runs before it, and its variables; None without a shell."""
    words: tuple[str, ...]

    @property
    def moves(self) -> bool:
        """Whether it may start in another folder, where paths of the tree do not apply."""
        return self.head is not None and _MOVES.search(self.head) is not None

    def argv(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command line with other words as its last command."""
        return tuple(words) if self.head is None else (*_SHELL, self.head + shlex.join(words))


# fmt: off
Runner = Literal[
    "pytest", "unittest", "django", "node", "vitest", "jest", "mocha", "ava", "tap",
    "go", "cargo", "nextest", "ctest", "meson", "maven", "gradle",
]
# fmt: on


class Call(NamedTuple):
    """A command line with its environment and reports."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = {}
    reports: tuple[str, ...] = ()
    """Patterns for the ends of the paths of the JUnit files that it writes below its checkout.

    Files that match before the command starts are not its own and have to be deleted.
    """


class Row(NamedTuple):
    """How to find and call a runner. `{report}` stands for a file's path, `{word}` for part of a name.

    Words that are added to its command line are separated by spaces.
    """

    find: Callable[[Sequence[str]], int | None]
    """Returns the index of the last word before its own arguments."""
    sign: str = ""
    """Pattern in its output, for command lines that do not name it."""
    names: str = ""
    """Words that make it report each test by name."""
    chosen: str = ""
    """Prefixes of words by which the user has chosen another report."""
    fast: str = ""
    """Words that end it at the first failure, if every release in use supports them."""
    word: str = ""
    """Words that narrow it to tests with `{word}` in their names; empty if it has no such option."""
    slow: str = ""
    """Words that prevent an end at the first failure and are then removed."""
    reports: tuple[str, ...] = ()
    first: bool = False
    """True: words that narrow or end it are added before its own arguments, where it expects options."""
    at_end: bool = False
    """True: the words of `names` are also added after its own arguments."""
    in_packages: bool = False
    """True: a script of package.json may start it, which adds words after its own."""


def line_of(argv: tuple[str, ...]) -> Line:
    """Split a command line before its last command: `cd api && CI=1 pytest -q` ends with pytest."""
    if argv[:2] != _SHELL or (found := _LAST.fullmatch(argv[2])) is None:
        return Line(None, argv)
    words = argv_of(found[3].strip())
    return Line(None, argv) if words[:2] == _SHELL else Line((found[1] or "") + found[2], words)


def name_of(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.rpartition("/")[2]


def pytest_in(words: Sequence[str]) -> int | None:
    """Find the last word before pytest's own arguments."""
    names = [name_of(word) for word in words]
    if names[0] in _PYTEST:
        return 0
    if not names[0].startswith(_STARTERS):
        return None
    found = (at for at, name in enumerate(names) if name in _PYTEST)
    return next((at for at in found if words[at - 1] in _BEFORE or words[at - 2] in _VALUED), None)


def unittest_in(words: Sequence[str]) -> int | None:
    """Find the word `unittest` after `-m`."""
    if not name_of(words[0]).startswith(_STARTERS) or "unittest" not in words:
        return None
    at = words.index("unittest")
    return at if words[at - 1] == "-m" else None


def django_in(words: Sequence[str]) -> int | None:
    """Find the word `test` after `manage.py` or `django-admin`."""
    names = [name_of(word) for word in words]
    starts = (at for at, name in enumerate(names[:-1]) if name in ("manage.py", "django-admin"))
    return next((at + 1 for at in starts if names[at + 1] == "test"), None)


def node_in(words: Sequence[str]) -> int | None:
    """Find node itself if it runs tests: its options come before its files."""
    return 0 if name_of(words[0]) == "node" and "--test" in words else None


def tool(*names: str) -> Callable[[Sequence[str]], int | None]:
    """Return a function that finds a program of node's packages, alone or after programs that start one."""

    def find(words: Sequence[str]) -> int | None:
        for at, word in enumerate(words):
            name = name_of(word)
            if name in names:
                return at + 1 if [*words[at + 1 : at + 2]] == ["run"] else at
            if name not in _NODE_STARTERS and not word.startswith("-") and "=" not in word:
                return None
        return None

    return find


def started_as(*wanted: str) -> Callable[[Sequence[str]], int | None]:
    """Return a function that finds a command by its first words."""

    def find(words: Sequence[str]) -> int | None:
        is_it = (name_of(words[0]), *words[1 : len(wanted)]) == wanted
        return len(wanted) - 1 if is_it else None

    return find


def maven_in(words: Sequence[str]) -> int | None:
    """Find a Maven command that includes the phase `test`."""
    is_maven = name_of(words[0]) in ("mvn", "mvnw", "mvnd")
    return 0 if is_maven and not _PHASES.isdisjoint(words) else None


def gradle_in(words: Sequence[str]) -> int | None:
    """Find the Gradle task that runs tests."""
    if name_of(words[0]) not in ("gradle", "gradlew"):
        return None
    tasks = [at for at, word in enumerate(words) if word.rpartition(":")[2] in ("test", "check", "build")]
    return tasks[-1] if tasks else None


_SUREFIRE: Final = ("target/surefire-reports/TEST-*.xml", "target/failsafe-reports/TEST-*.xml")
_PYTEST_SIGN: Final = r"^=+ .*\bin [\d.]+s\b.*=+$|^\d+ (?:passed|failed)\b.* in [\d.]+s"
_MAVEN_SIGN: Final = r"^\[(?:INFO|WARNING|ERROR)\] Tests run: \d+"
_CTEST_SIGN: Final = r"^\d+% tests passed, \d+ tests failed out of \d+$"
_AVA_SIGN: Final = r"^  (?:\d+ tests? (?:passed|failed)|✘ No tests found)"
ROWS: Final[dict[Runner, Row]] = {
    # An argument, not a variable: a variable would reach every pytest that a test starts, and the last one
    # to end would overwrite the report.
    "pytest": Row(pytest_in, _PYTEST_SIGN, "--junitxml={report}", "--junitxml --junit-xml", "-x",
                  "--maxfail=0 -k {word}"),
    "unittest": Row(unittest_in, r"^Ran \d+ tests? in [\d.]+s$", "-v", "-v --verbose -q --quiet", "-f",
                    "-k {word}", at_end=True),
    "django": Row(django_in, "", "-v 2", "-v --verbosity", "--failfast", "-k {word}", at_end=True),
    "vitest": Row(tool("vitest", "vitest.mjs"), r"^\s*Test Files\s+\d+",
                  "--reporter=default --reporter=junit --outputFile.junit={report}",
                  "--reporter --outputFile", "--bail=1", "-t {word}", in_packages=True),
    "jest": Row(tool("jest", "jest.js"), r"^Test Suites: ", "--json --outputFile={report}",
                "--json --outputFile", "--bail", "-t {word}", in_packages=True),
    "mocha": Row(tool("mocha", "_mocha", "mocha.js", "mocha.cjs"), r"^  \d+ passing \(", "--reporter spec",
                 "--reporter -R", "--bail", "--grep {word}", in_packages=True),
    "ava": Row(tool("ava"), _AVA_SIGN, fast="--fail-fast", word="--match=*{word}*", in_packages=True),
    "tap": Row(tool("tap"), fast="--bail", in_packages=True),
    # Its JUnit reporter is not in every release in use; its output has the names.
    "node": Row(node_in, r"^(?:#|ℹ) tests \d+$", word="--test-name-pattern={word}", first=True),
    "go": Row(started_as("go", "test"), r"^ok  \t\S+", "-v", "-v -json", "-failfast", "-run {word}",
              first=True),
    "cargo": Row(started_as("cargo", "test"), r"^test result: ", word="--no-fail-fast {word}",
                 slow="--no-fail-fast", first=True),
    "nextest": Row(started_as("cargo", "nextest", "run"), r"^\s+Summary \[", word="--no-fail-fast {word}",
                   slow="--no-fail-fast", first=True),
    "ctest": Row(started_as("ctest"), _CTEST_SIGN, "--output-junit {report}", "--output-junit",
                 "--stop-on-failure", "-R {word}"),
    # Its JUnit file counts what TAP and Google Test programs report inside one test; its output does not.
    "meson": Row(started_as("meson", "test"), r"^Ok: +\d+\s*$", word="{word}"),
    "maven": Row(maven_in, _MAVEN_SIGN, fast="-Dsurefire.skipAfterFailureCount=1", reports=_SUREFIRE,
                 word="-Dtest=*{word}* -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"),
    "gradle": Row(gradle_in, r"^BUILD (?:SUCCESSFUL|FAILED) in ", word="--tests *{word}*",
                  reports=("build/test-results/*/TEST-*.xml",), first=True),
}  # fmt: skip
"""In search order."""


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
    words = [part.replace("{word}", wanted) for part in row.word.split()]
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
