"""Draw advice: the command to type on a row of its own, its comment and an alternative below it.

Rule: a row that begins with a command can be typed as it is printed, also in a shell without comments (zsh).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.cli.ui.screen import Pen

_ADVICE: Final = re.compile(
    r"(?:(?P<first>[^`:;\n]+), then:? )?(?P<command>(?:`[^`]+ &&` )*`[^`]+`)"
    r"(?: `# (?P<comment>[^`]+)`)?(?P<rest>[^\n]*)"
)
_COMMAND: Final = re.compile(r"(?:`[^`]+ &&` )*`[^`#]+`")
_ALTERNATIVE: Final = re.compile(r"(?P<row>[^`]*(?:`[^`]+ &&` )*`[^`]+`)(?P<behind>[^`\n]*)")
_OTHER: Final = re.compile(r"(?:^|[,;.]) ?or:? ")
_LONGEST: Final = 70
"""Most characters of prose that becomes a comment."""


def advice_rows(pen: Pen, lead: str, text: str, *, other: str = "") -> Iterator[str]:
    """Draw advice under its lead. Commands are in backticks; prose before or behind one is its comment."""
    line, comments, also = _parts(text)
    beside = f"{'or':>{len(lead) - 2}}  "
    alternatives = ((beside, *_alone(words)) for words in (*also, other) if words)
    for start, row, below in ((lead, line, comments), *alternatives):
        yield from pen.hanging(start, row)
        for comment in below:
            yield from pen.hanging(f"{'#':>{len(lead) + 1}} ", comment, commands=False)


def first_command(text: str) -> str:
    """Return the first command of advice as a line to type; empty if it has none."""
    found = _COMMAND.search(text)
    return found.group().replace("`", "") if found is not None else ""


def _alone(words: str) -> tuple[str, list[str]]:
    """Return an alternative without the prose behind its only command, and that prose as a comment."""
    found = _ALTERNATIVE.fullmatch(words)
    behind = "" if found is None else found["behind"].strip(" ,;.:")
    is_comment = found is not None and 0 < len(behind) <= _LONGEST
    return (found["row"], [behind]) if found is not None and is_comment else (words, [])


def _parts(text: str) -> tuple[str, list[str], list[str]]:
    """Return advice as a command, its comments and the alternatives that are commands; or prose as it is."""
    found = _ADVICE.fullmatch(text)
    if found is None:
        return text, [], []
    behind, *alternative = _OTHER.split(found["rest"], maxsplit=1)
    words, others = behind.strip(" ,;.:"), [words.strip().removesuffix(".") for words in alternative]
    if "`" in words:
        words, others = "", [words, *others]
    first = found["first"] and f"{found['first'][:1].lower()}{found['first'][1:]} first"
    # Only a command can be typed: an alternative in prose is a comment, too.
    prose = [f"or {words}" for words in others if "`" not in words]
    comments = [told for told in (first, found["comment"], words, *prose) if told]
    if any(len(told) > _LONGEST for told in (*comments[: len(comments) - len(prose)],)):
        return text, [], []
    return found["command"], comments, [words for words in others if "`" in words]
