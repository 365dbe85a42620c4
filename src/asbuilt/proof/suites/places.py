"""The role of a path in a suite: a test, runner settings, a golden file, or the product.

Rule: decide by name alone, as runners do.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

_FOLDERS: Final = re.compile(
    r"(^|/)(tests?|testing|test[-_]?(?:kit|helpers?|utils?|support|lib)|specs?|__tests__|e2e|integration_tests?|unit_tests?|testdata|src/test)(/|$)",
    re.IGNORECASE,
)
_GOLDEN: Final = re.compile(
    r"(^|/)(__snapshots__|snapshots?|goldens?|cassettes|__image_snapshots__|approvals)/"
    r"|\.(snap|golden|approved\.\w+|ambr|snapshot)$|(^|/|[._-])(golden|expected|baseline|reference)[._-][^/]*\.(?!py$)\w+$"
    r"|(^|/)(golden|expected|baseline|reference)\.(?!py$)\w+$|[._-](golden|expected|snapshot)\.(?!py$)\w+$",
    re.IGNORECASE,
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
_LANGUAGES: Final = {
    "py": "python",
    "pyi": "",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "javascript",
    "tsx": "javascript",
    "mts": "javascript",
    "cts": "javascript",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "kt": "java",
    "sh": "shell",
    "bash": "shell",
    "bats": "shell",
    "zsh": "shell",
}
_OTHERS: Final = frozenset(
    [
        "rb",
        "php",
        "cs",
        "fs",
        "swift",
        "scala",
        "clj",
        "ex",
        "exs",
        "erl",
        "hs",
        "ml",
        "pl",
        "pm",
        "t",
        "lua",
        "r",
        "jl",
        "dart",
        "c",
        "cc",
        "cpp",
        "cxx",
        "h",
        "hpp",
        "m",
        "mm",
        "vb",
        "groovy",
        "nim",
        "zig",
        "cr",
        "ps1",
        "tcl",
        "sql",
        "feature",
        "robot",
        "elm",
        "vue",
        "svelte",
    ]
)
"""Extensions of code that this package cannot parse."""
_JAVASCRIPT_TEST: Final = re.compile(r"\.(test|spec|cy|e2e)\.\w+$|(^|/)__tests__/")
_JAVA_TEST: Final = re.compile(r"(^|/)src/test/|(Tests?|IT|Spec)\.(java|kt)$|(^|/)Test[A-Z]\w*\.(java|kt)$")
_OTHER_TEST: Final = re.compile(
    r"([._-](test|spec)s?|Tests?|Spec)\.\w+$|(^|/)(test|spec)[._-][^/]*$", re.IGNORECASE
)


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


def language_of(path: str) -> str:
    """Return the language of a file; empty for a language that is not parsed here."""
    return _LANGUAGES.get(path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else "", "")


def is_foreign(path: str) -> bool:
    """Return whether a file is code that this package cannot parse."""
    name = path.rpartition("/")[2]
    return "." in name and name.rpartition(".")[2].lower() in _OTHERS


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
        return Role.AROUND if language or is_foreign(path) else Role.DATA
    if language or is_foreign(path):
        return Role.PRODUCT
    return Role.OTHER


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
            return is_foreign(path) and (_OTHER_TEST.search(path) is not None or is_in_tests(path))


def is_test_code(path: str) -> bool:
    """Return whether a file is test code or among tests. In Rust, any other file may contain tests too."""
    language = language_of(path)
    named = language != "rust" and is_named_test(path, language)
    is_code = bool(language) or is_foreign(path)
    return is_code and (
        named or is_in_tests(path) or is_called_test(path) or path.endswith((".t", "conftest.py"))
    )


def is_called_test(path: str) -> bool:
    """Return whether a file's name marks it as a test."""
    return _OTHER_TEST.search(path) is not None


def parents(path: str) -> list[str]:
    """Return the parent folders of a file, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]
