"""Find the case of an old test that no new test has. Pure.

Rule: a case is a line or a row of a table, known by its values. It is kept if its values are together in a
new line, or if one of them is its own and all of them are in new or changed tests. Names and comments do not
count, so that it works for languages without a parser here, and a merged test may look different.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

_COMMENTS: Final = re.compile(
    r"(?ms)(?P<lead>^[ \t]*)?[rfb]?(\"\"\"|\'\'\').*?\2|(?:^|(?<=\s))(?:/\*.*?\*/|(?:#(?!\[)|//)[^\n]*)"
)
"""Comments, and texts in three quotes: those at the start of a line are comments too."""
_TITLES: Final = re.compile(
    r"\b(?:it|test|describe|context|suite|specify|t\.Run)(?:\.\w+)*\(\s*([\"'`]).*?\1\s*,"
    r"|\bparametrize\(\s*(?:\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"|'[^']*')"
    r"|\bids?\s*=\s*(?:\[[^\]]*\]|\"[^\"]*\"|'[^']*')|\bmsg\s*=.*|\bt\.(?:Error|Fatal|Log)f?\(.*"
)
"""Names of cases and messages of failures."""
_MESSAGE: Final = re.compile(r"^(\s*assert\b.*),\s*f?([\"']).*\2\s*$")
_LAST: Final = re.compile(
    r"^(\s*(?:\w+\.)*\w*assert[\w.!]*\()(.*),\s*f?([\"'])[^\"']* [^\"']*\3\s*(\)\s*;?\s*)$", re.IGNORECASE
)
_OF_ONE: Final = re.compile(r"(?:ok|True|False|None|Null|assert!?)\($")
"""Assertions of one value: what follows it is a message."""
_NO_CASE: Final = re.compile(
    r"\s*(?:import|from|use|using|package|require|include|const .*\brequire\(|(?:async )?def |class |func |"
    r"(?:pub )?fn |@(?!.*[(\[]))"
)
_IMPORT: Final = re.compile(r"(?m)^\s*(?:from\s+\S+\s+)?import\b[^\n]*|^[^\n]*\brequire\([^\n]*")
_AIDS: Final = re.compile(
    r"(?i)pytest|unittest|assert|expect|check|helper|test|mock|fixture|vitest|jest|chai"
)
_VALUES: Final = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?![\w.])|\[\]|\{\}"
    r"|\b(?:True|False|None|true|false|null|nil|undefined|NaN)\b"
    r"|(?:(?<=[(,\[])|(?<=[(,\[=:] ))(?:\w+\.)*[A-Z]\w*(?:\.[A-Z]\w*)*(?![\w(])"
)
_ROW: Final = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_STYLE: Final = frozenset(("True", "False", "true", "false"))
"""Values that a comparison can be written without."""
_APART: Final = 2
"""Most other values among those of a case: its name, or a default that is written out."""
_MOST: Final = 20_000
"""Most values that are read; files with more hold data."""
_ASSERTS: Final = re.compile(r"(?i)\b(?:assert\w*|expect|require|should)\b")
_CALLED: Final = re.compile(r"\b(?!assert|expect|to[A-Z]|not\b|len\b)(\w+)\(")
_WORDS: Final = re.compile(r"\w+")
_KEYWORDS: Final = frozenset("const let var require import from as default type js ts mjs cjs".split())


class NewTests:
    """The new and changed tests of a tree, to look for the cases of old ones."""

    def __init__(self, before: Collection[str], fresh: str, after: str) -> None:
        """`before`: old files; `fresh`: new and changed tests; `after`: the files that have them."""
        self._imported = {name for text in before for name in _imported(text)}
        rows = [row for text in before for row in _rows(text)]
        self._known = Counter(value for _, values in rows for value in {*values})
        self._callers = Counter(name for line, _ in rows for name in {*_WORDS.findall(line)} & self._imported)
        self._alike: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for _, values in rows:
            self._alike.setdefault(tuple(sorted(values)), set()).add(tuple(values))
        plain = _plain(fresh)
        self._lines = {line.strip() for line in plain.splitlines()}
        self._values, self._words = {*_values(plain)}, {*_WORDS.findall(plain)}
        lines = _plain(after).splitlines()
        self._order = [(case, at) for at, line in enumerate(lines) for case in _values(line)][:_MOST]
        self._there = {value for value, _ in self._order}

    def lost(self, text: str, *, by_names: bool) -> str:
        """Return the lines of an old test whose cases are gone; empty if every case is there.

        `by_names`: the functions that the test calls still have their names.
        """
        rows = dict.fromkeys(
            line for line, values in _rows(text) if self._is_lost(line, values, by_names=by_names)
        )
        return "; ".join(rows)

    def _is_lost(self, line: str, values: list[str], *, by_names: bool) -> bool:
        if line in self._lines:
            return False
        is_case = bool(values) or _ASSERTS.search(line) is not None
        names = {*_WORDS.findall(line)} & self._imported
        called = names if values else {*_CALLED.findall(line)}
        if is_case and by_names and called - self._words:
            return True
        if not values:
            return False
        if len(values) > 1 and self._are_together(values):
            return False
        is_own = 1 in {*map(self._known.__getitem__, values), *map(self._callers.__getitem__, names)}
        gone = {*values} - self._values - _STYLE
        return bool(gone) or (len(values) > 1 and not is_own)

    def _are_together(self, values: list[str]) -> bool:
        """Return whether a new line has a case, in any order; of cases with the same values, each has one."""
        wanted, size = Counter(values), len(values)
        if not wanted.keys() <= self._there:
            return False
        places = [at for at, (value, _) in enumerate(self._order) if value in wanted]
        if any([value for value, _ in self._order[at : at + size]] == values for at in places):
            return True
        found, end = 0, 0
        for at in places:
            ends = (to for to in range(at + size, at + size + _APART + 1) if at >= end)
            there = next((to for to in ends if self._has(wanted, at, to, size)), None)
            found, end = (found, end) if there is None else (found + 1, there)
        return 0 < found >= len(self._alike.get(tuple(sorted(values)), ()))

    def _has(self, wanted: Counter[str], at: int, to: int, size: int) -> bool:
        part = self._order[at:to]
        # Other values among them are of the same line; a row alone may have several lines.
        is_row = len(part) == size or part[0][1] == part[-1][1]
        return is_row and wanted <= Counter(value for value, _ in part)


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines that may be cases, with their values; of a table in one line each row."""
    for line in _plain(text).splitlines():
        plain = line.strip()
        if not plain or _NO_CASE.match(line):
            continue
        rows = [row for row in _ROW.findall(plain) if len(_values(row)) > 1]
        if len(rows) > 1 and not _ASSERTS.search(plain):
            yield from ((row, _values(row)) for row in rows)
        else:
            yield plain, _values(plain)


