"""Find phrases in docstrings and comments that a reader has to decode, and name the plain words."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = Path(__file__).resolve().parents[1] / "src" / "asbuilt"
BANNED: Final = {
    r"(go|goes|going|gone) on with": "resume, continue",
    r"(is|was|were|are) begun": "start",
    r"begun anew": "restart",
    r"(is|was|are|were) told": "reports, returns, gets",
    r"told as such": "reported as",
    r"\beach one\b": "the noun",
    r"\b(whoever|somebody|nobody)\b": "the user, another worker, no worker",
    r"what stands in": "the contents of",
    r"\blets? go of": "release, delete",
    r"goes with it": "is deleted with it",
    r"\b(happens|runs?|starts?) by itself": "automatically",
    r"\bso (often|many)\b": "the number",
    r"of one intent": "of one revision of the plan",
    r"has to mend": "needs user action",
    r"\bhand(s|ed|ing)? in\b": "submit",
    r"\bheard of\b": "heartbeat received",
    r"\btidings\b": "signals",
    r"calls? a person": "notifies the user",
    r"\bthe ring\b": "the sandbox",
    r"planning is held": "plan mode is on",
    r"\brigs?\b": "check environment",
    r"\banew\b": "again",
    r"\bonce more\b": "again",
    r"(its|the) one rule": "Rule: ..., or leave it out",
}
_PATTERNS: Final = [(re.compile(phrase, re.IGNORECASE), words) for phrase, words in BANNED.items()]


def prose_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, each with its line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(prose))):
                yield node.lineno, prose
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (noqa|type:|fmt:)", token.string):
            yield token.start[0], token.string


def found_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each banned phrase with its line and what to write instead; code in backticks is left alone."""
    for line, prose in prose_in(text):
        plain = re.sub(r"`[^`]*`", "", prose)
        for pattern, advice in _PATTERNS:
            for match in pattern.finditer(plain):
                yield line + plain[: match.start()].count("\n"), match.group(), advice


def main() -> None:
    """Print every phrase that was found; exit with 1 if there is one."""
    is_found = False
    for file in sorted(SOURCE.rglob("*.py")):
        for line, phrase, advice in found_in(file.read_text(encoding="utf-8")):
            is_found = True
            print(f"{file.relative_to(SOURCE.parents[1])}:{line}: {phrase!r}: write {advice}")
    sys.exit(is_found)


if __name__ == "__main__":
    main()
