"""Functions that a phase promises, and whether its lines are about them and the product uses them.

Rule: a function is promised if an item wants it or is about it, not if one only mentions it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from asbuilt.proof.change.promised_names import OF_CLASS, finding, is_product
from asbuilt.proof.items import Asks, items_of, wanted_and_checked
from asbuilt.proof.suites.model import Change, Finding, Kind, Order, Severity
from asbuilt.proof.suites.path_roles import Role, is_test, language_of, role_of

_WANTS: Final = re.compile(
    r"\b(?:has|gets|gains|defines|offers|provides|with|add|adds)\s+(?:(?:an?|the|method|function)\s+)*"
    rf"`{OF_CLASS}([^\W\d]\w*)\("
)
"""A function that an item wants, whatever is there."""
_SUBJECT: Final = re.compile(
    rf"(?i)^\W*(?:(?:change|update|extend|adapt|adjust|make|let|fix)\s+)?`{OF_CLASS}([^\W\d]\w*)(\([^`]*\))?`\s+[a-z]+"
)
"""A function that an item is about."""
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
_SHORTEST_STEM: Final = 5
"""Letters of a file name that a sentence does not contain by chance."""
_SHORTEST_NAME: Final = 4
_DECORATES: Final = ("@", "#[")


def not_written(changes: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find functions that an item wants or is about, and that no line of the phase is about."""
    product = [file for file in changes if is_product(file.path)]
    written = {word for file in product for _, line in file.added for word in re.findall(r"\w+", line)}
    spoken = {word for file in changes for _, line in file.added for word in re.findall(r"\w+", line)}
    for item in items_of(text) if product else ():
        if item.asks & (Asks.OTHER_THAN_WORK & ~Asks.LOOK):
            continue
        wanted = [name for name in _WANTS.findall(item.text) if name not in written]
        subject = _SUBJECT.match(item.text)
        if subject is not None and subject[1] not in spoken and Asks.LOOK not in item.asks:
            wanted.append(subject[1])
        for name in dict.fromkeys(wanted):
            held = [(file, _region(file.old, name), _region(file.new, name)) for file in product]
            there = next((file for file, before, after in held if before and before == after), None)
            if there is not None and all(before == after for _, before, after in held):
                yield finding(there.path, item, f"the phase names {name}, and it is as it was")


def _region(text: str, name: str) -> str:
    """Return the definitions of a name: each line that defines it, and the deeper ones after it."""
    defines = re.compile(
        rf"^(\s*)(?:.*\b(?:def|class|func|function|fn|const|let|var)\s+(?:\([^)]*\)\s*)?{name}\b"
        rf"|(?:\w+\s+)*{name}\s*\([^)]*\)[^;]*\{{)"
    )
    found, depth = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if defines.match(line):
            depth = indent
        elif depth is not None and line.strip() and indent <= depth:
            depth = None
        found += [line] if depth is not None and line.strip() else []
    return "\n".join(found)


def unwired(changes: Sequence[Change], order: Order, there: Collection[str]) -> Iterator[Finding]:
    """Find definitions that a phase adds and nothing uses, if an item is about code that did not change.

    That is a file, or a function of a changed file.
    """
    product = [file for file in changes if file.after is not None and _may_use(file.path)]
    touched = {file.path for file in changes}
    items = {*re.findall(r"[^\W\d]\w+", wanted_and_checked(order.text)[0].lower())}
    every = [*items_of(order.text)]
    wires = {
        word
        for item in every
        if Asks.CALL in item.asks and Asks.AS_IT_WAS not in item.asks
        for word in re.findall(r"[^\W\d]\w+", item.text.lower())
    }
    about = (_SUBJECT.match(item.text) for item in every if not item.asks & Asks.OTHER_THAN_WORK)
    wires |= {subject[1].lower() for subject in about if subject is not None}
    left = [path for path in there if path not in touched and language_of(path) and _may_use(path)]
    named = sorted(
        path for path in left if len(_stem(path)) >= _SHORTEST_STEM and _stem(path).lower() in items
    )
    named += sorted(
        name
        for file in product
        for _, name in _defined(file.path, file.old)
        if len(name) >= _SHORTEST_NAME
        and name.lower() in wires
        and _region(file.old, name) == _region(file.new, name)
    )
    if not named:
        return
    lines = [line for file in product for line in file.new.splitlines() if not _OFFERS.match(line)]
    words = Counter(word for line in lines for word in re.findall(r"[^\W\d][\w$]*", line))
    wanted = {*re.findall(r"[^\W\d][\w$]*", order.text)}
    for change in product:
        if f"{_stem(change.path)}." in order.text:
            continue
        before = {name for _, name in _defined(change.path, change.old)}
        for number, name in _defined(change.path, change.new):
            if name in before or name in wanted or name.lower() in _STARTS:
                continue
            if words[name] == 1:
                now = f"nothing but a test uses it, and {named[0]}, which the phase speaks of, is as it was"
                yield Finding(Kind.NOT_WIRED, Severity.SIGN_OFF, change.path, now, "", name, number)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _defined(path: str, text: str) -> Iterator[tuple[int, str]]:
    defines, above = _DEFINES.get(language_of(path)), ""
    for number, line in enumerate(text.splitlines() if defines else (), 1):
        found = defines.match(line) if defines else None
        # A decorator may register it.
        if found is not None and not above.startswith(_DECORATES):
            yield number, next(name for name in found.groups() if name)
        above = line


def _may_use(path: str) -> bool:
    return not is_test(path) and role_of(path) in (Role.PRODUCT, Role.TEST, Role.SETTINGS, Role.OTHER)