def _plain(text: str) -> str:
    lines = _COMMENTS.sub(
        lambda match: match[0] if match[2] and match["lead"] is None else "", text
    ).splitlines()
    return "\n".join(_without_message(_TITLES.sub("(", line)) for line in lines)


def _without_message(line: str) -> str:
    """Return an assertion without the sentence that it shows when it fails."""
    found = _LAST.match(line)
    if found is None:
        return _MESSAGE.sub(r"\1", line)
    other, inner = found[2], ""
    while inner != other:
        inner, other = other, _ROW.sub("", other)
    is_message = "," in other or _OF_ONE.search(found[1]) is not None
    return f"{found[1]}{found[2]}{found[4]}" if is_message else line


def _values(text: str) -> list[str]:
    return [value for row in _VALUES.findall(text) for value in _parts(row)]


def _parts(value: str) -> list[str]:
    """Return a value in plain form; of a row in one string its parts."""
    if value[0].isalpha():
        return [value.rpartition(".")[2]]
    plain = value.strip("\"'").replace("_", "")
    parts = [part.strip() for part in plain.split(",")]
    return parts if all(part and " " not in part for part in parts) else [plain]


def _imported(text: str) -> set[str]:
    lines = (line for line in _IMPORT.findall(text) if not _AIDS.search(line))
    return {
        word for line in lines for word in _WORDS.findall(line.partition("import")[2] or line)
    } - _KEYWORDS
