from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from asbuilt.pages.document import (
    Code,
    Document,
    Heading,
    Listing,
    Mark,
    Paragraph,
    Point,
    Points,
    Said,
    Section,
    Table,
    one_line,
)
from asbuilt.pages.markdown import code, escaped, markdown
from asbuilt.pages.run_report import Page
from tests.pages.accounts import KEPT, PAGES, RICH

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = st.text(alphabet=st.sampled_from("ab1 _*`|\\[](){}<>#~!&;:=+-.\n\t\u202e\x1b\x00é$@")) | st.text()


def shown(text: str) -> list[tuple[str, str]]:
    """Read Markdown and tell every piece that a reader would see, with its kind."""
    seen = []
    for token in READER.parse(text):
        if token.type in ("fence", "code_block", "html_block", "hr"):
            seen.append((token.type, token.content))
        elif token.type == "inline":
            seen += [(one.type, one.content) for one in token.children or () if one.type != "text_special"]
    return [(kind, text) for kind, text in seen if text or kind != "text"]


def words(text: str) -> str:
    """Tell what a reader reads of Markdown that should be nothing but text."""
    pieces = shown(text)
    assert {kind for kind, _ in pieces} <= {"text"}, pieces
    return "".join(content for _, content in pieces)


@given(HOSTILE)
def test_an_escaped_text_reads_as_itself_and_is_no_markup(text: str) -> None:
    assert words(f"says “{escaped(text)}”") == f"says “{one_line(text)}”"


@given(HOSTILE)
def test_code_reads_as_itself_whatever_backticks_it_has(text: str) -> None:
    line = one_line(text)
    pieces = shown(f"run {code(text)} now")
    wanted = [("text", "run "), ("code_inline", line), ("text", " now")] if line else [("text", "run  now")]
    assert pieces == wanted


@given(HOSTILE)
def test_no_foreign_text_becomes_a_block_of_ours(text: str) -> None:
    page = Document(
        text,
        (text,),
        (Code(text),),
        (
            Section(
                (text,),
                (
                    Paragraph((text,)),
                    Points((Point((text,), ((text,), (Said("the agent", text),))),)),
                    Table(("check", "outcome"), (((Code(text),), (Mark("FAIL", "failed"), " ", text)),)),
                    Listing(text),
                    Heading((text,)),
                ),
            ),
        ),
        (text,),
    )
    kinds = [
        token.type
        for token in READER.parse(markdown(page))
        if token.nesting >= 0 and token.type not in ("inline", "paragraph_open")
    ]
    assert kinds == [
        "heading_open", "heading_open", "bullet_list_open", "list_item_open", "bullet_list_open",
        "list_item_open", "list_item_open", "table_open", "thead_open", "tr_open", "th_open", "th_open",
        "tbody_open", "tr_open", "td_open", "td_open", "fence", "heading_open",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was_kept(name: str) -> None:
    kept = KEPT / f"{name}.md"
    assert Page(PAGES[name], UTC).markdown == kept.read_text(encoding="utf-8"), (
        "python -m tests.pages.accounts"
    )


def test_phrases_that_call_a_phase_unfinished_are_among_what_to_know() -> None:
    page = Page(RICH._replace(gaps=("phase 1 says “future work”",)), UTC).markdown
    assert "- **gap** check: phase 1 says “future work”\n" in page
    assert "**gap**" not in Page(RICH, UTC).markdown
