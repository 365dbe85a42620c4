"""Find the text of a test by its name, in any language, and the test that replaced it. Pure.

Rule: compare only texts and names, so that it works for languages without a parser here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from typing import Final

_ALIKE: Final = 0.6
"""Share of a test's significant words that another test must have to count as the same."""
_LINES: Final = 200
_TITLES: Final = re.compile(r"::| [>›] ")
_SCRIPT: Final = re.compile(r"\.(?:sh|bash|bats|zsh|t|py|rb|[cm]?[jt]sx?)$")
_WORD: Final = re.compile(r"[^\W\d]\w{2,}|\d+(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*'")
_TOKENS: Final = re.compile(r"\w+|[^\w\s]")
_NAMED: Final = re.compile(r"[^\W\d]")
_STATEMENT: Final = re.compile(
    r"\s*(?!(?:import|from|use|using|package|require|include|const .*\brequire\()\b)[^\s#/*]"
)
_DEFINES: Final = re.compile(
    r"\s*(?:@|#\[|(?:async )?def |class |func |(?:pub )?fn |(?:it|test|describe|context)\b)"
)
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        "assert test tests testing def self func function const let var return import from with for not true "
        "false none null nil assertequal asserttrue expect tobe toequal equal strictequal require fatal "
        "error errorf fatalf raises throws async await the and that class public void new int string",
    )
)


def own_name(name: str) -> str:
    """Return a test's own name, without its parents and parameters."""
    plain = name.partition("[")[0] if name.endswith("]") else name
    last = _TITLES.split(plain)[-1]
    if " " in last:
        return last
    return last.rpartition("/")[2] if _SCRIPT.search(last) else last.rpartition(".")[2]


def blocks(text: str, names: Collection[str], path: str = "") -> dict[str, str]:
    """Split a file into the texts of its tests: each from the line with its name to the next one.

    A script whose file name is a test's name is one test.
    """
    file = path.rpartition("/")[2]
    if file in names:
        return {file: text}
    lines = text.splitlines()
    first: dict[int, str] = {}
    for name in names:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        at = next((at for at, line in enumerate(lines) if word.search(line)), None)
        if at is not None:
            first.setdefault(at, name)
    starts = sorted(first)
    ends = [*starts[1:], len(lines)][: len(starts)]
    return {
        first[start]: "\n".join(lines[_above(lines, start) : min(_above(lines, end), start + _LINES)])
        for start, end in zip(starts, ends, strict=True)
    }


def like(block: str, others: Mapping[str, str], own: str = "") -> str:
    """Return the test with most of a block's significant words, at least 60 %; empty if there is none."""
    wanted = _distinctive_words(block) - {own}
    if not wanted:
        return ""
    scores = {name: len(wanted & _distinctive_words(text)) / len(wanted) for name, text in others.items()}
    best = max(scores, key=scores.__getitem__, default="")
    return best if best and scores[best] >= _ALIKE else ""


def is_same_but_for_names(before: str, after: str) -> bool:
    """Return whether two texts differ only in names, each renamed consistently."""
    old, new = (_TOKENS.findall(text) for text in (before, after))
    pairs = dict(zip(old, new, strict=False))
    return (
        len(old) == len(new)
        and [pairs[token] for token in old] == new
        and len({*pairs.values()}) == len(pairs)
        and all(pair == other or _NAMED.match(pair) for pair, other in pairs.items())
    )


def differing_lines(before: str, after: str) -> tuple[str, str]:
    """Return the lines that only `before` has, and those that only `after` has."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    return (
        "\n".join(line for line in old if line and line not in new),
        "\n".join(line for line in new if line and line not in old),
    )


def is_changed_inside(before: str, after: str) -> bool:
    """Return whether statements of a file differ in more than new tests, functions, imports and comments."""
    old, new = before.splitlines(), after.splitlines()
    for _, start, end, at, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[start:end] == new[at:to]:
            continue
        lost = any(_STATEMENT.match(line) for line in old[start:end])
        added = next((line for line in new[at:to] if _STATEMENT.match(line)), "")
        if lost or (added and not _DEFINES.match(added)):
            return True
    return False


def _above(lines: list[str], at: int) -> int:
    """Return where a test starts: decorators and comments right above its name are part of it."""
    while at and at < len(lines):
        above = lines[at - 1].lstrip()
        if above.startswith(("@", "//", "#[", "# ")):
            at -= 1
        elif above.startswith((")", "]")):
            # The end of a decorator of several lines.
            deep = _depth(lines[at - 1])
            outer = (
                row for row in range(at - 2, -1, -1) if lines[row].strip() and _depth(lines[row]) <= deep
            )
            first = next(outer, 0)
            if not lines[first].lstrip().startswith("@"):
                return at
            at = first
        else:
            return at
    return at


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _distinctive_words(text: str) -> set[str]:
    words = {word.strip("\"'") for word in _WORD.findall(text)}
    return {word for word in words if word and word.casefold() not in _COMMON}
