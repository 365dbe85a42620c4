"""jq and yq: a program that could show the environment or load another file is refused.

Rule: jq's `env` is refused wherever it could be the function; yq accepts plain paths only.
"""

from __future__ import annotations

from asbuilt.policy.shell.programs.spec import read_all, unquoted
from asbuilt.policy.shell.working_folder import Refused, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place

_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_PATH = _NAMED | frozenset(".[]|- ")
_LOADS = frozenset(("import", "include", "modulemeta", "get_search_list"))
_YQ_WORDS = frozenset(("keys", "length", "type", "tag", "sort", "unique", "first", "last", "to_entries"))


def jq(given: Given, place: Place) -> None:
    """Check jq's program and files."""
    _checked(given, given.operands, place, _jq)


def yq(given: Given, place: Place) -> None:
    """Check yq's expression and files."""
    verb = given.operands[:1] and given.operands[0].text in ("e", "eval")
    _checked(given, given.operands[1:] if verb else given.operands, place, _yq)


def _checked(given: Given, operands: Sequence[Word], place: Place, check: Callable[[str], None]) -> None:
    if not operands:
        raise writes(f"{given.name} lacks its filter", f"{given.name} '.' FILE")
    program = operands[0]
    if program.pattern:
        raise unquoted(program, f"{given.name} ", " FILE")
    check(program.text)
    read_all(operands[1:], place)


def _jq(text: str) -> None:
    at = 0
    while at < len(text):
        if text[at] not in _NAMED:
            at += 1
            continue
        start = at
        while at < len(text) and text[at] in _NAMED:
            at += 1
        name, before = text[start:at], text[max(0, start - 2) : start]
        is_field = before[-1:] == "." and before != ".."
        is_quoted = before[-1:] == '"' and text[at : at + 1] == '"' and before != ')"'
        if is_field or is_quoted:
            continue
        if name in ("env", "ENV"):
            raise Refused(
                f"{name} in jq shows the environment, which holds secrets.", "jq '.env' FILE for a field"
            )
        if name in _LOADS:
            raise writes(f"{name} in jq takes in another file")


def _yq(text: str) -> None:
    words = "".join(char if char in _NAMED or char == "." else " " for char in text).split()
    plain = all(word.startswith(".") or word.isdigit() or word in _YQ_WORDS for word in words)
    if not _PATH.issuperset(text) or not plain:
        raise writes(f"the yq expression {text!r} is not a plain path", "yq '.a.b[0]' FILE")
