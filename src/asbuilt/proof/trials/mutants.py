"""Mutants: small changes to the lines that a phase adds, which its tests should notice. Pure.

Rule: every mutant is one splice, and their order depends only on the tree. A Python mutant still parses; in
other languages a mutant that does not build counts as noticed.
"""

from __future__ import annotations

import ast
import hashlib
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Final, NamedTuple

from asbuilt.proof.suites.parsing import BRACED, lexed
from asbuilt.proof.suites.path_roles import Role, is_in_tests, is_test_file, language_of, role_of

MAX_BYTES: Final = 200_000
"""Larger files are generated."""
_WORDS: Final = 60
_NAMED: Final = 10
_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", ">="), ast.GtE: (">=", "<"), ast.Gt: (">", "<="), ast.LtE: ("<=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}  # fmt: skip
_SUMS: Final[dict[type[ast.operator], tuple[str, str]]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
_JOINS: Final[dict[type[ast.boolop], tuple[str, str]]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}

_NEAR: Final = 0.7
"""Similarity from which a removed line and a new line are the same line, changed."""
_SWAPPED: Final = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<=": ">", ">=": "<", "&&": "||",
    "||": "&&", "<": ">=", ">": "<=", "+": "-", "-": "+", "true": "false", "false": "true",
}  # fmt: skip


_ANOTHER: Final = (
    "(lambda v: not v if v in (True, False) and type(v) is bool else v + 1 if type(v) in (int, float)"
    " else v + '~' if type(v) is str else [*v, v] if type(v) is list else (*v, v) if type(v) is tuple"
    " else {{**v, '~': v}} if type(v) is dict else 1 / 0)(({}))"
)
"""Another value of the same type as a returned one, or an error: a test that looks at no value passes."""


class Mutant(NamedTuple):
    """One small change to a file."""

    path: str
    line: int
    start: int
    """Start of the change, in bytes."""
    old: bytes
    new: bytes

    @property
    def words(self) -> str:
        """The change and its place, in words."""
        old, new = (
            " ".join(data.decode("utf-8", "replace").split())[:_WORDS] for data in (self.old, self.new)
        )
        is_returned = self.new.startswith(_ANOTHER[:_WORDS].encode())
        return f"{self.path}:{self.line}: `{old}` -> {'another value' if is_returned else f'`{new}`'}"

    def applied(self, source: bytes) -> bytes:
        """Return the file with the change."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]


def is_probed(path: str) -> bool:
    """Return whether a file's lines are mutated: product code in a known language."""
    language = language_of(path)
    if language == "rust":
        return not is_in_tests(path)
    is_known = language in BRACED or (path.endswith(".py") and not is_test_file("pytest", path))
    return is_known and role_of(path) is Role.PRODUCT


