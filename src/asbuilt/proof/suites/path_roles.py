"""The role of a path in a suite: a test, runner settings, a golden file, or the product.

What is a test file is defined here three times, for three questions: `TESTS` for a tree whose runner is not
known yet, `is_test_file` for a known runner, and `role_of` for a language.

Rule: decide by name alone, as runners do.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from asbuilt.proof.runner_command_lines import Runner

_FOLDERS: Final = re.compile(
    r"(?i)(^|/)(tests?|testing|test[-_]?(?:kit|helpers?|utils?|support|lib)|specs?|__tests__|e2e|integration_tests?|unit_tests?|testdata|src/test)(/|$)"
)
_GOLDEN: Final = re.compile(
    r"(?i)(^|/)(__snapshots__|snapshots?|goldens?|cassettes|__image_snapshots__|approvals)/"
    r"|\.(snap|golden|approved\.\w+|ambr|snapshot)$|(^|/|[._-])(golden|expected|baseline|reference)[._-][^/]*\.(?!py$)\w+$"
    r"|(^|/)(golden|expected|baseline|reference)\.(?!py$)\w+$|[._-](golden|expected|snapshot)\.(?!py$)\w+$"
)
_SETTINGS: Final = re.compile(
    r"(^|/)(pyproject\.toml|\.?pytest\.ini|\.?pytest\.toml|setup\.cfg|tox\.ini|tox\.toml|noxfile\.py|package\.json|"
    r"\.mocharc(\.\w+)?|jest\.config\.\w+|vitest\.(config|workspace)\.\w+|vite\.config\.\w+|karma\.conf\.\w+|"
    r"playwright\.config\.\w+|\.?c8rc(\.\w+)?|\.nycrc(\.\w+)?|go\.mod|go\.work|Cargo\.toml|\.cargo/config(\.toml)?|nextest\.toml|pom\.xml|"
    r"build\.gradle(\.kts)?|settings\.gradle(\.kts)?|gradle\.properties|junit-platform\.properties|"
    r"GNUmakefile|[Mm]akefile|[^/]*\.mk|justfile|Justfile|\.justfile|Rakefile|Taskfile\.ya?ml|bunfig\.toml|deno\.jsonc?)$"
)
_STARTUP: Final = re.compile(
    r"(^|/)(sitecustomize\.py|usercustomize\.py|[^/]+\.pth|\.npmrc|\.envrc|\.pythonrc)$"
)
_SHADOWS: Final = re.compile(
    r"^(src/|lib/)?(_?pytest|_pytest|unittest|pluggy|nose|doctest|hypothesis|mock|coverage|xdist)(\.py$|/)"
    r"|(^|/)node_modules/|(^|/)vendor/.*(testify|junit)|(^|/)(site-packages|dist-packages)/"
)
_ENDINGS: Final = {
    "python": "py",
    "javascript": "js jsx mjs cjs ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java kt",
    "shell": "sh bash bats zsh",
}
"""Extensions of code that this package parses, by its language."""
_OTHERS: Final = {
    "component": "vue svelte",
    "jvm": "groovy scala",
    "native": "c h cc cpp cxx hh hpp m mm",
    "script": "rb php ex exs pl pm t lua r jl dart tcl ps1 feature robot sql",
    "other": "cs fs swift clj erl hs ml vb nim zig cr elm",
}
"""Extensions of code that this package cannot parse, by what runs it."""
_LANGUAGES: Final = {
    ending: language
    for languages in (_ENDINGS, _OTHERS)
    for language, endings in languages.items()
    for ending in endings.split()
}
_JAVASCRIPT_TEST: Final = re.compile(r"\.(test|spec|cy|e2e)\.\w+$|(^|/)__tests__/")
_JAVA_TEST: Final = re.compile(r"(^|/)src/test/|(Tests?|IT|Spec)\.(java|kt)$|(^|/)Test[A-Z]\w*\.(java|kt)$")
_OTHER_TEST: Final = re.compile(r"(?i)([._-](test|spec)s?|Tests?|Spec)\.\w+$|(^|/)(test|spec)[._-][^/]*$")


Language = Literal["python", "node", "go", "jvm", "ruby", "perl", "other"]
TESTS: Final[dict[Language, re.Pattern[str]]] = {
    "python": re.compile(r"(^|/)(test_\w*|\w+_test|tests?)\.py$|(^|/)tests?/(.*/)?\w+(?<!/__init__)\.py$"),
    "node": re.compile(
        r"[._-](test|spec)\.[cm]?[jt]sx?$|(^|/)(__tests__|tests?|spec)/(.*/)?[^/]+\.[cm]?[jt]sx?$"
        r"|(^|/)test(-[^/]*)?\.[cm]?[jt]sx?$"
    ),
    "go": re.compile(r"_test\.go$"),
    "jvm": re.compile(r"(^|/)src/\w*[tT]est\w*/.*\.(java|kt|groovy|scala)$"),
    "ruby": re.compile(r"_spec\.rb$|(^|/)tests?/(.*/)?[^/]+\.rb$"),
    "perl": re.compile(r"(^|/)t/(.*/)?[^/]+\.t$"),
    "other": re.compile(
        r"(^|/)(tests?|specs?|t)/(.*/)?[^/]+\.(sh|bash|bats|php|exs|cs|fs|swift|scala|clj[cs]?|hs|ml|p[lm]|lua|r|R|jl"
        r"|dart|c|cc|cpp|cxx|rs|erl|nim|cr|elm|zig|tcl|test|f90|kt|groovy|ps1|robot|exp|el|rkt|scm|gleam|purs|sol)$"
        r"|(Tests?|Spec)\.(cs|php|swift|scala|fs|ps1)$|_test\.(exs|dart|cc|cpp|c)$|_SUITE\.erl$|\.(bats|phpt|t)$"
    ),
}
"""What looks like a test, in order: the first language that matches a name gets it."""
_OF_NODE: Final = r"[._-](test|spec)\.[cm]?[jt]sx?$|(^|/)(tests?|spec|__tests__)/.+\.[cm]?[jt]sx?$"
_OF_C: Final = r"(^|/)(tests?|unittests?)/.+\.(c|cc|cpp|cxx)$|(^|/)test[^/]*\.(c|cc|cpp|cxx)$"
_COLLECTED: Final[dict[Runner, str]] = {
    "pytest": r"(^|/)(test_[^/]*|[^/]*_test)\.py$",
    **dict.fromkeys(("unittest", "django"), r"(^|/)test[^/]*\.py$"),
    "node": r"(^|/)([^/]+[._-]test|test-[^/]+|test)\.[cm]?[jt]s$|(^|/)test/[^/]+\.[cm]?[jt]s$",
    "vitest": r"\.(test|spec)\.[cm]?[jt]sx?$",
    "jest": r"\.(test|spec)\.[jt]sx?$|(^|/)__tests__/[^/]+\.[jt]sx?$",
    "go": r"_test\.go$",
    **dict.fromkeys(("mocha", "ava", "tap"), _OF_NODE),
    **dict.fromkeys(("cargo", "nextest"), r"^tests/[^/]+\.rs$"),
    **dict.fromkeys(("ctest", "meson"), _OF_C),
    **dict.fromkeys(("maven", "gradle"), r"(^|/)src/test/.+\.(java|kt|groovy|scala)$"),
}


WORDS_ONLY: Final = re.compile(r"\.(?:md|rst|adoc|txt)$", re.IGNORECASE)
"""Files that only a person reads."""


class Role(StrEnum):
    """Role of a file in a suite."""

    TEST = "test"
    AROUND = "around"
    """In a test folder, or a file that a runner loads automatically."""
    SETTINGS = "settings"
    GOLDEN = "golden"
    DATA = "data"
    """In a test folder, and not code."""
    STARTUP = "startup"
    """Loaded before anything else, whatever the runner."""
    SHADOW = "shadow"
    """Replaces a runner's own code."""
    PRODUCT = "product"
    OTHER = "other"
    """Not code, and not part of a suite."""


