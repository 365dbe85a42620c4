"""Parse code: Python by its own parser, JavaScript, Go, Rust and Java by tokens.

Rule: it accepts any input. Python that cannot be parsed is None; a string or comment is never taken for code.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from typing import Final, NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENCODING: Final = re.compile(rb"coding[:=]\s*[-\w.]+")
_DEEPEST: Final = 80
"""Most levels of a syntax tree: a deeper one is generated and could exhaust the stack."""
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTED: Final = r'"(?:\\.|[^"\\\n])*"'
_TEXTS: Final = {
    "javascript": rf"{_QUOTED}|'(?:\\.|[^'\\\n])*'",
    "go": rf"{_QUOTED}|'(?:\\.|[^'\\\n])+'|`[^`]*`",
    # Raw strings and text blocks start like other tokens, so they are tried first.
    "rust": r"b?r(?P<hash>\#*)\".*?\"(?P=hash)|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\[^']+|[^'\\\n])'",
    "java": rf"\"\"\"(?:\\.|.)*?\"\"\"|{_QUOTED}|'(?:\\.|[^'\\\n])+'",
}
BRACED: Final = tuple(_TEXTS)
"""Languages that are read by tokens."""
_PATTERNS: Final = {
    language: re.compile(
        rf"""
        (?P<space>\s+)
      | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<text>{texts})
      | (?P<number>\d(?:[eE][+-]|[\w.])*)
      | (?P<name>[^\W\d][\w$]*|\$[\w$]*)
      | (?P<op>===|!==|=>|==|!=|<=|>=|&&|\|\||\?\?|:=|->|::|\.\.\.|[^\w\s])
        """,
        re.VERBOSE | re.DOTALL,
    )
    for language, texts in _TEXTS.items()
}
_REGEX: Final = re.compile(r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
_LONGEST_REGEX: Final = 1_000
_BEFORE_REGEX: Final = frozenset(
    ["(", ",", "=", ":", "[", "!", "&", "|", "?", "{", "}", ";", "=>", "&&", "||", "return", "typeof", "case"]
)


class Token(NamedTuple):
    """One token of code."""

    kind: str
    """`name`, `number`, `text` or `op`."""
    text: str
    line: int
    end: int
    """Where it ends in the text of the file."""


class Code(NamedTuple):
    """A file of tokens, with the partner of every bracket."""

    tokens: list[Token]
    partner: dict[int, int]
    """Index of every closed opening bracket -> index of its closing one."""

    def closing(self, at: int) -> int:
        """Return the index of the closing bracket; the end of the file if there is none."""
        return self.partner.get(at, len(self.tokens))

    def word(self, at: int) -> str:
        """Return the text of a token; empty outside of the file."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""


def parsed(data: bytes) -> ast.Module | None:
    """Parse a file; None if it is invalid or too deep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not _ENCODING.search(data[:400]):
                data.decode()
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree if _depth(tree) <= _DEEPEST else None


def _depth(tree: ast.Module) -> int:
    depth, level = 0, list[ast.AST]((tree,))
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def dotted(node: ast.AST) -> str:
    """Return the dotted name of a name or attribute; `?` in place of any other base."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "?", *reversed(parts)])


def constant(node: ast.AST | None) -> object:
    """Return the value of a literal or a negated number; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return -inner if isinstance(inner, int | float) else None
    return node.value if isinstance(node, ast.Constant) else None


def imports_of(tree: ast.AST) -> dict[str, str]:
    """Return every imported name with its origin, wherever in the file it is imported."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return found


def lexed(text: str, language: str) -> Code:
    """Split a file into tokens."""
    pattern = _PATTERNS[language]
    starts = [found.end() for found in re.finditer(r"\n", text)]
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        end = _literal_end(text, at, tokens) if language == "javascript" else at
        kind = "text"
        if end == at:
            found = pattern.match(text, at)
            kind, end = (found.lastgroup or "op", found.end()) if found else ("space", at + 1)
        if kind not in ("space", "comment"):
            kind = "text" if kind == "hash" else kind
            tokens.append(Token(kind, text[at:end], bisect_right(starts, at) + 1, end))
        at = end
    return Code(tokens, _partners(tokens))


def _literal_end(text: str, at: int, tokens: list[Token]) -> int:
    """Return the end of a template or a regular expression; `at` if it is neither."""
    if text[at] == "`":
        return _template_end(text, at)
    if text[at] == "/" and (not tokens or tokens[-1].text in _BEFORE_REGEX):
        found = _REGEX.match(text, at, at + _LONGEST_REGEX)
        return found.end() if found else at
    return at


def _template_end(text: str, start: int) -> int:
    """Find the end of a template, including nested code and templates."""
    waiting = ["`"]
    at = start + 1
    while at < len(text) and waiting:
        inside = waiting[-1] == "`"
        if text[at] == "\\":
            at += 1
        elif text[at] == "`":
            waiting.pop() if inside else waiting.append("`")
        elif inside and text.startswith("${", at):
            waiting.append("{")
            at += 1
        elif not inside and text[at] in "{}":
            waiting.append("{") if text[at] == "{" else waiting.pop()
        at += 1
    return at


def _partners(tokens: list[Token]) -> dict[int, int]:
    waiting: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in _OPENING:
            waiting.append(at)
        elif token.text in ")]}" and waiting and _OPENING[tokens[waiting[-1]].text] == token.text:
            found[waiting.pop()] = at
    return found
