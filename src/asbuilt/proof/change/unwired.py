"""Find functions and classes that a phase adds and only tests use. Pure.

A new name can be used only in changed files, so no other file is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.change.promises import wanted_and_checked
from asbuilt.proof.suites.model import Finding, Kind, Severity
from asbuilt.proof.suites.places import Role, is_called_test, is_in_tests, language_of, role_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from asbuilt.proof.suites.model import Change, Order

_DEFINES: Final[dict[str, re.Pattern[str]]] = {
    "python": re.compile(r"^(?:async )?(?:def|class) ([^\W\d]\w*)"),
    "javascript": re.compile(
        r"^(?:export )?(?:async )?(?:function\*?|class) ([^\W\d][\w$]*)"
        r"|^(?:export )?(?:const|let) ([^\W\d][\w$]*) = (?:async )?(?:function\b|\([^)]*\) =>|\w+ =>)"
    ),
    "go": re.compile(r"^func ([^\W\d]\w*)\("),
    "rust": re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:async )?fn ([^\W\d]\w*)"),
}
_OFFERS: Final = re.compile(r"^\s*(?:module\.exports\b|exports\.\w+ =|export \{|__all__\b)")
"""A line that lists what a file exports; it is not a use."""
_STARTS: Final = frozenset(("main", "init", "setup", "teardown", "handler"))
_TELLING: Final = 5
"""Letters of a file name that a sentence does not contain by chance."""
_DECORATES: Final = ("@", "#[")


def unwired(changes: Sequence[Change], order: Order, there: Collection[str]) -> Iterator[Finding]:
    """Find definitions that a phase adds and nothing uses, if an item names a file that did not change."""
    product = [one for one in changes if one.after is not None and _is_product(one.path)]
    touched = {one.path for one in changes}
    items = {*re.findall(r"[^\W\d]\w+", wanted_and_checked(order.text)[0].lower())}
    left = [path for path in there if path not in touched and language_of(path) and _is_product(path)]
    named = sorted(path for path in left if len(_stem(path)) >= _TELLING and _stem(path).lower() in items)
    if not named:
        return
    lines = [line for one in product for line in _text(one.after).splitlines() if not _OFFERS.match(line)]
    words: dict[str, int] = {}
    for line in lines:
        for word in re.findall(r"[^\W\d][\w$]*", line):
            words[word] = words.get(word, 0) + 1
    wanted = {*re.findall(r"[^\W\d][\w$]*", order.text)}
    for change in product:
        if f"{_stem(change.path)}." in order.text:
            continue
        for number, name in _added(change):
            if words[name] == 1 and name not in wanted and name.lower() not in _STARTS:
                now = f"nothing but a test uses it, and {named[0]}, which the phase speaks of, is as it was"
                yield Finding(Kind.NOT_WIRED, Severity.SIGN_OFF, change.path, name, None, number, "", now)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _added(change: Change) -> Iterator[tuple[int, str]]:
    """Yield the top-level names that a file newly defines, with their lines."""
    defines = _DEFINES.get(language_of(change.path))
    if defines is None:
        return
    before = {found for _, found in _defined(defines, _text(change.before))}
    for number, name in _defined(defines, _text(change.after)):
        if name not in before:
            yield number, name


def _defined(defines: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    above = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = defines.match(line)
        # A decorator may register it.
        if found is not None and not above.startswith(_DECORATES):
            yield number, next(name for name in found.groups() if name)
        above = line


def _is_product(path: str) -> bool:
    is_test = is_in_tests(path) or is_called_test(path) or path.endswith("_test.go")
    return not is_test and role_of(path) in (Role.PRODUCT, Role.TEST, Role.SETTINGS, Role.OTHER)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
