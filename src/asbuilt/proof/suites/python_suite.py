"""Compare the Python part of a suite. A file that cannot be read is a finding, never silence."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.matching import compared
from asbuilt.proof.suites.model import MAX_BYTES, Change, Finding, Kind, Severity, Test, Trace
from asbuilt.proof.suites.places import Role, is_in_tests, role_of
from asbuilt.proof.suites.python_reading import aids_in, depth_of, parsed, tests_in
from asbuilt.proof.suites.python_traces import traces_in

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.proof.suites.python_bodies import Aid
    from asbuilt.proof.suites.python_marks import Collecting


_DEEPEST: Final = 80
"""Levels of a syntax tree: what goes deeper is made by machines, and could exhaust whoever walks it."""


class _Side(NamedTuple):
    """The Python files of one tree that differ from the other."""

    trees: dict[str, ast.Module]
    problems: dict[str, str]


def compare_python(
    changes: Sequence[Change], before: Collecting, after: Collecting, around: Mapping[str, bytes]
) -> list[Finding]:
    """Find what the Python tests, and the code around them, demand less than before.

    `around` has what tests are handed by files that did not change: every `conftest.py`.
    """
    handed = _aids(_side(around.items()).trees.values())
    old = _side((change.path, change.before) for change in changes)
    new = _side((change.path, change.after) for change in changes)
    unread = [_unread(path, old, new) for path in sorted(new.problems)]
    known = frozenset(old.trees)
    broken = frozenset(new.problems)
    olds = _tests(old, before, known, broken, handed)
    news = _tests(new, after, known, broken, handed)
    asserted = frozenset(name for test in (*olds, *news) for one in test.assertions for name in one.calls)
    return [
        *(one for one in unread if one is not None),
        *compared(olds, news),
        *new_traces(_traces(old, before, asserted), _traces(new, after, asserted)),
    ]


def new_traces(before: Sequence[tuple[str, Trace]], after: Sequence[tuple[str, Trace]]) -> list[Finding]:
    """Find the traces that were not there before, in any file: what is moved is not new."""
    known = Counter(trace.key for _, trace in before)
    found = []
    for path, trace in after:
        if known[trace.key]:
            known[trace.key] -= 1
        else:
            found.append(Finding(trace.kind, trace.severity, path, "", None, trace.line, "", trace.text))
    return found


def _side(files: Iterable[tuple[str, bytes | None]]) -> _Side:
    trees: dict[str, ast.Module] = {}
    problems: dict[str, str] = {}
    for path, data in files:
        if data is None:
            continue
        read = (
            parsed(data) if len(data) <= MAX_BYTES else f"{len(data):,} bytes are more than a test file has"
        )
        if isinstance(read, str):
            problems[path] = read
            continue
        if depth_of(read) > _DEEPEST:
            problems[path] = "it is nested too deeply"
        else:
            trees[path] = read
    return _Side(trees, problems)


def _unread(path: str, old: _Side, new: _Side) -> Finding | None:
    if role_of(path) is Role.PRODUCT and not fnmatchcase(path.rpartition("/")[2], "*test*"):
        return None
    if path in old.trees:
        return Finding(
            Kind.UNREADABLE, Severity.FAILS, path, "", None, None, "it was read", new.problems[path]
        )
    severity = Severity.SIGN_OFF if path in old.problems else Severity.NOTE
    return Finding(Kind.NOT_COMPARED, severity, path, "", None, None, "", new.problems[path])


def _aids(trees: Iterable[ast.Module]) -> dict[str, Aid]:
    return {name: aid for tree in trees for name, aid in aids_in(tree).items()}


def _tests(
    side: _Side,
    collecting: Collecting,
    known: frozenset[str],
    broken: frozenset[str],
    handed: Mapping[str, Aid],
) -> list[Test]:
    around = {
        path: tree
        for path, tree in side.trees.items()
        if _is_of_tests(path, collecting) and path not in broken
    }
    aids = {**handed, **_aids(around.values())}
    found: list[Test] = []
    for path, tree in around.items():
        named = any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in collecting.files)
        # Settings that we were not given may collect other names: what held tests before still does.
        is_test_file = named or (path in known and is_in_tests(path))
        found += tests_in(path, tree, aids, collecting, is_test_file=is_test_file)
    return found


def _is_of_tests(path: str, collecting: Collecting) -> bool:
    name = path.rpartition("/")[2]
    return role_of(path) is Role.AROUND or any(
        fnmatchcase(name, pattern) for pattern in (*collecting.files, "*test*.py")
    )


def _is_loaded(path: str, collecting: Collecting) -> bool:
    """Tell whether a runner loads a file by itself."""
    name = path.rpartition("/")[2]
    loaded = ("conftest.py", "__init__.py", *collecting.files)
    return any(fnmatchcase(name, pattern) for pattern in loaded)


def _traces(side: _Side, collecting: Collecting, asserted: frozenset[str]) -> list[tuple[str, Trace]]:
    return [
        (path, trace)
        for path, tree in side.trees.items()
        if role_of(path) not in (Role.SHADOW, Role.SETTINGS)
        for trace in traces_in(
            tree,
            is_product=not _is_of_tests(path, collecting),
            is_loaded=_is_loaded(path, collecting),
            asserted=asserted,
        )
    ]