def kind_of_code(path: str) -> str:
    """Return the language of a file, or what runs it if it is not parsed here; empty if it is not code."""
    name = path.rpartition("/")[2]
    return _LANGUAGES.get(name.rpartition(".")[2].lower() if "." in name else "", "")


def language_of(path: str) -> str:
    """Return the language of a file; empty for a language that is not parsed here."""
    kind = kind_of_code(path)
    return kind if kind in _ENDINGS else ""


def role_of(path: str) -> Role:
    """Return the role of a file. Python tests are not recognized here: pytest's settings decide."""
    if _SHADOWS.search(path):
        return Role.SHADOW
    if _STARTUP.search(path):
        return Role.STARTUP
    if _SETTINGS.search(path):
        return Role.SETTINGS
    if _GOLDEN.search(path) and language_of(path) != "python":
        return Role.GOLDEN
    language = language_of(path)
    name = path.rpartition("/")[2]
    if language == "python":
        return Role.AROUND if is_in_tests(path) or name == "conftest.py" else Role.PRODUCT
    if is_named_test(path, language):
        return Role.TEST
    if is_in_tests(path):
        return Role.AROUND if kind_of_code(path) else Role.DATA
    return Role.PRODUCT if kind_of_code(path) else Role.OTHER


def is_test_file(runner: Runner, path: str) -> bool:
    """Return whether a runner takes a file for tests, by its name."""
    return re.search(_COLLECTED[runner], path) is not None


def is_in_tests(path: str) -> bool:
    """Return whether a file is in a test folder."""
    return _FOLDERS.search(path.rpartition("/")[0] + "/") is not None


def is_named_test(path: str, language: str) -> bool:
    """Return whether the runner of a language takes a file for tests."""
    match language:
        case "javascript":
            return _JAVASCRIPT_TEST.search(path) is not None or (
                is_in_tests(path) and path.rpartition("/")[2].startswith("test")
            )
        case "go":
            return path.endswith("_test.go")
        case "rust":
            return True
        case "java":
            return _JAVA_TEST.search(path) is not None
        case "shell":
            return is_in_tests(path) or _OTHER_TEST.search(path) is not None
        case "python":
            return False
        case _:
            return bool(kind_of_code(path)) and (_OTHER_TEST.search(path) is not None or is_in_tests(path))


def is_test_code(path: str) -> bool:
    """Return whether a file is test code or among tests. In Rust, any other file may contain tests too."""
    return bool(kind_of_code(path)) and (is_test(path) or path.endswith((".t", "conftest.py")))


def is_test(path: str) -> bool:
    """Return whether a file's folder or name marks it as a test, to its runner or to a reader."""
    language = language_of(path)
    # Any Rust file may contain tests beside the code they test.
    return is_in_tests(path) or is_called_test(path) or (language != "rust" and is_named_test(path, language))


def is_called_test(path: str) -> bool:
    """Return whether a file's name marks it as a test."""
    return _OTHER_TEST.search(path) is not None


def parents(path: str) -> list[str]:
    """Return the parent folders of a file, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]
