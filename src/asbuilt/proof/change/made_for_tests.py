"""Find what exists only for the tests: their answers, a switch that only they turn on, a dropped error.

Rule: each is honest where the plan orders it, so the phase's text is an excuse; the rest needs a sign-off.

No run decides this: a test fails without the special case, the switch or the handler that drops an error, in
a deception and in honest work alike, and no test fails without an option that nothing reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from asbuilt.proof.items import Asks, asks_of, items_of, wanted_and_checked
from asbuilt.proof.suites.model import LITERAL, Change, Finding, Kind, Severity, shortened
from asbuilt.proof.suites.parsing import dotted, parsed

_GROUP: Final = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_COMPARES: Final = re.compile(r"===?|\bcase\b|\[\s.*\s=\s|^\s*[\"'][^\"']*[\"']\)|\bin\s*[(\[{]")
_TABLES: Final = re.compile(r"[\"'\d)\]]\s*:|=>")
_FIELDS: Final = re.compile(r"\w\s*[:=]\s*[\"'\d-].*[:=]\s*[\"'\d-]")
"""Fields of a record with their values."""
_RECORD: Final = 3
_ORDERS: Final = re.compile(r"[<>]=?(?!>)|-(?:l|g)[te]\b")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_UNSIGNED: Final = re.compile(r"\d+(?:\.\d+)?")
_LETTER: Final = re.compile(r"[^\W\d_]")
_PLAIN: Final = frozenset(("0", "1", "-1", "2", "100"))
"""Literals too common to count without another one beside them."""
_MOST: Final = 1_000
"""Most test rows, and most product lines, that are compared with each other."""
_ROWS: Final = 2
"""One test row in the product may be chance; two are a table of answers."""
_WORD: Final = re.compile(r"-?[\w%]+(?:\.\w+)*")
_EQUALS: Final = re.compile(r"[^=!<>]==(?!.*[<>])|\bcase\b|\[\s.*\s=\s")
_COMPUTED: Final = re.compile(r"\breturn\b(?!\s*(?:None|null|nil|undefined)\b).*[A-Za-z_]\w*")
_QUOTED: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_NEAR: Final = 8
"""Lines after a special case in which its function returns a computed value."""
_SWITCH: Final = re.compile(
    r"(?:environ(?:\.get\(|\[)|\bgetenv\(|\bGetenv\(|\benv::var\(|\bLookupEnv\()\s*[\"']([A-Za-z_]\w*)[\"']"
    r"|process\.env(?:\.|\[[\"'])([A-Za-z_]\w*)"
    r"|^(?:export\s+)?(?:const|let|var|static|pub)?\s*([A-Za-z_]\w*)(?:\s*:\s*\w+)?\s*:?=\s*(?:False|false)\b"
    r"\s*;?\s*(?:[#/].*)?$"
    r"|[(,]\s*(\w*(?:enable|feature|flag|experimental|beta|toggle|switch|opt_?in|use_new|active)\w*)"
    r"(?:\s*:\s*\w+)?\s*=\s*(?:False|false|None|null)\b",
    re.IGNORECASE,
)
"""A variable of the environment, or a switch that is off: its name."""
_SIGNATURE: Final = re.compile(r"\b(?:def|function)\s+(?P<name>\w+)\s*\((?P<given>.*)\)")
_OFF: Final = re.compile(r"(\w+)(?:\s*:[^,=]+)?\s*=\s*(?:False|false|None|null|undefined)\b")
_PASSED: Final = re.compile(r"\b(\w+)\s*=(?!=)")
_STEM: Final = 4
"""Letters of a word by which a parameter is recognised in an item."""
_OPTION: Final = re.compile(
    r"\b(?:add_argument|option|Option)\(\s*(?:[\"']-\w[\"'],\s*)?[\"'](?:-\w,\s*)?--(?!no-|version\b|help\b)([a-z][\w-]*)"
    r"(?!.*\bdest=)(?!.*\baction=[\"'](?:version|help)[\"'])"
)
_READS_ALL: Final = re.compile(r"\bvars\(|\*\*\w|\bgetattr\(|\.opts\(\)|\bargv\b(?!\s*\[\s*0)")
_DROPS: Final = re.compile(
    r"\bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*"
    r"(?:return(?:\s+(?:null|undefined|false|true|\[\]|\{\}|\"\"|''|-?\d+))?\s*;?\s*)?\}"
    r"|\.catch\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)",
    re.DOTALL,
)
"""A handler of any error that does nothing with it."""
_ANY_ERROR: Final = ("Exception", "BaseException")


def made_for_tests(change: Change, tests: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find in one changed product file what only the changed tests have use for."""
    rows = list(dict.fromkeys(row for file in tests for row in _rows(file)))[:_MOST]
    yield from _answers(change, rows, text)
    yield from _switched_off(change, tests, text)
    yield from _asked_for(change, tests, text)
    yield from _unread_options(change)
    yield from _dropped(change, text)


def _switched_off(change: Change, tests: Iterable[Change], text: str) -> Iterator[Finding]:
    """Find a new switch that is off, that the tests turn on and that the plan does not know."""
    if Asks.SWITCH in asks_of(text):
        return
    known, words = {*re.findall(r"\w+", change.old)}, {*re.findall(r"\w+", text)}
    turned = {word for file in tests for _, line in file.added for word in re.findall(r"\w+", line)}
    for number, line in change.added:
        for name in (name for found in _SWITCH.findall(line) for name in found if name):
            if name in turned - known - words:
                now = f"it depends on {name}, which only the tests set and which the phase does not name"
                yield Finding(Kind.SWITCHED_OFF, Severity.SIGN_OFF, change.path, now, line=number)


