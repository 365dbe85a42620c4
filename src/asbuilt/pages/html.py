"""A document as one self-contained HTML file: no script, no request, light and dark.

Rule: every text is escaped, by `text` or in `_block`; only drawings, which asbuilt makes, are inserted as is.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final, assert_never

from asbuilt.pages import document as doc
from asbuilt.pages.style import STYLE

_NUMBERS: Final = frozenset({"exit", "ran", "skipped", "failed", "took", "cost", "stated", "measured"})
_SHORT: Final = frozenset({"state", "for", "until", "at", "started", "ended", "run", "attempts", "work"})
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_BODY: Final = """\
<header>
<p class="above">{above}</p>
<h1>{title}</h1>
<p class="below">{below}</p>
</header>
<main>
{main}
</main>
<footer>{end}</footer>"""


def html(document: doc.Document) -> str:
    """Render the page."""
    return _PAGE.format(title=text(document.title), style=STYLE, body=body(document))


def body(document: doc.Document) -> str:
    """Render what is inside the page's body."""
    return _BODY.format(
        title=text(document.title),
        above=_words(document.above),
        below=_words(document.below),
        main="\n".join(_blocks(document.blocks, 2)),
        end=_words(document.end),
    )


def text(foreign: str) -> str:
    """Escape a text for element content and for attributes."""
    return escape(doc.one_line(foreign), quote=True)


def _words(words: doc.Words) -> str:
    return "".join(map(_inline, words))


def _inline(inline: doc.Inline) -> str:
    match inline:
        case str(foreign):
            lead, tail = foreign[:1].isspace(), foreign[-1:].isspace()
            return f"{' ' * lead}{text(foreign)}{' ' * tail}"
        case doc.Code(text=foreign):
            return f"<code>{text(foreign)}</code>"
        case doc.Said(by=by, text=foreign):
            return f'<span class="said">{text(by)}: <q>{text(foreign)}</q></span>'
        case doc.Link(text=foreign, href=href):
            return f'<a href="{text(href)}">{text(foreign)}</a>'
        case doc.Mark(word=word, tone=tone):
            return f'<b class="mark {tone}">{text(word)}</b>'
        case _:
            assert_never(inline)


def _blocks(blocks: Iterable[doc.Block], level: int) -> Iterator[str]:
    for block in blocks:
        yield from _block(block, level)


def _block(block: doc.Block, level: int) -> Iterator[str]:
    match block:
        case doc.Heading(words=words):
            yield f"<h{level}>{_words(words)}</h{level}>"
        case doc.Paragraph(words=words):
            yield f"<p>{_words(words)}</p>"
        case doc.Points(points=points):
            yield "<ul>"
            for point in points:
                below = "".join(f"<p>{_words(words)}</p>" for words in point.below)
                yield f"<li><div>{_words(point.words)}</div>{below}</li>"
            yield "</ul>"
        case doc.Table(head=head, rows=rows):
            yield from _table(head, rows)
        case doc.Listing(text=foreign):
            # A keyboard scrolls only what has the focus.
            yield f'<pre tabindex="0">{escape(doc.visible(foreign, lines=True).rstrip(chr(10)))}</pre>'
        case doc.Patch(text=foreign):
            lines = doc.visible(foreign, lines=True).rstrip("\n").split("\n")
            yield f'<pre class="patch" tabindex="0">{"".join(map(_patched, lines))}</pre>'
        case doc.Figures(figures=figures):
            tiles = (
                f'<div class="{figure.tone}"><dd>{text(figure.value)}</dd><dt>{text(figure.label)}</dt></div>'
                for figure in figures
            )
            yield f'<dl class="figures">{"".join(tiles)}</dl>'
        case doc.Drawing(svg=svg):
            yield f"<figure>{svg}</figure>"
        case doc.Pictures(pictures=pictures):
            for picture in pictures:
                data = f"data:{picture.media};base64,{b64encode(picture.content).decode()}"
                caption = f"<figcaption>{text(picture.name)}</figcaption>"
                yield f'<figure><img alt="picture" src="{data}">{caption}</figure>'
        case doc.Form():
            yield _form(block)
        case doc.Beside(left=left, right=right):
            columns = ("\n".join(_blocks(pair, level)) for pair in (left, right))
            yield f'<div class="beside">{"".join(f"<div>{column}</div>" for column in columns)}</div>'
        case doc.Section():
            yield from _section(block, level)
        case _:
            assert_never(block)


def _patched(line: str) -> str:
    # The two lines that name the file are no changes.
    kind = "span" if line[:4] in ("+++ ", "--- ") else {"+": "ins", "-": "del"}.get(line[:1], "span")
    return f"<{kind}>{escape(line)}\n</{kind}>"


def _form(form: doc.Form) -> str:
    options = "".join(
        f'<label><input type="radio" name="option" value="{text(value)}"> {text(label)}</label>'
        for value, label in form.options
    )
    field = f'<textarea name="note" rows="2" maxlength="{doc.MAX_NOTE}"></textarea>'
    note = f"<label>{text(form.note)}{field}</label>" if form.note else ""
    buttons = "".join(
        f'<button name="said" value="{text(value)}">{text(label)}</button>' for value, label in form.choices
    )
    return f'<form method="post" action="{text(form.action)}">{options}{note}<p>{buttons}</p></form>'


def _section(section: doc.Section, level: int) -> Iterator[str]:
    title, tag = f"<h{level}>{_words(section.words)}</h{level}>", "section"
    if section.is_folded is not None:
        title, tag = f"<summary>{title}</summary>", "details"
    yield f"<{tag}{' open' if section.is_folded is False else ''}>{title}"
    yield from _blocks(section.blocks, level + 1)
    yield f"</{tag}>"


def _table(head: tuple[str, ...], rows: Iterable[tuple[doc.Words, ...]]) -> Iterator[str]:
    kinds = [
        ' class="number"' if name in _NUMBERS else ' class="short"' if name in _SHORT else "" for name in head
    ]
    names = "".join(f"<th{kind}>{text(name)}</th>" for name, kind in zip(head, kinds, strict=True))
    yield f"<table><thead><tr>{names}</tr></thead><tbody>"
    for row in rows:
        # On a narrow screen a row is a card, and each cell shows its column's name.
        cells = (
            f'<td{kind} data-name="{text(name)}">{_words(cell)}</td>'
            for name, kind, cell in zip(head, kinds, row, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"
