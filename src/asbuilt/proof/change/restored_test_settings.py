"""Files that configure a test runner, and how they are restored to the base before checks run.

Rule: a phase that has to change such a file names it in its text; in a shared file only the runner's parts
are restored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.proof.suites.path_roles import Role, role_of

if TYPE_CHECKING:
    from asbuilt.proof.suites.model import Change

_SET_UP: Final = re.compile(
    r"(?i)(^|/)(conftest\.py|(jest|vitest|test|tests)[._-]?setup\.\w+|setup[._-]?tests?\.\w+|spec_helper\.rb|rails_helper\.rb)$"
)
_RECIPES: Final = re.compile(
    r"(^|/)(GNUmakefile|[Mm]akefile|[^/]*\.mk|\.?[Jj]ustfile|Rakefile|Taskfile\.ya?ml)$"
)
_MANIFESTS: Final = re.compile(
    r"(^|/)(go\.mod|go\.work|Cargo\.toml|pom\.xml|(build|settings)\.gradle(\.kts)?|gradle\.properties)$"
)
"""Files that mainly declare what a product is made of: they are compared and never restored."""
_CACHES: Final = re.compile(
    r"(^|/)(__pycache__|\.(pytest|mypy|ruff)_cache|\.parcel-cache|\.vite|\.turbo|\.nyc_output|\.cache|\.hypothesis|\.tox|"
    r"\.nox)(/|$)|\.py[co]$|(^|/)(\.(eslint|stylelint)cache|node_modules)$|\.tsbuildinfo$"
)
"""Caches that programs write for their next run: a runner trusts them instead of their sources."""
_FINDS: Final = re.compile(
    r"\bfor\s+\w+\s+in\s[^;\n]*[*?]|\bfind\s[^\n|;]*-name|\brun-parts\b|\b(r?glob|listdir|scandir|readdirSync|walk)\("
)
"""How a script finds the files that it runs."""
_TABLE: Final = re.compile(r"(?m)^[ \t]*\[+([^\]\n]+)\]+[^\n]*$")
_OF_RUNNERS: Final = re.compile(
    r"^(tool[.:](pytest|coverage|tox|nox)|pytest|testenv|coverage)\b|^tool:pytest$"
)
_NAMED: Final = 3
_NODE_KEYS: Final = ("jest", "vitest", "mocha", "ava", "c8", "nyc", "tap")


class PutBack(NamedTuple):
    """One file's content for the checks; None: the file is removed."""

    path: str
    content: bytes | None
    is_recipe: bool
    """True for a recipe file: it is restored only for the tests, because a phase's own checks may be new."""


def put_back(changes: Iterable[Change], text: str, commands: str = "") -> tuple[PutBack, ...]:
    """Return the differing files to restore, except those that the phase's text names.

    `commands` has the test command and the recipes behind it. A script that they start and that finds the
    tests is the project's own runner.
    """
    found = []
    for change in changes:
        is_driver = change.before is not None and names(commands, change.path) and _FINDS.search(change.old)
        if (is_infrastructure(change.path) or is_driver) and not names(text, change.path):
            content = _restored(change)
            if content != change.after:
                found.append(PutBack(change.path, content, _RECIPES.search(change.path) is not None))
    return tuple(found)


def put_back_words(paths: Sequence[str]) -> str:
    """Name the restored files, for the report of a failed check."""
    if not paths:
        return ""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    listing = f"{', '.join(paths[:_NAMED])}{more} as on the base"
    return f" (with {listing}: a phase that has to change one names it in its text)"


def is_infrastructure(path: str) -> bool:
    """Return whether a file affects how tests run or what counts as passed."""
    if _SET_UP.search(path) or is_cache(path):
        return True
    return role_of(path) in (Role.SETTINGS, Role.STARTUP, Role.SHADOW) and not _MANIFESTS.search(path)


def is_cache(path: str) -> bool:
    """Return whether a file is a program's cache for its next run."""
    return _CACHES.search(path) is not None


def names(text: str, path: str) -> bool:
    """Return whether a phase's text names a file, by its path or by its name as a word."""
    name = path.rpartition("/")[2]
    return path in text or re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _restored(change: Change) -> bytes | None:
    name = change.path.rpartition("/")[2]
    if change.after is None or name not in ("package.json", "pyproject.toml", "setup.cfg", "tox.ini"):
        return change.before
    try:
        before, after = (change.before or b"").decode(), change.after.decode()
    except UnicodeDecodeError:
        return change.before
    return (_package(before, after) if name == "package.json" else _tables(before, after)).encode()


def _tables(before: str, after: str) -> str:
    """Take the runners' tables from `before` and everything else from `after`."""
    old, new = _split(before), _split(after)
    ours = [part for name, part in old if _OF_RUNNERS.search(name)]
    if ours == [part for name, part in new if _OF_RUNNERS.search(name)]:
        return after
    rest = "".join(part for name, part in new if not _OF_RUNNERS.search(name))
    return f"{rest.rstrip()}\n\n{''.join(ours)}" if ours else rest


def _split(text: str) -> list[tuple[str, str]]:
    """Split a text at its table headers: name, and the table with its header."""
    heads = list(_TABLE.finditer(text))
    starts = [*(head.start() for head in heads), len(text)]
    parts = [("", text[: starts[0]])]
    for head, end in zip(heads, starts[1:], strict=True):
        body = text[head.start() : end].rstrip() + "\n\n"
        parts.append((head[1].strip(), body))
    return parts


def _package(before: str, after: str) -> str:
    """Take the test scripts and the runners' settings from `before` and everything else from `after`."""
    try:
        old, new = json.loads(before or "{}"), json.loads(after)
    except (ValueError, RecursionError):
        return before
    if not isinstance(old, dict) or not isinstance(new, dict):
        return before
    wanted = {key: value for key, value in new.items() if key not in _NODE_KEYS}
    wanted |= {key: old[key] for key in _NODE_KEYS if key in old}
    wanted["scripts"] = _scripts(old.get("scripts"), new.get("scripts"))
    if wanted["scripts"] == {} and "scripts" not in new:
        del wanted["scripts"]
    return after if wanted == new else json.dumps(wanted, indent=2) + "\n"


def _scripts(old: object, new: object) -> dict[str, Any]:
    """Keep the scripts that the phase adds; existing scripts and those around `test` are as on the base."""
    before = old if isinstance(old, dict) else {}
    after = new if isinstance(new, dict) else {}
    added = {name: text for name, text in after.items() if name not in ("pretest", "test", "posttest")}
    return {name: text for name, text in {**added, **before}.items() if name in after or name in before}
