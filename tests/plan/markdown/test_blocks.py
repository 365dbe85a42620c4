from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from asbuilt.plan.markdown.blocks import Table, cells_of, parse, split_row
from asbuilt.plan.markdown.source import Source

ROWS = st.text(alphabet="|\\`a \t-\u2028é>", max_size=24)
PARSER = MarkdownIt("commonmark").enable("table")
COLUMNS = 12


def parsers_cells(row: str) -> list[str] | None:
    """Return the cells that the parser sees in one body row, or None when it sees no row at all."""
    text = f"| h {'| h ' * (COLUMNS - 1)}|\n{'|---' * COLUMNS}|\n{row}"
    tokens = PARSER.parse(text)
    cells = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "td_open"]
    return [cell.strip() for cell in cells] or None


@given(ROWS)
def test_a_row_is_split_where_the_parser_splits_it(row: str) -> None:
    told = parsers_cells(row)
    if told is not None:
        mine = [cell.text for cell in split_row(row)]
        assert (mine + [""] * COLUMNS)[:COLUMNS] == told


@given(ROWS, st.sampled_from(("", "> ", ">", "> > ", "  ", "   > ")))
def test_a_cells_place_holds_its_text(row: str, prefix: str) -> None:
    lines = [f"{prefix}| a | b |", f"{prefix}|---|---|", prefix + row]
    for block in parse(lines):
        if isinstance(block, Table):
            for found in block.rows:
                line = lines[found.line]
                for cell in cells_of(found, line):
                    assert cell.start >= 0
                    assert line[cell.start : cell.end].replace("\\|", "|").strip() == cell.text


@given(st.text(alphabet="a\r\n\u2028\x0b\x85\x0c é", max_size=20))
def test_lines_and_their_starts_put_together_are_the_text(text: str) -> None:
    source = Source(text.encode())
    ends = [
        source.text[start + len(line) : after]
        for line, start, after in zip(source.lines, source.starts, source.starts[1:], strict=False)
    ]
    assert "".join(line + end for line, end in zip(source.lines, ends, strict=True)) == text
    assert set(ends) <= {"\n", "\r\n", "\r", ""}
    assert "" not in ends[:-1]
    assert [at for at in range(len(text)) if source.starts[source.line_of(at)] > at] == []
