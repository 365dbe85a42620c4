r"""A document as Markdown. Rule: a foreign text shows its own characters and is never markup.

Only characters that would have a meaning are escaped, so `test_a_name` stays readable in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from asbuilt.pages import document as doc

_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~#]|&(?=[A-Za-z#])|(?<![^\W_])_|_(?![^\W_])")
_OPENS: Final = re.compile(r"^([-+=]|\d+[.)])")
_TICKS: Final = re.compile(r"`+")


def markdown(document: doc.Document) -> str:
    """Render the page."""
    lines = [f"# {escaped(document.title)}", "", _line(document.above), "", _line(document.below), ""]
    lines += _blocks(document.blocks, 2)
    lines += [_line(document.end)]
    return "\n".join(lines).rstrip("\n") + "\n"


def escaped(text: str) -> str:
    """Escape a text for the middle of a line."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", doc.one_line(text))


def code(text: str) -> str:
    """Quote a text as code, with a fence longer than its backticks."""
    line = doc.one_line(text)
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _words(words: doc.Words) -> str:
    return "".join(map(_inline, words)).strip()


def _line(words: doc.Words) -> str:
    """Write words at the start of a line, where a dash or a number would open a list."""
    return _OPENS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _words(words))


def _inline(inline: doc.Inline) -> str:
    match inline:
        case str(text):
            lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            return f"{lead and ' '}{escaped(text)}{tail and ' '}" if text.strip() else text and " "
        case doc.Code(text=text):
            return code(text)
        case doc.Said(by=by, text=text):
            return f"{escaped(by)}: “{escaped(text)}”"
        case doc.Link(text=text):
            return escaped(text)
        case doc.Mark(word=word):
            return f"**{escaped(word)}**"
        case _:
            assert_never(inline)


def _blocks(blocks: Iterable[doc.Block], level: int) -> Iterator[str]:
    for block in blocks:
        yield from _block(block, level)


def _block(block: doc.Block, level: int) -> Iterator[str]:
    match block:
        case doc.Heading(words=words):
            yield from (f"{'#' * level} {_words(words)}", "")
        case doc.Paragraph(words=words):
            yield from (_line(words), "")
        case doc.Points(points=points):
            for point in points:
                yield f"- {_line(point.words)}"
                yield from (f"  - {_line(words)}" for words in point.below)
            yield ""
        case doc.Table(head=head, rows=rows):
            yield f"| {' | '.join(head)} |"
            yield "|---" * len(head) + "|"
            yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
            yield ""
        case doc.Listing(text=text) | doc.Patch(text=text):
            fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
            yield from (fence, *doc.visible(text, lines=True).rstrip("\n").split("\n"), fence, "")
        case doc.Figures(figures=figures):
            yield from (f"- {escaped(figure.value)} {escaped(figure.label)}" for figure in figures)
            yield ""
        case doc.Drawing(instead=instead):
            yield from _blocks(instead, level)
        case doc.Pictures(pictures=pictures):
            yield from (f"- {code(picture.name)}" for picture in pictures)
            yield ""
        case doc.Form():
            pass
        case doc.Beside(left=left, right=right):
            yield from _blocks((*left, *right), level)
        case doc.Section(words=words, blocks=inner):
            yield from (f"{'#' * level} {_words(words)}", "")
            yield from _blocks(inner, level + 1)
        case _:
            assert_never(block)


def _cell(words: doc.Words) -> str:
    """Write a table cell. A bar in code is escaped; code where that is ambiguous is written as text."""
    return "".join(_bars(inline) if isinstance(inline, doc.Code) else _inline(inline) for inline in words)


def _bars(inline: doc.Code) -> str:
    if "\\|" in inline.text or inline.text.endswith("\\"):
        return escaped(inline.text)
    return code(inline.text).replace("|", "\\|")