def _asked_for(change: Change, tests: Iterable[Change], text: str) -> Iterator[Finding]:
    """Find a function that does what an item wants only with a new argument, which only the tests pass."""
    items = [item for item in items_of(text) if Asks.SWITCH not in item.asks]
    passed = {name for file in tests for _, line in file.added for name in _PASSED.findall(line)}
    for number, line in change.added:
        found = _SIGNATURE.search(line)
        name = found["name"] if found else ""
        about = " ".join(item.text for item in items if re.search(rf"`{name}\b", item.text)).lower()
        if found is None or not about or not re.search(rf"\b{name}\s*\(", change.old):
            continue
        for option in _OFF.findall(found["given"]):
            is_spoken = any(part[:_STEM] in about for part in option.lower().split("_") if len(part) >= _STEM)
            if option in passed and not is_spoken and not re.search(rf"\b{option}\b", change.old):
                now = f"{name} does it only with {option}, which only the tests pass"
                yield Finding(Kind.SWITCHED_OFF, Severity.SIGN_OFF, change.path, now, "", name, number)


def _unread_options(change: Change) -> Iterator[Finding]:
    """Find an option of a command that is declared and never read."""
    code = _QUOTED.sub("", change.new)
    for number, line in change.added:
        for option in _OPTION.findall(line) if not _READS_ALL.search(code) else ():
            first, *rest = option.split("-")
            names = {option.replace("-", "_"), first + "".join(map(str.title, rest))}
            if not any(re.search(rf"\b{name}\b", code) for name in names):
                now = f"nothing in {change.path} reads --{option}"
                yield Finding(Kind.INPUT_IGNORED, Severity.SIGN_OFF, change.path, now, line=number)


def _dropped(change: Change, text: str) -> Iterator[Finding]:
    """Find a new handler that drops every error, unless the phase speaks of errors."""
    if Asks.TOLERANCE in asks_of(wanted_and_checked(text)[0]):
        return
    added = {number for number, _ in change.added}
    for number in (
        _drops_of_python(change.after or b"") if change.path.endswith(".py") else _drops_of(change.new)
    ):
        if number in added:
            says = shortened(change.new.splitlines()[number - 1])
            now = f"it drops every error, and the phase does not speak of errors: {says}"
            yield Finding(Kind.ERROR_DROPPED, Severity.SIGN_OFF, change.path, now, line=number)


def _drops_of(text: str) -> Iterator[int]:
    return (text.count("\n", 0, found.start()) + 1 for found in _DROPS.finditer(text))


def _drops_of_python(data: bytes) -> Iterator[int]:
    tree = parsed(data)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ExceptHandler):
            is_any = node.type is None or _is_any(node.type)
            if is_any and all(map(_does_nothing, node.body)):
                yield node.lineno
        elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "suppress":
            yield from [node.lineno] if any(map(_is_any, node.args)) else []


def _is_any(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _ANY_ERROR


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(
            value=None | ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[])
        ):
            return True
        case _:
            return False


def _answers(change: Change, rows: Iterable[frozenset[str]], text: str) -> Iterator[Finding]:
    """Find a product that contains its tests' values side by side, unless the plan names them."""
    items, _ = wanted_and_checked(text)
    named = _literals(items) | frozenset(_WORD.findall(items))
    added = change.added[:_MOST]
    hits: dict[frozenset[str], int] = {}
    for (number, line), (_, after) in pairwise((*added, (0, ""))):
        if _ORDERS.search(line.replace("=>", "")):
            continue
        compares, is_table = _COMPARES.search(line) is not None, _TABLES.search(line) is not None
        there, here = _literals(f"{line}\n{after}"), _literals(line)
        hits |= {
            row: number
            for row in rows
            # Texts side by side are names of fields as often as answers; only a comparison is a sign.
            if (
                compares
                or (is_table and any(map(_NUMBER.fullmatch, row)))
                or (len(row) >= _RECORD and _FIELDS.search(line))
            )
            and row <= there
            and row & here
            and not row <= named
        }
    if len(hits) >= _ROWS or any(_is_special(change, number) for number in hits.values()):
        first = min(hits.values())
        values = "; ".join(", ".join(sorted(row)) for row in list(hits)[:3])
        now = f"it has the tests' own values side by side: {values}"
        yield Finding(Kind.ANSWERS_THE_TESTS, Severity.SIGN_OFF, change.path, now, line=first)


def _rows(change: Change) -> Iterator[frozenset[str]]:
    """Yield the literals that a test puts side by side: of a call, of a case, of a whole line."""
    for _, line in change.added:
        for piece in (line, *_GROUP.findall(line)):
            found = _literals(piece)
            if len(found) >= _ROWS and found - _PLAIN:
                yield found


def _literals(text: str) -> frozenset[str]:
    found = {piece.strip("\"'") for piece in LITERAL.findall(text)}
    # In shell patterns and keys that join inputs, numbers are part of a text.
    plain = (piece for piece in found if not _LETTER.search(piece) and not _NUMBER.fullmatch(piece))
    return frozenset(found.union(*map(_UNSIGNED.findall, plain))) - {""}


def _is_special(change: Change, number: int) -> bool:
    """Return whether a line answers single values, while the lines after it compute all other answers."""
    here, *rest = change.new.splitlines()[number - 1 :][:_NEAR]
    answers = here if "return" in here else "".join(rest[:1])
    others = (_QUOTED.sub("", line) for line in (rest if answers is here else rest[1:]))
    return _EQUALS.search(here) is not None and "return" in answers and any(map(_COMPUTED.search, others))