def added_lines(before: bytes, after: bytes) -> frozenset[int]:
    """Return the lines, from 1, that were added or changed."""
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    changed = (range(low + 1, high + 1) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal")
    return frozenset(line for lines in changed for line in lines)


def mutants_of(path: str, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
    """List all mutants of some lines of a file; empty if it cannot be parsed."""
    # The parser reports offsets in UTF-8 and without a byte order mark.
    if len(source) > MAX_BYTES or not lines or source.startswith(BOM_UTF8):
        return ()
    if not path.endswith(".py"):
        return tuple(_elsewhere(path, source, lines))
    try:
        source.decode()
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    starts = _starts(source)
    found = (
        Mutant(path, bisect_right(starts, start), start, source[start:end], new.encode())
        for start, end, new in _changes(tree, source, starts)
    )
    return tuple(
        dict.fromkeys(mutant for mutant in found if mutant.line in lines and _parses(mutant.applied(source)))
    )


def _elsewhere(path: str, source: bytes, lines: Collection[int]) -> Iterator[Mutant]:
    """Yield mutants of operators, booleans and whole numbers."""
    text = source.decode("utf-8", "surrogateescape")
    for token in lexed(text, language_of(path)).tokens:
        start = token.end - len(token.text)
        # A part of `<<=` is no comparison.
        new = _SWAPPED.get(token.text, "") if text[start - 1 : start] not in ("<", ">") else ""
        if token.kind == "number" and token.text.isdecimal() and text[start - 1 : start] != ".":
            new = str(int(token.text) + 1)
        # Alone, one of these may be a sign, or around types.
        elif token.text in ("<", ">", "+", "-") and f" {token.text} " != text[start - 1 : token.end + 1]:
            continue
        if new and token.line in lines:
            at = len(text[:start].encode("utf-8", "surrogateescape"))
            yield Mutant(path, token.line, at, token.text.encode(), new.encode())


def planned(sources: Mapping[str, tuple[bytes, bytes]], seed: str) -> list[Mutant]:
    """List all mutants of the lines that files have gained, from each file's contents before and after."""
    found = (
        mutant
        for path, (before, after) in sources.items()
        for mutant in mutants_of(path, after, added_lines(before, after))
        if _is_new(mutant, before, after)
    )
    return ordered(found, seed)


def _is_new(mutant: Mutant, before: bytes, after: bytes) -> bool:
    """Return whether a mutant changes new text: of a line that was only extended, the rest is old."""
    start = after.rfind(b"\n", 0, mutant.start) + 1
    end = after.find(b"\n", start)
    line = after[start : end if end >= 0 else None]
    kept = {*after.splitlines()}
    gone = [data.decode("latin-1") for data in before.splitlines() if data.strip() and data not in kept]
    near = get_close_matches(line.decode("latin-1"), gone, 1, _NEAR)
    if not near:
        return True
    at = mutant.start - start
    parts = SequenceMatcher(None, near[0], line.decode("latin-1"), autojunk=False).get_opcodes()
    return any(tag != "equal" and low < at + len(mutant.old) and at < high for tag, _, _, low, high in parts)


def ordered(mutants: Iterable[Mutant], seed: str) -> list[Mutant]:
    """Shuffle mutants by a seed: a probe that is cut short has covered all files, and is reproducible."""
    return sorted(mutants, key=lambda mutant: hashlib.sha256(f"{seed}{mutant}".encode()).digest())


def summary(noticed: int, unnoticed: Sequence[Mutant], by: str) -> tuple[str, ...]:
    """Describe the result of a probe."""
    tried = noticed + len(unnoticed)
    changes = "change to the new lines was" if tried == 1 else "changes to the new lines were"
    headline = f"{noticed} of {tried} {changes} noticed by {by}"
    more = (f"and {len(unnoticed) - _NAMED} more",) if len(unnoticed) > _NAMED else ()
    return (headline, *(f"not noticed: {mutant.words}" for mutant in unnoticed[:_NAMED]), *more)


def _starts(source: bytes) -> list[int]:
    """Return where each line starts, with lines as the parser counts them."""
    return [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", source))]


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


_Change = tuple[int, int, str]


def _changes(tree: ast.AST, source: bytes, starts: Sequence[int]) -> Iterator[_Change]:
    for node in _observable(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                for before, op, other in zip((left, *others), ops, others, strict=False):
                    if type(op) in _COMPARISONS:
                        yield from _between(before, other, _COMPARISONS[type(op)], source, starts)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
                yield from _between(left, right, _SUMS[type(op)], source, starts)
            case ast.BoolOp(op=join, values=[first, second, *_]):
                yield from _between(first, second, _JOINS[type(join)], source, starts)
            case ast.Constant(value=bool() as value):
                yield *_place(node, starts), str(not value)
            case ast.Constant(value=int() as value):
                yield *_place(node, starts), str(value + 1)
            case ast.Return(value=ast.Constant(value=None)):
                continue
            case ast.Return(value=ast.expr() as value):
                start, end = _place(value, starts)
                yield start, end, _ANOTHER.format(source[start:end].decode())
            case _:
                continue


def _observable(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the nodes that a run could notice: no annotations, and no parts of f-strings (no offsets)."""
    yield node
    if isinstance(node, ast.JoinedStr):
        return
    hidden = [getattr(node, name, None) for name in ("annotation", "returns")]
    for child in ast.iter_child_nodes(node):
        if not any(child is hidden_node for hidden_node in hidden):
            yield from _observable(child)


def _place(node: ast.expr, starts: Sequence[int]) -> tuple[int, int]:
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0),
    )


def _between(
    left: ast.expr, right: ast.expr, words: tuple[str, str], source: bytes, starts: Sequence[int]
) -> Iterator[_Change]:
    """Find an operator between its operands; one beside a comment is left alone."""
    old, new = words
    start, end = _place(left, starts)[1], _place(right, starts)[0]
    text = source[start:end]
    pattern = rb"\s+".join(re.escape(word.encode()) for word in old.split())
    found = re.search(pattern, text)
    if found is not None and b"#" not in text:
        yield start + found.start(), start + found.end(), new
