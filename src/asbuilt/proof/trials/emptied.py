"""Select the changed product files, and judge what checks show when they are emptied. Pure.

Rule: checks prove a tree only if they fail when its product files are emptied. Any failure counts: an import
or compile error shows that this tree is built, a failing test that its code is tested.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.proof.judgement import already_failing, is_red
from asbuilt.proof.suites.path_roles import (
    Role,
    is_called_test,
    is_in_tests,
    kind_of_code,
    language_of,
    role_of,
)

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts

_RUN_BY: Final = {
    **dict.fromkeys(("pytest", "unittest", "django", "tox", "nox", "hatch"), ("python",)),
    **dict.fromkeys(("node", "vitest", "jest", "mocha", "tap", "ava"), ("javascript", "component")),
    **dict.fromkeys(("maven", "gradle", "surefire"), ("java", "jvm")),
    **dict.fromkeys(("ctest", "meson"), ("native",)),
    "go": ("go",),
    "cargo": ("rust",),
}
"""The languages of each runner. A runner that is not listed may run any language."""
_BESIDE: Final = re.compile(
    r"(^|/)(docs?|examples?|samples?|benchmarks?|benches)/|\.d\.[cm]?ts$|(^|/)setup\.py$"
)
"""Code that no suite is expected to run."""
_TESTS_FILE: Final = re.compile(r"(^|/)tests?\.py$|_tests?\.py$|(^|/)test[^/]*\.py$")
_PACKAGE: Final = re.compile(rb"(?m)^package[ \t]+\w+")
_VAGUE: Final = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
"""File names that are less specific than the name of their folder."""
_NAMED: Final = 3

Shown = Literal["tested", "built", "green"]
"""Result of the checks without the product files: tests fail, the build or import fails, nothing changes."""


class Files(NamedTuple):
    """The changed code files of a phase."""

    product: tuple[str, ...]
    others: tuple[str, ...]
    """Code that no runner of this project runs."""


def sorted_out(paths: Iterable[str], runners: Collection[str | None]) -> Files:
    """Separate product files from code that no runner runs; tests and files that are not code are neither."""
    code = sorted(path for path in paths if _is_code(path))
    product = tuple(path for path in code if any(_is_run_by(path, runner) for runner in runners))
    return Files(product, tuple(path for path in code if path not in product))


def _is_code(path: str) -> bool:
    language = language_of(path)
    if language == "rust":
        return not is_in_tests(path)
    if role_of(path) is not Role.PRODUCT or (language == "python" and _TESTS_FILE.search(path)):
        return False
    return bool(kind_of_code(path))


def _is_run_by(path: str, runner: str | None) -> bool:
    if _BESIDE.search(path) or (is_called_test(path) and language_of(path) != "rust"):
        return False
    languages = _RUN_BY.get(runner or "")
    return languages is None or kind_of_code(path) in languages


def emptied(path: str, content: bytes) -> bytes | None:
    """Return a file's minimal valid content; None if there is nothing to remove."""
    package = _PACKAGE.search(content) if path.endswith(".go") else None
    left = package[0] + b"\n" if package else b""
    return None if content.strip() == left.strip() else left


def word_of(path: str) -> str:
    """Return the word by which tests mention a file."""
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    return folders[-1] if stem in _VAGUE and folders else stem


def shown_without(
    exit_code: int | None, counts: Counts | None, suite: Counts | None, *, was_green: bool, whole: bool = True
) -> Shown:
    """Judge a run of the suite without the product files; without `whole`, of a part of it.

    If tests failed before, the exit code shows nothing: only a failure with another name counts. A whole
    suite that passes with fewer tests has lost those in the emptied files. A suite whose tests are not
    counted is judged by its exit code.
    """
    if suite is None:
        return "green" if exit_code == 0 else "built"
    if counts is None:
        return "green" if exit_code == 0 and not whole else "built"
    new = tuple(name for name in counts.failures if name not in suite.failures)
    if exit_code == 0 or (not was_green and not new):
        return "built" if whole and counts.collected < suite.collected else "green"
    known = suite.ran_names
    if known and new:
        return "tested" if any(name.partition("[")[0] in known for name in new) else "built"
    return "tested" if counts.failed else "built"


def words_for(shown: Shown, files: Sequence[str], before: Counts | None = None) -> str:
    """Describe in one sentence what was shown without these files; `before`: the same tests with them."""
    listing = listed(files)
    match shown:
        case "green" if before is not None and is_red(before.ran, before.failed):
            return f"{already_failing(before.ran, before.failed)}, so no new failure could be noticed"
        case "tested":
            return f"without the contents of {listing} tests fail"
        case "built":
            return f"without the contents of {listing} nothing builds or loads: the checks run this tree"
        case "green":
            same = "no further test fails" if before is not None and before.failed else "every check passes"
            return (
                f"{same} without the contents of {listing}: either the checks run other code than"
                " this tree's, or no check runs these files"
            )


def listed(files: Sequence[str]) -> str:
    """Name up to 3 files, and count the rest."""
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return f"{', '.join(files[:_NAMED])}{more}"
