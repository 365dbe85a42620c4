"""Tokens of JavaScript, TypeScript, Go, Rust and Java: enough to separate code from text.

Rule: it terminates on any input and never takes a string or a comment for code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTED: Final = r'"(?:\\.|[^"\\\n])*"'
_TEXTS: Final = {
    "javascript": rf"{_QUOTED}|'(?:\\.|[^'\\\n])*'",
    "go": rf"{_QUOTED}|'(?:\\.|[^'\\\n])+'|`[^`]*`",
    # Raw strings and text blocks start like other tokens, so they are tried first.
    "rust": r"b?r(?P<hash>\#*)\".*?\"(?P=hash)|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\[^']+|[^'\\\n])'",
    "java": rf"\"\"\"(?:\\.|.)*?\"\"\"|{_QUOTED}|'(?:\\.|[^'\\\n])+'",
}
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
            tokens.append(
                Token("text" if kind == "hash" else kind, text[at:end], bisect_right(starts, at) + 1)
            )
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
